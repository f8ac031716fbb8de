//! Upstream keeps every kind in JSON and in protobuf: both must be one and the same to us.

use std::path::PathBuf;

use schema::{builtin, protobuf};

/// `PILOTHOUSE_K8S_TESTDATA`, or the checkout beside this one.
fn testdata() -> PathBuf {
    let beside = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../peers/k8s/staging/src/k8s.io/api/testdata/HEAD"
    );
    std::env::var_os("PILOTHOUSE_K8S_TESTDATA").map_or(beside.into(), PathBuf::from)
}

#[requires::requires(kubernetes_testdata)]
#[test]
fn every_kind_of_upstreams_test_data() {
    let directory = testdata();
    let (mut seen, mut unknown, mut wrong) = (0, Vec::new(), Vec::new());
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    files.sort();
    for file in files
        .iter()
        .filter(|it| it.extension().is_some_and(|it| it == "json"))
    {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let value = json::parse(&std::fs::read(file).unwrap()).unwrap();
        let bytes = std::fs::read(file.with_extension("pb")).unwrap();
        // Three kinds of no group have neither version nor kind on them.
        let api_version = value.str_at(&["apiVersion"]).unwrap_or_default();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let Some(schema) =
            builtin().kind(group, version, value.str_at(&["kind"]).unwrap_or_default())
        else {
            unknown.push(name);
            continue;
        };
        seen += 1;
        if !schema::unknown(schema.place(), &value).is_empty() {
            wrong.push(format!(
                "{name}: {:?}",
                schema::unknown(schema.place(), &value)
            ));
        }
        if let Err(error) = schema::check_types(schema.place(), &value) {
            wrong.push(format!("{name}: {error}"));
        }
        let mut canonical = value.clone();
        schema::canonical(schema.place(), &mut canonical);
        if canonical.to_string() != value.to_string() {
            wrong.push(format!(
                "{name}: canonical {}",
                differ(&canonical.to_string(), &value.to_string())
            ));
        }
        match protobuf::decode_object(&bytes) {
            Ok(decoded) if decoded.to_string() == value.to_string() => {}
            Ok(decoded) => wrong.push(format!(
                "{name}: decoded {}",
                differ(&decoded.to_string(), &value.to_string())
            )),
            Err(error) => wrong.push(format!("{name}: decode: {error}")),
        }
        match protobuf::encode_object(schema.place(), &value) {
            Ok(encoded) if encoded == bytes => {}
            Ok(_) => wrong.push(format!("{name}: encoded bytes differ")),
            Err(error) => wrong.push(format!("{name}: encode: {error}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n{} wrong of {seen}",
        wrong.join("\n"),
        wrong.len()
    );
    eprintln!("{seen} kinds; no longer served: {unknown:?}");
    assert!(seen > 100, "{seen}");
}

fn differ(a: &str, b: &str) -> String {
    let at = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let from = at.saturating_sub(60);
    let cut = |text: &str| {
        text.get(from..(at + 80).min(text.len()))
            .unwrap_or_default()
            .to_owned()
    };
    format!("{} instead of {}", cut(a), cut(b))
}

const PROPS: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

#[test]
fn broken_bytes_are_errors_not_panics() {
    let pod = json::json!({
        "kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a", "labels": {"x": "y"}},
        "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}], "priority": 7}
    });
    let schema = builtin().kind("", "v1", "Pod").unwrap();
    let bytes = protobuf::encode_object(schema.place(), &pod).unwrap();
    for end in 0..bytes.len() {
        let _ = protobuf::decode_object(&bytes[..end]);
    }
    for at in 0..bytes.len() {
        for flip in [0x01, 0x07, 0x80, 0xff] {
            let mut broken = bytes.clone();
            broken[at] ^= flip;
            let _ = protobuf::decode_object(&broken);
        }
    }
    assert_eq!(
        protobuf::decode_object(b"{}"),
        Err(protobuf::Error::NoMagic)
    );
    assert_eq!(
        protobuf::decode_object(&bytes[..bytes.len() - 6]),
        Err(protobuf::Error::Truncated)
    );
}

/// As Go's generated code makes room for what it is about to read.
#[test]
fn what_was_sent_empty_is_not_null() {
    let list = builtin().kind("", "v1", "APIResourceList").unwrap();
    let value = json::json!({"groupVersion": "v1", "resources": [
        {"name": "a", "singularName": "", "namespaced": true, "kind": "A", "verbs": []},
    ]});
    let bytes = protobuf::encode(list.place(), &value).unwrap();
    assert_eq!(protobuf::decode(list.place(), &bytes), Ok(value));
    // Entries of maps with a key and no value: `labels` is field 11 of the metadata, which is field 1.
    let map = builtin().kind("", "v1", "ConfigMap").unwrap();
    let bytes = [0x0a, 5, 0x5a, 3, 0x0a, 1, b'a'];
    let value = protobuf::decode(map.place(), &bytes).unwrap();
    assert_eq!(value.str_at(&["metadata", "labels", "a"]), Some(""));
    let quota = builtin().named("io.k8s.api.core.v1.ResourceQuotaSpec");
    let quota = quota.unwrap();
    let bytes = [0x0a, 3, 0x0a, 1, b'a'];
    let value = protobuf::decode(quota.place(), &bytes).unwrap();
    assert_eq!(value.str_at(&["hard", "a"]), Some("0"));
    // Not one that is none.
    let bytes = [0x0a, 8, 0x0a, 1, b'a', 0x12, 3, 0x0a, 1, b'x'];
    let error = protobuf::decode(quota.place(), &bytes).unwrap_err();
    assert!(
        error.to_string().starts_with("quantities must match"),
        "{error}"
    );
}

#[test]
fn depth_is_bounded() {
    let schema = builtin().named(PROPS).unwrap();
    // `not`, field 28, again and again.
    let mut bytes = Vec::new();
    for _ in 0..400 {
        let mut outer = vec![0xe2, 0x01];
        let mut length = bytes.len();
        while length > 0x7f {
            outer.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
            length >>= 7;
        }
        outer.push(u8::try_from(length).unwrap());
        outer.append(&mut bytes);
        bytes = outer;
    }
    assert_eq!(
        protobuf::decode(schema.place(), &bytes),
        Err(protobuf::Error::TooLarge)
    );
    assert_eq!(
        protobuf::decode(schema.place(), &[0xe2, 0x01, 0x00]).unwrap(),
        json::json!({"not": {}})
    );
}

#[test]
fn frames_of_a_watch() {
    let object = protobuf::seal("v1", "Pod", b"");
    let frame = protobuf::watch_frame("ADDED", &object);
    let length = usize::try_from(u32::from_be_bytes(frame[..4].try_into().unwrap())).unwrap();
    assert_eq!(length, frame.len() - 4);
    let event = builtin().kind("", "v1", "WatchEvent").unwrap();
    let value = protobuf::decode(event.place(), &frame[4..]).unwrap();
    assert_eq!(value.str_at(&["type"]), Some("ADDED"));
    assert_eq!(value.str_at(&["object", "kind"]), Some("Pod"));
}

#[test]
fn kinds_without_protobuf() {
    let has =
        |group, kind| protobuf::is_supported(builtin().kind(group, "v1", kind).unwrap().place());
    assert!(has("", "Pod") && has("meta.k8s.io", "PartialObjectMetadataList"));
    assert!(!has("meta.k8s.io", "Table"));
}

/// Who says what others own in no form that can be read says nothing of it.
#[test]
fn sets_of_fields_that_are_none_are_text() {
    let map = json::json!({
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "a", "managedFields": [{"manager": "m", "fieldsV1": {"f:data": {}}}]},
    });
    let schema = schema::builtin().kind("", "v1", "ConfigMap").unwrap();
    let mut bytes = schema::protobuf::encode_object(schema.place(), &map).unwrap();
    let (fields, odd) = (br#"{"f:data":{}}"#, br#"{"f:data":{}]"#);
    let at = bytes.windows(fields.len()).position(|it| it == fields);
    let at = at.unwrap();
    bytes[at..at + odd.len()].copy_from_slice(odd);
    let read = schema::protobuf::decode_object(&bytes).unwrap();
    let managers = read.at(&["metadata", "managedFields"]).unwrap();
    let first = &managers.as_array().unwrap()[0];
    assert_eq!(first.str_at(&["fieldsV1"]), Some(r#"{"f:data":{}]"#));
}
