//! Labels Secrets with the day on which their token was used last, so that those nobody uses can be cleaned up (KEP-2799).

use apiserver::local::{Local, UsedToken};
use auth::serviceaccount::LAST_USED;
use json::{Object, json};
use meta::Status;

use crate::condition;

pub(crate) async fn run(client: Local) {
    loop {
        for used in client.host().used_tokens().await {
            // The next use tries again.
            let _ = label(&client, &used).await;
        }
    }
}

async fn label(client: &Local, used: &UsedToken) -> Result<(), Status> {
    let UsedToken {
        namespace,
        secret,
        uid,
    } = used;
    let now = condition::now();
    let mut labels = Object::new();
    labels.insert(LAST_USED, now.split('T').next().unwrap_or_default());
    let change = json!({"metadata": {"uid": uid, "labels": labels}});
    let path = format!("/api/v1/namespaces/{namespace}/secrets/{secret}");
    client.merge_patch(&path, &change).await.map(|_| ())
}
