mod rows;

use json::{Value, parse};

use self::rows::{CREATED, UPDATED};
use super::*;
use crate::strategy::GarbageCollection;

const CONTEXT: Context<'_> = Context {
    user: Some(User {
        name: "jane",
        uid: "u1",
        groups: &[],
        extra: &[],
    }),
    now: "2026-01-01T00:00:00Z",
    uid: "fresh",
};

/// Parts of a result: `path=json`, or `path!` for what must not be there; keys with dots are written with `/`.
fn expect(value: &Value, parts: &[&str], case: &str) {
    for part in parts {
        let (path, wanted) = match part.strip_suffix('!') {
            Some(path) => (path, None),
            None => part
                .split_once('=')
                .map(|(path, it)| (path, Some(parse(it.as_bytes()).unwrap())))
                .unwrap(),
        };
        let found = path.split('.').try_fold(value, |value, key| match value {
            Value::Array(items) => items.get(key.parse::<usize>().ok()?),
            _ => value.get(&key.replace('|', ".")),
        });
        assert_eq!(found, wanted.as_ref(), "{case}: {path}\n{value}");
    }
}

/// Any version of a kind: those that the rows use are alike.
fn version_of(group: &str, kind: &str) -> &'static str {
    let mut all = crate::builtin().resources.iter();
    all.find(|it| it.group == *group && it.kind == *kind)
        .map_or("v1", |it| &it.version)
}

#[test]
fn created() {
    for (kind, object, expected) in CREATED {
        let (api, kind) = kind.split_once(' ').unwrap();
        let (group, version) = api.split_once('/').unwrap_or(("", api));
        let mut value = parse(object.as_bytes()).unwrap();
        create(group, version, kind, &mut value, &CONTEXT);
        expect(&value, expected, &format!("{kind} {object}"));
    }
}

#[test]
fn updated() {
    for (kind, old, new, expected) in UPDATED {
        let (group, kind) = kind.split_once(' ').unwrap();
        let (kind, subresource) = kind.split_once('/').unwrap();
        let old = parse(old.as_bytes()).unwrap();
        let mut value = parse(new.as_bytes()).unwrap();
        update(
            group,
            version_of(group, kind),
            kind,
            subresource,
            &mut value,
            &old,
            &CONTEXT,
        );
        expect(&value, expected, &format!("{kind}/{subresource} {new}"));
    }
}

