//! Custom resource definitions and API services: names, versions and conversion. Schemas have rules of their own.

use std::collections::HashMap;

use json::{Value, json};
use meta::field::Error;
use meta::names;

use super::errors::Errors;
use super::field::{Field, text};
use super::object_meta::{self, Named};
use super::seen::Seen;
use super::webhooks;

const APPROVED: &str = "api-approved.kubernetes.io";

pub(crate) fn create(e: &mut Errors, it: &Field) {
    metadata(e, it);
    let spec = it.child("spec");
    self::spec(e, &spec);
    // Nobody has accepted any names yet.
    rest(e, it, None);
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let (it, was) = (new.child("spec"), old.child("spec"));
    spec(e, &it);
    let conditions = old.children(&["status", "conditions"]);
    let established = conditions
        .items()
        .any(|it| it.text("type") == "Established" && it.text("status") == "True");
    if established {
        e.immutable(&it.child("scope"), &was.child("scope"));
        let kind = ["names", "kind"];
        e.immutable(&it.children(&kind), &was.children(&kind));
    }
    e.immutable(&it.child("group"), &was.child("group"));
    let plural = ["names", "plural"];
    e.immutable(&it.children(&plural), &was.children(&plural));
    rest(e, new, Some(old));
}

pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    accepted_names(e, &new.children(&["status", "acceptedNames"]));
}

fn metadata(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
    let metadata = it.child("metadata");
    let name = metadata.child("name");
    let (plural, group) = (
        it.children(&["spec", "names", "plural"]),
        it.children(&["spec", "group"]),
    );
    if !name.is_empty() && name.str() != format!("{}.{}", plural.str(), group.str()) {
        e.invalid(&name, "must be spec.names.plural+\".\"+spec.group");
    }
}

fn rest(e: &mut Errors, it: &Field, old: Option<&Field>) {
    let status = it.child("status");
    if old.is_some() {
        accepted_names(e, &status.child("acceptedNames"));
    }
    stored_versions(
        e,
        &status.child("storedVersions"),
        &it.children(&["spec", "versions"]),
    );
    approval(e, it, old);
    let preserve = it.children(&["spec", "preserveUnknownFields"]);
    let before = old.is_some_and(|old| old.child("spec").flag("preserveUnknownFields"));
    if preserve.opt_bool() == Some(true) && !before {
        let text = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        e.invalid(&preserve, text);
    }
}

fn stored_versions(e: &mut Errors, stored: &Field, versions: &Field) {
    if stored.is_empty() {
        let shown = if stored.is_set() {
            stored.value.clone()
        } else {
            Value::Null
        };
        return e.invalid_value(stored, shown, "must have at least one stored version");
    }
    let mut left: HashMap<&str, usize> = HashMap::new();
    for name in stored.texts() {
        *left.entry(name).or_default() += 1;
    }
    for version in versions.items() {
        let name = version.text("name");
        match left.get_mut(name) {
            // Not for another of that name.
            Some(count) if *count > 0 => *count -= 1,
            _ if version.flag("storage") => {
                e.invalid(stored, &format!("must have the storage version {name}"));
            }
            _ => {}
        }
    }
    let known: Seen<&str> = versions.list().iter().map(|it| text(it, "name")).collect();
    for at in stored.items() {
        let name = at.str();
        if !known.contains(&name) {
            let why = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
            );
            e.invalid(&at, &why);
        }
    }
}

/// Groups of the community need to be approved by it.
fn approval(e: &mut Errors, it: &Field, old: Option<&Field>) {
    let group = it.child("spec").text("group");
    let protected = ["k8s.io", "kubernetes.io"].iter().any(|it| {
        group
            .strip_suffix(it)
            .is_some_and(|before| before.is_empty() || before.ends_with('.'))
    });
    if !protected {
        return;
    }
    let state = |of: &Field| {
        let annotation = of
            .value
            .at(&["metadata", "annotations", APPROVED])
            .and_then(Value::as_str)
            .unwrap_or_default();
        let is_url = annotation.split_once("://").is_some_and(|(scheme, rest)| {
            !scheme.is_empty() && !rest.is_empty() && !rest.starts_with('/')
        });
        match annotation {
            "" => "missing",
            it if it.starts_with("unapproved") => "bypassed",
            _ if is_url => "approved",
            _ => "invalid",
        }
    };
    let now = state(it);
    if old.is_some_and(|old| state(old) == now) {
        return;
    }
    let annotations = it.children(&["metadata", "annotations"]);
    let at = annotations.entry(APPROVED);
    let must = format!("protected groups must have approval annotation \"{APPROVED}\"");
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    match now {
        "missing" => e.required(&at, &format!("{must}, {see}")),
        "invalid" => {
            let why =
                format!("{must} with either a URL or a reason starting with \"unapproved\", {see}");
            e.invalid(&at, &why);
        }
        _ => {}
    }
}

