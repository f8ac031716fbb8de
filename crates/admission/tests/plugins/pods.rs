//! Plugins that fill or check pods: priority, tolerations, runtime classes, topology labels, resizing.

use admission::{
    DefaultTolerationSeconds, NodeDeclaredFeatureValidator, Operation, PodResizeValidator,
    PodTopologyLabels, Priority, RuntimeClass,
};
use json::{Value, json};

use super::world::Case;

const CLASSES: &str = "scheduling.k8s.io/priorityclasses";

fn class(name: &str, value: i64, default: bool) -> Value {
    json!({"metadata": {"name": name}, "value": value, "globalDefault": default, "preemptionPolicy": "Never"})
}

fn spec(spec: Value) -> Value {
    json!({"metadata": {"name": "web"}, "spec": spec})
}

#[test]
fn a_pod_has_the_priority_of_its_class() {
    let create = || Case::create(&Priority, "/pods").with(CLASSES, class("high", 9, false));
    let named = spec(json!({"priorityClassName": "high"}));
    let filled = json!({"priorityClassName": "high", "priority": 9, "preemptionPolicy": "Never"});
    assert_eq!(create().ok(&named), spec(filled.clone()));
    create().same(&spec(filled));
    let none = json!({"priority": 0, "preemptionPolicy": "PreemptLowerPriority"});
    assert_eq!(create().ok(&spec(json!({}))), spec(none));
    assert_eq!(
        create().err(&spec(json!({"priorityClassName": "low"}))),
        "pods \"web\" is forbidden: no PriorityClass with name low was found"
    );
    assert_eq!(
        create().err(&spec(json!({"priorityClassName": "high", "priority": 8}))),
        "pods \"web\" is forbidden: the integer value of priority (8) must not be provided in pod spec; priority admission controller computed 9 from the given PriorityClass name"
    );
    let policy = json!({"priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority"});
    assert_eq!(
        create().err(&spec(policy)),
        "pods \"web\" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name"
    );
    // Of several defaults the lowest.
    let defaults = create()
        .with(CLASSES, class("b", 5, true))
        .with(CLASSES, class("a", 3, true));
    let filled = json!({"priorityClassName": "a", "priority": 3, "preemptionPolicy": "Never"});
    assert_eq!(defaults.ok(&spec(json!({}))), spec(filled));
}

#[test]
fn a_change_keeps_the_priority_that_it_leaves_out() {
    let old = spec(json!({"priority": 9, "preemptionPolicy": "Never"}));
    let update = Case::update(&Priority, "/pods", old.clone());
    assert_eq!(update.ok(&spec(json!({}))), old);
    let other = spec(json!({"priority": 1, "preemptionPolicy": "Always"}));
    update.same(&other);
    Case::update(&Priority, "/pods", spec(json!({}))).same(&spec(json!({})));
    Case::create(&Priority, "/pods/binding").same(&spec(json!({})));
    Case::create(&Priority, "apps/pods").same(&spec(json!({})));
}

#[test]
fn one_class_is_the_default() {
    let create = || Case::create(&Priority, CLASSES).with(CLASSES, class("first", 1, true));
    create().same(&class("second", 2, false));
    assert_eq!(
        create().err(&class("second", 2, true)),
        "priorityclasses.scheduling.k8s.io \"second\" is forbidden: PriorityClass first is already marked as default. Only one default can exist"
    );
    Case::create(&Priority, CLASSES).same(&class("first", 1, true));
    let update = Case {
        operation: Operation::Update,
        ..create()
    };
    update.same(&class("first", 1, true));
    update.err(&class("second", 2, true));
}

