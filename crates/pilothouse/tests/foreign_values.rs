//! Values that a kube-apiserver left in etcd: protobuf, versions that nobody serves, defaults left to the reader. Put
//! straight into the store, as it would have written them.

use apiserver::local::Local;
use json::{Value, json};
use store::Store;
use testkit::server::{Backing, Server};

struct Place {
    server: Server,
    store: Store,
}

impl Place {
    async fn start() -> Self {
        let store = Backing::memory().store;
        let own = store.clone();
        Self {
            server: Server::start_on(move || async move { own }).await,
            store,
        }
    }

    fn client(&self) -> Local {
        self.server.local()
    }

    async fn put(&self, key: &str, value: impl Into<bytes::Bytes>) {
        self.store.put(key.to_owned(), value).await.unwrap();
    }

    /// As protobuf in its envelope.
    async fn put_protobuf(&self, key: &str, object: &Value) {
        let gvk = meta::object::gvk(object).unwrap();
        let schema = schema::builtin().kind(&gvk.group, &gvk.version, &gvk.kind);
        let schema = schema.expect("a built-in kind");
        let value = schema::protobuf::encode_object(schema.place(), object).unwrap();
        assert!(value.starts_with(b"k8s\0"));
        self.put(key, value).await;
    }
}

fn metadata(name: &str) -> Value {
    json!({
        "name": name, "namespace": "default", "uid": "7d4ec3f4-9c36-4a3f-8a3c-0d8f0a4f3c11",
        "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"from": "kube"},
    })
}

#[tokio::test]
async fn protobuf_is_read_listed_watched_changed_and_deleted() {
    let place = Place::start().await;
    let client = place.client();
    let maps = "/api/v1/namespaces/default/configmaps";
    let mut watch = client
        .watch(&format!("{maps}?watch=true&labelSelector=from%3Dkube"))
        .await
        .unwrap();
    let map = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": (metadata("m")), "data": {"k": "v"}});
    place.put_protobuf("/configmaps/default/m", &map).await;
    let path = format!("{maps}/m");
    let found = client.get(&path).await.unwrap();
    let version = meta::object::resource_version(&found).to_owned();
    // In Go's order, the version behind the uid.
    let text = json::to_string(&found);
    let begin = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m","namespace":"default","uid":"7d4ec3f4-9c36-4a3f-8a3c-0d8f0a4f3c11","resourceVersion":""#;
    assert!(text.starts_with(begin), "{text}");
    let listed = client
        .items(&format!("{maps}?labelSelector=from%3Dkube"))
        .await
        .unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].get("data"), found.get("data"));
    let (kind, object) = watch.next().await.unwrap();
    assert_eq!((&*kind, &object), ("ADDED", &found));
    // A change makes it ours.
    let changed = client
        .merge_patch(&path, &json!({"data": {"k": "w"}}))
        .await
        .unwrap();
    assert_ne!(meta::object::resource_version(&changed), version);
    let (kind, object) = watch.next().await.unwrap();
    assert_eq!(
        (&*kind, object.str_at(&["data", "k"])),
        ("MODIFIED", Some("w"))
    );
    place.put_protobuf("/configmaps/default/m", &map).await;
    client.delete(&path, &Value::Null).await.unwrap();
    assert!(client.get(&path).await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn defaults_left_to_the_reader_are_filled_in() {
    let place = Place::start().await;
    let client = place.client();
    let claim = json!({
        "kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": (metadata("c")),
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeMode": "Filesystem"},
        "status": {},
    });
    place
        .put_protobuf("/persistentvolumeclaims/default/c", &claim)
        .await;
    let path = "/api/v1/namespaces/default/persistentvolumeclaims/c";
    let found = client.get(path).await.unwrap();
    assert_eq!(found.str_at(&["status", "phase"]), Some("Pending"));
}

/// As a server left it that knew neither `volumeMode` nor `dataSourceRef`.
#[tokio::test]
async fn what_was_stored_before_a_default_can_be_changed() {
    let place = Place::start().await;
    let claim = json!({
        "kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": (metadata("c")),
        "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1G"}},
            "dataSource": {"apiGroup": null, "kind": "PersistentVolumeClaim", "name": "d"},
        },
        "status": {"phase": "Pending"},
    });
    let key = "/persistentvolumeclaims/default/c";
    place.put(key, json::to_vec(&claim)).await;
    let path = "/api/v1/namespaces/default/persistentvolumeclaims/c";
    let change = json!({"metadata": {"labels": {"a": "b"}}});
    let changed = place.client().merge_patch(path, &change).await.unwrap();
    assert_eq!(changed.str_at(&["spec", "volumeMode"]), Some("Filesystem"));
    assert_eq!(
        changed.str_at(&["spec", "dataSourceRef", "name"]),
        Some("d")
    );
    place.client().update(path, &claim).await.unwrap();

    let service = json!({
        "kind": "Service", "apiVersion": "v1", "metadata": (metadata("s")),
        "spec": {"ports": [{"port": 80}], "clusterIP": "10.96.7.7"},
        "status": {"loadBalancer": {}},
    });
    let key = "/services/specs/default/s";
    place.put(key, json::to_vec(&service)).await;
    let path = "/api/v1/namespaces/default/services/s";
    let changed = place.client().update(path, &service).await.unwrap();
    let spec = |field| changed.at(&["spec", field]).cloned();
    assert_eq!(spec("clusterIPs"), Some(json!(["10.96.7.7"])));
    assert_eq!(spec("ipFamilies"), Some(json!(["IPv4"])));
}

