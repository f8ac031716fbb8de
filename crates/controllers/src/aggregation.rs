//! `clusterrole-aggregation-controller`: roles that are made of others have their rules.

use std::time::Duration;

use apiserver::local::Local;
use auth::rbac::aggregated_rules;
use json::json;
use meta::Status;
use meta::object::{name, resource_version};

use crate::garbage::path;
use crate::informer::{Event, follow};
use crate::queue::{Outcome, Queue};

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const LONGEST: Duration = Duration::from_secs(30);

pub(crate) async fn run(client: Local) -> std::convert::Infallible {
    let queue = Queue::new(&client, "ClusterRoleAggregator", LONGEST);
    let work = |()| {
        let client = client.clone();
        async move {
            match aggregate(&client).await {
                // A role that changed may be part of another: once more, until nothing changes.
                Ok(false) => Outcome::Done,
                Ok(true) | Err(_) => Outcome::Retry,
            }
        }
    };
    let mut synced = false;
    let changed = queue.clone();
    let roles = follow(&client, ROLES, move |event| {
        match event {
            Event::Begin => synced = false,
            Event::Synced => synced = true,
            Event::Put(_) | Event::Gone(_) => {}
        }
        if synced {
            changed.add(());
        }
    });
    tokio::select! {
        never = queue.run(1, work) => never,
        never = roles => never,
    }
}

/// Whether any role changed.
async fn aggregate(client: &Local) -> Result<bool, Status> {
    let Some(resource) = client
        .host()
        .preferred("rbac.authorization.k8s.io", "clusterroles")
    else {
        return Ok(false);
    };
    let all = client.items(ROLES).await?;
    let mut changed = false;
    for role in &all {
        let Some(rules) = aggregated_rules(role, &all) else {
            continue;
        };
        let change = json!({
            "metadata": {"resourceVersion": (resource_version(role))},
            "rules": rules,
        });
        let target = path(&resource, "", name(role));
        client.merge_patch(&target, &change).await?;
        changed = true;
    }
    Ok(changed)
}
