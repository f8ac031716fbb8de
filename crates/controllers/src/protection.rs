//! `persistentvolumeclaim-protection-controller` and its two siblings: what is in use stays until it is not, and goes
//! then. Admission gives the finalizers; here they are taken away.

use std::time::Duration;

use apiserver::local::Local;
use json::{Value, json};
use meta::Status;
use meta::object::{
    controller_of, deletion_grace_period_seconds, finalizers, has_finalizer, is_being_deleted,
    name, namespace, resource_version, uid,
};

use crate::informer::{Event, follow};
use crate::queue::{Outcome, Queue};

/// What is in use is looked at again after so much time at the latest. Nobody follows pods for that: they change often,
/// and claims are rarely deleted under them.
const LONGEST: Duration = Duration::from_secs(2);
const WORKERS: usize = 4;

const CLAIMS: &str = "/api/v1/persistentvolumeclaims";
const VOLUMES: &str = "/api/v1/persistentvolumes";
const CLASSES: &str = "/apis/storage.k8s.io/v1/volumeattributesclasses";

#[derive(Clone, Copy, Debug)]
pub(crate) enum Protected {
    Claims,
    Volumes,
    AttributesClasses,
}

impl Protected {
    /// As upstream's queues are called.
    fn queue(self) -> &'static str {
        match self {
            Self::Claims => "pvcprotection",
            Self::Volumes => "pvprotection",
            Self::AttributesClasses => "vacprotection",
        }
    }

    fn collection(self) -> &'static str {
        match self {
            Self::Claims => CLAIMS,
            Self::Volumes => VOLUMES,
            Self::AttributesClasses => CLASSES,
        }
    }

    fn finalizer(self) -> &'static str {
        match self {
            Self::Claims => "kubernetes.io/pvc-protection",
            Self::Volumes => "kubernetes.io/pv-protection",
            Self::AttributesClasses => "kubernetes.io/vac-protection",
        }
    }

    fn path(self, object: &Value) -> String {
        let name = name(object);
        match self {
            Self::Claims => {
                let namespace = namespace(object);
                format!("/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}")
            }
            _ => format!("{}/{name}", self.collection()),
        }
    }

    async fn is_used(self, client: &Local, object: &Value) -> Result<bool, Status> {
        match self {
            Self::Claims => {
                let pods = format!("/api/v1/namespaces/{}/pods", namespace(object));
                let pods = client.items(&pods).await?;
                Ok(pods.iter().any(|pod| uses(pod, object)))
            }
            Self::Volumes => Ok(object.str_at(&["status", "phase"]) == Some("Bound")),
            Self::AttributesClasses => {
                let class = name(object);
                let claims = client.items(CLAIMS).await?;
                if claims.iter().any(|claim| names_class(claim, class)) {
                    return Ok(true);
                }
                let volumes = client.items(VOLUMES).await?;
                Ok(volumes.iter().any(|it| names_class(it, class)))
            }
        }
    }
}

pub(crate) async fn run(client: Local, protected: Protected) -> std::convert::Infallible {
    let queue = Queue::new(&client, protected.queue(), LONGEST);
    let work = |path: String| {
        let client = client.clone();
        async move {
            match keep(&client, protected, &path).await {
                Ok(true) => Outcome::Done,
                Ok(false) | Err(_) => Outcome::Retry,
            }
        }
    };
    let changes = follow(&client, protected.collection(), |event| {
        if let Event::Put(object) = event
            && is_being_deleted(&object) == has_finalizer(&object, protected.finalizer())
        {
            queue.add(protected.path(&object));
        }
    });
    tokio::select! {
        never = queue.run(WORKERS, work) => never,
        never = changes => never,
    }
}

/// True if nothing is left to do.
async fn keep(client: &Local, protected: Protected, path: &str) -> Result<bool, Status> {
    let finalizer = protected.finalizer();
    let object = match client.get(path).await {
        Ok(object) => object,
        Err(status) if status.is_not_found() => return Ok(true),
        Err(status) => return Err(status),
    };
    let mut kept: Vec<Value> = finalizers(&object)
        .filter(|it| *it != finalizer)
        .map(Value::from)
        .collect();
    match (is_being_deleted(&object), has_finalizer(&object, finalizer)) {
        (true, true) => {
            if protected.is_used(client, &object).await? {
                return Ok(false);
            }
        }
        // Made before there was such a plugin, or without it.
        (false, false) => kept.push(finalizer.into()),
        _ => return Ok(true),
    }
    let change = json!({"metadata": {
        "uid": (uid(&object)),
        "resourceVersion": (resource_version(&object)),
        "finalizers": kept,
    }});
    client.merge_patch(path, &change).await.map(|_| true)
}

/// A pod that has no node yet will not start with a claim that is on its way out.
fn uses(pod: &Value, claim: &Value) -> bool {
    if pod.str_at(&["spec", "nodeName"]).is_none_or(str::is_empty) {
        return false;
    }
    let volumes = pod.at(&["spec", "volumes"]).and_then(Value::as_array);
    volumes.into_iter().flatten().any(|volume| {
        let named = volume.str_at(&["persistentVolumeClaim", "claimName"]);
        if named == Some(name(claim)) {
            return true;
        }
        let own = volume.get("ephemeral").is_some() && !is_shut_down(pod);
        let own_name = || {
            let volume = volume.str_at(&["name"]).unwrap_or_default();
            format!("{}-{volume}", name(pod))
        };
        own && own_name() == name(claim)
            && controller_of(claim).is_some_and(|owner| owner.uid == uid(pod))
    })
}

/// Its kubelet is done with it, or it was deleted by force.
fn is_shut_down(pod: &Value) -> bool {
    is_being_deleted(pod) && deletion_grace_period_seconds(pod) == Some(0)
}

/// For claims, what is, what is asked for and what is being made; for volumes, what is.
fn names_class(object: &Value, class: &str) -> bool {
    let places: [&[&str]; 3] = [
        &["spec", "volumeAttributesClassName"],
        &["status", "currentVolumeAttributesClassName"],
        &[
            "status",
            "modifyVolumeStatus",
            "targetVolumeAttributesClassName",
        ],
    ];
    places.iter().any(|path| object.str_at(path) == Some(class))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_used_by_pods_on_nodes() {
        let claim = json!({"metadata": {
            "name": "web-scratch",
            "ownerReferences": [{"kind": "Pod", "name": "web", "uid": "u", "controller": true}],
        }});
        let named = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "web-scratch"}}]);
        let own = json!([{"name": "scratch", "ephemeral": {}}]);
        let other = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "other"}}]);
        let shut = json!({
            "name": "web", "uid": "u", "deletionGracePeriodSeconds": 0,
            "deletionTimestamp": "2026-01-01T00:00:00Z",
        });
        let web = json!({"name": "web", "uid": "u"});
        let table = [
            (&web, "n", &named, true),
            (&web, "", &named, false),
            (&shut, "n", &named, true),
            (&web, "n", &own, true),
            (&shut, "n", &own, false),
            (&json!({"name": "web", "uid": "v"}), "n", &own, false),
            (&web, "n", &other, false),
        ];
        for (metadata, node, volumes, used) in table {
            let spec = json!({"nodeName": node, "volumes": (volumes.clone())});
            let pod = json!({"metadata": (metadata.clone()), "spec": spec});
            assert_eq!(uses(&pod, &claim), used, "{pod:?}");
        }
    }
}
