//! Hot path. LIST: a consistent page, or everything, streamed from a snapshot.

mod chunk_pool;
mod form;
mod share;
mod writer;

use std::sync::Arc;

use http::Response;
use json::Object;
use meta::Status;
use meta::options::{ListOptions, ResourceVersionMatch};
use store::{Entry, Snapshot};
use telemetry::trace;

use self::share::ListIdentity;
use crate::catalog::Resource;
use crate::catalog::convert;
use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::handler::render::Renderer;
use crate::handler::respond;
use crate::handler::serialize;
use crate::handler::table;
use crate::instruments::row::Listing;
use crate::observe::traced;
use crate::read::continue_token::Continue;
use crate::read::filter::Filter;
use crate::request::negotiate::{Accepted, Format};
use crate::runtime::cpu_slots::CPU_SLOT_THRESHOLD;
use crate::state::Api;
use crate::transport::body::Body;

/// Takes some milliseconds to read and to write.
const LARGE: usize = 256 << 10;
/// To look whether a selector takes an entry costs as much as reading this many bytes of an object.
const LOOK: usize = CPU_SLOT_THRESHOLD / STEP;
/// Entries taken from the snapshot at a time.
const STEP: usize = 256;

pub(crate) async fn list(api: &Api, ctx: &RequestContext<'_>) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ctx, true)?;
    respond::fits(ctx, accepted, true)?;
    let options = ctx.list_options()?;
    let filter = Filter::new(ctx, &options)?;
    let range = ctx.resource.range(&ctx.info.namespace);
    let asked = ctx.query.get("resourceVersion").unwrap_or_default();
    let start = match &*options.continue_token {
        "" => None,
        token => Some(Continue::parse(token, &range)?),
    };
    if start.is_some() && !matches!(asked, "" | "0") {
        return Err(Status::bad_request(
            "specifying resource version is not allowed when using continue",
        ));
    }
    let storage = traced::listing(&ctx.resource);
    let snapshot = list_snapshot(api, &options, start.as_ref()).await?;
    traced::fresh(asked.is_empty());
    let exact = options.resource_version_match == Some(ResourceVersionMatch::Exact);
    trace::event(if exact || start.is_some() {
        "GetExactSnapshotLocked success"
    } else {
        "GetLatestSnapshotOrBuildLocked success"
    });
    let after = start.map(|start| start.after);
    // With `resourceVersion=0` the limit is ignored, as by upstream's cache.
    let limit = if asked == "0" { 0 } else { options.limit };
    let limit = usize::try_from(limit.max(0)).unwrap_or(0);
    let include = table::Include::of(ctx.query, accepted)?;
    let list = List {
        resource: ctx.resource.clone(),
        accepted,
        include,
        filter,
        snapshot,
        range: range.into_bytes(),
        after,
        limit,
        listing: api.metrics().objects.listing(&ctx.resource),
    };
    let content_type = accepted.format.content_type();
    let shared = ListIdentity::of(&list);
    if let Some(shared) = &shared
        && let Some((first, part)) = chunk_pool::find(shared, 0)
    {
        traced::listed((limit > 0).then_some(part.objects));
        drop(storage);
        let body = serialize::serialize(|| Ok(list.behind(first, part)))?;
        return Ok(respond::ok(content_type, body));
    }
    if !list.filter.is_empty() {
        let count = list.snapshot.count(&list.range);
        ctx.acquire_cpu_slot(count.saturating_mul(LOOK)).await?;
    }
    let mut page = list.page();
    traced::listed(page.entries.as_ref().map(Vec::len));
    drop(storage);
    list.convert(&mut page).await?;
    let is_plain = accepted.format == Format::Json && !accepted.pretty;
    let body = if is_plain || !list.is_large(&page) {
        serialize::serialize(|| list.written(page, shared))?
    } else {
        ctx.acquire_cpu_slot(LARGE).await?;
        serialize::serialize(|| list.written_in_pieces(page, api.held()))?
    };
    Ok(respond::ok(content_type, body))
}

struct List {
    resource: Arc<Resource>,
    accepted: Accepted,
    include: table::Include,
    filter: Filter,
    snapshot: Snapshot,
    range: Vec<u8>,
    after: Option<Vec<u8>>,
    /// 0 if there is none.
    limit: usize,
    listing: Listing,
}

