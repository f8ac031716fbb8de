//! `AuthorizationConfiguration`

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use auth::authorizer::Mode;
use cel::Type;
use cel::kubernetes::authorization_environment;
use json::Value;
use meta::field::Error;

use super::{Part, base, compile, items};
use crate::flags::value;

const TYPES: [&str; 6] = [
    "ABAC",
    "AlwaysAllow",
    "AlwaysDeny",
    "Node",
    "RBAC",
    "Webhook",
];
const WEBHOOK: [&str; 10] = [
    "authorizedTTL",
    "cacheAuthorizedRequests",
    "cacheUnauthorizedRequests",
    "connectionInfo",
    "failurePolicy",
    "matchConditionSubjectAccessReviewVersion",
    "matchConditions",
    "subjectAccessReviewVersion",
    "timeout",
    "unauthorizedTTL",
];

/// In upstream's words.
pub(super) fn validate(config: &Value) -> Vec<Error> {
    let mut errors = Vec::new();
    let all = items(config, "authorizers");
    if all.is_empty() {
        errors.push(Error::required(
            "authorizers",
            "at least one authorization mode must be defined",
        ));
    }
    let (mut types, mut names) = (BTreeSet::new(), BTreeSet::new());
    for (index, it) in all.iter().enumerate() {
        let it = Part::new(
            it,
            format!("authorizers[{index}]"),
            &["name", "type", "webhook"],
            &mut errors,
        );
        let (kind, name) = (it.text("type"), it.text("name"));
        if kind.is_empty() {
            errors.push(Error::required(it.at("type"), ""));
            continue;
        }
        if !TYPES.contains(&kind) {
            errors.push(Error::not_supported(it.at("type"), kind, TYPES));
            continue;
        }
        if !types.insert(kind) && kind != "Webhook" {
            errors.push(Error::duplicate(it.at("type"), kind));
            continue;
        }
        if name.is_empty() {
            errors.push(Error::required(it.at("name"), ""));
        } else if names.contains(name) {
            errors.push(Error::duplicate(it.at("name"), name));
        } else {
            let wrong = meta::names::dns1123_subdomain(name);
            if !wrong.is_empty() {
                let why = format!("authorizer name is invalid: {}", wrong.join(", "));
                errors.push(Error::invalid(it.at("name"), name, why));
            }
        }
        names.insert(name);
        let has_webhook = it.value.get("webhook").is_some_and(|it| !it.is_null());
        match (kind, has_webhook) {
            ("Webhook", false) => {
                errors.push(Error::required(
                    it.at("webhook"),
                    "required when type=Webhook",
                ));
            }
            ("Webhook", true) => webhook(&it, &mut errors),
            (_, true) => {
                let why = "may only be specified when type=Webhook";
                errors.push(Error::invalid(it.at("webhook"), "non-null", why));
            }
            _ => {}
        }
    }
    errors
}

/// Upstream names the fields of a webhook without `webhook`.
fn webhook(authorizer: &Part<'_>, errors: &mut Vec<Error>) {
    let it = authorizer.child("webhook", &WEBHOOK, errors);
    let at = |name: &str| authorizer.at(name);
    for (name, max, why) in [
        (
            "timeout",
            Some(Duration::from_secs(30)),
            "must be > 0s and <= 30s",
        ),
        ("authorizedTTL", None, "must be > 0s"),
        ("unauthorizedTTL", None, "must be > 0s"),
    ] {
        let text = it.text(name);
        match value::duration(text) {
            _ if text.is_empty() => errors.push(Error::required(at(name), "")),
            Ok(Duration::ZERO) => errors.push(Error::required(at(name), "")),
            Ok(it) if max.is_none_or(|max| it <= max) => {}
            _ => errors.push(Error::invalid(at(name), text, why)),
        }
    }
    let mut one_of = |name: &str, all: &[&str], missing: Option<&str>| match it.text(name) {
        "" => errors.extend(missing.map(|why| Error::required(at(name), why))),
        text if all.contains(&text) => {}
        text => errors.push(Error::not_supported(at(name), text, all)),
    };
    one_of("subjectAccessReviewVersion", &["v1", "v1beta1"], Some(""));
    let has_conditions = !it.items("matchConditions").is_empty();
    let missing = has_conditions.then_some("required if match conditions are specified");
    one_of("matchConditionSubjectAccessReviewVersion", &["v1"], missing);
    one_of("failurePolicy", &["NoOpinion", "Deny"], Some(""));
    connection(authorizer, &it, errors);
    conditions(authorizer, &it, errors);
}

fn connection(authorizer: &Part<'_>, webhook: &Part<'_>, errors: &mut Vec<Error>) {
    let it = webhook.child("connectionInfo", &["type", "kubeConfigFile"], errors);
    let at = |name: &str| authorizer.at(&format!("connectionInfo.{name}"));
    let file = it.text("kubeConfigFile");
    let path = at("kubeConfigFile");
    match it.text("type") {
        "" => errors.push(Error::required(at("type"), "")),
        "InClusterConfig" if !file.is_empty() => {
            errors.push(Error::invalid(
                path,
                file,
                "can only be set when type=KubeConfigFile",
            ));
        }
        "InClusterConfig" => {}
        "KubeConfigFile" if file.is_empty() => errors.push(Error::required(path, "")),
        "KubeConfigFile" if !Path::new(file).is_absolute() => {
            errors.push(Error::invalid(path, file, "must be an absolute path"));
        }
        "KubeConfigFile" => match std::fs::metadata(file) {
            Err(error) => {
                let error = meta::go::system_error(&error);
                let why = format!("error loading file: stat {file}: {error}");
                errors.push(Error::invalid(path, file, why));
            }
            Ok(it) if !it.is_file() => {
                errors.push(Error::invalid(path, file, "must be a regular file"));
            }
            Ok(_) => {}
        },
        other => errors.push(Error::not_supported(
            at("type"),
            other,
            ["InClusterConfig", "KubeConfigFile"],
        )),
    }
}

fn conditions(authorizer: &Part<'_>, webhook: &Part<'_>, errors: &mut Vec<Error>) {
    let all = webhook.items("matchConditions");
    if all.len() > 64 {
        errors.push(Error::too_many(
            authorizer.at("matchConditions"),
            Some(all.len()),
            64,
        ));
        return;
    }
    let env = authorization_environment(base());
    let mut seen = BTreeSet::new();
    for (index, it) in all.iter().enumerate() {
        let it = Part::new(
            it,
            authorizer.at(&format!("matchConditions[{index}]")),
            &["expression"],
            errors,
        );
        let (text, at) = (it.text("expression"), it.at("expression"));
        if text.trim().is_empty() {
            errors.push(Error::required(at, ""));
        } else if !seen.insert(text) {
            errors.push(Error::duplicate(at, text));
        } else if let Err(error) = compile(&env, text, &Type::Bool, |of| {
            format!("must evaluate to bool but got {of}")
        }) {
            errors.push(error.at(at, text));
        }
    }
}

/// The modes; why they cannot be used here.
pub(super) fn use_of(config: &Value) -> Result<Vec<Mode>, String> {
    let all = items(config, "authorizers").iter();
    let all: Vec<&str> = all.filter_map(|it| it.str_at(&["type"])).collect();
    if all.contains(&"Webhook") {
        return Err("authorization by webhook is not supported by this server".to_owned());
    }
    if all.contains(&"ABAC") {
        return Err("ABAC is not supported by this server, use RBAC".to_owned());
    }
    auth::authorizer::modes(&all)
}