fn spec(e: &mut Errors, it: &Field) {
    let group = it.child("group");
    if e.required_text(&group) {
        let wrong = names::dns1123_subdomain(group.str());
        if !wrong.is_empty() {
            e.invalid(&group, &wrong.join(","));
        } else if !group.str().contains('.') {
            e.invalid(&group, "should be a domain with at least one dot");
        }
    }
    e.required_one_of(&it.child("scope"), &["Cluster", "Namespaced"]);
    let versions = it.child("versions");
    for version in versions.items() {
        let schema = version.children(&["schema", "openAPIV3Schema"]);
        if !schema.is_set() {
            e.required(&schema, "");
        }
    }
    self::versions(e, &versions);
    let own = it.child("names");
    for name in ["plural", "singular", "kind", "listKind"] {
        e.required_text(&own.child(name));
    }
    accepted_names(e, &own);
    // What all versions say alike, upstream reports where its internal type keeps it.
    let first = versions.item(0);
    if alike(&versions, "subresources") {
        subresources(
            e,
            &it.child("subresources")
                .with(first.child("subresources").value),
        );
    }
    if alike(&versions, "additionalPrinterColumns") {
        let name = "additionalPrinterColumns";
        columns(e, &it.child(name).with(first.child(name).value));
    }
    let selectable = "selectableFields";
    if alike(&versions, selectable) && !versions.items().any(|it| it.has("schema")) {
        let why = "may only be set when validations.schema is included";
        e.invalid_value(&it.child(selectable), "", why);
    }
    conversion(e, it);
}

fn alike(versions: &Field, name: &str) -> bool {
    let mut all = versions.list().iter().map(|it| it.get(name));
    let first = all.next().flatten();
    first.is_some() && all.all(|it| it == first)
}

fn versions(e: &mut Errors, all: &Field) {
    let own_subresources = !alike(all, "subresources");
    let own_columns = !alike(all, "additionalPrinterColumns");
    for version in all.items() {
        let name = version.child("name");
        let wrong = names::dns1035_label(name.str());
        if !wrong.is_empty() {
            e.invalid(&name, &wrong.join(","));
        }
        deprecation(e, &version);
        if own_subresources {
            subresources(e, &version.child("subresources"));
        }
        if own_columns {
            columns(e, &version.child("additionalPrinterColumns"));
        }
    }
    let mut seen = Seen::default();
    if (all.list().iter()).any(|it| !seen.insert(text(it, "name"))) {
        e.invalid_value(all, printed(all), "must contain unique version names");
    }
    if all.items().filter(|it| it.flag("storage")).count() != 1 {
        let why = "must have exactly one version marked as storage version";
        let shown = if all.is_empty() {
            Value::Null
        } else {
            printed(all)
        };
        e.invalid_value(all, shown, why);
    }
    // The first one also stands in the place of the only one that once was.
    if let Some(first) = all.list().first().map(|it| text(it, "name")) {
        let wrong = names::dns1035_label(first);
        if !wrong.is_empty() {
            e.push(Error::invalid("spec.version", first, wrong.join(",")));
        }
    }
}

