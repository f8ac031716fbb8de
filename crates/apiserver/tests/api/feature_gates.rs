//! Feature gates: fields that are off are dropped from what clients write, unless they are stored already.

#[path = "feature_gates/objects.rs"]
mod objects;
#[path = "feature_gates/uses.rs"]
mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use features::{FeatureGate, FeatureSpec, Registry, Rule, Settings, Stage};
use json::{Value, json};
use store::Store;

use crate::fixture::{Answer, Fixture};
use objects::{collection, object, set};
use uses::{USES, Use};

/// All gates of Kubernetes, on and free to be turned off one by one.
fn registry() -> &'static Registry {
    let known = Registry::kubernetes();
    let gates = known.gates().iter().filter(|it| !it.is_special());
    let gates = gates.map(|it| FeatureGate {
        specs: vec![FeatureSpec {
            version: known.version(),
            stage: Stage::Beta,
            default: true,
            locked: false,
            min_compatibility: None,
        }],
        depends_on: Vec::new(),
        ..it.clone()
    });
    let registry = Registry::new(known.version(), gates).unwrap();
    Box::leak(Box::new(registry))
}

/// A server over this store, with one gate off and all others on.
fn server(store: &Store, registry: &'static Registry, off: Option<&str>) -> Fixture {
    let mut features = Settings::defaults(registry, registry.version(), registry.version());
    let off = off.map(|it| (it.to_owned(), false));
    features.set(&off.into_iter().collect()).unwrap();
    Fixture::with(|config| {
        config.store = store.clone();
        config.settings.features = features;
    })
}

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

/// Writes an object that uses a field: through its status, if the field is there.
async fn write(server: &Fixture, one: &Use, name: &str, query: &str) -> Answer {
    let path = collection(one.kind);
    let mut body = object(one.kind, name);
    if !one.is_status() {
        for (at, value) in one.values() {
            set(&mut body, at, value);
        }
        let path = format!("{path}?{query}");
        return server.request("POST", &path, &JSON, body.to_string()).await;
    }
    let path_of = format!("{path}/{name}");
    let found = server.request("GET", &path_of, &[], "").await;
    if found.code == 404 {
        for (at, value) in one.values().filter(|it| it.0.starts_with("/spec")) {
            set(&mut body, at, value);
        }
        let made = server.request("POST", path, &JSON, body.to_string()).await;
        assert_eq!(made.code, 201, "{one:?}: {}", made.message());
    }
    let found = server.request("GET", &path_of, &[], "").await;
    let mut body = found.json();
    for (at, value) in one.values() {
        set(&mut body, at, value);
    }
    let path = format!("{path_of}/status?{query}");
    server.request("PUT", &path, &JSON, body.to_string()).await
}

