//! Every pod runs as a service account that exists, and finds its token.

mod mount;
mod secrets;

use std::time::Duration;

use json::{Value, json};
use meta::Status;
use meta::gvk::GroupResource;

pub(crate) use secrets::has_any as names_secrets;

use crate::read::{flag, has, items, section, text};
use crate::{Admitting, Lookup, Operation, Outcome, Plugin, Random, Request};

const DEFAULT: &str = "default";
const MIRROR_POD: &str = "kubernetes.io/config.mirror";
/// The default account is made by a controller soon after its namespace: it is waited for, about as long as upstream
/// does.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(150);

#[derive(Clone, Copy, Debug)]
pub struct ServiceAccount {
    /// For the names of volumes.
    pub random: Random,
}

impl Plugin for ServiceAccount {
    fn name(&self) -> &'static str {
        "ServiceAccount"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        if !request.is("", "pods") {
            return false;
        }
        match request.operation {
            Operation::Create => matches!(request.subresource, "" | "ephemeralcontainers"),
            Operation::Update => request.subresource == "ephemeralcontainers",
            _ => false,
        }
    }

    fn admit<'a>(&'a self, request: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        if request.operation != Operation::Create {
            return Ok(()).into();
        }
        Outcome::Later(Box::pin(self.fill(request, &mut admitting.object)))
    }

    fn validate<'a>(
        &'a self,
        request: &'a Request<'a>,
        admitting: &'a mut Admitting,
    ) -> Outcome<'a> {
        Outcome::Later(Box::pin(check(request, &admitting.object)))
    }
}

impl ServiceAccount {
    async fn fill(&self, request: &Request<'_>, pod: &mut Value) -> Result<(), Status> {
        // A kubelet deletes a mirror pod that differs from its file.
        if is_mirror(pod) {
            return check(request, pod).await;
        }
        if text(pod, &["spec", "serviceAccountName"]).is_empty()
            && let Some(spec) = section(pod, "spec")
        {
            spec.insert("serviceAccountName", DEFAULT);
            spec.insert("serviceAccount", DEFAULT);
        }
        let account = find(request, pod).await?;
        let wanted = flag(pod, &["spec", "automountServiceAccountToken"])
            .or_else(|| flag(&account, &["automountServiceAccountToken"]));
        if wanted != Some(false) {
            mount::token(pod, self.random);
        }
        let pull = items(&account, &["imagePullSecrets"]);
        if items(pod, &["spec", "imagePullSecrets"]).is_empty()
            && !pull.is_empty()
            && let Some(spec) = section(pod, "spec")
        {
            let names = pull.iter().map(|it| json!({"name": (text(it, &["name"]))}));
            spec.insert("imagePullSecrets", names.collect::<Value>());
        }
        refuse_secrets(request, pod, &account)
    }
}

async fn check(request: &Request<'_>, pod: &Value) -> Result<(), Status> {
    if request.operation == Operation::Create && is_mirror(pod) {
        return check_mirror(request, pod);
    }
    if text(pod, &["spec", "serviceAccountName"]).is_empty() {
        let name = meta::object::name(pod);
        let why = format!(
            "no service account specified for pod {}/{name}",
            request.namespace
        );
        return Err(request.forbidden(pod, why));
    }
    let account = find(request, pod).await?;
    refuse_secrets(request, pod, &account)
}

fn refuse_secrets(request: &Request<'_>, pod: &Value, account: &Value) -> Result<(), Status> {
    let refused = if request.operation == Operation::Update {
        // Containers that join later; what was there has been looked at.
        secrets::refused_ephemeral(pod, account)
    } else {
        secrets::refused(pod, account)
    };
    match refused {
        None => Ok(()),
        // Without a kind of its own, upstream's error is an internal one here.
        Some(why) if request.operation == Operation::Update => Err(Status::internal(why)),
        Some(why) => Err(request.forbidden(pod, why)),
    }
}

fn is_mirror(pod: &Value) -> bool {
    meta::object::annotation(pod, MIRROR_POD).is_some()
}

/// Mirror pods show what a node runs on its own: it cannot use what the API keeps.
fn check_mirror(request: &Request<'_>, pod: &Value) -> Result<(), Status> {
    let refuse = |why: &str| Err(request.forbidden(pod, why));
    if !text(pod, &["spec", "serviceAccountName"]).is_empty() {
        return refuse("a mirror pod may not reference service accounts");
    }
    if secrets::has_any(pod) {
        return refuse("a mirror pod may not reference secrets");
    }
    let volumes = items(pod, &["spec", "volumes"]).iter();
    let mut sources = volumes.flat_map(|it| items(it, &["projected", "sources"]));
    if sources.any(|it| has(it, &["serviceAccountToken"])) {
        return refuse("a mirror pod may not use ServiceAccountToken volume projections");
    }
    Ok(())
}

async fn find(request: &Request<'_>, pod: &Value) -> Result<Value, Status> {
    let name = text(pod, &["spec", "serviceAccountName"]);
    let look = |lookup: &dyn Lookup| lookup.get("", "serviceaccounts", request.namespace, name);
    let tries = if name == DEFAULT { TRIES } else { 1 };
    for attempt in 0..tries {
        if attempt > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        if let Some(account) = look(request.lookup) {
            return Ok(account);
        }
    }
    let missing = Status::not_found(&GroupResource::new("", "serviceaccount"), name);
    let why = format!(
        "error looking up service account {}/{name}: {}",
        request.namespace, missing.message
    );
    Err(request.forbidden(pod, why))
}
