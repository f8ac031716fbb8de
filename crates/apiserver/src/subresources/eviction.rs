//! `pods/x/eviction`: a deletion that disruption budgets may refuse.

mod budget;

use std::sync::Arc;

use admission::Operation;
use http::Response;
use json::{Value, json};
use meta::Status;
use meta::gvk::GroupVersionKind;
use meta::options::DeleteOptions;

use super::actions;
use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::observe::traced;
use crate::runtime::clock;
use crate::state::Api;
use crate::transport::body::Body;
use crate::transport::incoming::RequestBody;
use crate::write::delete;
use crate::write::options;
use crate::write::{AdmissionView, Change, Changed, Options, Write};

/// How often a pod that changes meanwhile is looked at again.
const RETRIES: usize = 5;

pub(super) async fn evict(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let kind = GroupVersionKind::new("policy", "v1", "Eviction");
    let (eviction, length) = actions::read(api, ctx, body, &kind).await?;
    let options = options::from_query(ctx, options::OptionsKind::Create)?;
    traced::stored(length, store(api, ctx, options, kind, eviction)).await?;
    actions::success(ctx)
}

async fn store(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    mut write_options: Options,
    kind: GroupVersionKind,
    mut eviction: Value,
) -> Result<(), Status> {
    let name = &*ctx.info.name;
    let mut write = Write::new(api, ctx, write_options.clone());
    write.kind = kind;
    write.act(Operation::Create, name, &mut eviction).await?;
    let given = eviction.get("deleteOptions").cloned().unwrap_or_default();
    let options = if given.is_null() {
        DeleteOptions::default()
    } else {
        DeleteOptions::from_value(&given)?
    };
    write_options.dry_run |= options.dry_run;
    let mut last = None;
    for _ in 0..RETRIES {
        match once(api, ctx, options.clone(), &write_options).await {
            Err(Refusal::Changed(status)) => last = Some(status),
            Err(Refusal::Final(status)) => return Err(status),
            Ok(()) => return Ok(()),
        }
    }
    Err(last.unwrap_or_else(|| ctx.not_found()))
}

enum Refusal {
    /// The pod is not what it was when it was looked at.
    Changed(Status),
    Final(Status),
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Self::Final(status)
    }
}

async fn once(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    mut options: DeleteOptions,
    write_options: &Options,
) -> Result<(), Refusal> {
    let pod = super::target::target(api, ctx)?;
    let pending =
        pod.str_at(&["status", "phase"]) == Some("Pending") && !object::is_being_deleted(&pod);
    let mut spared = None;
    if budget::covers(&pod) {
        spared = budget::take(api, ctx, &pod, write_options.dry_run).await?;
    }
    let asked = options.preconditions.as_ref();
    let asked = asked.is_some_and(|it| it.resource_version.is_some());
    let exact = (pending || spared.is_some()) && !asked;
    if exact {
        // It must not have become ready since.
        let version = pod.str_at(&["metadata", "resourceVersion"]);
        let wanted = options.preconditions.get_or_insert_default();
        wanted.resource_version = version.map(str::to_owned);
    }
    let removed = remove(api, ctx, &mut options, write_options).await;
    removed.map_err(|status| match spared {
        Some(budget) if exact && status.is_conflict() => Refusal::Final(budget::busy(&budget)),
        None if exact && status.is_conflict() => Refusal::Changed(status),
        _ => Refusal::Final(status),
    })
}

async fn remove(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    options: &mut DeleteOptions,
    write_options: &Options,
) -> Result<(), Status> {
    if !write_options.dry_run {
        announce(api, ctx, options, write_options).await?;
    }
    let mut write = Write::new(api, ctx, write_options.clone());
    write.view = AdmissionView::Nothing;
    delete::delete(&write, &ctx.info.name, options).await?;
    Ok(())
}

/// The condition `DisruptionTarget`, visible until the pod is gone.
async fn announce(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    options: &mut DeleteOptions,
    write_options: &Options,
) -> Result<(), Status> {
    let mut write = Write::new(api, ctx, write_options.clone());
    write.view = AdmissionView::Nothing;
    write.is_internal = true;
    let mut change = Announce { ctx, options };
    let written = write.update(&ctx.info.name, &mut change).await?;
    let wanted = options.preconditions.as_mut();
    if let Some(version) = wanted.and_then(|it| it.resource_version.as_mut()) {
        // We changed it ourselves.
        *version = written.entry.modified.to_string();
    }
    Ok(())
}

struct Announce<'a> {
    ctx: &'a RequestContext<'a>,
    options: &'a DeleteOptions,
}

impl Change for Announce<'_> {
    fn apply(&mut self, live: Option<&Value>) -> Result<Changed, Status> {
        let Some(live) = live else {
            return Err(self.ctx.not_found());
        };
        delete::check(self.ctx, self.options, live)?;
        let mut pod = live.clone();
        let condition = json!({
            "type": "DisruptionTarget",
            "status": "True",
            "lastProbeTime": null,
            "lastTransitionTime": (clock::now()),
            "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
        });
        object::set_condition(&mut pod, condition);
        Ok(Changed {
            object: pod,
            managed: false,
            exact: false,
        })
    }
}
