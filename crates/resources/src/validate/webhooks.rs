//! Webhooks and the rules that say what they see, which admission policies share.

use json::Value;
use meta::field::Error;
use meta::names;

use super::errors::Errors;
use super::expressions::{Expressions, Place};
use super::field::Field;
use super::object_meta::{self, Named};
use super::seen::{Key, Seen};

pub(crate) const STATIC_SUFFIX: &str = ".static.k8s.io";
pub(crate) const STATIC_NAMES: &str = "names ending with \".static.k8s.io\" are reserved for static manifest-based \
    configurations and cannot be managed via the API";

/// Of both kinds of configurations.
pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
    hooks(e, it, None);
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::create(e, new, Named::CLUSTER_SUBDOMAIN);
    hooks(e, new, Some(old));
}

/// Match conditions are not looked at again where all webhooks have the ones they had.
fn hooks(e: &mut Errors, it: &Field, old: Option<&Field>) {
    let all = it.child("webhooks");
    let mut expressions = Some(Expressions::of_webhooks());
    let before = old.map(|it| it.child("webhooks"));
    if let Some(before) = &before {
        let conditions = |of: &Field| -> Vec<Value> {
            let all = of.list().iter();
            all.map(|it| it.get("matchConditions").cloned().unwrap_or_default())
                .collect()
        };
        if conditions(&all) == conditions(before) {
            expressions = None;
        }
    }
    if let (Some(expressions), Some(before)) = (&mut expressions, &before) {
        for hook in before.list() {
            let conditions = hook.get("matchConditions").and_then(Value::as_array);
            for it in conditions.into_iter().flatten() {
                if let Some(text) = it.get("expression").and_then(Value::as_str) {
                    expressions.remember(Place::MatchCondition, text);
                }
            }
        }
    }
    let mut seen = Seen::default();
    for hook in all.items() {
        self::hook(e, &hook, expressions.as_mut());
        let name = hook.child("name");
        let again = !seen.insert(hook.text("name"));
        if !name.is_empty() && again {
            e.duplicate(&name);
        }
    }
}

/// Names of manifests that servers read from files are reserved.
pub(super) fn not_static(e: &mut Errors, name: &Field) {
    if name.str().ends_with(STATIC_SUFFIX) {
        e.invalid(name, STATIC_NAMES);
    }
}

fn hook(e: &mut Errors, it: &Field, expressions: Option<&mut Expressions>) {
    let name = it.child("name");
    e.push_all(names::fully_qualified_name(&name.path, name.str()));
    for rule in it.child("rules").items() {
        operations(e, &rule);
    }
    e.optional_one_of(&it.child("failurePolicy"), &["Fail", "Ignore"]);
    e.optional_one_of(&it.child("matchPolicy"), &["Equivalent", "Exact"]);
    let effects = it.child("sideEffects");
    if effects.is_set() {
        e.one_of(&effects, &["None", "NoneOnDryRun"]);
    } else {
        e.required(&effects, "must specify one of None, NoneOnDryRun");
    }
    let timeout = it.child("timeoutSeconds");
    if timeout.opt_int().is_some_and(|it| !(1..=30).contains(&it)) {
        e.invalid(
            &timeout,
            "the timeout value must be between 1 and 30 seconds",
        );
    }
    e.label_selector(&it.child("namespaceSelector"));
    e.label_selector(&it.child("objectSelector"));
    client_config(e, &it.child("clientConfig"));
    e.optional_one_of(&it.child("reinvocationPolicy"), &["IfNeeded", "Never"]);
    if let Some(expressions) = expressions {
        expressions.match_conditions(e, &it.child("matchConditions"));
    }
    let versions = it.child("admissionReviewVersions");
    if versions.is_empty() {
        e.required(&versions, "must specify one of v1, v1beta1");
    } else {
        review_versions(e, &versions);
    }
}

/// At least one that the server speaks.
pub(super) fn review_versions(e: &mut Errors, all: &Field) {
    let mut seen = Seen::default();
    for version in all.items() {
        if seen.insert(Key::from(version.value)) {
            e.invalid_all(&version, names::dns1035_label(version.str()));
        } else {
            e.invalid(&version, "duplicate version");
        }
    }
    if !all.texts().any(|it| matches!(it, "v1" | "v1beta1")) {
        e.invalid(all, "must include at least one of v1, v1beta1");
    }
}

pub(super) fn client_config(e: &mut Errors, it: &Field) {
    let (url, service) = (it.child("url"), it.child("service"));
    match (url.is_set(), service.is_set()) {
        (true, false) => webhook_url(e, &url),
        (false, true) => webhook_service(e, &service),
        _ => e.required(it, "exactly one of url or service is required"),
    }
}

