//! `certificatesigningrequest-*-controller`: approves, signs and cleans up certificate signing requests.

use std::sync::Arc;
use std::time::Duration;

use apiserver::local::Local;
use auth::pki::{CertificateAuthority, PkiError, approved, kubelet_client_request};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::{Value, json};
use meta::Status;
use meta::object::{creation_timestamp, name};
use meta::time::Time;

use crate::condition::{self, Condition};
use crate::informer::{Event, follow};
use crate::queue::{Outcome, Queue};

const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const LONGEST: Duration = Duration::from_secs(60);
const CLEAN: Duration = Duration::from_secs(3600);
const WORKERS: usize = 4;
const HOUR: i64 = 3600;

/// Calls `work` with each request that changed, as it is when its turn comes.
async fn each<F>(
    client: Local,
    work: impl Fn(Local, Value) -> F + Clone + Send + 'static,
) -> std::convert::Infallible
where
    F: Future<Output = Result<(), Status>> + Send + 'static,
{
    let queue = Queue::new(&client, "certificate", LONGEST);
    let handle = |key: String| {
        let (client, work) = (client.clone(), work.clone());
        async move {
            let done = match client.get(&format!("{REQUESTS}/{key}")).await {
                Ok(request) => work(client, request).await,
                Err(status) => Err(status),
            };
            match done {
                Err(status) if !status.is_not_found() => Outcome::Retry,
                _ => Outcome::Done,
            }
        }
    };
    let requests = follow(&client, REQUESTS, |event| {
        if let Event::Put(request) = event {
            queue.add(name(&request).to_owned());
        }
    });
    tokio::select! {
        never = queue.run(WORKERS, handle) => never,
        never = requests => never,
    }
}

pub(crate) async fn sign(
    client: Local,
    authority: Arc<CertificateAuthority>,
) -> std::convert::Infallible {
    each(client, move |client, request| {
        let authority = authority.clone();
        async move { sign_one(&client, &authority, request).await }
    })
    .await
}

async fn sign_one(
    client: &Local,
    authority: &CertificateAuthority,
    mut request: Value,
) -> Result<(), Status> {
    if !approved(&request) {
        return Ok(());
    }
    let Some(signed) = auth::pki::sign(authority, &request, condition::unix()) else {
        return Ok(());
    };
    match signed {
        Ok(certificate) => {
            if let Some(status) = request.get_mut("status").and_then(Value::as_object_mut) {
                status.insert("certificate", STANDARD.encode(certificate));
            }
        }
        Err(PkiError::Refused(message)) => {
            add(&mut request, "Failed", "SignerValidationFailure", &message);
        }
        Err(error) => return Err(Status::internal(error)),
    }
    let path = format!("{REQUESTS}/{}/status", name(&request));
    client.update(&path, &request).await.map(|_| ())
}

/// These conditions carry the time of their last update, too.
fn add(request: &mut Value, kind: &str, reason: &str, message: &str) {
    let condition = Condition {
        kind,
        status: "True",
        reason,
        message,
    };
    condition::set(request, &condition);
    let all = request.at_mut(&["status", "conditions"]);
    let all = all.and_then(Value::as_array_mut).into_iter().flatten();
    for it in all.filter(|it| it.str_at(&["type"]) == Some(kind)) {
        if let Some(it) = it.as_object_mut() {
            it.insert("lastUpdateTime", condition::now());
        }
    }
}

/// Kubelets get their client certificates if they may create such requests.
pub(crate) async fn approve(client: Local) -> std::convert::Infallible {
    each(client, |client, request| async move {
        approve_one(&client, request).await
    })
    .await
}

