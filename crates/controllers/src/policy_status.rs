//! `validatingadmissionpolicy-status-controller`: warns in the status of a policy of what its expressions get wrong about the
//! kinds that it names.

use std::collections::HashMap;
use std::time::Duration;

use apiserver::local::Local;
use json::{Object, Value, json};
use meta::Status;
use meta::gvk::GroupVersionKind;
use meta::object::{generation, name};
use resources::type_checking;

use crate::informer::{Event, follow};
use crate::queue::{Outcome, Queue};

const ALL: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const MANAGER: &str = "validatingadmissionpolicy-status";
const LONGEST: Duration = Duration::from_secs(60);

pub(crate) async fn run(client: Local) -> std::convert::Infallible {
    let queue = Queue::new(&client, MANAGER, LONGEST);
    let work = |key: String| {
        let client = client.clone();
        async move {
            match check(&client, &key).await {
                Ok(()) => Outcome::Done,
                Err(_) => Outcome::Retry,
            }
        }
    };
    let policies = follow(&client, ALL, |event| {
        if let Event::Put(policy) = event
            && !is_checked(&policy)
        {
            queue.add(name(&policy).to_owned());
        }
    });
    tokio::select! {
        never = queue.run(1, work) => never,
        never = policies => never,
    }
}

fn is_checked(policy: &Value) -> bool {
    let observed = policy.at(&["status", "observedGeneration"]);
    generation(policy) <= observed.and_then(Value::as_i64).unwrap_or_default()
}

async fn check(client: &Local, name: &str) -> Result<(), Status> {
    let path = format!("{ALL}/{name}");
    let policy = match client.get(&path).await {
        Ok(policy) => policy,
        Err(status) if status.is_not_found() => return Ok(()),
        Err(status) => return Err(status),
    };
    if is_checked(&policy) {
        return Ok(());
    }
    let kinds = type_checking::kinds(&policy, |group, version, resource| {
        let found = client.host().resource(group, version, resource);
        found.map(|it| it.gvk())
    });
    let mut documents = HashMap::new();
    for kind in kinds.iter().chain(&type_checking::param_kind(&policy)) {
        let path = document(kind);
        if let std::collections::hash_map::Entry::Vacant(entry) = documents.entry(path) {
            // What is not served has no schema.
            let found = client.get(&format!("/openapi/v3/{}", entry.key())).await;
            entry.insert(found.unwrap_or_default());
        }
    }
    let generation = generation(&policy);
    let checked = tokio::task::spawn_blocking(move || {
        type_checking::check(&policy, &kinds, |kind| {
            type_checking::schema_in(documents.get(&document(kind))?, kind)
        })
    });
    let warnings = checked
        .await
        .map_err(|error| Status::internal(error.to_string()))?;
    let mut checking = Object::new();
    if !warnings.is_empty() {
        checking.insert("expressionWarnings", warnings);
    }
    let status = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "status": {"observedGeneration": generation, "typeChecking": checking},
    });
    let path = format!("{path}/status");
    match client.apply(&path, &status, MANAGER).await {
        Ok(_) => Ok(()),
        Err(status) if status.is_not_found() => Ok(()),
        Err(status) => Err(status),
    }
}

/// Where the schemas of a group and version are.
fn document(kind: &GroupVersionKind) -> String {
    match (&*kind.group, &*kind.version) {
        ("", version) => format!("api/{version}"),
        (group, version) => format!("apis/{group}/{version}"),
    }
}