/// As upstream's internal type prints versions. What all of them say alike it keeps elsewhere; what they do not, we
/// print as it was written.
fn printed(all: &Field) -> Value {
    let own = [
        "schema",
        "subresources",
        "additionalPrinterColumns",
        "selectableFields",
    ];
    let own = own.map(|name| (name, !alike(all, name)));
    let each = |version: &Value| {
        let kept = |name: &str| match version.get(name) {
            Some(value) if own.contains(&(name, true)) => value.clone(),
            _ => Value::Null,
        };
        let flag = |name: &str| version.get(name).and_then(Value::as_bool) == Some(true);
        json!({
            "Name": (text(version, "name")),
            "Served": (flag("served")),
            "Storage": (flag("storage")),
            "Deprecated": (flag("deprecated")),
            "DeprecationWarning": (version.get("deprecationWarning").cloned().unwrap_or_default()),
            "Schema": (kept("schema")),
            "Subresources": (kept("subresources")),
            "AdditionalPrinterColumns": (kept("additionalPrinterColumns")),
            "SelectableFields": (kept("selectableFields")),
        })
    };
    all.list().iter().map(each).collect()
}

fn deprecation(e: &mut Errors, version: &Field) {
    let warning = version.child("deprecationWarning");
    if !warning.is_set() {
        return;
    }
    if !version.flag("deprecated") {
        return e.invalid(&warning, "can only be set for deprecated versions");
    }
    if warning.len() > 256 {
        e.invalid(&warning, "must be <= 256 characters long");
    }
    if warning.is_empty() {
        e.invalid(&warning, "must not be an empty string");
    }
    if let Some((at, _)) = warning
        .str()
        .char_indices()
        .find(|(_, it)| !meta::go::is_print(*it))
    {
        let why = format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        );
        e.invalid(&warning, &why);
    }
}

fn accepted_names(e: &mut Errors, it: &Field) {
    for name in ["plural", "singular"] {
        label(e, &it.child(name));
    }
    for name in ["kind", "listKind"] {
        let kind = it.child(name);
        let wrong = names::dns1035_label(&kind.str().to_lowercase());
        if !kind.is_empty() && !wrong.is_empty() {
            let why = format!(
                "may have mixed case, but should otherwise match: {}",
                wrong.join(",")
            );
            e.invalid(&kind, &why);
        }
    }
    for name in it.child("shortNames").items() {
        label(e, &name);
    }
    let list = it.child("listKind");
    if !list.is_empty() && list.str() == it.text("kind") {
        e.invalid(&list, "kind and listKind may not be the same");
    }
    for category in it.child("categories").items() {
        label(e, &category);
    }
}

fn label(e: &mut Errors, it: &Field) {
    let wrong = names::dns1035_label(it.str());
    if !it.is_empty() && !wrong.is_empty() {
        e.invalid(it, &wrong.join(","));
    }
}

fn subresources(e: &mut Errors, it: &Field) {
    let scale = it.child("scale");
    if !scale.is_set() {
        return;
    }
    for (name, reported, below, needed) in [
        ("specReplicasPath", "scale.specReplicasPath", ".spec", true),
        (
            "statusReplicasPath",
            "scale.statusReplicasPath",
            ".status",
            true,
        ),
        (
            "labelSelectorPath",
            "scale.labelSelectorPath",
            "either .spec or .status",
            false,
        ),
    ] {
        let path = it.child(reported);
        let path = path.with(scale.child(name).value);
        if path.is_empty() {
            if needed {
                e.required(&path, "");
            }
            continue;
        }
        let under = |root: &str| {
            path.str()
                .strip_prefix(root)
                .is_some_and(|it| it.starts_with('.'))
        };
        let fits = if needed {
            under(below)
        } else {
            under(".spec") || under(".status")
        };
        if !path.str().starts_with('.') {
            e.invalid(&path, "must be a simple json path starting with .");
        } else if !fits {
            e.invalid(&path, &format!("should be a json path under {below}"));
        }
    }
}

const COLUMN_TYPES: &[&str] = &["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: &[&str] = &[
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
];

