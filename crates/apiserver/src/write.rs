//! The one write path: whatever the verb, an object becomes durable here and nowhere else.
//!
//! live object, change, default, managed fields, mutate admission, prepare, validate, validate admission, canonical
//! bytes, store.

use std::sync::Arc;

use admission::{Admitting, Operation, Request};
use bytes::Bytes;
use json::Value;
use meta::Status;
use meta::gvk::GroupVersionKind;
use store::{Condition, Entry, Txn};
use telemetry::trace::{self, Role, Scope};

use crate::catalog::Resource;
use crate::metrics::Operation as Stored;
use crate::pipeline::{Api, Ask};
use crate::request::Verb;
use crate::{allocate, convert, failure, guard, managed, object, respond, strategy, traced};

/// How often a change is tried again on an object that others change meanwhile, when the client named no version.
const RETRIES: usize = 5;
/// How many generated names may turn out to be taken, as upstream.
const NAMES: usize = 8;
/// When owners were found that are named twice: a patch is looked at no sooner.
const ADMITTED: &str = " after mutating admission happens";

/// What the query says about a write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub dry_run: bool,
    pub field_manager: String,
    /// As admission webhooks see them.
    pub value: Value,
}

/// An object after its write.
#[derive(Debug)]
pub(crate) struct Written {
    /// At rest; on a dry run, what would be.
    pub entry: Entry,
    pub created: bool,
    /// It was not written, or it is gone.
    pub is_stored: bool,
}

/// What a write is about.
#[derive(Debug)]
pub(crate) struct Write<'a> {
    pub api: &'a Arc<Api>,
    pub ask: &'a Ask<'a>,
    pub options: Options,
    pub kind: GroupVersionKind,
    pub seen: Seen<'a>,
    /// The server's own change: nothing of it is a client's to own, to be reset or to be judged.
    pub own: bool,
}

/// What admission sees of a change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen<'a> {
    Whole,
    /// A part of the object that is a kind of its own, as its Scale.
    Face(&'a dyn Face),
    /// Nothing: it has seen what led to it.
    Nothing,
}

pub(crate) trait Face: std::fmt::Debug + Send + Sync {
    fn of(&self, object: &Value) -> Value;

    /// What admission made of it.
    fn put_back(&self, face: &Value, object: &mut Value);
}

impl Seen<'_> {
    fn take(self, object: &mut Value) -> Value {
        match self {
            Self::Whole => object.take(),
            Self::Face(face) => face.of(object),
            Self::Nothing => Value::Null,
        }
    }

    fn put_back(self, seen: Value, object: &mut Value) {
        match self {
            Self::Whole => *object = seen,
            Self::Face(face) => face.put_back(&seen, object),
            Self::Nothing => {}
        }
    }
}

/// What becomes of the object that is there. Called again if somebody else was faster.
pub(crate) trait Change: Send {
    /// `live` has its resource version. `None` if there is nothing: then the result is created.
    fn apply(&mut self, live: Option<&Value>) -> Result<Changed, Status>;
}

/// The changed object, at the version asked for.
#[derive(Debug)]
pub(crate) struct Changed {
    pub object: Value,
    /// Who owns which field is known already (server-side apply).
    pub managed: bool,
    /// The client's object names the version it is based on: no second try.
    pub exact: bool,
}

/// Nobody touched it: it has its defaults still.
fn is_same(before: &Value, after: &Value) -> bool {
    let (before, after) = (before.as_object(), after.as_object());
    before
        .zip(after)
        .is_some_and(|(before, after)| before.is_same(after))
}

impl<'a> Write<'a> {
    pub(crate) fn new(api: &'a Arc<Api>, ask: &'a Ask<'a>, options: Options) -> Self {
        Self {
            api,
            ask,
            options,
            kind: ask.resource.gvk(),
            seen: Seen::Whole,
            own: false,
        }
    }

