//! A webhook as its configuration says, read once.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use json::Value;
use meta::selector::LabelSelector;

use crate::client::{Target, Targets};
use crate::matching::{Rule, selector};
use crate::policy::match_conditions::MatchConditions;
use crate::read::{has, items, text};

#[derive(Debug)]
pub(super) struct Hook {
    pub name: String,
    pub configuration: String,
    /// Tells apart those of the same name.
    pub uid: String,
    pub rules: Vec<Rule>,
    pub namespaces: Result<LabelSelector, String>,
    pub objects: Result<LabelSelector, String>,
    /// Called for the same objects under other names too.
    pub equivalent: bool,
    /// A call that fails is as good as none.
    pub ignore: bool,
    pub timeout: Option<Duration>,
    pub dry_run: DryRun,
    pub version: Option<Version>,
    pub reinvoke: bool,
    conditions: Vec<Value>,
    compiled: OnceLock<MatchConditions>,
    pub target: Result<Arc<Target>, String>,
}

impl Hook {
    /// Its `matchConditions`, compiled when a request first needs them; nothing if there are none.
    pub(super) fn conditions(&self) -> Option<&MatchConditions> {
        if self.conditions.is_empty() {
            return None;
        }
        let compile = || MatchConditions::of_webhook(&self.conditions, self.ignore);
        Some(self.compiled.get_or_init(compile))
    }
}

/// Whether it may be called when nothing is to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DryRun {
    Supported,
    Unsupported,
    Unknown,
}

/// Of the review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V1beta1,
}

impl Version {
    pub(super) fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "admission.k8s.io/v1",
            Self::V1beta1 => "admission.k8s.io/v1beta1",
        }
    }
}

/// The webhooks of a configuration, in its order.
pub(super) fn all(configuration: &Value, targets: &Targets) -> Vec<Hook> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut hooks = Vec::new();
    for webhook in items(configuration, &["webhooks"]) {
        let count = seen.entry(text(webhook, &["name"])).or_default();
        hooks.push(hook(
            meta::object::name(configuration),
            webhook,
            *count,
            targets,
        ));
        *count += 1;
    }
    hooks
}

fn hook(configuration: &str, webhook: &Value, count: usize, targets: &Targets) -> Hook {
    let name = text(webhook, &["name"]);
    let seconds = webhook.get("timeoutSeconds").and_then(Value::as_i64);
    let seconds = seconds.and_then(|it| u64::try_from(it).ok());
    let versions = items(webhook, &["admissionReviewVersions"]).iter();
    let mut versions = versions.filter_map(|it| match it.as_str()? {
        "v1" => Some(Version::V1),
        "v1beta1" => Some(Version::V1beta1),
        _ => None,
    });
    let client = webhook.get("clientConfig").unwrap_or(&Value::Null);
    Hook {
        name: name.to_owned(),
        configuration: configuration.to_owned(),
        uid: format!("{configuration}/{name}/{count}"),
        rules: items(webhook, &["rules"]).iter().map(Rule::new).collect(),
        namespaces: selector(webhook, "namespaceSelector"),
        objects: selector(webhook, "objectSelector"),
        equivalent: text(webhook, &["matchPolicy"]) == "Equivalent",
        ignore: text(webhook, &["failurePolicy"]) == "Ignore",
        timeout: seconds.map(Duration::from_secs),
        dry_run: match text(webhook, &["sideEffects"]) {
            "None" | "NoneOnDryRun" => DryRun::Supported,
            _ if !has(webhook, &["sideEffects"]) => DryRun::Unknown,
            _ => DryRun::Unsupported,
        },
        version: versions.next(),
        reinvoke: text(webhook, &["reinvocationPolicy"]) == "IfNeeded",
        conditions: items(webhook, &["matchConditions"]).to_vec(),
        compiled: OnceLock::new(),
        target: targets.get(client),
    }
}