#[tokio::test]
async fn other_versions_are_converted() {
    let place = Place::start().await;
    let client = place.client();
    let scaler = json!({
        "kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v1", "metadata": (metadata("h")),
        "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}, "minReplicas": 1, "maxReplicas": 3, "targetCPUUtilizationPercentage": 40},
        "status": {"currentReplicas": 0, "desiredReplicas": 0},
    });
    place
        .put_protobuf("/horizontalpodautoscalers/default/h", &scaler)
        .await;
    let scalers = "/namespaces/default/horizontalpodautoscalers/h";
    let first = client
        .get(&format!("/apis/autoscaling/v1{scalers}"))
        .await
        .unwrap();
    let target = first.at(&["spec", "targetCPUUtilizationPercentage"]);
    assert_eq!(target.and_then(Value::as_i64), Some(40));
    let second = client
        .get(&format!("/apis/autoscaling/v2{scalers}"))
        .await
        .unwrap();
    let metrics = second.at(&["spec", "metrics"]).map(json::to_string);
    let expected = r#"[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":40}}}]"#;
    assert_eq!(metrics.as_deref(), Some(expected));
}

/// Which node ports are taken stands in a value that only servers read.
#[tokio::test]
async fn ports_that_another_server_took_are_not_given_again() {
    let place = Place::start().await;
    let client = place.client();
    let bits = [&[0_u8; 340][..], &[0b0000_0110]].concat();
    let data = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bits);
    let range = json!({"kind": "RangeAllocation", "apiVersion": "v1", "metadata": {}, "range": "30000-32767", "data": data});
    place.put_protobuf("/ranges/servicenodeports", &range).await;
    let services = "/api/v1/namespaces/default/services";
    let service = |port: i64| json!({"metadata": {"name": (format!("s-{port}"))}, "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": port}]}});
    for port in [30001, 30002] {
        let refused = client.create(services, &service(port)).await.unwrap_err();
        assert!(
            refused
                .message
                .contains("provided port is already allocated"),
            "{refused}"
        );
    }
    for port in [30000, 30003] {
        client.create(services, &service(port)).await.unwrap();
    }
}

