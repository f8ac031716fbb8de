//! Hot path. WATCH: changes as they happen, each encoded once per format for all who watch.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use json::{Value, json};
use meta::Status;
use meta::options::ListOptions;
use store::{Event, Revision, Snapshot, WatchEnd};
use tokio::time::Instant;

use crate::body::Body;
use crate::catalog::Resource;
use crate::filter::Filter;
use crate::negotiate::{Accepted, Format, View};
use crate::pipeline::{Api, Ask};
use crate::show::Show;
use crate::{failure, object, respond, table};

/// Events are sent together as long as they fit.
const FRAME: usize = 64 << 10;
/// How often an idle watch tells how far it is, if the client asked for it.
const BOOKMARK: Duration = Duration::from_secs(60);

pub(crate) async fn watch(api: &Arc<Api>, ask: &Ask<'_>) -> Result<Response<Body>, Status> {
    let accepted = respond::accept_stream(ask)?;
    let options = ask.list_options()?;
    let filter = Filter::new(&ask.resource, &options)?;
    let range = ask.watch_range();
    let include = table::Include::of(ask.query, accepted)?;
    let mut stream = Stream {
        api: api.clone(),
        resource: ask.resource.clone(),
        accepted,
        include,
        filter,
        bookmarks: options.allow_watch_bookmarks,
        initial: None,
        source: None,
        failed: None,
        sent: 0,
        deadline: Instant::now() + api.watch_time(options.timeout_seconds),
        next_bookmark: Instant::now() + BOOKMARK,
        first_row: true,
        ended: false,
    };
    stream.begin(&options, range.as_bytes()).await?;
    let content_type = match accepted.format {
        Format::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
        _ => "application/json",
    };
    let body = Body::unfold(stream, |mut stream| async move {
        let frame = stream.frame().await?;
        Some((frame, stream))
    });
    Ok(respond::ok(content_type, body))
}

struct Stream {
    api: Arc<Api>,
    resource: Arc<Resource>,
    accepted: Accepted,
    include: table::Include,
    filter: Filter,
    bookmarks: bool,
    /// The state to show first.
    initial: Option<Initial>,
    source: Option<store::Watch>,
    /// Said as the stream's only event.
    failed: Option<Status>,
    /// The newest revision that the client knows to have seen everything of.
    sent: Revision,
    deadline: Instant,
    next_bookmark: Instant,
    /// Column definitions come with the first row only.
    first_row: bool,
    ended: bool,
}

struct Initial {
    snapshot: Snapshot,
    range: Vec<u8>,
    after: Option<Vec<u8>>,
    /// The client asked for a mark where the state ends (`sendInitialEvents`).
    mark: bool,
}

impl Stream {
    async fn begin(&mut self, options: &ListOptions, range: &[u8]) -> Result<(), Status> {
        let asked = object::asked_version(&options.resource_version)?;
        let wants_state = options
            .send_initial_events
            .unwrap_or(matches!(asked, None | Some(0)));
        let from = if wants_state {
            let snapshot = match asked {
                Some(0) => self.api.store.latest(),
                Some(revision) => self.api.not_older(revision).await?,
                None => self.api.latest().await?,
            };
            let revision = snapshot.revision();
            self.initial = Some(Initial {
                snapshot,
                range: range.to_vec(),
                after: None,
                mark: options.send_initial_events == Some(true),
            });
            revision
        } else {
            match asked {
                None | Some(0) => self.api.latest().await?.revision(),
                Some(revision) => revision,
            }
        };
        self.sent = from;
        match self.api.store.watch(range, from).await {
            Ok(source) => self.source = Some(source),
            Err(store::Error::FutureRevision { requested, current }) => {
                return Err(failure::too_large(requested, current));
            }
            Err(store::Error::Compacted { requested, floor }) => {
                self.failed = Some(failure::too_old(requested, floor));
            }
            Err(error) => return Err(failure::of_store(&error)),
        }
        Ok(())
    }

    /// The next bytes, when there are any. `None` when the watch is over.
    async fn frame(&mut self) -> Option<Bytes> {
        loop {
            if self.ended {
                return None;
            }
            let mut out = Vec::new();
            if let Some(status) = self.failed.take() {
                self.ended = true;
                self.push_value(&mut out, "ERROR", &status.to_value());
                return Some(out.into());
            }
            if self.initial.is_some() {
                self.push_initial(&mut out);
            } else {
                self.wait(&mut out).await?;
            }
            if !out.is_empty() {
                return Some(out.into());
            }
        }
    }

