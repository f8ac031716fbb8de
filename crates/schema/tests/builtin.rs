//! The table of built-in types says what Kubernetes' documents say.

use std::path::Path;

use json::Value;
use schema::{Format, Inside, ListType, MapType, NodeId, Place, Shape, builtin};

fn walk<'a>(mut place: Place<'a>, path: &str) -> Place<'a> {
    for step in path.split('.') {
        place = match step {
            "[]" => place.items(),
            _ => place.field(step),
        }
        .unwrap_or_else(|| panic!("{step} of {path}"));
    }
    place
}

#[test]
fn fields_stand_in_the_order_of_the_struct() {
    let schema = builtin().kind("", "v1", "Pod").unwrap();
    let Shape::Object { fields, .. } = schema.place().shape() else {
        panic!("an object");
    };
    let names: Vec<&str> = fields.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["kind", "apiVersion", "metadata", "spec", "status"]);
    let volume = walk(schema.place(), "spec.volumes.[]");
    let Shape::Object { fields, .. } = volume.shape() else {
        panic!("an object");
    };
    let names: Vec<&str> = fields.iter().map(|it| &*it.name).take(4).collect();
    assert_eq!(names, ["name", "hostPath", "emptyDir", "gcePersistentDisk"]);
}

#[test]
fn lists_and_patches() {
    let schema = builtin().kind("apps", "v1", "Deployment").unwrap();
    let strategy = walk(schema.place(), "spec.strategy").node();
    assert!(strategy.patch.retain_keys && !strategy.patch.merge);
    assert!(
        walk(schema.place(), "spec.strategy.type")
            .node()
            .values
            .is_some()
    );
    let ports = walk(schema.place(), "spec.template.spec.containers.[].ports");
    let Shape::List { list_type, .. } = ports.shape() else {
        panic!("a list");
    };
    assert_eq!(
        *list_type,
        ListType::Map(vec!["containerPort".into(), "protocol".into()])
    );
    assert!(ports.node().patch.merge);
    assert_eq!(
        ports.node().patch.merge_key.as_deref(),
        Some("containerPort")
    );
    let protocol = walk(ports, "[].protocol").node();
    assert_eq!(protocol.default, Some("TCP".into()));
    let values: Vec<&str> = protocol
        .values
        .iter()
        .flat_map(|it| it.iter().map(|it| &**it))
        .collect();
    assert_eq!(values, ["SCTP", "TCP", "UDP"]);
    assert_eq!(
        walk(ports, "[].containerPort").node().default,
        Some(0.into())
    );
    let selector = walk(schema.place(), "spec.selector");
    assert!(matches!(
        selector.shape(),
        Shape::Object {
            map_type: MapType::Atomic,
            ..
        }
    ));
    let limits = walk(
        schema.place(),
        "spec.template.spec.containers.[].resources.limits.cpu",
    );
    assert_eq!(limits.node().format, Format::Quantity);
}

#[test]
fn named_types_are_shared_and_may_contain_themselves() {
    let (a, b) = (
        builtin().kind("apps", "v1", "Deployment").unwrap(),
        builtin().kind("batch", "v1", "Job").unwrap(),
    );
    let spec = |place| walk(place, "spec.template.spec").id();
    assert_eq!(spec(a.place()), spec(b.place()));
    let props = builtin()
        .named("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps")
        .unwrap();
    assert_eq!(
        walk(props.place(), "properties.any.properties.any").id(),
        props.root
    );
    assert_eq!(
        walk(props.place(), "items").node().format,
        Format::SchemaOrArray(props.root)
    );
}

#[test]
fn kinds_of_every_group() {
    for (group, version, kind) in [
        ("", "v1", "Status"),
        ("", "v1", "List"),
        ("apps", "v1", "DeleteOptions"),
        ("policy", "v1", "Eviction"),
        ("autoscaling", "v1", "Scale"),
        ("meta.k8s.io", "v1", "PartialObjectMetadata"),
        ("apps", "v1", "DeploymentList"),
    ] {
        assert!(
            builtin().kind(group, version, kind).is_some(),
            "{group} {kind}"
        );
    }
    assert!(builtin().kind("apps", "v1", "Pod").is_none());
}

