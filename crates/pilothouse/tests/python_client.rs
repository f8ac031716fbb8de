//! A program with the official Python client.

use std::process::Command;

use testkit::server::Server;

const SCRIPT: &str = r#"
import sys
from kubernetes import client, config, watch

config.load_kube_config(sys.argv[1])
core = client.CoreV1Api()
apps = client.AppsV1Api()

names = {it.metadata.name for it in core.list_namespace().items}
assert {"default", "kube-system"} <= names, names
start = core.list_namespaced_config_map("default").metadata.resource_version

made = core.create_namespaced_config_map("default", {"metadata": {"name": "a"}, "data": {"k": "v"}})
assert made.metadata.uid and made.metadata.creation_timestamp.tzinfo
changed = core.patch_namespaced_config_map("a", "default", {"data": {"more": "w"}})
assert changed.data == {"k": "v", "more": "w"}, changed.data
made.data = {"k": "old"}
try:
    core.replace_namespaced_config_map("a", "default", made)
    raise AssertionError("a stale version was taken")
except client.ApiException as error:
    assert error.status == 409, error
gone = core.delete_namespaced_config_map("a", "default")
status = gone["status"] if isinstance(gone, dict) else gone.status
assert status == "Success", gone
try:
    core.read_namespaced_config_map("a", "default")
    raise AssertionError("still there")
except client.ApiException as error:
    assert error.status == 404 and '"reason":"NotFound"' in error.body, error.body

kinds = []
for event in watch.Watch().stream(core.list_namespaced_config_map, "default", resource_version=start, timeout_seconds=5):
    if event["object"].metadata.name == "a":
        kinds.append(event["type"])
    if kinds and kinds[-1] == "DELETED":
        break
assert kinds == ["ADDED", "MODIFIED", "DELETED"], kinds

labels = {"app": "web"}
container = client.V1Container(name="web", image="nginx")
template = client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container]))
spec = client.V1DeploymentSpec(replicas=2, selector=client.V1LabelSelector(match_labels=labels), template=template)
web = client.V1Deployment(metadata=client.V1ObjectMeta(name="web"), spec=spec)
apps.create_namespaced_deployment("default", web)
assert apps.read_namespaced_deployment("web", "default").spec.strategy.type == "RollingUpdate"
apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 3}})
assert apps.read_namespaced_deployment_scale("web", "default").spec.replicas == 3
page = core.list_namespace(limit=1)
assert len(page.items) == 1 and page.metadata._continue
groups = client.ApisApi().get_api_versions().groups
assert "apps" in {it.name for it in groups}
assert client.VersionApi().get_code().git_version.startswith("v1.")
print("done")
"#;

#[testkit::requires(python_kubernetes)]
#[tokio::test]
async fn lists_writes_and_watches() {
    let python = testkit::python::with("kubernetes");
    let server = Server::start().await;
    let output = Command::new(python)
        .args(["-c", SCRIPT])
        .arg(server.kubeconfig())
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(out.trim(), "done", "{err}");
}
