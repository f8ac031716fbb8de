//! The tasks of transitions. Each runs at least once, can run again, and stops when a later transition has begun.

use std::collections::BTreeMap;
use std::time::Instant;

use apiserver::local::{Found, Local, Page};
use features::lifecycle::{Blockers, Outcome, Plan, Progress, RunTask, name};
use json::{Value, json};
use meta::Status;

use super::{FEATURES, plan};

/// A task that takes its time, for a feature of the control plane.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub(super) client: Local,
    pub(super) feature: String,
    pub(super) run: RunTask,
    pub(super) plan: Plan,
}

/// What ended, and what a scan found.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) found: Option<Found>,
}

impl From<Outcome> for Ended {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            found: None,
        }
    }
}

impl Work {
    /// One attempt, or one page of it.
    pub(super) async fn run(self) -> Ended {
        let begun = Instant::now();
        let done = self.attempt().await;
        let ended: Ended = done.unwrap_or_else(|status| Outcome::Retry(status.message).into());
        let outcome = match ended.outcome {
            Outcome::Done => "done",
            Outcome::Progress(_) => "progress",
            Outcome::Blocked(_) => "blocked",
            Outcome::Retry(_) => "retry",
            Outcome::Fatal(_) => "fatal",
        };
        let (task, _) = plan::parts(&self.run.name);
        let series = self.client.host().feature_series();
        series.ran(task, outcome, begun.elapsed());
        ended
    }

    async fn attempt(&self) -> Result<Ended, Status> {
        let (task, about) = plan::parts(&self.run.name);
        let host = self.client.host();
        let cursor = self.run.progress.cursor.as_deref();
        Ok(match task {
            "strip-field" => {
                let wanted = self.is_wanted();
                let page = host.strip_fields(&self.feature, about, cursor, wanted);
                self.progress(&Box::pin(page).await?).into()
            }
            "delete-collection" => {
                let page = host.delete_stored(about, cursor, self.is_wanted());
                self.progress(&Box::pin(page).await?).into()
            }
            "wait-absent" => absent(self.still_there(about).await?),
            "ensure-crd" => ensure_crd(&self.client, about).await?.into(),
            "delete-crd" => delete_crd(&self.client, about).await?.into(),
            name::VERIFY_CLEAN => absent(self.scan().await?),
            _ => Outcome::Fatal(format!("this server does not know the task {task}")).into(),
        })
    }

    /// Whether the transition of the task is still the last one.
    async fn is_wanted(&self) -> Result<bool, Status> {
        let path = format!("{FEATURES}/{}", self.feature);
        let feature = self.client.get(&path).await?;
        let epoch = feature.at(&["status", "epoch"]).and_then(Value::as_i64);
        Ok(epoch.and_then(|it| u64::try_from(it).ok()) == Some(self.run.epoch))
    }

    fn progress(&self, page: &Page) -> Outcome {
        let before = &self.run.progress;
        let mut progress = Progress {
            done: before.done + page.done,
            total: before.total + page.total,
            cursor: page.cursor.clone(),
        };
        if page.conflicts > 0 {
            // Others have changed some of them: the same page again.
            progress.total = before.total;
            progress.cursor.clone_from(&before.cursor);
            return Outcome::Progress(progress);
        }
        match page.cursor {
            Some(_) => Outcome::Progress(progress),
            None => Outcome::Done,
        }
    }

    async fn still_there(&self, about: &str) -> Result<Found, Status> {
        let host = self.client.host();
        if let Some((resource, path)) = about.split_once(':') {
            return host.find_field(resource, path).await;
        }
        let mut all = host.count_uses(vec![self.feature.clone()]).await?;
        Ok(all.remove(&*self.feature).unwrap_or_default())
    }

    /// All that is stored of the feature.
    async fn scan(&self) -> Result<Found, Status> {
        let plan = [(self.feature.clone(), self.plan.clone())];
        let mut all = scan_all(&self.client, &plan).await?;
        Ok(all.remove(&self.feature).unwrap_or_default())
    }
}

/// All that is stored of features; their fields in one walk.
pub(super) async fn scan_all(
    client: &Local,
    plans: &[(String, Plan)],
) -> Result<BTreeMap<String, Found>, Status> {
    let host = client.host();
    let mut all: BTreeMap<String, Found> = BTreeMap::new();
    let mut with_fields = Vec::new();
    for (feature, plan) in plans {
        let found = all.entry(feature.clone()).or_default();
        let mut has_fields = false;
        for task in &plan.cleanup {
            match plan::parts(task) {
                ("delete-collection", about) => found.extend(host.count_stored(about).await?),
                ("wait-absent", about) if about.contains(':') => {
                    let (resource, path) = about.split_once(':').unwrap_or((about, ""));
                    found.extend(host.find_field(resource, path).await?);
                }
                ("strip-field" | "wait-absent", _) => has_fields = true,
                _ => {}
            }
        }
        if has_fields {
            with_fields.push(feature.clone());
        }
    }
    if !with_fields.is_empty() {
        for (feature, found) in host.count_uses(with_fields).await? {
            all.entry(feature.to_owned()).or_default().extend(found);
        }
    }
    Ok(all)
}

fn absent(found: Found) -> Ended {
    if found.count == 0 {
        return Ended {
            outcome: Outcome::Done,
            found: Some(found),
        };
    }
    Ended {
        outcome: Outcome::Blocked(Blockers {
            count: found.count,
            samples: found.samples.iter().map(ToString::to_string).collect(),
        }),
        found: Some(found),
    }
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Definitions that features bring along.
fn definition(name: &str) -> Option<Value> {
    let text = match name {
        "storageversions.internal.apiserver.k8s.io" => include_str!("storageversions.json"),
        _ => return None,
    };
    json::parse(text.as_bytes()).ok()
}

async fn ensure_crd(client: &Local, name: &str) -> Result<Outcome, Status> {
    let Some(definition) = definition(name) else {
        return Ok(Outcome::Fatal(format!(
            "this server has no definition {name}"
        )));
    };
    let path = format!("{DEFINITIONS}/{name}");
    let found = client.apply(&path, &definition, "features").await?;
    let conditions = found
        .at(&["status", "conditions"])
        .and_then(Value::as_array);
    let is_served = conditions.into_iter().flatten().any(|it| {
        it.str_at(&["type"]) == Some("Established") && it.str_at(&["status"]) == Some("True")
    });
    Ok(if is_served {
        Outcome::Done
    } else {
        Outcome::Blocked(
            vec![format!(
                "customresourcedefinitions.apiextensions.k8s.io/{name}"
            )]
            .into(),
        )
    })
}

/// With all objects of it.
async fn delete_crd(client: &Local, name: &str) -> Result<Outcome, Status> {
    let path = format!("{DEFINITIONS}/{name}");
    match client
        .delete(&path, &json!({"propagationPolicy": "Background"}))
        .await
    {
        Err(status) if status.is_not_found() => Ok(Outcome::Done),
        Err(status) => Err(status),
        Ok(_) => Ok(Outcome::Blocked(
            vec![format!(
                "customresourcedefinitions.apiextensions.k8s.io/{name}"
            )]
            .into(),
        )),
    }
}