/// The entries if they had to be found, and what the list's metadata says.
struct Page {
    entries: Option<Vec<Arc<Entry>>>,
    metadata: Object,
}

impl List {
    fn page(&self) -> Page {
        let limit = self.limit;
        let revision = self.snapshot.revision();
        let mut metadata = Object::new();
        metadata.insert("resourceVersion", revision.to_string());
        if limit == 0 {
            return Page {
                entries: None,
                metadata,
            };
        }
        let mut entries = Vec::new();
        let mut after = self.after.clone();
        loop {
            let room = limit - entries.len();
            let step = if self.filter.is_empty() { room } else { STEP };
            let page = self.snapshot.page(&self.range, after.as_deref(), step);
            let (count, mut remaining) = (page.entries.len(), page.remaining);
            self.listing.add(count, 0);
            for (index, entry) in page.entries.into_iter().enumerate() {
                after = Some(entry.key.to_vec());
                if self.filter.takes(&self.resource, &entry) {
                    entries.push(entry);
                    if entries.len() == limit {
                        remaining += count - index - 1;
                        break;
                    }
                }
            }
            if remaining == 0 || count == 0 {
                break;
            }
            if entries.len() == limit {
                let last = after.unwrap_or_default();
                metadata.insert("continue", Continue::write(revision, &self.range, &last));
                if self.filter.is_empty() {
                    let remaining = i64::try_from(remaining).unwrap_or(i64::MAX);
                    metadata.insert("remainingItemCount", remaining);
                }
                break;
            }
        }
        self.listing.add(0, entries.len());
        Page {
            entries: Some(entries),
            metadata,
        }
    }

    /// What only a webhook can convert is asked for in one call, before the answer begins.
    async fn convert(&self, page: &mut Page) -> Result<(), Status> {
        let Some(webhook) = self.resource.custom.as_ref().and_then(|it| it.webhook()) else {
            return Ok(());
        };
        let entries = self.taken(page.entries.take());
        page.entries = Some(convert::ahead(&self.resource, webhook, entries).await?);
        Ok(())
    }

    fn renderer(&self) -> Renderer<'_> {
        Renderer::new(&self.resource, self.accepted, self.include)
    }

    /// To write it in another format takes longer than others should wait.
    fn is_large(&self, page: &Page) -> bool {
        self.bytes(page, LARGE) > LARGE
    }

    /// What its objects have at rest, or `most` and some more.
    fn bytes(&self, page: &Page, most: usize) -> usize {
        let mut all = 0;
        let mut add = |entry: &Arc<Entry>| {
            all += entry.value.len();
            all <= most
        };
        match &page.entries {
            Some(entries) => entries.iter().all(&mut add),
            None => self.snapshot.range(&self.range).all(&mut add),
        };
        all
    }
}

/// The state that a list is made of.
async fn list_snapshot(
    api: &Api,
    options: &ListOptions,
    start: Option<&Continue>,
) -> Result<Snapshot, Status> {
    if let Some(start) = start {
        let Some(revision) = start.revision else {
            return api.fresh_snapshot().await;
        };
        return match api.store().snapshot_at(revision).await {
            Err(store::Error::Compacted { .. }) => {
                Err(start.too_old(api.store().latest().revision()))
            }
            other => other.map_err(|error| crate::state::failure::of_store(&error)),
        };
    }
    let asked = object::asked_version(&options.resource_version).map_err(|status| {
        Status::bad_request(format!("invalid resource version: {}", status.message))
    })?;
    match asked {
        None => api.fresh_snapshot().await,
        Some(0) => Ok(api.store().latest()),
        // A page of a version is of just that version, unless asked for otherwise.
        Some(revision)
            if options.resource_version_match == Some(ResourceVersionMatch::Exact)
                || options.resource_version_match.is_none() && options.limit > 0 =>
        {
            let found = api.store().snapshot_at(revision).await;
            found.map_err(|error| crate::state::failure::of_list(&error))
        }
        Some(revision) => api.not_older(revision).await,
    }
}