    /// What admission has to say to a thing done to an object, before it is done.
    pub(crate) async fn act(
        &self,
        operation: Operation,
        name: &str,
        action: &mut Value,
    ) -> Result<(), Status> {
        let gvr = self.resource().gvr();
        let request = self.request(operation, &gvr, name, None);
        let mut admitting = Admitting::new(action.take());
        self.admit(&request, &mut admitting).await?;
        self.validate(&request, &mut admitting).await?;
        *action = admitting.object;
        Ok(())
    }

    /// Mutating admission; whoever refuses may have said something before.
    pub(crate) async fn admit(
        &self,
        request: &Request<'_>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        if self.ask.info.verb == Verb::Patch {
            trace::handler_event("About to check admission control");
        }
        let done = self.api.admission.admit(request, admitting).await;
        self.gather(admitting);
        done
    }

    pub(crate) async fn validate(
        &self,
        request: &Request<'_>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        let done = self.api.admission.validate(request, admitting).await;
        self.gather(admitting);
        done
    }

    fn gather(&self, admitting: &mut Admitting) {
        self.ask.warnings.add(admitting.warnings.drain(..));
        let waited = std::mem::take(&mut admitting.waited);
        self.ask.warnings.add_wait(waited);
    }

    fn resource(&self) -> &Resource {
        &self.ask.resource
    }

    fn namespace(&self) -> &str {
        &self.ask.info.namespace
    }

    /// Makes a new object.
    pub(crate) async fn create(&self, object: Value, managed: bool) -> Result<Written, Status> {
        self.make(object, managed, false).await
    }

    /// The same, or as a part of a change of what was not there.
    async fn make(
        &self,
        mut object: Value,
        managed: bool,
        updating: bool,
    ) -> Result<Written, Status> {
        let resource = self.resource();
        strategy::accepts_new(resource)?;
        object::place(&mut object, resource, self.namespace(), &self.ask.info.name)?;
        let generated = object
            .str_at(&["metadata", "name"])
            .unwrap_or_default()
            .is_empty();
        let tries = if generated { NAMES } else { 1 };
        for attempt in 1.. {
            let written = self.make_once(object.clone(), managed, updating).await;
            match written {
                Err(status) if status.is_already_exists() && attempt < tries => {}
                Err(status) if status.is_conflict() && attempt < NAMES => {}
                written => return written,
            }
        }
        unreachable!("the last try returns")
    }

    async fn make_once(
        &self,
        mut object: Value,
        managed: bool,
        updating: bool,
    ) -> Result<Written, Status> {
        let resource = self.resource();
        object::fill_new(&mut object)?;
        let name = object
            .str_at(&["metadata", "name"])
            .unwrap_or_default()
            .to_owned();
        strategy::default(resource, &mut object)?;
        self.distinct_owners(&mut object, "");
        // Before admission: what plugins and webhooks add is nobody's.
        if !managed {
            managed::update(self, None, &mut object);
        }
        let before = object.clone();
        let mut admitting = Admitting::new(object);
        let gvr = resource.gvr();
        let request = self.request(Operation::Create, &gvr, &name, None);
        self.admit(&request, &mut admitting).await?;
        let mut object = admitting.object.take();
        if !is_same(&before, &object) {
            strategy::default(resource, &mut object)?;
            self.distinct_owners(&mut object, ADMITTED);
        }
        drop(before);
        // Not before: admission knows such an object by what its name begins with.
        object::fill_name(&mut object)?;
        let mut warnings = strategy::prepare_create(self, &mut object);
        // Before validation: what is given must be there then, and what cannot be given is said first.
        let beside = allocate::assign(self.api, resource, None, &mut object)?;
        guard::check(self, &object, None).await?;
        warnings.append(&mut strategy::validate_create(self, &object)?);
        self.ask.warnings.add(warnings);
        admitting.object = object;
        self.validate(&request, &mut admitting).await?;
        let object = admitting.object;
        let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
        let key = resource.key(self.namespace(), name);
        // Who would have changed it has one already.
        let stores = !updating && !self.options.dry_run;
        let storage = stores.then(|| self.storage("Create etcd3", &key));
        if object
            .str_at(&["metadata", "resourceVersion"])
            .is_some_and(|it| !it.is_empty())
        {
            // As late as upstream, where the storage notices.
            let text = "resourceVersion should not be set on objects to be created";
            return Err(Status::failure(500, meta::status::Reason::Unknown, text));
        }
        let value = self.encode(&object)?;
        if self.options.dry_run {
            let read = (!updating).then(|| traced::storage("Get etcd3"));
            let latest = self.api.latest().await?;
            let found = latest.get(key.as_bytes()).map(|it| it.value.len());
            if let Some(read) = read {
                traced::got(&read, &key, false, found);
            }
            if found.is_some() {
                return Err(Status::already_exists(&resource.group_resource(), name));
            }
            return Ok(self.written(key, value, 0, true));
        }
        let lease = self.api.lease(resource).await?;
        let txn = Txn::new()
            .when(Condition::Absent(key.clone().into()))
            .put_leased(key.clone(), value.clone(), lease);
        let txn = beside.add_to(txn);
        let done = if updating {
            transact(self.api, Stored::Create, resource, txn, value.len()).await
        } else {
            let done = commit(self.api, Stored::Create, resource, txn).await;
            if matches!(done, Ok(_) | Err(store::Error::Conflict { .. })) {
                trace::event("Txn call succeeded");
            }
            if done.is_ok() {
                trace::event_with("Decode succeeded", "len", value.len());
            }
            done
        };
        drop(storage);
        match done {
            Ok(done) => Ok(self.written(key, value, done.revision, true)),
            Err(store::Error::Conflict { key: other, .. }) if other != key.as_bytes() => {
                // Somebody else took the same address or port in this moment.
                Err(self.modified(name))
            }
            Err(store::Error::Conflict { current, .. }) => {
                let mut status = Status::already_exists(&resource.group_resource(), name);
                // Upstream reads what is there once more.
                let read = stores.then(|| traced::storage("Get etcd3"));
                let length = current.as_ref().map(|it| it.value.len());
                let current = current.and_then(|it| convert::parse(resource, &it.value).ok());
                if let Some(read) = read {
                    traced::got(&read, &key, false, length);
                }
                if current.is_some_and(|it| object::is_being_deleted(&it)) {
                    status.message = format!("object is being deleted: {}", status.message);
                }
                Err(status)
            }
            Err(error) => Err(failure::of_store(&error)),
        }
    }

    /// Changes the object of this name, or creates it if `change` makes something of nothing.
    pub(crate) async fn update(
        &self,
        name: &str,
        change: &mut dyn Change,
    ) -> Result<Written, Status> {
        let resource = self.resource();
        let key = resource.key(self.namespace(), name);
        // A dry run only reads.
        let stores = !self.options.dry_run;
        let _storage = stores.then(|| self.storage("GuaranteedUpdate etcd3", &key));
        let mut attempt = 0;
        loop {
            attempt += 1;
            let read = (!stores).then(|| traced::storage("Get etcd3"));
            let snapshot = if attempt == 1 {
                self.api.store.latest()
            } else {
                self.api.latest().await?
            };
            let entry = snapshot.get(key.as_bytes()).cloned();
            if let Some(read) = read {
                let length = entry.as_ref().map(|it| it.value.len());
                traced::got(&read, &key, false, length);
            }
            let Some(entry) = entry else {
                if attempt == 1 {
                    // Memory may lag behind what others wrote: look again before saying no.
                    continue;
                }
                let changed = change.apply(None)?;
                self.restored("initial value restored");
                return self.make(changed.object, changed.managed, true).await;
            };
            drop(snapshot);
            let live = convert::decode(resource, &entry.value, entry.modified)?;
            self.restored(if attempt == 1 {
                "initial value restored"
            } else {
                "Retry value restored"
            });
            let changed = change.apply(Some(&live));
            let changed = match changed {
                // What we compared with may be old.
                Err(status) if attempt == 1 && status.is_conflict() => continue,
                changed => changed?,
            };
            let exact = changed.exact;
            match self.update_once(name, &key, &entry, &live, changed).await {
                Err(status) if status.is_conflict() && !exact && attempt <= RETRIES => {}
                written => return written,
            }
        }
    }

    async fn update_once(
        &self,
        name: &str,
        key: &str,
        entry: &Arc<Entry>,
        live: &Value,
        changed: Changed,
    ) -> Result<Written, Status> {
        let resource = self.resource();
        let Changed {
            mut object,
            managed,
            ..
        } = changed;
        object::place(&mut object, resource, self.namespace(), name)?;
        self.check_version(name, &object, entry.modified)?;
        object::carry_over(&mut object, live)?;
        // Who named no version takes what is there.
        let metadata = object::metadata(&mut object)?;
        metadata.insert("resourceVersion", entry.modified.to_string());
        strategy::default(resource, &mut object)?;
        let patched = self.ask.info.verb == Verb::Patch;
        self.distinct_owners(&mut object, if patched { ADMITTED } else { "" });
        if !managed && !self.own {
            managed::update(self, Some(live), &mut object);
        }
        let gvr = resource.gvr();
        let face = match self.seen {
            Seen::Face(face) => Some(face.of(live)),
            _ => None,
        };
        let old = face.as_ref().unwrap_or(live);
        let request = self.request(Operation::Update, &gvr, name, Some(old));
        let is_seen = !matches!(self.seen, Seen::Nothing);
        let mut admitting = Admitting::default();
        let before = object.clone();
        if is_seen {
            admitting.object = self.seen.take(&mut object);
            self.admit(&request, &mut admitting).await?;
            self.seen.put_back(admitting.object.take(), &mut object);
        }
        if !is_same(&before, &object) {
            strategy::default(resource, &mut object)?;
            self.distinct_owners(&mut object, ADMITTED);
        }
        drop(before);
        let mut warnings = self.prepare_update(&mut object, live);
        allocate::carry_over(resource, &mut object, live);
        let beside = allocate::assign(self.api, resource, Some(live), &mut object)?;
        guard::check(self, &object, Some(live)).await?;
        if !self.own {
            warnings.append(&mut strategy::validate_update(self, &object, live)?);
        }
        self.ask.warnings.add(warnings);
        if is_seen {
            admitting.object = self.seen.take(&mut object);
            self.validate(&request, &mut admitting).await?;
            self.seen.put_back(admitting.object.take(), &mut object);
        }
        merge::keep_times(live, &mut object);
        let value = self.encode(&object)?;
        if value == entry.value {
            // Nothing changed: no write, no event, the same resource version.
            let mut written = self.written(key.to_owned(), value, entry.modified, false);
            written.is_stored = true;
            return Ok(written);
        }
        if self.options.dry_run {
            return Ok(self.written(key.to_owned(), value, entry.modified, false));
        }
        let condition = Condition::Unchanged(key.to_owned().into(), entry.modified);
        let finished = strategy::is_finished(resource, &object);
        let txn = Txn::new().when(condition);
        let txn = if finished {
            let beside = allocate::release(self.api, resource, &object);
            beside.add_to(txn.delete(key.to_owned()))
        } else {
            beside.add_to(txn.put_leased(key.to_owned(), value.clone(), entry.lease))
        };
        match transact(self.api, Stored::Update, resource, txn, value.len()).await {
            Ok(done) => Ok(self.written(key.to_owned(), value, done.revision, false)),
            Err(store::Error::Conflict { .. }) => Err(self.modified(name)),
            Err(error) => Err(failure::of_store(&error)),
        }
    }

    pub(crate) fn storage(&self, name: &'static str, key: &str) -> trace::Span {
        let span = traced::storage(name);
        span.set("key", || key.to_owned());
        span.set("type", || respond::go_type(self.resource(), false));
        span
    }

    /// What is there is at hand.
    pub(crate) fn restored(&self, event: &'static str) {
        if !self.options.dry_run {
            trace::event(event);
        }
    }

    pub(crate) fn encode(&self, object: &Value) -> Result<Bytes, Status> {
        if self.options.dry_run {
            return convert::encode(self.resource(), object);
        }
        trace::event("About to Encode");
        let value = convert::encode(self.resource(), object)?;
        trace::event_with("Encode succeeded", "len", value.len());
        // Upstream's station for encryption at rest.
        trace::event("TransformToStorage succeeded");
        Ok(value)
    }

    fn prepare_update(&self, object: &mut Value, live: &Value) -> Vec<String> {
        if self.own {
            return Vec::new();
        }
        strategy::prepare_update(self, object, live)
    }

    /// Who names an owner twice is told so.
    fn distinct_owners(&self, object: &mut Value, when: &str) {
        let twice = object::distinct_owners(object);
        if !twice.is_empty() {
            self.ask.warnings.add(vec![format!(
                ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, \
                 and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
                twice.join(", ")
            )]);
        }
    }

    /// An object that names a version must name the one that is there.
    fn check_version(&self, name: &str, object: &Value, modified: u64) -> Result<(), Status> {
        let asked = object
            .str_at(&["metadata", "resourceVersion"])
            .unwrap_or_default();
        // Zero is as good as none.
        if matches!(asked, "" | "0") {
            if strategy::allows_unconditional_update(self.resource()) {
                return Ok(());
            }
            let field = "metadata.resourceVersion";
            let error = meta::field::Error::invalid(field, 0, "must be specified for an update");
            // By resource, where others are named by kind, as upstream has it.
            let resource = self.resource();
            let kind = meta::gvk::GroupKind::new(&*resource.group, &*resource.plural);
            return Err(Status::invalid(&kind, name, &[error]));
        }
        if asked == modified.to_string() {
            return Ok(());
        }
        if asked.parse::<u64>().is_err() {
            let text = format!("strconv.ParseUint: parsing {asked:?}: invalid syntax");
            return Err(Status::failure(500, meta::status::Reason::Unknown, text));
        }
        Err(self.modified(name))
    }

    fn modified(&self, name: &str) -> Status {
        let text = "the object has been modified; please apply your changes to the latest version and try again";
        Status::conflict(&self.resource().group_resource(), name, text)
    }

    pub(crate) fn request<'b>(
        &'b self,
        operation: Operation,
        gvr: &'b meta::gvk::GroupVersionResource,
        name: &'b str,
        old: Option<&'b Value>,
    ) -> Request<'b> {
        Request {
            operation,
            kind: &self.kind,
            resource: gvr,
            subresource: &self.ask.info.subresource,
            // A Namespace's own name stands for it, from its first request on.
            namespace: match self.namespace() {
                "" if self.resource().is("", "namespaces") => name,
                namespace => namespace,
            },
            name,
            user: self.ask.user,
            dry_run: self.options.dry_run,
            options: &self.options.value,
            old,
            lookup: &**self.api,
            kinds: &**self.api,
        }
    }

    fn written(&self, key: String, value: Bytes, revision: u64, created: bool) -> Written {
        Written {
            entry: Entry {
                key: key.into(),
                value,
                created: revision,
                modified: revision,
                lease: 0,
            },
            created,
            is_stored: !self.options.dry_run,
        }
    }
}

/// With the events of an update, whose new value has this length.
pub(crate) async fn transact(
    api: &Api,
    operation: Stored,
    resource: &Resource,
    txn: Txn,
    length: usize,
) -> Result<store::Committed, store::Error> {
    trace::event("Transaction prepared");
    let done = commit(api, operation, resource, txn).await;
    trace::event("Txn call completed");
    if done.is_ok() {
        trace::event("Transaction committed");
        trace::event_with("Decode succeeded", "len", length);
    }
    done
}

/// One transaction, as a part of what the store makes durable at once.
pub(crate) async fn commit(
    api: &Api,
    operation: Stored,
    resource: &Resource,
    txn: Txn,
) -> Result<store::Committed, store::Error> {
    let span = trace::span_as("store.commit", Scope::Own, Role::Plain);
    let done = api.commit(operation, resource, txn).await;
    match &done {
        Ok(done) => span.set("batch.size", || done.batch),
        Err(store::Error::Conflict { .. }) => span.set("conflict", || true),
        Err(_) => span.fail(),
    }
    done
}