fn webhook_url(e: &mut Errors, it: &Field) {
    let form = "; desired format: https://host[/path]";
    let text = it.str();
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let (text, query) = text.split_once('?').unwrap_or((text, ""));
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    if scheme != "https" {
        e.invalid_value(
            it,
            scheme,
            &format!("'https' is the only allowed URL scheme{form}"),
        );
    }
    let authority = if scheme.is_empty() {
        ""
    } else {
        rest.split('/').next().unwrap_or_default()
    };
    let (user, host) = authority
        .rsplit_once('@')
        .map_or((None, authority), |(user, host)| (Some(user), host));
    if host.is_empty() {
        e.invalid_value(it, "", &format!("host must be specified{form}"));
    }
    if let Some(user) = user {
        e.invalid_value(it, user, "user information is not permitted in the URL");
    }
    if !fragment.is_empty() {
        e.invalid_value(it, fragment, "fragments are not permitted in the URL");
    }
    if !query.is_empty() {
        e.invalid_value(it, query, "query parameters are not permitted in the URL");
    }
}

fn webhook_service(e: &mut Errors, it: &Field) {
    // Upstream's caller swaps the two, so that each is asked for in the place of the other.
    for (name, reported) in [("namespace", "name"), ("name", "namespace")] {
        if it.text(name).is_empty() {
            e.required(&it.child(reported), "");
        }
    }
    let port = it.child("port");
    if !(1..=65535).contains(&port.int()) {
        let why = "port is not valid: must be between 1 and 65535, inclusive";
        e.invalid_value(&port, port.int(), why);
    }
    let path = it.child("path");
    match path.str() {
        "" | "/" => return,
        "//" => return e.invalid(&path, "segment[0] may not be empty"),
        other if !other.starts_with('/') => e.invalid(&path, "must start with a '/'"),
        _ => {}
    }
    let steps = path.str().get(1..).unwrap_or_default();
    for (index, step) in steps
        .strip_suffix('/')
        .unwrap_or(steps)
        .split('/')
        .enumerate()
    {
        if step.is_empty() {
            e.invalid(&path, &format!("segment[{index}] may not be empty"));
            continue;
        }
        for wrong in names::dns1123_subdomain(step) {
            e.invalid(&path, &format!("segment[{index}]: {wrong}"));
        }
    }
}

