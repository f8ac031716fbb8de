//! Hot path. LIST: a consistent page, or everything, streamed from a snapshot.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use http::Response;
use json::{Object, Value, json};
use meta::Status;
use meta::options::{ListOptions, ResourceVersionMatch};
use store::{Entry, Revision, Snapshot};
use telemetry::trace;
use tokio::sync::Semaphore;

use crate::aside::aside;
use crate::body::Body;
use crate::catalog::Resource;
use crate::filter::Filter;
use crate::metrics::Listing;
use crate::negotiate::{Accepted, Format, View};
use crate::pipeline::{Api, Ask};
use crate::show::Show;
use crate::token::Continue;
use crate::{convert, object, respond, table, traced};

/// A frame is sent when it is about that large.
const FRAME: usize = 128 << 10;
/// Takes some milliseconds to read and to write.
const LARGE: usize = 256 << 10;
/// For large lists that are made as a whole: each takes a thread, and several times its size.
static TURNS: LazyLock<Semaphore> = LazyLock::new(|| {
    let threads = std::thread::available_parallelism();
    Semaphore::new(threads.map_or(4, |it| 2 * it.get()))
});
/// Entries taken from the snapshot at a time.
const STEP: usize = 256;

pub(crate) async fn list(api: &Api, ask: &Ask<'_>) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ask, true)?;
    respond::fits(ask, accepted, true)?;
    let options = ask.list_options()?;
    let filter = Filter::new(&ask.resource, &options)?;
    let range = ask.resource.range(&ask.info.namespace);
    let asked = ask.query.get("resourceVersion").unwrap_or_default();
    let start = match &*options.continue_token {
        "" => None,
        token => Some(Continue::parse(token, &range)?),
    };
    if start.is_some() && !matches!(asked, "" | "0") {
        return Err(Status::bad_request(
            "specifying resource version is not allowed when using continue",
        ));
    }
    let storage = traced::listing(&ask.resource);
    let snapshot = api.list_snapshot(&options, start.as_ref()).await?;
    traced::fresh(asked.is_empty());
    let exact = options.resource_version_match == Some(ResourceVersionMatch::Exact);
    trace::event(if exact || start.is_some() {
        "GetExactSnapshotLocked success"
    } else {
        "GetLatestSnapshotOrBuildLocked success"
    });
    let after = start.map(|start| start.after);
    // Whoever takes any version gets it whole, as from upstream's cache.
    let limit = if asked == "0" { 0 } else { options.limit };
    let limit = usize::try_from(limit.max(0)).unwrap_or(0);
    let include = table::Include::of(ask.query, accepted)?;
    let list = List {
        resource: ask.resource.clone(),
        accepted,
        include,
        filter,
        snapshot,
        range: range.into_bytes(),
        after,
        listing: api.listing(&ask.resource),
    };
    let mut page = list.page(limit);
    traced::listed(page.entries.as_ref().map(Vec::len));
    drop(storage);
    list.convert(&mut page).await?;
    if accepted.format != Format::Json || accepted.pretty {
        let body = if list.is_large(&page) {
            let _turn = TURNS.acquire().await.map_err(Status::internal)?;
            traced::serialize(|| aside(|| list.whole(&page)))?
        } else {
            traced::serialize(|| list.whole(&page))?
        };
        return Ok(respond::ok(accepted.format.content_type(), body));
    }
    let body = traced::serialize(|| Ok(list.stream(page)))?;
    Ok(respond::ok("application/json", body))
}

struct List {
    resource: Arc<Resource>,
    accepted: Accepted,
    include: table::Include,
    filter: Filter,
    snapshot: Snapshot,
    range: Vec<u8>,
    after: Option<Vec<u8>>,
    listing: Listing,
}

/// The entries if they had to be found, and what the list's metadata says.
struct Page {
    entries: Option<Vec<Arc<Entry>>>,
    metadata: Object,
}

impl List {
    fn page(&self, limit: usize) -> Page {
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
        let entries = page.entries.take();
        let entries = entries.unwrap_or_else(|| self.taken().cloned().collect());
        page.entries = Some(convert::ahead(&self.resource, webhook, entries).await?);
        Ok(())
    }

