use json::json;

use super::*;
use crate::field::{Error, Path};
use crate::names;

fn texts(errors: &[Error]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn writers_keep_the_order() {
    let mut object = json!({"spec": {}, "apiVersion": "v1", "kind": "Pod"});
    set_managed_fields(&mut object, vec![json!({"manager": "m"})]);
    set_label(&mut object, "z", "1");
    set_label(&mut object, "a", "2");
    set_uid(&mut object, "u");
    set_name(&mut object, "n");
    set_generation(&mut object, 3);
    set_creation_timestamp(&mut object, Some(Time::from_unix(0, 0)));
    set_deletion(&mut object, Some(Time::from_unix(5, 0)), Some(30));
    assert!(add_finalizer(&mut object, "f"));
    assert!(!add_finalizer(&mut object, "f"));
    let want = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"n","uid":"u","generation":3,"creationTimestamp":"1970-01-01T00:00:00Z","deletionTimestamp":"1970-01-01T00:00:05Z","deletionGracePeriodSeconds":30,"labels":{"a":"2","z":"1"},"finalizers":["f"],"managedFields":[{"manager":"m"}]},"spec":{}}"#;
    assert_eq!(json::to_string(&object), want);
    assert!(is_being_deleted(&object));
    assert_eq!(deletion_grace_period_seconds(&object), Some(30));
    assert_eq!(label(&object, "z"), Some("1"));

    set_deletion(&mut object, None, None);
    set_creation_timestamp(&mut object, None);
    set_generation(&mut object, 0);
    assert!(remove_finalizer(&mut object, "f"));
    assert!(!remove_finalizer(&mut object, "f"));
    assert_eq!(take_managed_fields(&mut object).len(), 1);
    remove_label(&mut object, "a");
    remove_label(&mut object, "z");
    set_uid(&mut object, "");
    let want = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"n"},"spec":{}}"#;
    assert_eq!(json::to_string(&object), want);
}

#[test]
fn whatever_is_there_is_read() {
    for odd in [
        json!(null),
        json!([]),
        json!({"metadata": 1}),
        json!({"metadata": {"name": 1}}),
    ] {
        assert_eq!((name(&odd), generation(&odd)), ("", 0));
        assert!(labels(&odd).is_none());
        assert_eq!(finalizers(&odd).count(), 0);
        let mut odd = odd;
        set_name(&mut odd, "n");
        assert_eq!(name(&odd), "n");
    }
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment"});
    assert_eq!(
        gvk(&object).map(|it| it.to_string()).as_deref(),
        Ok("apps/v1, Kind=Deployment")
    );
    assert!(is_list(&json!({"kind": "PodList", "items": []})));
    assert!(!is_list(&json!({"kind": "AllowList"})));
    assert_eq!(
        json::to_string(&list_meta("5", "", Some(0))),
        r#"{"resourceVersion":"5","remainingItemCount":0}"#
    );
}

#[test]
fn created_objects_are_checked() {
    let not_a_label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    let bad_namespace = format!("f.namespace: Invalid value: \"A\": {not_a_label}");
    let table = [
        (
            json!({"name": "test", "generateName": "foo-"}),
            false,
            vec![],
        ),
        (
            json!({}),
            false,
            vec!["f.name: Required value: name or generateName is required"],
        ),
        (
            json!({"name": "a"}),
            true,
            vec!["f.namespace: Required value"],
        ),
        (
            json!({"name": "a", "namespace": "b"}),
            false,
            vec!["f.namespace: Forbidden: not allowed on this type"],
        ),
        (
            json!({"name": "a", "namespace": "A"}),
            true,
            vec![&*bad_namespace],
        ),
        (
            json!({"name": "a", "namespace": "b.c"}),
            true,
            vec!["f.namespace: Invalid value: \"b.c\": must not contain dots"],
        ),
        (
            json!({"name": "a", "generation": (-1)}),
            false,
            vec!["f.generation: Invalid value: -1: must be greater than or equal to 0"],
        ),
        (
            json!({"name": "a", "finalizers": ["orphan", "foregroundDeletion"]}),
            false,
            vec![
                r#"f.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set"#,
            ],
        ),
        (
            json!({"name": "a", "managedFields": [{"operation": "x", "fieldsType": "y", "manager": "\u{7}"}, {}]}),
            false,
            vec![
                r#"f.managedFields[0].operation: Unsupported value: "x": supported values: "Apply", "Update""#,
                r#"f.managedFields[0].fieldsType: Invalid value: "y": must be `FieldsV1`"#,
                r#"f.managedFields[0].manager: Invalid value: "\a": invalid character U+0007 (at position 0)"#,
                "f.managedFields[1].operation: Required value: must not be empty",
            ],
        ),
    ];
    for (metadata, namespaced, want) in table {
        let object = json!({"metadata": metadata});
        let errors = validate_object_meta(
            &object,
            namespaced,
            names::name_is_dns_subdomain,
            &Path::new("f"),
        );
        assert_eq!(texts(&errors), want);
    }
    let object = json!({"metadata": {"name": "A", "generateName": "B"}});
    let errors = validate_object_meta(&object, false, names::name_is_dns_label, &Path::new("f"));
    let fields: Vec<&str> = errors.iter().map(|it| &*it.field).collect();
    assert_eq!(fields, ["f.generateName", "f.name"]);
}