pub(super) fn operations(e: &mut Errors, it: &Field) {
    let all = it.child("operations");
    alone(e, &all, "operations");
    for operation in all.items() {
        e.one_of(&operation, &["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]);
    }
    alone(e, &it.child("apiGroups"), "API groups");
    let versions = it.child("apiVersions");
    alone(e, &versions, "API versions");
    for version in versions.items() {
        e.required_text(&version);
    }
    resources(e, &it.child("resources"));
    e.optional_one_of(&it.child("scope"), &["*", "Cluster", "Namespaced"]);
}

/// A star says all there is to say.
fn alone(e: &mut Errors, all: &Field, what: &str) {
    if all.is_empty() {
        e.required(all, "");
    }
    if all.len() > 1 && all.texts().any(|it| it == "*") {
        let why = format!("if '*' is present, must not specify other {what}");
        e.invalid(all, &why);
    }
}

fn resources(e: &mut Errors, all: &Field) {
    if all.is_empty() {
        e.required(all, "");
    }
    let mut plain = false;
    // `pods/*` and `*/scale`, by what is beside the star.
    let mut seen: Seen<(&str, &str)> = Seen::default();
    for it in all.items() {
        if !e.required_text(&it) {
            continue;
        }
        let text = it.str();
        let Some((resource, sub)) = text.split_once('/') else {
            plain = text != "*";
            continue;
        };
        for (resource, sub) in [(resource, "*"), ("*", sub)] {
            if seen.contains(&(resource, sub)) {
                let why = format!("if '{resource}/{sub}' is present, must not specify {text}");
                e.invalid(&it, &why);
            }
        }
        seen.insert((resource, sub));
    }
    let has = |text: &str| all.list().contains(&Value::from(text));
    if all.len() > 1 && has("*/*") {
        e.invalid(all, "if '*/*' is present, must not specify other resources");
    }
    if has("*") && plain {
        let text = "if '*' is present, must not specify other resources without subresources";
        e.invalid(all, text);
    }
}

pub(crate) mod policies {
    //! `ValidatingAdmissionPolicy`

    use cel::Type;

    use super::{
        Errors, Expressions, Field, Key, Named, Place, Seen, names, object_meta, operations,
    };

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        let spec = it.child("spec");
        let mut expressions = Expressions::new(&spec, !spec.child("variables").is_empty());
        rules(e, it, &mut expressions, true);
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        object_meta::create(e, new, Named::CLUSTER_SUBDOMAIN);
        let (spec, before) = (new.child("spec"), old.child("spec"));
        let mut expressions = Expressions::new(&spec, !spec.child("variables").is_empty());
        remember_conditions(&mut expressions, &before);
        let validations = before.child("validations");
        expressions.remember_all(Place::Validation, &validations, "expression");
        expressions.remember_all(Place::Message, &validations, "messageExpression");
        let annotations = before.child("auditAnnotations");
        expressions.remember_all(Place::AuditAnnotation, &annotations, "valueExpression");
        rules(e, new, &mut expressions, conditions_changed(&spec, &before));
    }

    pub(crate) fn remember_conditions<'a>(expressions: &mut Expressions<'a>, before: &Field<'a>) {
        let all = before.value.get("matchConditions");
        let all = Field::root(all.unwrap_or(&json::Value::Null));
        expressions.remember_all(Place::MatchCondition, &all, "expression");
    }

    /// Whether anything changed that could make conditions wrong which were right.
    pub(crate) fn conditions_changed(spec: &Field, before: &Field) -> bool {
        ["paramKind", "matchConditions"]
            .iter()
            .any(|key| spec.child(key).value != before.child(key).value)
    }

    fn rules(e: &mut Errors, it: &Field, expressions: &mut Expressions, conditions: bool) {
        let spec = it.child("spec");
        self::common(e, &spec, conditions.then_some(&mut *expressions));
        variables(e, &spec.child("variables"), expressions);
        let (validations, annotations) =
            (spec.child("validations"), spec.child("auditAnnotations"));
        if validations.is_empty() && annotations.is_empty() {
            let text = "validations or auditAnnotations must contain at least one item";
            e.required(&validations, text);
            e.required(&annotations, text);
        }
        for validation in validations.items() {
            self::validation(e, &validation, expressions);
        }
        if annotations.len() > 20 {
            e.invalid(&annotations, "must not have more than 20 auditAnnotations");
        }
        let policy = it.child("metadata").text("name");
        let mut seen = Seen::default();
        for annotation in annotations.items() {
            let (key, value) = (annotation.child("key"), annotation.child("valueExpression"));
            let full = format!("{policy}/{}", key.str());
            if policy.is_empty() {
                e.invalid(&key, "requires metadata.name be non-empty");
            } else {
                for wrong in names::qualified_name(&full) {
                    e.invalid_value(&key, full.as_str(), &wrong);
                }
            }
            let text = value.str().trim();
            match text.len() {
                0 => e.required(&value, "valueExpression is not specified"),
                1..=5120 if e.is_full() => {}
                1..=5120 => {
                    let returns = [Type::String, Type::Null];
                    expressions.check(e, Place::AuditAnnotation, &value, text, &returns);
                }
                _ => e.required(&value, "must not exceed 5120 bytes in length"),
            }
            if !seen.insert(annotation.text("key")) {
                e.duplicate(&key);
            }
        }
    }

    /// What policies that mutate have too. Without expressions, the conditions are those that were there.
    pub(crate) fn common(e: &mut Errors, spec: &Field, expressions: Option<&mut Expressions>) {
        let failure = spec.child("failurePolicy");
        if failure.is_set() {
            e.one_of(&failure, &["Fail", "Ignore"]);
        } else {
            e.required(&failure, "");
        }
        let kind = spec.child("paramKind");
        if kind.is_set() {
            param_kind(e, &kind);
        }
        let constraints = spec.child("matchConstraints");
        if constraints.is_set() {
            match_resources(e, &constraints);
            let rules = constraints.child("resourceRules");
            if rules.is_empty() {
                e.required(&rules, "");
            }
        } else {
            e.required(&constraints, "");
        }
        if let Some(expressions) = expressions {
            expressions.match_conditions(e, &spec.child("matchConditions"));
        }
    }

    fn param_kind(e: &mut Errors, it: &Field) {
        let (version, kind) = (it.child("apiVersion"), it.child("kind"));
        if e.required_text(&version) {
            let (group, own) = version.str().split_once('/').unwrap_or(("", version.str()));
            let wrong = names::dns1123_subdomain(group);
            if !group.is_empty() && !wrong.is_empty() {
                e.invalid_value(&version, group, &wrong.join(","));
            }
            let wrong = names::dns1035_label(own);
            if own.is_empty() {
                e.invalid(&version, "version must be specified");
            } else if !wrong.is_empty() {
                e.invalid_value(&version, own, &wrong.join(","));
            }
        }
        if e.required_text(&kind) {
            let wrong = names::dns1035_label(&kind.str().to_lowercase());
            if !wrong.is_empty() {
                let why = format!(
                    "may have mixed case, but should otherwise match: {}",
                    wrong.join(",")
                );
                e.invalid(&kind, &why);
            }
        }
    }

    pub(crate) fn match_resources(e: &mut Errors, it: &Field) {
        let policy = it.child("matchPolicy");
        if policy.is_set() {
            e.one_of(&policy, &["Equivalent", "Exact"]);
        } else {
            e.required(&policy, "");
        }
        for name in ["namespaceSelector", "objectSelector"] {
            let selector = it.child(name);
            if !selector.is_set() {
                e.required(&selector, "");
            }
            e.label_selector(&selector);
        }
        for name in ["resourceRules", "excludeResourceRules"] {
            for rule in it.child(name).items() {
                let names = rule.child("resourceNames");
                let mut seen = Seen::default();
                for name in names.items() {
                    e.path_segment(&name);
                    if !seen.insert(Key::from(name.value)) {
                        e.duplicate(&name);
                    }
                }
                operations(e, &rule);
            }
        }
    }

    pub(crate) fn variables(e: &mut Errors, all: &Field, expressions: &mut Expressions) {
        for it in all.items() {
            let (name, expression) = (it.child("name"), it.child("expression"));
            if name.str().trim().is_empty() {
                e.required(&name, "name is not specified");
            } else if !cel::is_identifier(name.str()) {
                e.invalid(&name, "must be a valid CEL identifier");
            }
            if expression.str().trim().is_empty() {
                e.required(&expression, "expression is not specified");
            } else if !e.is_full() {
                expressions.variable(e, name.str(), &expression);
            }
        }
    }

    fn validation(e: &mut Errors, it: &Field, expressions: &mut Expressions) {
        let (expression, message) = (it.child("expression"), it.child("message"));
        let said = it.child("messageExpression");
        if expression.str().trim().is_empty() {
            e.required(&expression, "expression is not specified");
        } else if !e.is_full() {
            let text = expression.str();
            expressions.check(e, Place::Validation, &expression, text, &[Type::Bool]);
        }
        let blank = |field: &Field| !field.is_empty() && field.str().trim().is_empty();
        if blank(&said) {
            e.invalid(&said, "must be non-empty if specified");
        } else if !said.is_empty() && !e.is_full() {
            expressions.check(e, Place::Message, &said, said.str(), &[Type::String]);
        }
        if blank(&message) {
            e.invalid(&message, "must be non-empty if specified");
        } else if message.str().trim().contains(['\n', '\r']) {
            e.invalid(&message, "must not contain line breaks");
        }
        let reason = it.child("reason");
        e.optional_one_of(&reason, &["Forbidden", "Invalid", "RequestEntityTooLarge"]);
    }

    pub(crate) fn param_ref(e: &mut Errors, it: &Field) {
        if !it.is_set() {
            return;
        }
        let (name, selector) = (it.child("name"), it.child("selector"));
        let both = "name and selector are mutually exclusive";
        if !name.is_empty() {
            e.path_segment(&name);
            if selector.is_set() {
                e.forbidden(&name, both);
            }
        }
        if selector.is_set() {
            e.label_selector(&selector);
            if !name.is_empty() {
                e.forbidden(&selector, both);
            }
        }
        if name.is_empty() && !selector.is_set() {
            e.required(it, "one of name or selector must be specified");
        }
        e.required_one_of(&it.child("parameterNotFoundAction"), &["Deny", "Allow"]);
    }
}

pub(crate) mod bindings {
    //! `ValidatingAdmissionPolicyBinding`

    use super::{Error, Errors, Field, Key, Named, Seen, object_meta, policies};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        let spec = it.child("spec");
        let policy = spec.child("policyName");
        if policy.is_empty() {
            e.late(|e| e.required(&policy, ""));
        } else {
            e.dns_subdomain(&policy);
        }
        policies::param_ref(e, &spec.child("paramRef"));
        let resources = spec.child("matchResources");
        if resources.is_set() {
            policies::match_resources(e, &resources);
        }
        let actions = spec.child("validationActions");
        if actions.is_empty() {
            return e.late(|e| e.required(&actions, ""));
        }
        let mut seen = Seen::default();
        for action in actions.items() {
            e.one_of(&action, &["Audit", "Deny", "Warn"]);
            if !seen.insert(Key::from(action.value)) {
                e.duplicate(&action);
            }
        }
        let has = |name: &str| actions.texts().any(|it| it == name);
        if has("Deny") && has("Warn") {
            let text = "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
            e.push(Error::invalid(actions.path, actions.value.clone(), text));
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        create(e, new);
    }
}