    fn show(&self) -> Show<'_> {
        Show::new(&self.resource, self.accepted, self.include)
    }

    fn each(
        &self,
        page: &Page,
        add: impl FnMut(&Arc<Entry>) -> Result<(), Status>,
    ) -> Result<(), Status> {
        if let Some(entries) = &page.entries {
            return entries.iter().try_for_each(add);
        }
        self.taken().try_for_each(add)
    }

    /// All entries that are a part of the list, found as they are taken.
    fn taken(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.snapshot.range(&self.range).filter(|entry| {
            let taken = self.filter.takes(&self.resource, entry);
            self.listing.add(1, taken.into());
            taken
        })
    }

    /// Objects of a built-in kind as protobuf, if the kind has such a form.
    fn protobuf(&self, page: &Page) -> Result<Option<Bytes>, Status> {
        let resource = &*self.resource;
        let (api_version, kind) = (resource.api_version(), resource.list_kind.as_deref());
        let kind = kind.unwrap_or_default();
        let types = schema::builtin();
        let list = types.kind(&resource.group, &resource.version, kind);
        let (Some(list), Some(items)) = (list, &resource.schema) else {
            return Ok(None);
        };
        let empty = json!({"metadata": (page.metadata.clone()), "items": []});
        let mut list = schema::protobuf::List::new(list.place(), &empty, items.place())
            .map_err(Status::internal)?;
        self.each(page, |entry| {
            let object = convert::decode(resource, &entry.value, entry.modified)?;
            list.push(&object).map_err(Status::internal)
        })?;
        Ok(Some(list.finish(&api_version, kind).into()))
    }

    /// To write it in another format takes longer than others should wait.
    fn is_large(&self, page: &Page) -> bool {
        let mut room = LARGE;
        let mut fits = |entry: &Arc<Entry>| {
            let rest = room.checked_sub(entry.value.len());
            room = rest.unwrap_or_default();
            rest.is_some()
        };
        !match &page.entries {
            Some(entries) => entries.iter().all(&mut fits),
            None => self.snapshot.range(&self.range).all(&mut fits),
        }
    }

    /// For formats that cannot be written piece by piece.
    fn whole(&self, page: &Page) -> Result<Bytes, Status> {
        let plain_objects = self.accepted.view == View::Whole && self.resource.custom.is_none();
        if self.accepted.format == Format::Protobuf
            && plain_objects
            && let Some(list) = self.protobuf(page)?
        {
            return Ok(list);
        }
        let plain = Accepted {
            format: Format::Json,
            pretty: false,
            ..self.accepted
        };
        let show = Show::new(&self.resource, plain, self.include);
        let (mut out, end) = show.list_frame(page.metadata.clone());
        let mut first = true;
        self.each(page, |entry| {
            if !std::mem::take(&mut first) {
                out.push(b',');
            }
            show.item(&mut out, entry)
        })?;
        out.extend_from_slice(end);
        let value: Value = json::parse(&out).map_err(Status::internal)?;
        self.show().encode(&value)
    }

    fn stream(self, page: Page) -> Body {
        let (out, end) = self.show().list_frame(page.metadata);
        let mut writer = Writer {
            list: self,
            is_found: page.entries.is_some(),
            step: page.entries.unwrap_or_default().into_iter(),
            out,
            end: Some(end),
            first: true,
        };
        // What fits one frame goes with its length known.
        let Some(first) = writer.frame() else {
            return Body::empty();
        };
        if writer.end.is_none() {
            return first.into();
        }
        Body::chunks(|out| async move {
            out.send(first).await;
            while let Some(frame) = writer.frame() {
                out.send(frame).await;
            }
        })
    }
}

struct Writer {
    list: List,
    /// All entries were found before; else they are taken from the snapshot as we go.
    is_found: bool,
    step: std::vec::IntoIter<Arc<Entry>>,
    out: Vec<u8>,
    /// Gone when all is written.
    end: Option<&'static [u8]>,
    first: bool,
}

impl Writer {
    fn frame(&mut self) -> Option<Bytes> {
        let end = self.end?;
        if !self.first {
            self.out.reserve(FRAME + FRAME / 8);
        }
        let mut taken = 0;
        // However large the objects are, no more than one of them goes beyond the frame.
        while self.out.len() < FRAME {
            let Some(entry) = self.next() else {
                self.out.extend_from_slice(end);
                self.end = None;
                break;
            };
            self.add(&entry);
            taken += 1;
        }
        if !self.is_found {
            self.list.listing.add(0, taken);
        }
        Some(std::mem::take(&mut self.out).into())
    }

    fn next(&mut self) -> Option<Arc<Entry>> {
        let Self { list, step, .. } = self;
        if self.is_found {
            return step.next();
        }
        loop {
            if let Some(entry) = step.find(|it| list.filter.takes(&list.resource, it)) {
                return Some(entry);
            }
            let page = list.snapshot.page(&list.range, list.after.as_deref(), STEP);
            list.after = Some(page.entries.last()?.key.to_vec());
            list.listing.add(page.entries.len(), 0);
            *step = page.entries.into_iter();
        }
    }

    fn add(&mut self, entry: &Entry) {
        let start = self.out.len();
        if !self.first {
            self.out.push(b',');
        }
        match self.list.show().item(&mut self.out, entry) {
            Ok(()) => self.first = false,
            // The answer has begun: an object that cannot be read is left out, as nothing else can be said now.
            Err(_) => self.out.truncate(start),
        }
    }
}

impl Api {
    /// The state that a list is made of.
    async fn list_snapshot(
        &self,
        options: &ListOptions,
        start: Option<&Continue>,
    ) -> Result<Snapshot, Status> {
        if let Some(start) = start {
            let Some(revision) = start.revision else {
                return self.latest().await;
            };
            return match self.store.snapshot_at(revision).await {
                Err(store::Error::Compacted { .. }) => {
                    Err(start.too_old(self.store.latest().revision()))
                }
                other => other.map_err(|error| crate::failure::of_store(&error)),
            };
        }
        let asked = object::asked_version(&options.resource_version).map_err(|status| {
            Status::bad_request(format!("invalid resource version: {}", status.message))
        })?;
        match asked {
            None => self.latest().await,
            Some(0) => Ok(self.store.latest()),
            // A page of a version is of just that version, unless asked for otherwise.
            Some(revision)
                if options.resource_version_match == Some(ResourceVersionMatch::Exact)
                    || options.resource_version_match.is_none() && options.limit > 0 =>
            {
                let found = self.store.snapshot_at(revision).await;
                found.map_err(|error| crate::failure::of_list(&error))
            }
            Some(revision) => self.not_older(revision).await,
        }
    }

    /// As new as the newest acknowledged write.
    pub async fn latest(&self) -> Result<Snapshot, Status> {
        let found = self.store.snapshot().await;
        found.map_err(|error| crate::failure::of_store(&error))
    }

    /// At least as new as this revision.
    pub async fn not_older(&self, revision: Revision) -> Result<Snapshot, Status> {
        let latest = self.store.latest();
        if latest.revision() >= revision {
            return Ok(latest);
        }
        let latest = self.latest().await?;
        if latest.revision() >= revision {
            return Ok(latest);
        }
        Err(crate::failure::too_large(revision, latest.revision()))
    }
}