#[test]
fn a_pod_leaves_a_node_that_does_not_answer_in_time() {
    let plugin = DefaultTolerationSeconds {
        not_ready: 30,
        unreachable: 40,
    };
    let toleration = |taint: &str, seconds: i64| {
        let key = format!("node.kubernetes.io/{taint}");
        json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds})
    };
    let both = [toleration("not-ready", 30), toleration("unreachable", 40)];
    let both = spec(json!({"tolerations": (both.into_iter().collect::<Value>())}));
    let create = Case::create(&plugin, "/pods");
    assert_eq!(create.ok(&spec(json!({}))), both);
    create.same(&both);
    Case::update(&plugin, "/pods", both.clone()).same(&both);
    assert_eq!(
        Case::update(&plugin, "/pods", both.clone()).ok(&spec(json!({}))),
        both
    );
    // Everything, and everything with this effect.
    create.same(&spec(json!({"tolerations": [{"operator": "Exists"}]})));
    create.same(&spec(
        json!({"tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}),
    ));
    let tolerations = |object: Value| {
        let list = object
            .at(&["spec", "tolerations"])
            .and_then(Value::as_array)
            .cloned();
        list.map_or(0, |it| it.len())
    };
    let own = json!({"key": "node.kubernetes.io/not-ready", "operator": "Exists"});
    assert_eq!(
        tolerations(create.ok(&spec(json!({"tolerations": [own]})))),
        2
    );
    let other = json!({"operator": "Exists", "effect": "NoSchedule"});
    assert_eq!(
        tolerations(create.ok(&spec(json!({"tolerations": [other]})))),
        3
    );
    let default = DefaultTolerationSeconds::default();
    assert_eq!((default.not_ready, default.unreachable), (300, 300));
    Case::create(&plugin, "/pods/status").same(&spec(json!({})));
    Case::create(&plugin, "/nodes").same(&spec(json!({})));
}

const RUNTIME: &str = "node.k8s.io/runtimeclasses";

fn runtime_class() -> Value {
    json!({
        "metadata": {"name": "vm"},
        "overhead": {"podFixed": {"cpu": "100m", "memory": "1Gi"}},
        "scheduling": {
            "nodeSelector": {"vm": "yes"},
            "tolerations": [{"key": "vm", "operator": "Exists"}],
        },
    })
}

#[test]
fn a_runtime_class_has_its_cost_and_its_nodes() {
    let create = || Case::create(&RuntimeClass, "/pods").with(RUNTIME, runtime_class());
    let filled = spec(json!({
        "runtimeClassName": "vm",
        "overhead": {"cpu": "100m", "memory": "1Gi"},
        "nodeSelector": {"vm": "yes"},
        "tolerations": [{"key": "vm", "operator": "Exists"}],
    }));
    assert_eq!(
        create().ok(&spec(json!({"runtimeClassName": "vm"}))),
        filled
    );
    create().same(&filled);
    // The same amount in other words; what is filled in is the class's.
    let same = spec(json!({"runtimeClassName": "vm", "overhead": {"cpu": "0.1", "memory": "1Gi"}}));
    assert_eq!(
        create().ok(&same).str_at(&["spec", "overhead", "cpu"]),
        Some("100m")
    );
    let differs = "pods \"web\" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
    let other = json!({"runtimeClassName": "vm", "overhead": {"cpu": "200m", "memory": "1Gi"}});
    assert_eq!(create().err(&spec(other)), differs);
    let less = json!({"runtimeClassName": "vm", "overhead": {"cpu": "100m"}});
    assert_eq!(create().err(&spec(less)), differs);
    assert_eq!(
        create().err(&spec(json!({"runtimeClassName": "other"}))),
        "pods \"web\" is forbidden: pod rejected: RuntimeClass \"other\" not found"
    );
    assert_eq!(
        create().err(&spec(
            json!({"runtimeClassName": "vm", "nodeSelector": {"vm": "no"}})
        )),
        "pods \"web\" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no"
    );
    let without = "pods \"web\" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
    assert_eq!(
        create().err(&spec(json!({"overhead": {"cpu": "1"}}))),
        without
    );
    create().same(&spec(json!({})));
    let plain = || json!({"metadata": {"name": "plain"}});
    let pod = spec(json!({"runtimeClassName": "plain"}));
    create().with(RUNTIME, plain()).same(&pod);
    let costly = spec(json!({"runtimeClassName": "plain", "overhead": {"cpu": "1"}}));
    assert_eq!(create().with(RUNTIME, plain()).err(&costly), without);
    let update = Case {
        operation: Operation::Update,
        ..create()
    };
    update.same(&spec(json!({"runtimeClassName": "vm"})));
}

#[test]
fn tolerations_of_pod_and_class_are_merged() {
    let merged = |own: Value, more: Value| {
        let class = json!({"metadata": {"name": "c"}, "scheduling": {"tolerations": more}});
        let create = Case::create(&RuntimeClass, "/pods").with(RUNTIME, class);
        let pod = spec(json!({"runtimeClassName": "c", "tolerations": own}));
        create
            .ok(&pod)
            .at(&["spec", "tolerations"])
            .cloned()
            .unwrap_or_default()
    };
    let all = json!({"operator": "Exists"});
    let equal = |value: &str| json!({"key": "k", "operator": "Equal", "value": value});
    let exists = json!({"key": "k", "operator": "Exists"});
    let effect = |effect: &str| json!({"key": "k", "operator": "Exists", "effect": effect});
    let timed = |seconds: i64| json!({"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds});
    let list = |items: &[&Value]| items.iter().map(|it| (*it).clone()).collect::<Value>();
    for (own, more, want) in [
        (&equal("a"), &equal("a"), vec![equal("a")]),
        (&equal("a"), &equal("b"), vec![equal("a"), equal("b")]),
        (&equal("a"), &exists, vec![exists.clone()]),
        (&exists, &equal("a"), vec![exists.clone()]),
        (&exists, &all, vec![all.clone()]),
        (&effect("NoSchedule"), &exists, vec![exists.clone()]),
        (&exists, &effect("NoSchedule"), vec![exists.clone()]),
        (
            &effect("NoSchedule"),
            &effect("NoExecute"),
            vec![effect("NoSchedule"), effect("NoExecute")],
        ),
        (&timed(5), &timed(9), vec![timed(9)]),
        (&timed(9), &timed(5), vec![timed(9)]),
        (&effect("NoExecute"), &timed(5), vec![effect("NoExecute")]),
        (&timed(5), &effect("NoExecute"), vec![effect("NoExecute")]),
    ] {
        let found = merged(list(&[own]), list(&[more]));
        let want = list(&want.iter().collect::<Vec<_>>());
        assert_eq!(
            found,
            want,
            "{} and {}",
            json::to_string(own),
            json::to_string(more)
        );
    }
}

#[test]
fn a_pod_gets_the_zone_and_the_region_of_its_node() {
    let node = json!({"metadata": {"name": "n", "labels": {
        "topology.kubernetes.io/region": "eu",
        "topology.kubernetes.io/zone": "eu-1",
        "kubernetes.io/hostname": "n",
    }}});
    let labels =
        json!({"topology.kubernetes.io/region": "eu", "topology.kubernetes.io/zone": "eu-1"});
    let create = |resource| Case::create(&PodTopologyLabels, resource).with("/nodes", node.clone());
    let pod = spec(json!({"nodeName": "n"}));
    assert_eq!(
        create("/pods").ok(&pod).at(&["metadata", "labels"]),
        Some(&labels)
    );
    create("/pods").same(&spec(json!({})));
    create("/pods").same(&spec(json!({"nodeName": "gone"})));
    let target = |kind: &str| json!({"target": {"kind": kind, "name": "n"}});
    let bound = create("/pods/binding").ok(&target("Node"));
    assert_eq!(bound.at(&["metadata", "labels"]), Some(&labels));
    create("/pods/binding").same(&target("Pod"));
    create("/pods/status").same(&pod);
    create("/other").same(&pod);
    let update = Case {
        operation: Operation::Update,
        ..create("/pods")
    };
    update.same(&pod);
}

fn generation(generation: i64, spec: Value) -> Value {
    json!({"metadata": {"name": "web", "generation": generation}, "spec": spec})
}

#[test]
fn a_pod_grows_as_far_as_its_node_has_room() {
    let node = |os: &str| {
        json!({
            "metadata": {"name": "n", "labels": {"kubernetes.io/os": os}},
            "status": {"allocatable": {"cpu": "2", "memory": "1Gi"}},
        })
    };
    let pod = |cpu: &str| {
        let containers =
            json!([{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]);
        generation(2, json!({"nodeName": "n", "containers": containers}))
    };
    let old = || generation(1, json!({"nodeName": "n"}));
    let resize = || Case::update(&PodResizeValidator, "/pods/resize", old());
    let linux = || resize().with("/nodes", node("linux"));
    linux().same(&pod("2"));
    assert_eq!(
        linux().err(&pod("2001m")),
        "pods \"web\" is forbidden: node didn't have enough allocatable resources: cpu, requested: 2001, allocatable: 2000"
    );
    let mut large = pod("3");
    large
        .as_object_mut()
        .expect("an object")
        .get_mut("spec")
        .expect("a spec")
        .as_object_mut()
        .expect("an object")
        .insert("overhead", json!({"memory": "1"}));
    assert_eq!(
        linux().err(&large),
        "pods \"web\" is forbidden: node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000; memory, requested: 1073741825, allocatable: 1073741824"
    );
    assert_eq!(
        resize().with("/nodes", node("windows")).err(&pod("1")),
        "pods \"web\" is forbidden: pod resize is only supported on linux nodes, node \"n\" is \"windows\""
    );
    assert_eq!(
        resize().err(&pod("1")),
        "pods \"web\" is forbidden: node \"n\" not found"
    );
    // Nothing changes, or there is no node yet.
    resize().same(&generation(1, json!({"nodeName": "n"})));
    resize().same(&generation(2, json!({})));
    Case::update(&PodResizeValidator, "/pods", old()).same(&pod("9"));
    Case::update(&PodResizeValidator, "/other/resize", old()).same(&pod("9"));
    Case::create(&PodResizeValidator, "/pods/resize").same(&pod("9"));
}

#[test]
fn a_pod_changes_to_what_its_node_can_do() {
    let node = |features: Value| json!({"metadata": {"name": "n"}, "status": {"declaredFeatures": features}});
    let init = |cpu: &str, restart: &str| json!([{"name": "i", "restartPolicy": restart, "resources": {"requests": {"cpu": cpu}}}]);
    let pod = |number: i64, cpu: &str, init: Value| {
        generation(
            number,
            json!({"nodeName": "n", "resources": {"requests": {"cpu": cpu}}, "initContainers": init}),
        )
    };
    let update = |old: Value| Case::update(&NodeDeclaredFeatureValidator, "/pods/resize", old);
    let old = || pod(1, "1", init("1", ""));
    let none = || node(json!([]));
    update(old())
        .with("/nodes", none())
        .same(&pod(2, "1", init("1", "")));
    let all = node(json!([
        "InPlacePodLevelResourcesVerticalScaling",
        "InPlacePodVerticalScalingInitContainers"
    ]));
    update(old())
        .with("/nodes", all)
        .same(&pod(2, "2", init("2", "")));
    assert_eq!(
        update(old())
            .with("/nodes", none())
            .err(&pod(2, "2", init("2", ""))),
        "pods \"web\" is forbidden: pod update requires features InPlacePodLevelResourcesVerticalScaling, InPlacePodVerticalScalingInitContainers which are not available on node \"n\""
    );
    let one = node(json!(["InPlacePodLevelResourcesVerticalScaling"]));
    assert_eq!(
        update(old())
            .with("/nodes", one)
            .err(&pod(2, "2", init("2", ""))),
        "pods \"web\" is forbidden: pod update requires features InPlacePodVerticalScalingInitContainers which are not available on node \"n\""
    );
    // A sidecar can always be resized.
    let sidecar = pod(1, "1", init("1", "Always"));
    update(sidecar)
        .with("/nodes", none())
        .same(&pod(2, "1", init("2", "Always")));
    assert_eq!(
        update(old()).err(&pod(2, "2", init("1", ""))),
        "pods \"web\" is forbidden: node \"n\" not found"
    );
    update(old()).same(&pod(1, "2", init("2", "")));
    let status = Case::update(&NodeDeclaredFeatureValidator, "/pods/status", old());
    status.same(&pod(2, "2", init("2", "")));
    let whole = Case::update(&NodeDeclaredFeatureValidator, "/pods", old());
    whole.err(&pod(2, "2", init("2", "")));
    Case::create(&NodeDeclaredFeatureValidator, "/pods").same(&pod(2, "2", init("2", "")));
}