fn has(value: &Value, one: &Use) -> bool {
    let pointer = one.at.parse::<json::Pointer>().unwrap();
    let found = pointer.get(value);
    found.is_some_and(|it| !one.is_value || it.as_str() == Some(one.field))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_of_a_served_kind() {
    let registry = registry();
    let mut by_gate: BTreeMap<&str, Vec<&Use>> = BTreeMap::new();
    for one in USES {
        by_gate.entry(one.gate()).or_default().push(one);
    }
    let mut failed = Vec::new();
    for (gate, uses) in by_gate {
        // Each on its own: whoever breaks one gate is told of all that broke.
        let checked = tokio::spawn(check(registry, gate, uses)).await;
        failed.extend(checked.err().map(|_| gate));
    }
    assert!(failed.is_empty(), "{failed:?}");
}

async fn check(registry: &'static Registry, gate: &'static str, uses: Vec<&'static Use>) {
    let store = store::embedded::in_memory(&store::Options::default());
    let on = server(&store, registry, None);
    for one in &uses {
        let stored = write(&on, one, &one.name("on"), "fieldValidation=Strict").await;
        assert!(stored.code.is_success(), "{one:?}: {}", stored.message());
        assert!(has(&stored.json(), one), "{one:?}: {}", stored.json());
    }
    drop(on);
    let off = server(&store, registry, Some(gate));
    let mut documents = BTreeMap::new();
    for one in &uses {
        keeps_what_is_stored(&off, one).await;
        drops_what_is_new(&off, one).await;
        is_not_published(&off, one, &mut documents).await;
    }
}

/// A change of something else leaves the field as it is, and nobody is told anything.
async fn keeps_what_is_stored(off: &Fixture, one: &Use) {
    let path = format!("{}/{}", collection(one.kind), one.name("on"));
    let mut stored = off.request("GET", &path, &[], "").await.json();
    assert!(has(&stored, one), "{one:?}: {stored}");
    set(&mut stored, "/metadata/labels", r#"{"changed":"yes"}"#);
    let strict = format!("{path}?fieldValidation=Strict");
    let put = off.request("PUT", &strict, &JSON, stored.to_string()).await;
    assert_eq!(put.code, 200, "{one:?}: {}", put.message());
    assert!(has(&put.json(), one), "{one:?}: {}", put.json());
    assert_eq!(
        put.json().str_at(&["metadata", "labels", "changed"]),
        Some("yes")
    );
    let headers = [("content-type", "application/merge-patch+json")];
    let patch = r#"{"metadata":{"labels":{"changed":"again"}}}"#;
    let patched = off.request("PATCH", &strict, &headers, patch).await;
    assert_eq!(patched.code, 200, "{one:?}: {}", patched.message());
    assert!(has(&patched.json(), one), "{one:?}");
    if one.is_status() {
        let status = format!("{path}/status?fieldValidation=Strict");
        let put = off
            .request("PUT", &status, &JSON, patched.json().to_string())
            .await;
        assert_eq!(put.code, 200, "{one:?}: {}", put.message());
        assert!(has(&put.json(), one), "{one:?}");
    }
}

async fn drops_what_is_new(off: &Fixture, one: &Use) {
    let name = one.name("off");
    let strict = write(off, one, &name, "fieldValidation=Strict").await;
    assert_eq!(strict.code, 400, "{one:?}: {}", strict.message());
    let told = format!("(feature gate {} is off)", one.gate());
    let message = strict.message();
    assert!(
        message.contains("strict decoding error: ")
            && message.contains(&one.path())
            && message.contains(&told),
        "{one:?}: {message}"
    );

    let warned = write(off, one, &name, "fieldValidation=Warn").await;
    let warning = warned.warnings();
    let field = one.path();
    assert!(
        warning.contains(&field) && warning.contains(&told),
        "{one:?}: {warning}"
    );
    if one.is_refused() {
        assert_eq!(warned.code, 422, "{one:?}");
        return;
    }
    if one.is_only_member {
        // Without the field nothing is left of what has it, and that is not allowed, as upstream has it.
        assert_eq!(warned.code, 422, "{one:?}: {}", warned.message());
        return;
    }
    assert!(warned.code.is_success(), "{one:?}: {}", warned.message());
    assert!(!has(&warned.json(), one), "{one:?}: {}", warned.json());
    let owners = warned.json().at(&["metadata", "managedFields"]).cloned();
    let text = owners.unwrap_or_default().to_string();
    let owned = format!("\"f:{}\"", one.field);
    assert!(
        !text.contains(&owned) || one.is_elsewhere(),
        "{one:?}: {text}"
    );

    let ignored = write(off, one, &one.name("quiet"), "fieldValidation=Ignore").await;
    assert!(ignored.code.is_success(), "{one:?}: {}", ignored.message());
    assert!(!ignored.warnings().contains("feature gate"));
    assert!(!has(&ignored.json(), one), "{one:?}");
}

async fn is_not_published(off: &Fixture, one: &Use, documents: &mut BTreeMap<String, Value>) {
    let row = one.row();
    let group = collection(one.kind).split("/namespaces").next().unwrap();
    let group = group.trim_start_matches('/');
    let version = match group.strip_prefix("apis/") {
        Some(rest) => format!(
            "apis/{}",
            rest.split('/').take(2).collect::<Vec<_>>().join("/")
        ),
        None => "api/v1".to_owned(),
    };
    let path = format!("/openapi/v3/{version}");
    if !documents.contains_key(&path) {
        let document = off.request("GET", &path, &[], "").await;
        assert_eq!(document.code, 200, "{path}");
        documents.insert(path.clone(), document.json());
    }
    let document = &documents[&path];
    let schemas = document.at(&["components", "schemas"]).unwrap();
    let schemas = schemas.as_object().unwrap();
    let package = row.package.replace('/', ".");
    let suffix = format!(".{package}.{}", one.published_type());
    let mut found = schemas.iter().filter(|(name, _)| name.ends_with(&suffix));
    let (_, schema) = found.next().unwrap_or_else(|| panic!("{suffix}"));
    if row.is_value {
        let text = schema.to_string();
        assert!(!text.contains(&format!("\"{}\"", row.field)), "{text}");
        return;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_published = properties.is_some_and(|it| it.contains_key(row.field));
    assert!(!is_published, "{one:?}");
}

/// Every row whose type is part of a served kind, has a use above.
#[test]
fn no_row_is_left_out() {
    let used: BTreeSet<(&str, &str, &str)> = USES
        .iter()
        .map(|it| (it.row().package, it.type_name, it.field))
        .collect();
    let missing: Vec<String> = features::fields()
        .iter()
        .filter(|it| it.gate.is_some() && uses::is_served(it))
        .filter(|it| !used.contains(&(it.package, it.type_name, it.field)))
        .map(|it| format!("{} {} {}", it.package, it.type_name, it.field))
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[tokio::test]
async fn server_side_apply_owns_no_field_that_is_off() {
    let store = store::embedded::in_memory(&store::Options::default());
    let off = server(&store, registry(), Some("MaxUnavailableStatefulSet"));
    let mut applied = object("StatefulSet", "web");
    set(
        &mut applied,
        "/spec/updateStrategy",
        r#"{"type":"RollingUpdate","rollingUpdate":{"partition":1,"maxUnavailable":2}}"#,
    );
    let headers = [("content-type", "application/apply-patch+yaml")];
    let apply = async |validation: &str| {
        let path = format!(
            "{}/web?fieldManager=m&fieldValidation={validation}",
            collection("StatefulSet")
        );
        off.request("PATCH", &path, &headers, applied.to_string())
            .await
    };
    let strict = apply("Strict").await;
    assert_eq!(strict.code, 400);
    assert_eq!(
        strict.message(),
        "StatefulSet in version \"v1\" cannot be handled as a StatefulSet: strict decoding error: disabled field \
         \"spec.updateStrategy.rollingUpdate.maxUnavailable\" (feature gate MaxUnavailableStatefulSet is off)"
    );
    for code in [201, 200] {
        let done = apply("Warn").await;
        assert_eq!(done.code, code, "{}", done.message());
        assert!(done.warnings().contains("MaxUnavailableStatefulSet"));
        let text = done.json().to_string();
        assert!(
            text.contains("\"f:partition\"") && !text.contains("axUnavailable"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_field_that_is_on_by_default_can_be_turned_off_by_an_earlier_version() {
    let flags = features::Flags {
        emulated_version: vec!["1.34".to_owned()],
        ..features::Flags::default()
    };
    let features = flags.resolve(Registry::kubernetes()).unwrap();
    let old = Fixture::with(|config| config.settings.features = features);
    let mut sent = object("CSIDriver", "d");
    // New in 1.35.
    set(&mut sent, "/spec/serviceAccountTokenInSecrets", "true");
    set(&mut sent, "/spec/seLinuxMount", "true");
    let made = old
        .request("POST", collection("CSIDriver"), &JSON, sent.to_string())
        .await;
    assert_eq!(made.code, 201, "{}", made.message());
    let spec = made.json().at(&["spec"]).cloned().unwrap_or(json!({}));
    assert_eq!(spec.get("serviceAccountTokenInSecrets"), None);
    assert_eq!(spec.get("seLinuxMount"), Some(&Value::Bool(true)));
    assert!(made.warnings().contains("CSIServiceAccountTokenSecrets"));
    let document = old.request("GET", "/openapi/v3/api/v1", &[], "").await;
    assert_eq!(document.json().str_at(&["info", "version"]), Some("1.34"));
}

/// Resources come and go with their gates, and with the version that brought them.
#[tokio::test]
async fn gates_and_emulated_versions_decide_what_is_served() {
    let served = async |gates: &str, version: &str| -> BTreeSet<String> {
        let flags = features::Flags {
            feature_gates: vec![gates.to_owned()],
            emulated_version: vec![version.to_owned()],
            ..features::Flags::default()
        };
        let features = flags.resolve(Registry::kubernetes()).unwrap();
        let server = Fixture::with(|config| config.settings.features = features);
        let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        let mut found = BTreeSet::new();
        for root in ["/api", "/apis"] {
            let list = server.request("GET", root, &[("accept", accept)], "").await;
            let list = list.json();
            let items = |value: &Value, key: &str| -> Vec<Value> {
                let items = value.get(key).and_then(Value::as_array);
                items.cloned().unwrap_or_default()
            };
            for group in items(&list, "items") {
                let name = group.str_at(&["metadata", "name"]).unwrap_or_default();
                for version in items(&group, "versions") {
                    let version_name = version.str_at(&["version"]).unwrap();
                    for resource in items(&version, "resources") {
                        let plural = resource.str_at(&["resource"]).unwrap();
                        found.insert(format!("{name}/{version_name}/{plural}"));
                        for sub in items(&resource, "subresources") {
                            let sub = sub.str_at(&["subresource"]).unwrap();
                            found.insert(format!("{name}/{version_name}/{plural}/{sub}"));
                        }
                    }
                }
            }
        }
        let path = "/apis/certificates.k8s.io/v1/clustertrustbundles";
        let code = server.request("GET", path, &[], "").await.code;
        let is_listed = found.contains("certificates.k8s.io/v1/clustertrustbundles");
        assert_eq!(code.as_u16(), if is_listed { 200 } else { 404 });
        found
    };
    let gone = |before: &BTreeSet<String>, after: &BTreeSet<String>| -> Vec<String> {
        assert_eq!(after.difference(before).count(), 0);
        before.difference(after).cloned().collect()
    };
    let all = served("", "1.37").await;
    let off =
        "ClusterTrustBundle=false,ClusterTrustBundleProjection=false,StorageVersionMigrator=false";
    assert_eq!(
        gone(&all, &served(off, "1.37").await),
        [
            "certificates.k8s.io/v1/clustertrustbundles",
            "storagemigration.k8s.io/v1/storageversionmigrations",
            "storagemigration.k8s.io/v1/storageversionmigrations/status",
        ]
    );
    let older = served("", "1.36").await;
    assert!(older.contains("admissionregistration.k8s.io/v1/mutatingadmissionpolicies"));
    assert!(!older.contains("resource.k8s.io/v1/devicetaintrules"));
    let oldest = served("", "1.34").await;
    assert!(!oldest.contains("admissionregistration.k8s.io/v1/mutatingadmissionpolicies"));
    assert!(
        !oldest
            .iter()
            .any(|it| it.starts_with("storagemigration.k8s.io/"))
    );
    assert_eq!(
        gone(
            &oldest,
            &served("InPlacePodVerticalScaling=false", "1.34").await
        ),
        ["/v1/pods/resize"]
    );
}

impl Use {
    fn row(&self) -> &'static features::GatedField {
        let mut rows = features::fields().iter();
        let found = rows.find(|it| {
            (it.type_name, it.field) == (self.type_name, self.field) && uses::is_served(it)
        });
        found.unwrap_or_else(|| panic!("no row: {self:?}"))
    }

    fn gate(&self) -> &'static str {
        self.row().gate_name
    }

    fn is_refused(&self) -> bool {
        self.is_value || self.row().rule == Rule::Forbidden
    }

    fn is_status(&self) -> bool {
        self.at.starts_with("/status")
    }

    /// As errors name it.
    fn path(&self) -> String {
        let mut path = String::new();
        for part in self.at.split('/').skip(1) {
            let part = part.replace("~1", "/");
            if part.parse::<usize>().is_ok() {
                let _ = write!(path, "[{part}]");
            } else {
                path.push_str(if path.is_empty() { "" } else { "." });
                path.push_str(&part);
            }
        }
        path
    }

    fn name(&self, how: &str) -> String {
        let name = format!("{how}-{}-{}", self.type_name, self.field).to_lowercase();
        match self.kind {
            "CustomResourceDefinition" => name.replace('-', "") + ".example.com",
            _ => name,
        }
    }
}
