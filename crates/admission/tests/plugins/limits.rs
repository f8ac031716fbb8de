//! `LimitRanger`.

use admission::{LimitRanger, Operation};
use json::{Value, json};

use super::world::Case;

const RANGES: &str = "/limitranges";

fn range(limits: Value) -> Value {
    json!({"metadata": {"name": "range", "namespace": "shop"}, "spec": {"limits": limits}})
}

fn pod(resources: Value) -> Value {
    json!({"metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "resources": resources}]}})
}

#[test]
fn containers_get_what_they_do_not_say() {
    let limits = json!([{
        "type": "Container",
        "default": {"cpu": "2", "memory": "1Gi"},
        "defaultRequest": {"cpu": "1"},
    }, {"type": "Pod", "default": {"cpu": "9"}}]);
    let create = Case::create(&LimitRanger, "/pods").with(RANGES, range(limits));
    let empty = json!({
        "metadata": {"name": "web"},
        "spec": {"containers": [{"name": "c"}], "initContainers": [{"name": "i", "resources": {"limits": {"cpu": "3"}}}]},
    });
    let note = "LimitRanger plugin set: cpu request for container c; cpu, memory limit for container c; cpu request for init container i; memory limit for init container i";
    let filled = json!({
        "metadata": {"name": "web", "annotations": {"kubernetes.io/limit-ranger": note}},
        "spec": {
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}}}],
            "initContainers": [{"name": "i", "resources": {"limits": {"cpu": "3", "memory": "1Gi"}, "requests": {"cpu": "1"}}}],
        },
    });
    assert_eq!(create.ok(&empty), filled);
    let said = pod(json!({"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}}));
    create.same(&said);
    // Of another namespace.
    let other = Case {
        namespace: "other",
        ..create
    };
    other.same(&empty);
}

#[test]
fn a_container_stays_within_its_bounds() {
    let limits = json!([{
        "type": "Container",
        "min": {"cpu": "100m"},
        "max": {"cpu": "1"},
        "maxLimitRequestRatio": {"cpu": "2"},
    }]);
    let create = Case::create(&LimitRanger, "/pods").with(RANGES, range(limits));
    let cpu = |request: &str, limit: &str| {
        pod(json!({"requests": {"cpu": request}, "limits": {"cpu": limit}}))
    };
    create.same(&cpu("100m", "200m"));
    create.same(&cpu("500m", "1"));
    let why = |pod: &Value| create.err(pod).replace("pods \"web\" is forbidden: ", "");
    assert_eq!(
        why(&cpu("99m", "150m")),
        "minimum cpu usage per Container is 100m, but request is 99m"
    );
    assert_eq!(
        why(&cpu("600m", "1001m")),
        "maximum cpu usage per Container is 1, but limit is 1001m"
    );
    assert_eq!(
        why(&cpu("300m", "601m")),
        "cpu max limit to request ratio per Container is 2, but provided ratio is 2.003333"
    );
    assert_eq!(
        why(&pod(json!({}))),
        "[minimum cpu usage per Container is 100m.  No request is specified, maximum cpu usage per Container is 1.  No limit is specified, cpu max limit to request ratio per Container is 2, but no request is specified or request is 0]"
    );
    assert_eq!(
        why(&pod(
            json!({"requests": {"cpu": "1001m"}, "limits": {"cpu": "1"}})
        )),
        "maximum cpu usage per Container is 1, but request is 1001m"
    );
    assert_eq!(
        why(&pod(
            json!({"requests": {"cpu": "200m"}, "limits": {"cpu": "99m"}})
        )),
        "minimum cpu usage per Container is 100m, but limit is 99m"
    );
    assert_eq!(
        why(&pod(
            json!({"requests": {"cpu": "200m"}, "limits": {"cpu": "0"}})
        )),
        "[minimum cpu usage per Container is 100m, but limit is 0, cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0]"
    );
}

#[test]
fn large_amounts_are_compared_whole() {
    let limits = json!([{"type": "Container", "max": {"memory": "9Ei"}}]);
    let create = Case::create(&LimitRanger, "/pods").with(RANGES, range(limits));
    let memory = |limit: &str| pod(json!({"limits": {"memory": limit}}));
    create.same(&memory("7Ei"));
    create.same(&memory("1"));
    let limits = json!([{"type": "Container", "max": {"memory": "7Ei"}}]);
    let create = Case::create(&LimitRanger, "/pods").with(RANGES, range(limits));
    create.same(&memory("7Ei"));
    assert!(
        create
            .err(&memory("7500Pi"))
            .contains("but limit is 7500Pi")
    );
}

#[test]
fn a_pod_counts_as_a_whole() {
    let limits = json!([{"type": "Pod", "max": {"cpu": "4"}}]);
    let create = Case::create(&LimitRanger, "/pods").with(RANGES, range(limits));
    let container =
        |name: &str, cpu: &str| json!({"name": name, "resources": {"limits": {"cpu": cpu}}});
    let sidecar = |name: &str, cpu: &str| json!({"name": name, "restartPolicy": "Always", "resources": {"limits": {"cpu": cpu}}});
    let pod = |init: Value, main: Value| json!({"metadata": {"name": "web"}, "spec": {"initContainers": init, "containers": main}});
    // The others run together, init containers one after the other.
    create.same(&pod(
        json!([]),
        json!([(container("a", "2")), (container("b", "2"))]),
    ));
    create.same(&pod(
        json!([(container("i", "4")), (container("j", "4"))]),
        json!([(container("a", "1"))]),
    ));
    let over = |it: &Value, limit: &str| {
        let why = format!(
            "pods \"web\" is forbidden: maximum cpu usage per Pod is 4, but limit is {limit}"
        );
        assert_eq!(create.err(it), why);
    };
    over(
        &pod(
            json!([]),
            json!([(container("a", "2")), (container("b", "3"))]),
        ),
        "5",
    );
    over(
        &pod(
            json!([(container("i", "5"))]),
            json!([(container("a", "1"))]),
        ),
        "5",
    );
    // A sidecar goes on beside those that come after it.
    over(
        &pod(
            json!([(sidecar("s", "2")), (container("i", "3"))]),
            json!([(container("a", "1"))]),
        ),
        "5",
    );
    over(
        &pod(json!([(sidecar("s", "2"))]), json!([(container("a", "3"))])),
        "5",
    );
    create.same(&pod(
        json!([(container("i", "3")), (sidecar("s", "2"))]),
        json!([(container("a", "2"))]),
    ));
    // What the pod says of itself counts more.
    let own = json!({"metadata": {"name": "web"}, "spec": {
        "resources": {"limits": {"cpu": "6"}},
        "containers": [(container("a", "1"))],
    }});
    over(&own, "6");
}

#[test]
fn a_claim_stays_within_its_bounds() {
    let limits = json!([{"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}}]);
    let claim = |size: &str| json!({"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": size}}}});
    let create = Case {
        kind: "PersistentVolumeClaim",
        ..Case::create(&LimitRanger, "/persistentvolumeclaims").with(RANGES, range(limits))
    };
    create.same(&claim("1Gi"));
    create.same(&claim("2Gi"));
    let prefix = "persistentvolumeclaims \"data\" is forbidden: ";
    let why = |claim: &Value| create.err(claim).replace(prefix, "");
    assert_eq!(
        why(&claim("3Gi")),
        "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"
    );
    assert_eq!(
        why(&claim("1")),
        "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1"
    );
    assert_eq!(
        why(&json!({"metadata": {"name": "data"}})),
        "[minimum storage usage per PersistentVolumeClaim is 1Gi.  No request is specified, maximum storage usage per PersistentVolumeClaim is 2Gi.  No request is specified]"
    );
}

#[test]
fn what_is_looked_at() {
    let old = || json!({"metadata": {"name": "web"}});
    let handles = |operation, resource, kind| {
        let case = Case {
            operation,
            kind,
            ..Case::update(&LimitRanger, resource, old())
        };
        case.handles()
    };
    assert!(handles(Operation::Create, "/pods", "Pod"));
    assert!(!handles(Operation::Update, "/pods", "Pod"));
    assert!(handles(Operation::Update, "/pods/resize", "Pod"));
    assert!(!handles(
        Operation::Update,
        "/x/resize",
        "PersistentVolumeClaim"
    ));
    assert!(handles(
        Operation::Update,
        "/persistentvolumeclaims",
        "PersistentVolumeClaim"
    ));
    assert!(!handles(Operation::Create, "/services", "Service"));
    assert!(!handles(Operation::Create, "example.com/pods", "Pod"));
    assert!(!handles(Operation::Delete, "/pods", "Pod"));
    let deleted = json!({"metadata": {"name": "web", "deletionTimestamp": "2026-01-01T00:00:00Z"}});
    let resize = Case::update(&LimitRanger, "/pods/resize", deleted);
    assert!(!resize.handles());
}
