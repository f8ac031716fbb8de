//! resource.k8s.io: before v1beta2 a request had no `exactly` and a device kept its facts in `basic`.

use json::{Object, Value};

use crate::defaults::is_zero;

const REQUEST_FIELDS: [&str; 8] = [
    "deviceClassName",
    "selectors",
    "allocationMode",
    "count",
    "adminAccess",
    "tolerations",
    "capacity",
    "derivedAttributes",
];

pub(super) fn from_v1beta1(kind: &str, object: &mut Object) {
    each_request(kind, object, |request| {
        let mut exactly = Object::new();
        for key in REQUEST_FIELDS {
            if let Some(value) = request.remove(key).filter(|it| !it.is_null()) {
                exactly.insert(key, value);
            }
        }
        if exactly.values().any(|it| !is_zero(it)) {
            request.insert("exactly", exactly);
        }
    });
    // Plain fields became pointers, for which a zero is a value.
    if kind == "ResourceSlice"
        && let Some(Value::Object(spec)) = object.get_mut("spec")
    {
        for key in ["nodeName", "allNodes"] {
            if spec.get(key).is_some_and(is_zero) {
                spec.remove(key);
            }
        }
    }
    each_device(kind, object, |device| {
        if let Some(Value::Object(basic)) = device.remove("basic") {
            for (key, value) in basic {
                device.insert(key, value);
            }
        }
    });
}

pub(super) fn to_v1beta1(kind: &str, object: &mut Object) {
    each_request(kind, object, |request| {
        if let Some(Value::Object(exactly)) = request.remove("exactly") {
            for (key, value) in exactly {
                request.insert(key, value);
            }
        }
    });
    each_device(kind, object, |device| {
        let mut basic = std::mem::take(device);
        if let Some(name) = basic.remove("name") {
            device.insert("name", name);
        }
        device.insert("basic", basic);
    });
}

fn each_request(kind: &str, object: &mut Object, act: impl FnMut(&mut Object)) {
    let path: &[&str] = match kind {
        "ResourceClaim" => &["devices", "requests"],
        "ResourceClaimTemplate" => &["spec", "devices", "requests"],
        _ => return,
    };
    each(object, path, act);
}

fn each_device(kind: &str, object: &mut Object, act: impl FnMut(&mut Object)) {
    if kind == "ResourceSlice" {
        each(object, &["devices"], act);
    }
}

fn each(object: &mut Object, path: &[&str], act: impl FnMut(&mut Object)) {
    let items = object.get_mut("spec").and_then(|it| it.at_mut(path));
    if let Some(Value::Array(items)) = items {
        items
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .for_each(act);
    }
}

#[test]
fn there_and_back() {
    for (kind, old, new) in [
        (
            "ResourceClaim",
            r#"{"spec":{"devices":{"requests":[{"name":"a","deviceClassName":"c","count":1},{"name":"b","firstAvailable":[{"name":"x"}]}]}}}"#,
            r#"{"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"c","count":1}},{"name":"b","firstAvailable":[{"name":"x"}]}]}}}"#,
        ),
        (
            "ResourceClaimTemplate",
            r#"{"spec":{"spec":{"devices":{"requests":[{"name":"a","allocationMode":"All"}]}}}}"#,
            r#"{"spec":{"spec":{"devices":{"requests":[{"name":"a","exactly":{"allocationMode":"All"}}]}}}}"#,
        ),
        (
            "ResourceSlice",
            r#"{"spec":{"devices":[{"name":"d","basic":{"attributes":{"a":{"int":1}}}}]}}"#,
            r#"{"spec":{"devices":[{"name":"d","attributes":{"a":{"int":1}}}]}}"#,
        ),
    ] {
        let (old, new) = (
            json::parse(old.as_bytes()).unwrap(),
            json::parse(new.as_bytes()).unwrap(),
        );
        let same = |a: &Value, b: &Value| a.get("spec") == b.get("spec");
        let mut it = old.clone();
        super::to(
            "resource.k8s.io",
            "v1beta1",
            kind,
            &mut it,
            ("resource.k8s.io", "v1"),
        )
        .unwrap();
        assert!(same(&it, &new), "{it}");
        super::to(
            "resource.k8s.io",
            "v1",
            kind,
            &mut it,
            ("resource.k8s.io", "v1beta1"),
        )
        .unwrap();
        assert!(same(&it, &old), "{it}");
    }
}