    fn push_initial(&mut self, out: &mut Vec<u8>) {
        let Some(mut initial) = self.initial.take() else {
            return;
        };
        while out.len() < FRAME {
            let page = initial
                .snapshot
                .page(&initial.range, initial.after.as_deref(), 128);
            let Some(last) = page.entries.last() else {
                if initial.mark && self.bookmarks {
                    self.push_bookmark(out, initial.snapshot.revision(), true);
                }
                return;
            };
            initial.after = Some(last.key.to_vec());
            for entry in &page.entries {
                if self.filter.takes(&self.resource, entry) {
                    self.push_object(out, "ADDED", &entry.value, entry.modified);
                }
            }
        }
        self.initial = Some(initial);
    }

    /// Waits for changes, the deadline or the time for a bookmark.
    async fn wait(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let source = self.source.as_mut()?;
        let bookmark = async {
            if self.bookmarks {
                tokio::time::sleep_until(self.next_bookmark).await;
            } else {
                std::future::pending::<()>().await;
            }
        };
        let changes = tokio::select! {
            biased;
            changes = source.next() => changes,
            () = tokio::time::sleep_until(self.deadline) => return None,
            () = self.api.stopping() => return None,
            () = bookmark => {
                let progress = source.progress();
                self.push_bookmark(out, progress, false);
                return Some(());
            }
        };
        let mut changes = Some(changes);
        while let Some(next) = changes.take() {
            match next {
                Ok(events) => {
                    for event in events.iter() {
                        self.push_event(out, event);
                    }
                }
                Err(end) => {
                    self.end(&end);
                    break;
                }
            }
            if out.len() < FRAME {
                changes = self.source.as_mut().and_then(store::Watch::try_next);
            }
        }
        Some(())
    }

    fn end(&mut self, end: &WatchEnd) {
        match end {
            WatchEnd::Compacted { floor } => {
                self.failed = Some(failure::too_old(self.sent, *floor));
            }
            // As upstream: a watcher that is too slow, or a server that stops, just sees the stream end.
            _ => self.ended = true,
        }
    }

    fn push_event(&mut self, out: &mut Vec<u8>, event: &Arc<Event>) {
        self.sent = event.revision;
        let Some((kind, entry)) = self.filter.change(&self.resource, event) else {
            return;
        };
        let (api, resource) = (self.api.clone(), self.resource.clone());
        if self.accepted.view == View::Whole && !self.accepted.pretty {
            let key = (resource.version.as_str(), self.accepted.format, kind);
            let encoded = api.encoded.get(event, key, || {
                let mut bytes = Vec::with_capacity(entry.value.len() + 96);
                self.push_object(&mut bytes, kind, &entry.value, event.revision);
                bytes.into()
            });
            out.extend_from_slice(&encoded);
        } else {
            self.push_object(out, kind, &entry.value, event.revision);
        }
    }

    fn push_object(&mut self, out: &mut Vec<u8>, kind: &str, bytes: &[u8], revision: Revision) {
        let show = Show::new(&self.resource, self.accepted, self.include);
        let start = out.len();
        let shown = match (self.accepted.format, self.accepted.view) {
            (Format::Json, View::Table(version)) => {
                let first = std::mem::take(&mut self.first_row);
                table::event(&show, version, first, kind, bytes, revision, out)
            }
            (Format::Json, _) => show.event(out, kind, bytes, revision),
            _ => crate::convert::protobuf_event(&show, kind, bytes, revision, out),
        };
        match shown {
            Ok(()) if self.accepted.format == Format::Json => out.push(b'\n'),
            Ok(()) => {}
            Err(status) => {
                out.truncate(start);
                self.failed = Some(status);
            }
        }
    }

    fn push_bookmark(&mut self, out: &mut Vec<u8>, revision: Revision, initial_end: bool) {
        self.next_bookmark = Instant::now() + BOOKMARK;
        let mut metadata = json!({"resourceVersion": (revision.to_string())});
        if initial_end && let Some(metadata) = metadata.as_object_mut() {
            metadata.insert("annotations", json!({"k8s.io/initial-events-end": "true"}));
        }
        let (kind, api_version) = match self.accepted.view {
            View::Whole => (self.resource.kind.clone(), self.resource.api_version()),
            View::Table(version) => ("Table".into(), format!("meta.k8s.io/{version}")),
            View::Metadata(version) | View::MetadataList(version) => (
                "PartialObjectMetadata".into(),
                format!("meta.k8s.io/{version}"),
            ),
        };
        let object = if let View::Table(version) = self.accepted.view {
            table::bookmark(&self.resource, version, metadata)
        } else {
            json!({"kind": kind, "apiVersion": api_version, "metadata": metadata})
        };
        self.push_value(out, "BOOKMARK", &object);
    }

    fn push_value(&self, out: &mut Vec<u8>, kind: &str, object: &Value) {
        if self.accepted.format == Format::Json {
            json::write(out, &json!({"type": kind, "object": (object.clone())}));
            out.push(b'\n');
        } else {
            crate::convert::protobuf_value_event(kind, object, out);
        }
    }
}
