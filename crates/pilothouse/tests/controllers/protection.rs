use super::cluster::Cluster;
use json::json;

const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const PODS: &str = "/api/v1/namespaces/default/pods";

#[tokio::test]
async fn a_claim_goes_when_its_last_pod_is_gone() {
    let cluster = Cluster::start().await;
    let claim = json!({
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    });
    let made = cluster.create(CLAIMS, claim).await;
    let finalizer = "kubernetes.io/pvc-protection";
    assert!(meta::object::has_finalizer(&made, finalizer), "{made:?}");
    let pod = json!({
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "user"},
        "spec": {
            "nodeName": "n",
            "serviceAccountName": "default",
            "containers": [{"name": "c", "image": "i"}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
        },
    });
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    cluster.until(account, |_| true).await;
    cluster.create(PODS, pod).await;
    let path = format!("{CLAIMS}/data");
    cluster.delete(&path, "Background").await;
    // One that nobody uses is gone though it came later: this one was looked at, and kept.
    let other = json!({
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "metadata": {"name": "other"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    });
    cluster.create(CLAIMS, other).await;
    cluster
        .delete(&format!("{CLAIMS}/other"), "Background")
        .await;
    cluster.until_gone(&format!("{CLAIMS}/other")).await;
    assert!(cluster.exists(&path).await);
    let now = json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0});
    let pod = format!("{PODS}/user");
    cluster.client.delete(&pod, &now).await.expect("deleted");
    cluster.until_gone(&path).await;
    cluster.stop().await;
}

#[tokio::test]
async fn a_volume_goes_when_no_claim_has_it() {
    let cluster = Cluster::start().await;
    let volumes = "/api/v1/persistentvolumes";
    let volume = json!({
        "kind": "PersistentVolume",
        "apiVersion": "v1",
        "metadata": {"name": "v"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/tmp"},
        },
    });
    cluster.create(volumes, volume).await;
    let path = format!("{volumes}/v");
    let phase = |it: &str| json!({"status": {"phase": it}});
    let status = format!("{path}/status");
    cluster.patch(&status, phase("Bound")).await;
    cluster.delete(&path, "Background").await;
    let kept = cluster.get(&path).await;
    assert!(meta::object::is_being_deleted(&kept), "{kept:?}");
    cluster.patch(&status, phase("Released")).await;
    cluster.until_gone(&path).await;
    let class = json!({
        "kind": "VolumeAttributesClass",
        "apiVersion": "storage.k8s.io/v1",
        "metadata": {"name": "fast"},
        "driverName": "example.com",
        "parameters": {"iops": "1"},
    });
    let classes = "/apis/storage.k8s.io/v1/volumeattributesclasses";
    cluster.create(classes, class).await;
    let path = format!("{classes}/fast");
    cluster.delete(&path, "Background").await;
    cluster.until_gone(&path).await;
    cluster.stop().await;
}
