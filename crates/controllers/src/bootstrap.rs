//! What every cluster starts with: the system namespaces, and the default roles and their bindings.

use apiserver::local::Local;
use auth::bootstrap::{Bootstrap, Reconciled, reconcile};
use json::{Value, json};
use meta::Status;
use tokio::task::JoinSet;

use crate::condition::{self, Condition};
use crate::trust::Trust;

const NAMESPACES: [&str; 4] = ["kube-system", "kube-public", "kube-node-lease", "default"];
/// Pods of these classes keep a cluster alive.
const PRIORITIES: [(&str, i64, &str); 2] = [
    (
        "system-cluster-critical",
        2_000_000_000,
        "For pods that the cluster cannot do without, on whichever node they run.",
    ),
    (
        "system-node-critical",
        2_000_001_000,
        "For pods that their node cannot do without.",
    ),
];
const PAUSE: std::time::Duration = std::time::Duration::from_secs(1);
/// Writes of others may get in between.
const TRIES: usize = 5;

/// What must be there before the first client is served. All at once: the store syncs what waits together.
pub async fn run(client: &Local) -> Result<(), Status> {
    all(NAMESPACES.into_iter().map(|name| {
        let client = client.clone();
        Box::pin(async move { namespace(&client, name).await })
    }))
    .await?;
    let network = {
        let client = client.clone();
        Box::pin(async move {
            let cidrs = "/apis/networking.k8s.io/v1/servicecidrs";
            ensure(&client, cidrs, &client.host().service_cidr()).await?;
            service(&client).await
        })
    };
    let classes = PRIORITIES.map(|(name, value, description)| {
        let client = client.clone();
        Box::pin(async move { priority_class(&client, name, value, description).await })
    });
    let policies = auth::bootstrap::bootstrap().into_iter().map(|it| {
        let client = client.clone();
        async move { policy(&client, &it).await }
    });
    let (network, classes, policies) = tokio::join!(network, all(classes), all(policies));
    network.and(classes).and(policies)
}

/// Objects that the start of the server does not wait for.
pub(crate) async fn late(client: Local, trust: Trust) {
    while finish(&client, &trust).await.is_err() {
        tokio::time::sleep(PAUSE).await;
    }
}

async fn finish(client: &Local, trust: &Trust) -> Result<(), Status> {
    range_is_ready(client).await?;
    token_tracking(client).await?;
    trust.publish(client).await
}

/// Waits for all; the first failure, if there is one.
pub(crate) async fn all<F>(work: impl IntoIterator<Item = F>) -> Result<(), Status>
where
    F: Future<Output = Result<(), Status>> + Send + 'static,
{
    let mut tasks: JoinSet<_> = work.into_iter().collect();
    while let Some(done) = tasks.join_next().await {
        done.map_err(Status::internal)??;
    }
    Ok(())
}

async fn namespace(client: &Local, name: &str) -> Result<(), Status> {
    let object = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}});
    ensure(client, "/api/v1/namespaces", &object).await
}

/// The Service that stands for this server.
pub(crate) async fn service(client: &Local) -> Result<(), Status> {
    let host = client.host();
    let service = json!({
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "type": "ClusterIP",
            "clusterIP": (host.service_ip().to_string()),
            "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": (i64::from(host.port()))}],
            "sessionAffinity": "None",
            "ipFamilyPolicy": "SingleStack",
        },
    });
    ensure(client, "/api/v1/namespaces/default/services", &service).await
}

async fn priority_class(
    client: &Local,
    name: &str,
    value: i64,
    description: &str,
) -> Result<(), Status> {
    let class = json!({
        "kind": "PriorityClass",
        "apiVersion": "scheduling.k8s.io/v1",
        "metadata": {"name": name},
        "value": value,
        "description": description,
    });
    let classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
    ensure(client, classes, &class).await
}

/// The range of Services' addresses is in use as soon as we are.
async fn range_is_ready(client: &Local) -> Result<(), Status> {
    let path = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes";
    let mut range = client.get(path).await?;
    let ready = Condition {
        kind: "Ready",
        status: "True",
        reason: "",
        message: "Kubernetes default Service CIDR is ready",
    };
    if !condition::set(&mut range, &ready) {
        return Ok(());
    }
    let mut ready = condition::get(&range, "Ready").cloned().unwrap_or_default();
    if let Some(fields) = ready.as_object_mut() {
        fields.remove("reason");
    }
    let status = json!({
        "kind": "ServiceCIDR",
        "apiVersion": "networking.k8s.io/v1",
        "metadata": {"name": "kubernetes"},
        "status": {"conditions": [ready]},
    });
    let manager = "kubernetes-service-cidr-controller";
    client
        .apply(&format!("{path}/status"), &status, manager)
        .await
        .map(|_| ())
}

/// Since when uses of old service account tokens are noted (KEP-2799).
async fn token_tracking(client: &Local) -> Result<(), Status> {
    let now = condition::now();
    let map = json!({
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {
            "name": "kube-apiserver-legacy-service-account-token-tracking",
            "namespace": "kube-system",
        },
        "data": {"since": (now.split('T').next().unwrap_or_default())},
    });
    ensure(client, "/api/v1/namespaces/kube-system/configmaps", &map).await
}

/// Creates the object if there is none of its name.
pub(crate) async fn ensure(client: &Local, collection: &str, object: &Value) -> Result<(), Status> {
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
    match client.get(&format!("{collection}/{name}")).await {
        Err(status) if status.is_not_found() => {}
        found => return found.map(|_| ()),
    }
    let Err(refused) = client.create(collection, object).await else {
        return Ok(());
    };
    // Another server may have been faster: then even what the object would have held is taken.
    match client.get(&format!("{collection}/{name}")).await {
        Ok(_) => Ok(()),
        Err(_) => Err(refused),
    }
}

async fn policy(client: &Local, item: &Bootstrap) -> Result<(), Status> {
    let object = &item.object;
    let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
    let plural = match text(&["kind"]) {
        "ClusterRole" => "clusterroles",
        "ClusterRoleBinding" => "clusterrolebindings",
        "Role" => "roles",
        _ => "rolebindings",
    };
    let namespace = text(&["metadata", "namespace"]);
    let place = if namespace.is_empty() {
        String::new()
    } else {
        format!("namespaces/{namespace}/")
    };
    let collection = format!("/apis/rbac.authorization.k8s.io/v1/{place}{plural}");
    let one = format!(
        "{collection}/{}",
        text(&["metadata", "name"]).replace('%', "%25")
    );
    for _ in 0..TRIES {
        let existing = match client.get(&one).await {
            Ok(found) => Some(found),
            Err(status) if status.is_not_found() => None,
            Err(status) => return Err(status),
        };
        let done = match reconcile(existing.as_ref(), object) {
            Reconciled::Unchanged | Reconciled::Protected => return Ok(()),
            Reconciled::Create(object) => client.create(&collection, &object).await,
            Reconciled::Update(object) => client.update(&one, &object).await,
            Reconciled::Recreate(object) => match client.delete(&one, &Value::Null).await {
                Ok(_) => client.create(&collection, &object).await,
                refused => refused,
            },
        };
        match done {
            Err(status) if status.is_conflict() || status.is_already_exists() => {}
            done => return done.map(|_| ()),
        }
    }
    Ok(())
}
