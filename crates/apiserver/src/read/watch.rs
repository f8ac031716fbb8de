//! Hot path. WATCH: changes as they happen, each encoded once per format for all who watch.

mod batches;
mod events;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use json::{Value, json};
use meta::Status;
use meta::options::ListOptions;
use store::{Changes, Event, Revision, Snapshot, WatchEnd};
use telemetry::metrics::Timer;
use telemetry::trace::{self, Role, Scope};
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, Sleep, sleep_until};

use self::batches::Batches;
use self::events::Frame;
use crate::catalog::Resource;
use crate::catalog::object;
use crate::flow::{StreamSeat, Watched};
use crate::handler::context::RequestContext;
use crate::handler::render::Renderer;
use crate::handler::respond;
use crate::handler::table;
use crate::observe::traced;
use crate::read::filter::Filter;
use crate::request::negotiate::{Accepted, Format, View};
use crate::state::Api;
use crate::state::failure;
use crate::transport::body::{Body, Frames, Upcoming};

/// Events are sent together as long as they fit.
const FRAME: usize = 64 << 10;
/// Entries of the first state that are looked at in one go, and how many such pages before others get their turn.
const PAGE: usize = 128;
const PAGES: usize = 8;
/// How often an idle watch sends a bookmark, if the client asked for bookmarks.
const BOOKMARK: Duration = Duration::from_secs(60);