async fn approve_one(client: &Local, mut request: Value) -> Result<(), Status> {
    let decided = |kind| condition::get(&request, kind).is_some();
    let signed = request.str_at(&["status", "certificate"]);
    if decided("Approved") || decided("Denied") || signed.is_some_and(|it| !it.is_empty()) {
        return Ok(());
    }
    let Some(asked) = kubelet_client_request(&request) else {
        return Ok(());
    };
    let user = request.str_at(&["spec", "username"]).unwrap_or_default();
    let own = user == asked.common_name;
    let ways = [
        (
            own,
            "selfnodeclient",
            "Auto approving self kubelet client certificate after SubjectAccessReview.",
        ),
        (
            true,
            "nodeclient",
            "Auto approving kubelet client certificate after SubjectAccessReview.",
        ),
    ];
    for (_, subresource, message) in ways.into_iter().filter(|(fits, ..)| *fits) {
        if may(client, &request, subresource).await? {
            add(&mut request, "Approved", "AutoApproved", message);
            let path = format!("{REQUESTS}/{}/approval", name(&request));
            return client.update(&path, &request).await.map(|_| ());
        }
    }
    Ok(())
}

async fn may(client: &Local, request: &Value, subresource: &str) -> Result<bool, Status> {
    let of = |field: &str| request.at(&["spec", field]).cloned().unwrap_or_default();
    let review = json!({
        "kind": "SubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "spec": {
            "user": (of("username")),
            "uid": (of("uid")),
            "groups": (of("groups")),
            "extra": (of("extra")),
            "resourceAttributes": {
                "group": "certificates.k8s.io",
                "resource": "certificatesigningrequests",
                "verb": "create",
                "subresource": subresource,
                "version": "*",
            },
        },
    });
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let answer = client.create(path, &review).await?;
    let allowed = answer.at(&["status", "allowed"]);
    Ok(allowed.and_then(Value::as_bool) == Some(true))
}

/// Deletes requests that were answered, or that stay unanswered.
pub(crate) async fn clean(client: Local) -> std::convert::Infallible {
    loop {
        if let Ok(all) = client.items(REQUESTS).await {
            let now = condition::unix();
            for request in all.iter().filter(|it| is_old(it, now)) {
                let path = format!("{REQUESTS}/{}", name(request));
                // The next round tries again.
                let _ = client.delete(&path, &Value::Null).await;
            }
        }
        tokio::time::sleep(CLEAN).await;
    }
}

/// Decided for an hour, or undecided for a day.
fn is_old(request: &Value, now: i64) -> bool {
    let since = |kind: &str| {
        let time = condition::get(request, kind)?.str_at(&["lastUpdateTime"])?;
        Time::parse(time).ok().map(Time::unix_seconds)
    };
    let before = |time: Option<i64>, age: i64| time.is_some_and(|it| it + age < now);
    let decided = ["Approved", "Denied", "Failed"];
    if decided
        .iter()
        .any(|it| condition::get(request, it).is_some())
    {
        return decided.iter().any(|it| before(since(it), HOUR));
    }
    before(
        creation_timestamp(request).map(Time::unix_seconds),
        24 * HOUR,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_requests_are_forgotten() {
        let request = |kind: &str, created: i64, updated: i64| {
            let time = |it| Time::from_unix(it, 0).to_string();
            let condition =
                json!({"type": kind, "status": "True", "lastUpdateTime": (time(updated))});
            json!({
                "metadata": {"name": "x", "creationTimestamp": (time(created))},
                "status": {"conditions": [condition]},
            })
        };
        let now = 10 * 24 * HOUR;
        let table = [
            ("Approved", now - 2 * HOUR, now - 2 * HOUR, true),
            ("Approved", now - 2 * HOUR, now - 60, false),
            ("Denied", now - 2 * HOUR, now - HOUR - 1, true),
            ("Failed", now - 2 * HOUR, now - HOUR - 1, true),
            ("Other", now - 23 * HOUR, now - 23 * HOUR, false),
            ("Other", now - 25 * HOUR, now, true),
        ];
        for (kind, created, updated, want) in table {
            let found = is_old(&request(kind, created, updated), now);
            assert_eq!(found, want, "{kind} {created} {updated}");
        }
    }
}
