//! `root-ca-certificate-publisher-controller`: in every namespace, a `ConfigMap` with the authority to trust.

use apiserver::local::Local;
use json::{Object, Value, json};
use meta::Status;

use crate::serviceaccounts::each_namespace;

const NAME: &str = "kube-root-ca.crt";
const ANNOTATION: &str = "kubernetes.io/description";
const DESCRIPTION: &str = "The authority by which pods can check the API server at its internal addresses, such as kubernetes.default.svc. It vouches for nothing else.";

pub(crate) async fn run(client: Local, authority: String) -> std::convert::Infallible {
    let maps = "/api/v1/configmaps?fieldSelector=metadata.name%3Dkube-root-ca.crt";
    each_namespace(
        client,
        "root_ca_cert_publisher",
        maps,
        move |client, namespace| {
            let authority = authority.clone();
            async move { keep(&client, &namespace, &authority).await }
        },
    )
    .await
}

async fn keep(client: &Local, namespace: &str, authority: &str) -> Result<(), Status> {
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    let one = format!("{path}/{NAME}");
    let mut data = Object::new();
    data.insert("ca.crt", authority);
    match client.get(&one).await {
        Ok(mut map) => {
            let described = meta::object::annotation(&map, ANNOTATION).is_some();
            if described && map.get("data") == Some(&Value::Object(data.clone())) {
                return Ok(());
            }
            if let Some(fields) = map.as_object_mut() {
                fields.insert("data", data);
                fields.remove("binaryData");
            }
            annotate(&mut map);
            client.update(&one, &map).await.map(|_| ())
        }
        Err(status) if status.is_not_found() => {
            let mut map = json!({
                "kind": "ConfigMap",
                "apiVersion": "v1",
                "metadata": {"name": NAME, "namespace": namespace, "annotations": {}},
                "data": data,
            });
            annotate(&mut map);
            client.create(&path, &map).await.map(|_| ())
        }
        Err(status) => Err(status),
    }
}

fn annotate(map: &mut Value) {
    if let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut) {
        let annotations = metadata.get_or_insert("annotations");
        if annotations.is_null() {
            *annotations = Object::new().into();
        }
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.insert(ANNOTATION, DESCRIPTION);
        }
    }
}