pub(crate) async fn watch(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
) -> Result<Response<Body>, Status> {
    let accepted = respond::accept_stream(ctx)?;
    let options = ctx.list_options()?;
    let filter = Filter::new(ctx, &options)?;
    let range = ctx.watch_range();
    let include = table::Include::of(ctx.query, accepted)?;
    let deadline = Instant::now() + api.watch_time(options.timeout_seconds);
    let mut stream = Stream {
        api: api.clone(),
        resource: ctx.resource.clone(),
        accepted,
        include,
        filter,
        bookmarks: options.allow_watch_bookmarks,
        initial: None,
        source: None,
        failed: None,
        sent: 0,
        next_bookmark: Instant::now() + BOOKMARK,
        first_row: true,
        ended: false,
        opened: Timer::start(),
        batches: Batches::begin(api, &ctx.resource),
        scope: if ctx.info.namespace.is_empty() {
            "cluster"
        } else {
            "namespace"
        },
    };
    let storage = traced::storage("cacher.Watch");
    storage.set("type", || ctx.resource.group_resource().to_string());
    stream.begin(&options, range.as_bytes()).await?;
    let watched = (ctx.limiter.flow()).and_then(|flow| Watched::new(flow, ctx.info, ctx.query));
    // A watch that begins with the state holds its seat until all of that is sent.
    let seat = match &stream.initial {
        Some(_) => ctx.seat.take_for_stream(ctx.limiter.flow()),
        None => None,
    };
    traced::fresh(false);
    drop(storage);
    let content_type = match accepted.format {
        Format::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
        _ => "application/json",
    };
    let opened = trace::span_as("WatchServer.HandleHTTP", Scope::Component, Role::Answer);
    trace::event("About to start writing response");
    let mut watching = Watching::new(stream, deadline);
    (watching.seat, watching.watched) = (seat, watched);
    let body = Body::Stream(Box::pin(watching));
    drop(opened);
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
    next_bookmark: Instant,
    /// Column definitions come with the first row only.
    first_row: bool,
    ended: bool,
    opened: Timer,
    /// Only if it is traced.
    batches: Option<Box<Batches>>,
    /// As metrics call it.
    scope: &'static str,
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
                Some(0) => self.api.store().latest(),
                Some(revision) => self.api.not_older(revision).await?,
                None => self.api.fresh_snapshot().await?,
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
                None | Some(0) => self.api.fresh_snapshot().await?.revision(),
                Some(revision) => revision,
            }
        };
        self.sent = from;
        match self.api.store().watch(range, from).await {
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

    /// What there is to say now. Pending if there is nothing; it wakes for changes then.
    fn poll_frame(&mut self, frame: &mut Frame, context: &mut Context<'_>) -> Poll<()> {
        if let Some(status) = self.failed.take() {
            self.ended = true;
            self.push_value(frame.own(), "ERROR", &status.to_value());
        } else if self.initial.is_some() {
            self.push_initial(frame.own());
        } else if let Some(source) = &mut self.source {
            let changes = std::task::ready!(source.poll_next(context));
            self.push_changes(frame, changes);
        } else {
            self.ended = true;
        }
        Poll::Ready(())
    }

    /// What is watched is no longer what it was.
    fn is_over(&self) -> bool {
        let custom = self.resource.custom.as_ref();
        custom.is_some_and(|it| it.life.is_over())
    }

    fn next_wake(&self, deadline: Instant) -> Instant {
        let told = self.batches.as_deref().and_then(Batches::due);
        let deadline = told.map_or(deadline, |it| it.min(deadline));
        if self.bookmarks {
            deadline.min(self.next_bookmark)
        } else {
            deadline
        }
    }

    fn push_initial(&mut self, out: &mut Vec<u8>) {
        let Some(mut initial) = self.initial.take() else {
            return;
        };
        for _ in 0..PAGES {
            if out.len() >= FRAME {
                break;
            }
            let page = initial
                .snapshot
                .page(&initial.range, initial.after.as_deref(), PAGE);
            let Some(last) = page.entries.last() else {
                if initial.mark && self.bookmarks {
                    self.push_bookmark(out, initial.snapshot.revision(), true);
                    let watches = &self.api.metrics().watches;
                    watches.state_sent(&self.resource, self.scope, self.opened.nanos());
                }
                return;
            };
            initial.after = Some(last.key.to_vec());
            for entry in &page.entries {
                if self.filter.takes(&self.resource, entry) {
                    let before = out.len();
                    self.push_object(out, "ADDED", &entry.value, entry.modified);
                    self.api.metrics().watches.of(&self.resource).initial.inc();
                    self.count(out.len() - before);
                }
            }
        }
        self.initial = Some(initial);
    }

    /// These changes, and what else has happened already, as long as it fits.
    fn push_changes(&mut self, frame: &mut Frame, changes: Result<Changes, WatchEnd>) {
        let mut changes = Some(changes);
        while let Some(next) = changes.take() {
            match next {
                Ok(events) => {
                    for event in events.iter() {
                        self.push_event(frame, event);
                    }
                }
                Err(end) => return self.end(&end),
            }
            if frame.len() < FRAME {
                changes = self.source.as_mut().and_then(store::Watch::try_next);
            }
        }
    }

    fn end(&mut self, end: &WatchEnd) {
        match end {
            WatchEnd::Compacted { floor } => {
                self.failed = Some(failure::too_old(self.sent, *floor));
            }
            // As upstream: a watcher that is too slow, or a server that stops, just sees the stream end.
            WatchEnd::Lagged { .. } => {
                self.api.metrics().watches.too_slow(&self.resource);
                self.ended = true;
            }
            WatchEnd::Closed => self.ended = true,
        }
    }

    /// An event of so many bytes goes out.
    fn count(&mut self, bytes: usize) {
        if bytes > 0 {
            self.api.metrics().watches.of(&self.resource).sent(bytes);
            if let Some(batches) = &mut self.batches {
                batches.add(bytes, self.sent);
            }
        }
    }

    fn push_event(&mut self, frame: &mut Frame, event: &Arc<Event>) {
        self.sent = event.revision;
        let before = frame.len();
        let Some((kind, entry)) = self.filter.change(&self.resource, event) else {
            return;
        };
        if self.accepted.view == View::Whole && !self.accepted.pretty {
            let key = (&*self.resource.version, self.accepted.format, kind);
            let renderer = Renderer::new(&self.resource, self.accepted, self.include);
            let encoded = self.api.encoded().get(event, key, || {
                let mut bytes = Vec::with_capacity(entry.value.len() + 96);
                events::whole(&renderer, kind, &entry.value, event.revision, &mut bytes)?;
                Ok(bytes.into())
            });
            match encoded {
                Ok(encoded) => frame.push(encoded),
                Err(status) => self.failed = Some(status),
            }
        } else {
            self.push_object(frame.own(), kind, &entry.value, event.revision);
        }
        self.count(frame.len() - before);
    }

    fn push_object(&mut self, out: &mut Vec<u8>, kind: &str, bytes: &[u8], revision: Revision) {
        let renderer = Renderer::new(&self.resource, self.accepted, self.include);
        let start = out.len();
        let shown = if let View::Table(version) = self.accepted.view
            && self.accepted.format == Format::Json
        {
            let first = std::mem::take(&mut self.first_row);
            let shown = table::event(&renderer, version, first, kind, bytes, revision, out);
            shown.map(|()| out.push(b'\n'))
        } else {
            events::whole(&renderer, kind, bytes, revision, out)
        };
        if let Err(status) = shown {
            out.truncate(start);
            self.failed = Some(status);
        }
    }

    fn push_progress(&mut self, out: &mut Vec<u8>) {
        if let Some(progress) = self.source.as_mut().map(store::Watch::progress) {
            self.push_bookmark(out, progress, false);
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
        let before = out.len();
        self.push_value(out, "BOOKMARK", &object);
        self.count(out.len() - before);
    }

    fn push_value(&self, out: &mut Vec<u8>, kind: &str, object: &Value) {
        if self.accepted.format == Format::Json {
            json::write(out, &json!({"type": kind, "object": (object.clone())}));
            out.push(b'\n');
        } else {
            events::protobuf_value(kind, object, out);
        }
    }
}

/// A watch as the body of its answer. An event finds thousands of these at rest: what it touches is little.
struct Watching {
    stream: Stream,
    deadline: Instant,
    /// The time that `timer` is set to.
    wake_at: Instant,
    stop: Receiver<bool>,
    /// Whom the two below wake.
    waker: Option<Waker>,
    timer: Pin<Box<Sleep>>,
    stopping: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// While the state is sent.
    seat: Option<StreamSeat>,
    watched: Option<Watched>,
}

impl Watching {
    fn new(stream: Stream, deadline: Instant) -> Self {
        let (wake_at, api) = (stream.next_wake(deadline), stream.api.clone());
        Self {
            deadline,
            wake_at,
            stop: api.lifecycle().stop(),
            waker: None,
            timer: Box::pin(sleep_until(wake_at)),
            stopping: Box::pin(ending(api, stream.resource.clone())),
            stream,
            seat: None,
            watched: None,
        }
    }

    /// Whether a timer or the server's end is due, found without polling either.
    fn is_called(&self, context: &Context<'_>) -> bool {
        let known = self.waker.as_ref();
        !known.is_some_and(|it| it.will_wake(context.waker()))
            || self.stop.has_changed().unwrap_or(true)
            || self.stream.is_over()
            || Instant::now() >= self.wake_at
    }

    /// Ready when it is time for something else than changes.
    fn poll_rest(&mut self, frame: &mut Frame, context: &mut Context<'_>) -> Poll<()> {
        if self.stream.batches.is_some() {
            self.set_timer();
        }
        if !self.is_called(context) {
            return Poll::Pending;
        }
        self.waker = Some(context.waker().clone());
        if self.stopping.as_mut().poll(context).is_ready() {
            self.stream.ended = true;
            return Poll::Ready(());
        }
        std::task::ready!(self.timer.as_mut().poll(context));
        let now = Instant::now();
        if now >= self.deadline {
            self.stream.ended = true;
            return Poll::Ready(());
        }
        if self.stream.bookmarks && now >= self.stream.next_bookmark {
            self.stream.push_progress(frame.own());
        }
        self.set_timer();
        Poll::Ready(())
    }

    fn set_timer(&mut self) {
        self.wake_at = self.stream.next_wake(self.deadline);
        self.timer.as_mut().reset(self.wake_at);
        // It has not seen whom to wake.
        self.waker = None;
    }
}

impl Frames for Watching {
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(seat) = &mut self.seat {
            std::task::ready!(seat.poll_ready(context));
        }
        while !self.stream.ended {
            // A poll for more means that the last frame was taken.
            if let Some(batches) = &mut self.stream.batches {
                batches.sent();
            }
            let mut frame = Frame::default();
            if self.stream.poll_frame(&mut frame, context).is_pending() {
                std::task::ready!(self.poll_rest(&mut frame, context));
            }
            if self.stream.initial.is_none() {
                self.seat = None;
            }
            if let Some(frame) = frame.finish() {
                return Poll::Ready(Some(frame));
            }
            if self.stream.initial.is_some() {
                // A selector took none of many: the search goes on after others.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        Poll::Ready(None)
    }

    fn upcoming(&self) -> Upcoming {
        Upcoming::default()
    }
}

/// Done when the server stops, or the definition of what is watched says something else.
async fn ending(api: Arc<Api>, resource: Arc<Resource>) {
    let Some(custom) = &resource.custom else {
        return api.stopping().await;
    };
    tokio::select! {
        () = api.stopping() => {}
        () = custom.life.over() => {}
    }
}