fn columns(e: &mut Errors, all: &Field) {
    for it in all.items() {
        e.required_text(&it.child("name"));
        let (kind, format) = (it.child("type"), it.child("format"));
        let one = format!("must be one of {}", COLUMN_TYPES.join(","));
        if kind.is_empty() {
            e.required(&kind, &one);
        } else if !COLUMN_TYPES.contains(&kind.str()) {
            e.invalid(&kind, &one);
        }
        if !format.is_empty() && !COLUMN_FORMATS.contains(&format.str()) {
            e.invalid(
                &format,
                &format!("must be one of {}", COLUMN_FORMATS.join(",")),
            );
        }
        let path = it.child_as("jsonPath", "JSONPath");
        if e.required_text(&path) && !path.str().starts_with('.') {
            e.invalid(&path, "must be a simple json path starting with .");
        }
    }
}

fn conversion(e: &mut Errors, spec: &Field) {
    let it = spec.child("conversion");
    if !it.is_set() {
        return;
    }
    let strategy = it.child("strategy");
    e.required_one_of(&strategy, &["None", "Webhook"]);
    let webhook = it.child("webhook");
    let config = it.child("webhookClientConfig");
    let config = config.with(webhook.child("clientConfig").value);
    let versions = it.child("conversionReviewVersions");
    let versions = versions.with(webhook.child("conversionReviewVersions").value);
    if strategy.str() == "Webhook" {
        if config.is_set() {
            webhooks::client_config(e, &config);
        } else {
            e.required(&config, "required when strategy is set to Webhook");
        }
        if versions.is_empty() {
            e.required(&versions, "");
        } else {
            webhooks::review_versions(e, &versions);
        }
        return;
    }
    let text = "should not be set when strategy is not set to Webhook";
    if config.is_set() {
        e.forbidden(&config, text);
    }
    if !versions.is_empty() {
        e.forbidden(&versions, text);
    }
}

pub(crate) mod services {
    //! `APIService`

    use super::{Errors, Field, Named, names, object_meta};

    fn name(name: &str, _: bool) -> Vec<String> {
        names::path_segment_name(name)
    }

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        let before = e.len();
        object_meta::create(e, it, Named::cluster(name));
        let (metadata, spec) = (it.child("metadata"), it.child("spec"));
        let (group, version) = (spec.child("group"), spec.child("version"));
        let own = metadata.child("name");
        let want = format!("{}.{}", version.str(), group.str());
        if e.len() == before && own.str() != want {
            let why = format!(
                "must be `spec.version+\".\"+spec.group`: {}",
                meta::go::quote(&want)
            );
            e.invalid(&own, &why);
        }
        if !group.is_empty() {
            e.dns_subdomain(&group);
        } else if version.str() != "v1" {
            e.required(
                &group,
                "only v1 may have an empty group and it better be legacy kube",
            );
        }
        e.invalid_all(&version, names::dns1035_label(version.str()));
        for (name, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
            let priority = spec.child(name);
            if !(1..=most).contains(&priority.int()) {
                let why = format!("must be positive and less than {most}");
                e.invalid_value(&priority, priority.int(), &why);
            }
        }
        backend(e, &spec);
    }

    fn backend(e: &mut Errors, spec: &Field) {
        let (service, bundle) = (spec.child("service"), spec.child("caBundle"));
        let skip = spec.child("insecureSkipTLSVerify");
        if !service.is_set() {
            if !bundle.is_empty() {
                let encoded = bundle.str();
                let padding = encoded.len() - encoded.trim_end_matches('=').len();
                let shown = format!("{} bytes", (encoded.len() / 4 * 3).saturating_sub(padding));
                e.invalid_value(&bundle, shown, "local APIServices may not have a caBundle");
            }
            if skip.opt_bool() == Some(true) {
                e.invalid(
                    &skip,
                    "local APIServices may not have insecureSkipTLSVerify",
                );
            }
            return;
        }
        e.required_text(&service.child("namespace"));
        e.required_text(&service.child("name"));
        let port = service.child("port");
        if !(1..=65535).contains(&port.int()) {
            let why = "port is not valid: must be between 1 and 65535, inclusive";
            e.invalid_value(&port, port.int(), why);
        }
        if skip.opt_bool() == Some(true) && !bundle.is_empty() {
            e.invalid(&skip, "may not be true if caBundle is present");
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        create(e, new);
    }

    pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        for condition in new.children(&["status", "conditions"]).items() {
            e.one_of(&condition.child("status"), &["True", "False", "Unknown"]);
        }
    }
}