#[test]
fn owners_are_checked() {
    let owner = |version: &str, kind: &str, controller: Option<bool>| {
        let mut owner = json!({"apiVersion": version, "kind": kind, "name": "name", "uid": "1"});
        if let (Some(it), Some(object)) = (controller, owner.as_object_mut()) {
            object.insert("controller", it);
        }
        owner
    };
    let table = [
        (vec![owner("v", "K", None)], ""),
        (
            vec![owner("v1", "Event", None)],
            r#"f[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"name","uid":"1"}: /v1, Kind=Event is disallowed from being an owner"#,
        ),
        (
            vec![owner("a/b/c", "Pod", None)],
            r#"f[0].apiVersion: Invalid value: "a/b/c": must be <group>/<version> or <version>"#,
        ),
        (
            vec![owner("foo/", "Pod", None)],
            r#"f[0].apiVersion: Invalid value: "foo/": must be <group>/<version> or <version>"#,
        ),
        (
            vec![
                owner("v1", "Pod", Some(false)),
                owner("v1", "Pod", Some(true)),
            ],
            "",
        ),
        (
            vec![owner("v1", "A", Some(true)), owner("v1", "B", Some(true))],
            r#"f: Invalid value: [{"apiVersion":"v1","kind":"A","name":"name","uid":"1","controller":true},{"apiVersion":"v1","kind":"B","name":"name","uid":"1","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for A/name and B/name"#,
        ),
        (
            vec![json!({})],
            "[f[0].apiVersion: Required value: must not be empty, f[0].kind: Required value: must not be empty, f[0].name: Required value: must not be empty, f[0].uid: Required value: must not be empty]",
        ),
    ];
    for (owners, want) in table {
        let errors = validate_owner_references(&owners, &Path::new("f"));
        assert_eq!(crate::field::aggregate(&errors), want);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn updates_are_checked() {
    let base = || json!({"name": "test", "resourceVersion": "1"});
    let with = |pairs: Value| {
        let mut metadata = base();
        let pairs = pairs.as_object().cloned().unwrap_or_default();
        for (key, value) in pairs {
            metadata
                .as_object_mut()
                .expect("it is one")
                .insert(key, value);
        }
        metadata
    };
    let (now, later) = ("1970-01-01T00:16:40Z", "1970-01-01T00:33:20Z");
    let deleted =
        |finalizers: Value| with(json!({"deletionTimestamp": now, "finalizers": finalizers}));
    let table = [
        (base(), base(), vec![]),
        (
            base(),
            json!({"name": "test"}),
            vec![r#"f.resourceVersion: Invalid value: "": must be specified for an update"#],
        ),
        (
            base(),
            with(json!({"name": "x"})),
            vec![r#"f.name: Invalid value: "x": field is immutable"#],
        ),
        (
            base(),
            with(json!({"uid": "x"})),
            vec![r#"f.uid: Invalid value: "x": field is immutable"#],
        ),
        (
            base(),
            with(json!({"deletionTimestamp": now})),
            vec![
                r#"f.deletionTimestamp: Invalid value: "1970-01-01T00:16:40Z": field is immutable"#,
            ],
        ),
        (
            with(json!({"deletionTimestamp": now})),
            base(),
            vec!["f.deletionTimestamp: Invalid value: null: field is immutable"],
        ),
        (
            with(json!({"deletionTimestamp": now})),
            with(json!({"deletionTimestamp": later})),
            vec![
                r#"f.deletionTimestamp: Invalid value: "1970-01-01T00:33:20Z": field is immutable"#,
            ],
        ),
        (
            with(json!({"creationTimestamp": now})),
            with(json!({"creationTimestamp": "1970-01-01T01:16:40+01:00"})),
            vec![],
        ),
        (
            base(),
            with(json!({"creationTimestamp": "1970-01-01T01:16:40+01:00"})),
            vec![
                r#"f.creationTimestamp: Invalid value: "1970-01-01T00:16:40Z": field is immutable"#,
            ],
        ),
        (
            with(json!({"creationTimestamp": now})),
            base(),
            vec!["f.creationTimestamp: Invalid value: null: field is immutable"],
        ),
        (
            base(),
            with(json!({"deletionGracePeriodSeconds": 30})),
            vec!["f.deletionGracePeriodSeconds: Invalid value: 30: field is immutable"],
        ),
        (
            with(json!({"deletionGracePeriodSeconds": 30})),
            base(),
            vec!["f.deletionGracePeriodSeconds: Invalid value: null: field is immutable"],
        ),
        (
            with(json!({"generation": 5})),
            with(json!({"generation": 4})),
            vec!["f.generation: Invalid value: 4: must not be decremented"],
        ),
        (
            with(json!({"generation": 5})),
            with(json!({"generation": 6})),
            vec![],
        ),
        (
            deleted(json!(["x/a"])),
            deleted(json!(["x/a", "y/b", "x/c"])),
            vec![
                r#"f.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/c", "y/b"}"#,
            ],
        ),
        (
            deleted(json!(["x/a", "y/b"])),
            deleted(json!(["x/a"])),
            vec![],
        ),
        (
            with(json!({"finalizers": ["x/a"]})),
            with(json!({"finalizers": ["x/a", "y/b"]})),
            vec![],
        ),
    ];
    for (old, new, want) in table {
        let (old, new) = (json!({"metadata": old}), json!({"metadata": new}));
        let errors = validate_object_meta_update(&new, &old, &Path::new("f"));
        assert_eq!(texts(&errors), want, "{new}");
    }
}

#[test]
fn annotations_are_checked() {
    let check = |pairs: Vec<(&str, String)>| {
        let pairs: Object = pairs.into_iter().collect();
        texts(&validate_annotations(&pairs, &Path::new("f")))
    };
    let limit = TOTAL_ANNOTATION_SIZE_LIMIT;
    for good in [
        "simple",
        "UpperCase123",
        "now-with.dashes-and.dots/simple",
        "Example.com/a",
    ] {
        assert_eq!(
            check(vec![(good, "bar".into())]),
            Vec::<String>::new(),
            "{good}"
        );
    }
    assert!(check(vec![("a", "b".repeat(limit - 1))]).is_empty());
    let too_long = "f: Too long: may not be more than 262144 bytes";
    assert_eq!(check(vec![("a", "b".repeat(limit))]), [too_long]);
    assert_eq!(
        check(vec![
            ("a", "b".repeat(limit / 2)),
            ("c", "d".repeat(limit / 2))
        ]),
        [too_long]
    );
    for bad in ["nospecialchars^=@", "cantendwithadash-", "only/one/slash"] {
        assert_eq!(check(vec![(bad, "bar".into())]).len(), 1, "{bad}");
    }
}

#[test]
fn conditions_are_checked() {
    let good = json!({
        "type": "Ready", "status": "True", "reason": "Fine", "lastTransitionTime": "2020-01-01T00:00:00Z", "message": ""
    });
    let table = [
        (Value::Array(vec![good.clone()]), ""),
        (
            Value::Array(vec![good.clone(), good]),
            r#"f[1]: Duplicate value: "Ready""#,
        ),
        (
            json!([{"type": "Ready", "status": "x", "observedGeneration": (-1), "reason": "1"}]),
            r#"[f[0].status: Unsupported value: "x": supported values: "False", "True", "Unknown", f[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero, f[0].lastTransitionTime: Required value, f[0].reason: Invalid value: "1": a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')]"#,
        ),
        (
            json!([{"status": "True", "reason": "A", "lastTransitionTime": "x"}]),
            "f[0].type: Required value: is required",
        ),
    ];
    for (conditions, want) in table {
        let conditions = conditions.as_array().cloned().unwrap_or_default();
        let errors = validate_conditions(&conditions, &Path::new("f"));
        assert_eq!(crate::field::aggregate(&errors), want);
    }
}