#[test]
fn custom_kinds() {
    let mut value = parse(br#"{"spec":1,"status":2}"#).unwrap();
    create_custom(&mut value, true);
    expect(&value, &["status!", "metadata.generation=1"], "create");

    let old =
        parse(br#"{"metadata":{"generation":1,"labels":{"a":"b"}},"spec":1,"status":2}"#).unwrap();
    for (sub, new, has_status, expected) in [
        (
            "",
            r#"{"metadata":{},"spec":1,"status":3}"#,
            true,
            &["status=2", "metadata.generation=1"][..],
        ),
        (
            "",
            r#"{"metadata":{},"spec":1,"status":3}"#,
            false,
            &["status=3", "metadata.generation=2"],
        ),
        (
            "",
            r#"{"metadata":{},"spec":2}"#,
            true,
            &["status=2", "metadata.generation=2"],
        ),
        (
            "status",
            r#"{"metadata":{"managedFields":[7]},"spec":2,"status":3}"#,
            true,
            &[
                "spec=1",
                "status=3",
                r#"metadata.labels={"a":"b"}"#,
                "metadata.managedFields=[7]",
            ],
        ),
        (
            "status",
            r#"{"metadata":{},"spec":2}"#,
            true,
            &["spec=1", "status!"],
        ),
    ] {
        let mut value = parse(new.as_bytes()).unwrap();
        update_custom(sub, &mut value, &old, has_status);
        expect(&value, expected, new);
    }
}

#[test]
fn reset_fields_follow_the_rows() {
    for (group, kind, sub, expected) in [
        ("", "ConfigMap", "", ResetFields::Paths(&[])),
        ("apps", "Deployment", "", ResetFields::Paths(&[&["status"]])),
        (
            "apps",
            "Deployment",
            "status",
            ResetFields::Paths(&[&["spec"], &["metadata", "labels"]]),
        ),
        (
            "apps",
            "ReplicaSet",
            "status",
            ResetFields::Paths(&[&["spec"]]),
        ),
        (
            "storage.k8s.io",
            "CSINode",
            "status",
            ResetFields::Paths(&[&["spec"], &["metadata"]]),
        ),
        (
            "",
            "Pod",
            "ephemeralcontainers",
            ResetFields::AllBut(&[&["spec", "ephemeralContainers"]]),
        ),
        ("", "Node", "", ResetFields::Paths(&[&["status"]])),
    ] {
        assert_eq!(reset_fields(group, kind, sub), expected, "{kind}/{sub}");
    }
    assert!(strategy::find("coordination.k8s.io", "Lease").allow_create_on_update);
    assert!(!strategy::find("", "ConfigMap").allow_create_on_update);
    assert!(strategy::find("", "ConfigMap").allow_unconditional_update);
    assert!(!strategy::find("example.com", "Foo").allow_unconditional_update);
}

#[test]
fn deletion() {
    let pod = |text: &str| parse(text.as_bytes()).unwrap();
    let bound = pod(
        r#"{"spec":{"nodeName":"n","terminationGracePeriodSeconds":30},"status":{"phase":"Running"}}"#,
    );
    let unbound = pod(r#"{"spec":{"terminationGracePeriodSeconds":30}}"#);
    let done = pod(r#"{"spec":{"nodeName":"n"},"status":{"phase":"Succeeded"}}"#);
    for (pod, asked, period) in [
        (&bound, None, 30),
        (&bound, Some(5), 5),
        (&bound, Some(0), 0),
        (&bound, Some(-1), 1),
        (&unbound, None, 0),
        (&unbound, Some(10), 0),
        (&done, Some(10), 0),
    ] {
        assert_eq!(
            strategy::find("", "Pod").deletion.grace_period(pod, asked),
            Some(period),
            "{pod} {asked:?}"
        );
    }
    assert_eq!(
        strategy::find("", "Node")
            .deletion
            .grace_period(&bound, None),
        None
    );
    assert_eq!(
        strategy::find("batch", "Job").deletion.dependents,
        GarbageCollection::Orphan
    );
    assert_eq!(
        strategy::find("", "Event").deletion.dependents,
        GarbageCollection::Unsupported
    );
    assert_eq!(
        strategy::find("apps", "Deployment").deletion.dependents,
        GarbageCollection::Delete
    );
}

#[test]
fn field_selectors() {
    for (group, kind, label, expected) in [
        ("", "Pod", "spec.host", Ok("spec.nodeName")),
        (
            "",
            "Pod",
            "spec.nope",
            Err("field label not supported: spec.nope"),
        ),
        (
            "",
            "Node",
            "metadata.namespace",
            Err("field label not supported: metadata.namespace"),
        ),
        (
            "batch",
            "Job",
            "x",
            Err("field label \"x\" not supported for Job"),
        ),
        (
            "resource.k8s.io",
            "ResourceSlice",
            "x",
            Err("field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: x"),
        ),
        (
            "apps",
            "ReplicaSet",
            "status.replicas",
            Err(
                "\"status.replicas\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
            ),
        ),
        ("", "ConfigMap", "metadata.name", Ok("metadata.name")),
        (
            "events.k8s.io",
            "Event",
            "regarding.kind",
            Ok("regarding.kind"),
        ),
        ("", "Secret", "type", Ok("type")),
    ] {
        let found = field_label(group, "v1", kind, label).map_err(|it| it.to_string());
        assert_eq!(found, expected.map_err(str::to_owned), "{kind} {label}");
    }
    assert!(custom_field_label(&[".spec.color"], "spec.color").is_ok());
    let error = custom_field_label(&[".spec.color"], "spec.size").unwrap_err();
    assert_eq!(error.to_string(), "field label not supported: spec.size");

    let value = parse(
        br#"{"metadata":{"name":"n"},"spec":{"hostNetwork":true},"status":{"podIPs":[{"ip":"1.1.1.1"}],"succeeded":2},"reportingComponent":"c"}"#,
    )
    .unwrap();
    for (group, kind, label, expected) in [
        ("", "Pod", "metadata.name", "n"),
        ("", "Pod", "spec.hostNetwork", "true"),
        ("", "Pod", "status.podIP", "1.1.1.1"),
        ("", "Pod", "status.phase", ""),
        ("", "Node", "spec.unschedulable", "false"),
        ("batch", "Job", "status.successful", "2"),
        ("", "Event", "source", "c"),
        ("", "ReplicationController", "status.replicas", "0"),
    ] {
        assert_eq!(
            field_value(group, kind, &value, label),
            expected,
            "{kind} {label}"
        );
    }
}
