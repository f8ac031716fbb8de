//! `FeatureUpgradeReview`: is an upgrade or downgrade safe now? The verdict is of the crate `features`; here is what it needs to know.

use features::verdict::{
    FeatureUse, Reason, ReasonCode, UpgradeReview, Verdict, review, uses_that_matter,
};
use features::{Registry, Version};
use json::{Value, json};
use meta::Status;
use meta::field::Error;

use crate::catalog::Resource;
use crate::catalog::convert;
use crate::state::Api;
use crate::state::features::NAMESPACE;
use crate::write::feature_uses::{self, Found};

/// The status of a review.
pub(super) async fn status(
    api: &Api,
    resource: &Resource,
    question: &Value,
) -> Result<Value, Status> {
    let wrong = |field: &str, value: &Value, why: String| {
        let error = Error::invalid(format!("spec.{field}"), value.clone(), why);
        Status::invalid(&resource.group_kind(), "", &[error])
    };
    let spec = question.get("spec").cloned().unwrap_or_default();
    let given = spec.str_at(&["targetVersion"]).unwrap_or_default();
    let target_version = major_minor(given).ok_or_else(|| {
        wrong(
            "targetVersion",
            &given.into(),
            "must be a version, such as 1.38".to_owned(),
        )
    })?;
    let registry = spec.get("targetRegistry").filter(|it| !it.is_null());
    let registry = registry
        .map(|it| {
            Registry::from_json(it)
                .map_err(|why| wrong("targetRegistry", &"{...}".into(), why.to_string()))
        })
        .transpose()?;
    let flags = spec.get("targetFlags").and_then(Value::as_array);
    let flags = flags.into_iter().flatten().filter_map(Value::as_str);
    let flags: Vec<String> = flags.map(str::to_owned).collect();
    let own = api.features().own();
    let mut features = stored_features(api).await?;
    let about = UpgradeReview {
        current: own.registry(),
        current_version: own.emulation(),
        target_version,
        target_registry: registry.as_ref(),
        target_feature_gates: &flags,
        features: &[],
    };
    let wanted = uses_that_matter(&UpgradeReview {
        features: &features,
        ..about
    });
    count(api, wanted, &mut features).await?;
    let answer = review(&UpgradeReview {
        features: &features,
        ..about
    });
    let reasons = answer.reasons.iter().map(reason);
    Ok(json!({
        "verdict": (verdict(answer.verdict)),
        "reasons": (reasons.collect::<Vec<Value>>()),
    }))
}

/// Patch releases have the features of their minor version, or bring a registry along.
fn major_minor(text: &str) -> Option<Version> {
    let text = text.trim_start_matches('v');
    let mut parts = text.splitn(3, '.');
    let (major, minor) = (parts.next()?, parts.next()?);
    Version::parse(&format!("{major}.{minor}")).ok()
}

/// What the Features of the control plane tell.
async fn stored_features(api: &Api) -> Result<Vec<FeatureUse>, Status> {
    let snapshot = api.fresh_snapshot().await?;
    let prefix = format!("/features.k8s.io/features/{NAMESPACE}/");
    let entries = snapshot.range(prefix.as_bytes());
    let features = entries.filter_map(|it| convert::read(&it.value).ok());
    Ok(features.map(|it| feature_use(&it)).collect())
}

fn feature_use(feature: &Value) -> FeatureUse {
    let status = |path: &[&str]| feature.get("status").and_then(|it| it.at(path));
    let text = |path: &[&str]| status(path).and_then(Value::as_str).unwrap_or_default();
    let texts = |path: &[&str], of: fn(&Value) -> Option<String>| {
        let items = status(path).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(of).collect()
    };
    let state = text(&["state"]);
    let dangling = status(&["dangling", "count"]).and_then(Value::as_i64);
    FeatureUse {
        name: meta::object::name(feature).to_owned(),
        enabled: matches!(state, "On" | "TurningOff"),
        in_transition: matches!(state, "TurningOn" | "TurningOff"),
        // Of a feature that is off the scan tells; of one that is on they are counted now, where it matters.
        uses: dangling
            .filter(|_| state == "Off")
            .and_then(|it| u64::try_from(it).ok()),
        samples: texts(&["dangling", "samples"], |it| Some(sample(it))),
        silent: texts(&["uses", "reporters", "silentNames"], |it| {
            it.as_str().map(str::to_owned)
        }),
        disagreeing: texts(&["uses", "disagreeing"], |it| {
            Some(format!(
                "{}/{}",
                it.str_at(&["component"])?,
                it.str_at(&["instance"])?
            ))
        }),
        schema_since: None,
    }
}

fn sample(it: &Value) -> String {
    let text = |key: &str| it.str_at(&[key]).unwrap_or_default().to_owned();
    feature_uses::Use {
        group: text("group"),
        resource: text("resource"),
        namespace: text("namespace"),
        name: text("name"),
        uid: String::new(),
        field_path: String::new(),
    }
    .to_string()
}

async fn count(api: &Api, wanted: Vec<String>, features: &mut [FeatureUse]) -> Result<(), Status> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut found = feature_uses::count_uses(api, wanted.clone()).await?;
    for (gate, resource) in feature_uses::collections() {
        if wanted.iter().any(|it| it == gate) {
            let stored = feature_uses::count_stored(api, &resource).await?;
            found.entry(gate).or_default().extend(stored);
        }
    }
    for feature in features.iter_mut().filter(|it| wanted.contains(&it.name)) {
        let found = found.get(&*feature.name);
        let Found { count, samples } = found.cloned().unwrap_or_default();
        feature.uses = Some(count);
        feature.samples = samples.iter().map(ToString::to_string).collect();
    }
    Ok(())
}

fn reason(it: &Reason) -> Value {
    let blockers = it.blockers.iter().map(Value::from);
    json!({
        "feature": (&it.feature),
        "code": (it.code.as_str()),
        "verdict": (verdict(it.verdict)),
        "message": (&it.message),
        "advice": (advice(it)),
        "blockers": (blockers.collect::<Vec<Value>>()),
    })
}

fn advice(it: &Reason) -> &'static str {
    match (it.code, it.verdict) {
        (ReasonCode::WillNotStart, Verdict::Unknown) => "give the registry of the target",
        (code, _) => code.advice(),
    }
}

fn verdict(it: Verdict) -> &'static str {
    match it {
        Verdict::Safe => "Safe",
        Verdict::Unknown => "Unknown",
        Verdict::Unsafe => "Unsafe",
    }
}
