//! `PodSecurity`: what a namespace enforces, warns of and has audited. The single checks have tests beside them.

use admission::{Operation, PodSecurity};
use json::{Value, json};

use super::world::Case;

fn namespace(labels: &[(&str, &str)]) -> Value {
    let mut object = json!({"metadata": {"name": "shop", "labels": {}}});
    for (key, value) in labels {
        let key = format!("pod-security.kubernetes.io/{key}");
        meta::object::set_label(&mut object, &key, value);
    }
    object
}

fn host() -> Value {
    json!({"metadata": {"name": "web"}, "spec": {"hostNetwork": true, "containers": [{"name": "c", "image": "a"}]}})
}

fn plain() -> Value {
    json!({"metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "image": "a"}]}})
}

const HOST: &str = "host namespaces (hostNetwork=true)";

#[test]
fn pods_are_refused_by_what_is_enforced() {
    let create = |labels: &[(&str, &str)]| {
        let case = Case::create(&PodSecurity, "/pods").with("/namespaces", namespace(labels));
        Case {
            name: "web",
            ..case
        }
    };
    create(&[]).same(&host());
    create(&[("enforce", "privileged")]).same(&host());
    create(&[("enforce", "baseline")]).same(&plain());
    assert_eq!(
        create(&[("enforce", "baseline")]).err(&host()),
        format!("pods \"web\" is forbidden: violates PodSecurity \"baseline:latest\": {HOST}")
    );
    let restricted = create(&[("enforce", "restricted"), ("enforce-version", "v1.30")]);
    let why = restricted.err(&plain());
    let start = "pods \"web\" is forbidden: violates PodSecurity \"restricted:v1.30\": allowPrivilegeEscalation != false";
    assert!(why.starts_with(start), "{why}");
    // A level that nobody knows is the strictest.
    create(&[("enforce", "strange")]).err(&plain());
    assert_eq!(
        Case::create(&PodSecurity, "/pods").err(&plain()),
        "Internal error occurred: failed to lookup namespace \"shop\""
    );
}

#[test]
fn warnings_and_audit_annotations_refuse_nothing() {
    let run = |labels: &[(&str, &str)], resource, object: &Value| {
        let case = Case::create(&PodSecurity, resource).with("/namespaces", namespace(labels));
        let admitting = case.run(object).expect("admitted");
        (admitting.warnings, admitting.audit_annotations)
    };
    let would = |level: &str| format!("would violate PodSecurity \"{level}:latest\": {HOST}");
    let annotation =
        |key: &str, value: String| (format!("pod-security.kubernetes.io/{key}"), value);
    let enforced = annotation("enforce-policy", "privileged:latest".into());
    let (warnings, annotations) = run(&[("warn", "baseline")], "/pods", &host());
    assert_eq!(warnings, [would("baseline")]);
    assert_eq!(annotations, std::slice::from_ref(&enforced));
    let (warnings, annotations) = run(&[("audit", "baseline")], "/pods", &host());
    assert!(warnings.is_empty());
    assert_eq!(
        annotations,
        [enforced, annotation("audit-violations", would("baseline"))]
    );
    // What makes pods is warned of what its pods will be refused for.
    for (resource, object) in [
        ("apps/deployments", json!({"spec": {"template": (host())}})),
        ("/podtemplates", json!({"template": (host())})),
        (
            "batch/cronjobs",
            json!({"spec": {"jobTemplate": {"spec": {"template": (host())}}}}),
        ),
    ] {
        let (warnings, _) = run(&[("enforce", "baseline")], resource, &object);
        assert_eq!(warnings, [would("baseline")], "{resource}");
    }
    let (warnings, _) = run(
        &[("enforce", "baseline"), ("warn", "privileged")],
        "apps/deployments",
        &json!({"spec": {"template": (host())}}),
    );
    assert!(warnings.is_empty());
    let (warnings, annotations) = run(
        &[("audit", "strange")],
        "apps/deployments",
        &json!({"spec": {"template": (host())}}),
    );
    assert!(warnings.is_empty());
    assert!(
        annotations[0].1.contains("Failed to parse policy"),
        "{annotations:?}"
    );
    // Without a spec there is nothing to look at.
    let (warnings, _) = run(
        &[("enforce", "baseline")],
        "apps/deployments",
        &json!({"spec": {}}),
    );
    assert!(warnings.is_empty());
}

#[test]
fn a_change_that_matters_is_looked_at() {
    let update = |old: Value| {
        Case::update(&PodSecurity, "/pods", old)
            .with("/namespaces", namespace(&[("enforce", "baseline")]))
    };
    let image = |image: &str, kind: &str| {
        let containers = json!([{"name": "c", "image": image}]);
        let mut pod = json!({"metadata": {"name": "web"}, "spec": {"hostNetwork": true}});
        let spec = pod.get_mut("spec").and_then(Value::as_object_mut);
        spec.expect("a spec").insert(kind, containers);
        pod
    };
    for kind in ["containers", "initContainers", "ephemeralContainers"] {
        update(image("a", kind)).same(&image("a", kind));
        update(image("a", kind)).err(&image("b", kind));
        update(json!({"spec": {}})).err(&image("a", kind));
    }
}

#[test]
fn what_is_looked_at() {
    for (operation, resource, handled) in [
        (Operation::Create, "/pods", true),
        (Operation::Update, "/pods/ephemeralcontainers", true),
        (Operation::Update, "/pods/resize", true),
        (Operation::Update, "/pods/status", false),
        (Operation::Delete, "/pods", false),
        (Operation::Update, "/namespaces", true),
        (Operation::Update, "/namespaces/status", false),
        (Operation::Create, "/replicationcontrollers", true),
        (Operation::Create, "batch/jobs", true),
        (Operation::Create, "apps/daemonsets", true),
        (Operation::Create, "/services", false),
        (Operation::Create, "example.com/pods", false),
    ] {
        let case = Case {
            operation,
            ..Case::create(&PodSecurity, resource)
        };
        assert_eq!(case.handles(), handled, "{operation:?} {resource}");
    }
}

#[test]
fn labels_of_a_namespace_are_checked() {
    let create = Case {
        name: "shop",
        ..Case::create(&PodSecurity, "/namespaces")
    };
    create.same(&namespace(&[
        ("enforce", "baseline"),
        ("enforce-version", "v1.20"),
        ("warn-version", "latest"),
    ]));
    let broken = namespace(&[("enforce", "strange"), ("audit-version", "v1.01")]);
    assert_eq!(
        create.err(&broken),
        "Namespace \"shop\" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"strange\": must be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/audit-version]: Invalid value: \"v1.01\": must be \"latest\" or \"v1.x\"]"
    );
    for version in ["1.20", "v1.", "v2.0", "v1.x", ""] {
        create.err(&namespace(&[("warn-version", version)]));
    }
    create.same(&namespace(&[("warn-version", "v1.0")]));
    // Labels that were broken before stay as they are.
    let update = |old: Value| Case {
        name: "shop",
        ..Case::update(&PodSecurity, "/namespaces", old)
    };
    update(broken.clone()).same(&broken);
    update(namespace(&[])).err(&broken);
}

#[test]
fn who_tightens_a_namespace_hears_of_the_pods_in_it() {
    let pod = |name: &str, owner: &str| {
        let mut pod = host();
        let metadata = meta::object::metadata_mut(&mut pod);
        metadata.insert("name", name);
        metadata.insert("namespace", "shop");
        if !owner.is_empty() {
            let owner = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": true}]);
            metadata.insert("ownerReferences", owner);
        }
        pod
    };
    let tighten = |old: &[(&str, &str)], new: &[(&str, &str)]| {
        let case = Case {
            name: "shop",
            ..Case::update(&PodSecurity, "/namespaces", namespace(old))
                .with("/pods", pod("b", "x"))
                .with("/pods", pod("a", "x"))
                .with("/pods", pod("c", ""))
                .with(
                    "/pods",
                    json!({"metadata": {"name": "fine", "namespace": "shop"}}),
                )
        };
        case.run(&namespace(new)).expect("admitted").warnings
    };
    let baseline = [("enforce", "baseline")];
    assert_eq!(
        tighten(&[], &baseline),
        [
            "existing pods in namespace \"shop\" violate the new PodSecurity enforce level \"baseline:latest\"",
            "a (and 2 other pods): host namespaces",
        ]
    );
    assert!(tighten(&baseline, &baseline).is_empty(), "nothing changes");
    assert!(tighten(&baseline, &[]).is_empty(), "it is relaxed");
    assert!(
        tighten(&[("enforce", "restricted")], &baseline).is_empty(),
        "it is relaxed"
    );
    let version = [("enforce", "baseline"), ("enforce-version", "v1.20")];
    assert_eq!(
        tighten(&version, &baseline).len(),
        2,
        "another version may forbid more"
    );
    let two = Case {
        name: "shop",
        ..Case::update(&PodSecurity, "/namespaces", namespace(&[]))
            .with("/pods", pod("b", ""))
            .with("/pods", pod("a", ""))
    };
    let warnings = two.run(&namespace(&baseline)).expect("admitted").warnings;
    assert_eq!(warnings[1], "a (and 1 other pod): host namespaces");
}