#[test]
fn protobuf_numbers() {
    let volume = builtin().named("io.k8s.api.core.v1.Volume").unwrap();
    let go = volume.place().node().go.clone().unwrap();
    assert_eq!(&*go.name, "v1.Volume");
    let source = builtin().named("io.k8s.api.core.v1.VolumeSource").unwrap();
    let members: Vec<_> = go.members.iter().map(|it| (it.number, it.what)).collect();
    assert_eq!(
        members,
        [(1, Inside::Field(0)), (2, Inside::Inlined(source.root))]
    );
}

#[test]
fn no_type_of_the_table_is_unknown() {
    let arena = builtin().arena();
    for node in &arena.nodes[1..] {
        // The first node stands for a name that was not found.
        let targets: Vec<NodeId> = match &node.shape {
            Shape::Object { fields, .. } => fields.iter().map(|it| it.node).collect(),
            Shape::Map { values, .. } => vec![*values],
            Shape::List { items, .. } => vec![*items],
            Shape::Any => {
                assert_ne!(node.format, Format::None, "{:?}", node.go);
                continue;
            }
            _ => continue,
        };
        assert!(!targets.contains(&NodeId(0)), "{:?}", node.go);
    }
}

/// Every property of every document is in the table, with its type.
#[requires::requires(openapi_documents)]
#[test]
fn documents_and_table_agree() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/openapi-v3");
    let list = std::fs::read_dir(&directory).expect("Kubernetes' documents");
    let mut seen = 0;
    for file in list {
        let document = json::parse(&std::fs::read(file.unwrap().path()).unwrap()).unwrap();
        let Some(schemas) = document
            .at(&["components", "schemas"])
            .and_then(Value::as_object)
        else {
            continue;
        };
        for (name, written) in schemas.iter() {
            let schema = builtin().named(name).unwrap_or_else(|| panic!("{name}"));
            let required = written.get("required").and_then(Value::as_array);
            let properties = written.get("properties").and_then(Value::as_object);
            for (field, property) in properties.into_iter().flat_map(json::Object::iter) {
                let place = schema
                    .place()
                    .field(field)
                    .unwrap_or_else(|| panic!("{name}.{field}"));
                agree(&format!("{name}.{field}"), property, place);
                let Shape::Object { fields, .. } = schema.place().shape() else {
                    panic!("{name} is an object");
                };
                let own = fields.iter().find(|it| it.name == *field).unwrap();
                let is_required =
                    required.is_some_and(|all| all.iter().any(|it| it.as_str() == Some(field)));
                assert_eq!(own.required, is_required, "{name}.{field}");
                seen += 1;
            }
        }
    }
    assert!(seen > 3000);
}

fn agree(path: &str, written: &Value, place: Place<'_>) {
    let reference = written
        .get("allOf")
        .and_then(|all| all.as_array()?.first()?.str_at(&["$ref"]))
        .or(written.str_at(&["$ref"]));
    if let Some(reference) = reference {
        let name = reference.rsplit('/').next().unwrap();
        let other = builtin().named(name).unwrap();
        let (a, b) = (&place.node().go, &other.place().node().go);
        assert_eq!(a, b, "{path}");
        return;
    }
    let format = written.str_at(&["format"]);
    let found = match (place.shape(), place.node().format) {
        (Shape::Any, _) => (None, None),
        (Shape::Boolean, _) => (Some("boolean"), None),
        (Shape::Integer, Format::Int32) => (Some("integer"), Some("int32")),
        (Shape::Integer, _) => (Some("integer"), Some("int64")),
        (Shape::Number, _) => (Some("number"), Some("double")),
        (Shape::String, Format::Byte) => (Some("string"), Some("byte")),
        (Shape::String, _) => (Some("string"), None),
        (Shape::List { .. }, _) => (Some("array"), None),
        _ => (Some("object"), None),
    };
    if found.0.is_some() {
        assert_eq!(found, (written.str_at(&["type"]), format), "{path}");
    }
    if let Some(items) = written.get("items") {
        agree(path, items, place.items().unwrap());
    }
    if let Some(values) = written.get("additionalProperties") {
        agree(path, values, place.field("any").unwrap());
    }
    let default = written.get("default");
    if !matches!(place.shape(), Shape::Object { .. }) {
        assert_eq!(place.node().default.as_ref(), default, "{path}");
    }
}