#[tokio::test]
async fn definitions_and_objects_as_kube_apiserver_stores_them() {
    let place = Place::start().await;
    let client = place.client();
    let conditions = json!([
        {"type": "NamesAccepted", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "NoConflicts", "message": "no conflicts found"},
        {"type": "Established", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "InitialNamesAccepted", "message": "the initial names have been accepted"},
    ]);
    let names =
        json!({"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"});
    let definition = json!({
        "kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1beta1",
        "metadata": {"name": "things.example.com", "uid": "6b9a3b52-7e61-4a0c-8c3f-4a9c1f6f2d10", "generation": 1, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {
            "group": "example.com", "version": "v1", "names": (names.clone()), "scope": "Namespaced",
            "validation": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"replicas": {"type": "integer", "default": 1}}}}}},
            "subresources": {"status": {}},
            "versions": [{"name": "v1", "served": true, "storage": true}],
            "conversion": {"strategy": "None"}, "preserveUnknownFields": false,
        },
        "status": {"conditions": conditions, "acceptedNames": names, "storedVersions": ["v1"]},
    });
    let key = "/apiextensions.k8s.io/customresourcedefinitions/things.example.com";
    place.put(key, json::to_vec(&definition)).await;
    // Maps in the order of their keys. What looks like the metadata is not.
    let thing = r#"{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"creationTimestamp":"2026-01-01T00:00:00Z","generation":1,"name":"t","namespace":"default","uid":"u-1"},"spec":{"template":{"metadata":{"name":"other","uid":"u-2"}}}}"#;
    place.put("/example.com/things/default/t", thing).await;
    let things = "/apis/example.com/v1/namespaces/default/things";
    let found = client.get(&format!("{things}/t")).await.unwrap();
    assert!(!meta::object::resource_version(&found).is_empty());
    let other = found
        .at(&["spec", "template", "metadata"])
        .map(json::to_string);
    assert_eq!(other.as_deref(), Some(r#"{"name":"other","uid":"u-2"}"#));
    let new = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "n"}, "spec": {}});
    let made = client.create(things, &new).await.unwrap();
    assert_eq!(
        made.at(&["spec", "replicas"]).and_then(Value::as_i64),
        Some(1)
    );
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com";
    let shown = client.get(path).await.unwrap();
    assert!(shown.at(&["spec", "validation"]).is_none());
    // What we store in its place is read by kube-apiserver as what it is.
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    client.merge_patch(path, &label).await.unwrap();
    let stored = place.store.get(key.as_bytes()).await.unwrap().unwrap();
    let begin = br#"{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","#;
    assert!(stored.value.starts_with(begin));
}

#[tokio::test]
async fn servers_that_another_server_knows_are_in_the_list() {
    let place = Place::start().await;
    let other = json!({"kind": "Endpoints", "apiVersion": "v1", "metadata": {"generation": 7}, "subsets": [{"addresses": [{"ip": "192.0.2.77"}]}]});
    place.put_protobuf("/masterleases/192.0.2.77", &other).await;
    let known = place.client().host().master_addresses().await.unwrap();
    assert!(known.contains(&"192.0.2.77".parse().unwrap()), "{known:?}");
}

#[tokio::test]
async fn custom_objects_are_read_by_their_schema() {
    let place = Place::start().await;
    let client = place.client();
    let definition = json!({
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string", "default": "given"}},
            }}}],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    client.create(definitions, &definition).await.unwrap();
    let mut metadata = metadata("t");
    let fields = metadata.as_object_mut().unwrap();
    fields.insert("annotations", json!({"number": 42}));
    fields.insert("unknown", 1);
    let object = json!({
        "a": "b", "apiVersion": "example.com/v1", "kind": "Thing", "metadata": metadata, "unknown": true,
    });
    let key = "/example.com/things/default/t";
    place.put(key, json::to_vec(&object)).await;
    let one = "/apis/example.com/v1/namespaces/default/things/t";
    let found = client.get(one).await.unwrap();
    let fields = ["a", "b"].map(|it| found.str_at(&[it]));
    assert_eq!(fields, [Some("b"), Some("given")]);
    assert_eq!(found.at(&["metadata", "generation"]), Some(&json!(1)));
    assert_eq!(found.str_at(&["metadata", "labels", "from"]), Some("kube"));
    for gone in [
        &["unknown"][..],
        &["metadata", "unknown"],
        &["metadata", "annotations"],
    ] {
        assert_eq!(found.at(gone), None, "{gone:?}");
    }
    client.delete(one, &Value::Null).await.unwrap();
}
