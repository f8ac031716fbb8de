//! From the verb to its function, and what a write's query says.

use std::sync::Arc;

use http::{Response, StatusCode};
use json::{Object, Value, json};
use meta::Status;
use meta::options::{CreateOptions, PatchOptions, Query};
use resources::Verb as Allowed;
use telemetry::trace;

use crate::catalog::object;
use crate::observe::traced;
use crate::pipeline::Ask;
use crate::read::list;
use crate::read::watch;
use crate::request::Verb;
use crate::request::decode::{self, Expected, Validation};
use crate::request::render::Show;
use crate::request::respond;
use crate::request::table::Include;
use crate::state::Api;
use crate::subresources;
use crate::transport::body::Body;
use crate::transport::incoming::RequestBody;
use crate::write::delete;
use crate::write::patch;
use crate::write::{Change, Changed, Options, Write, Written};

pub(crate) async fn answer(api: &Arc<Api>, ask: &Ask<'_>, body: RequestBody) -> Response<Body> {
    let is_custom = ask.resource.custom.is_some();
    if !is_custom && let Err(status) = check(ask) {
        return respond::refused(&status, ask.headers, ask.query);
    }
    let _handler = traced::handler(ask);
    let answered = if is_custom {
        custom(api, ask, body).await
    } else if !ask.info.subresource.is_empty() {
        Box::pin(subresources::answer(api, ask, body)).await
    } else if ask.resource.prefix.is_empty() {
        Box::pin(subresources::unstored(api, ask, body)).await
    } else {
        object(api, ask, body).await
    };
    answered.unwrap_or_else(|status| respond::failed(&status, ask.headers, ask.query))
}

/// Whether somebody is there for this.
fn check(ask: &Ask<'_>) -> Result<(), Status> {
    if !ask.info.subresource.is_empty() {
        return subresources::check(ask);
    }
    if !exists(ask) {
        return Err(crate::nonresource::no_resource());
    }
    check_name(&ask.info.name)?;
    if !allows(ask) {
        return Err(not_allowed());
    }
    Ok(())
}

/// Upstream serves custom resources by a handler of its own, with other words for what is not there.
async fn custom(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let info = ask.info;
    let reads = matches!(info.verb, Verb::List | Verb::Watch);
    let is_placed = match (ask.resource.namespaced, info.namespace.is_empty()) {
        (true, true) => reads,
        (namespaced, whole) => namespaced != whole,
    };
    if !is_placed {
        return Ok(crate::nonresource::page_not_found());
    }
    let unsupported = || {
        let resource = ask.resource.group_resource();
        Status::method_not_supported(&resource, info.verb.as_str())
    };
    if !info.subresource.is_empty() {
        if ask.resource.subresource(&info.subresource).is_none() {
            return Err(ask.not_found());
        }
        if !matches!(info.verb, Verb::Get | Verb::Update | Verb::Patch) {
            return Err(unsupported());
        }
        subresources::check(ask)?;
        return Box::pin(subresources::answer(api, ask, body)).await;
    }
    check_name(&info.name)?;
    match info.verb {
        Verb::Proxy | Verb::None => Err(unsupported()),
        // Upstream makes whatever the body names: a right to make one by name would be a right to make any.
        Verb::Create if !info.name.is_empty() => Err(unsupported()),
        Verb::Update | Verb::Patch if info.name.is_empty() => {
            Err(Status::bad_request("name must be provided"))
        }
        _ => object(api, ask, body).await,
    }
}

/// The verbs on whole objects and their collections. What holds much while it waits is boxed: a read's future, which
/// is moved about with every request, stays small.
pub(crate) async fn object(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    match ask.info.verb {
        Verb::Get => get(api, ask).await,
        Verb::List => Box::pin(list::list(api, ask)).await,
        Verb::Watch => Box::pin(watch::watch(api, ask)).await,
        Verb::Create => Box::pin(create(api, ask, body)).await,
        Verb::Update => Box::pin(update(api, ask, body)).await,
        Verb::Patch => Box::pin(patch::patch(api, ask, body)).await,
        Verb::Delete => Box::pin(delete::one(api, ask, body)).await,
        Verb::DeleteCollection => Box::pin(delete::collection(api, ask, body)).await,
        Verb::Proxy | Verb::None => Err(not_allowed()),
    }
}

/// Names are parts of paths, wherever they are kept.
pub(crate) fn check_name(name: &str) -> Result<(), Status> {
    let why = match name {
        "." | ".." => format!("may not be '{name}'"),
        _ => {
            let all = ["/", "%"].into_iter().filter(|it| name.contains(it));
            let all = all.map(|it| format!("may not contain '{it}'"));
            all.collect::<Vec<_>>().join(";")
        }
    };
    if why.is_empty() {
        return Ok(());
    }
    let name = meta::go::quote(name);
    Err(Status::bad_request(format!(
        "Name parameter invalid: {name}: {why}"
    )))
}

fn allows(ask: &Ask<'_>) -> bool {
    let verbs = ask.resource.verbs;
    let verb = match ask.info.verb {
        Verb::Get => Allowed::Get,
        Verb::List => Allowed::List,
        Verb::Watch => Allowed::Watch,
        Verb::Create => Allowed::Create,
        Verb::Update => Allowed::Update,
        Verb::Patch => Allowed::Patch,
        Verb::Delete => Allowed::Delete,
        Verb::DeleteCollection => Allowed::DeleteCollection,
        Verb::Proxy | Verb::None => return false,
    };
    // A name belongs to some verbs, and to others not.
    let named = !ask.info.name.is_empty();
    let fits = match ask.info.verb {
        Verb::Create => !named,
        Verb::Update | Verb::Patch => named,
        _ => true,
    };
    // All namespaces can be read at once, and not written.
    let reads = matches!(ask.info.verb, Verb::List | Verb::Watch);
    let placed = reads || !ask.resource.namespaced || !ask.info.namespace.is_empty();
    verbs.contains(verb) && fits && placed && ask.method != http::Method::HEAD
}

/// Whether there is such a path at all, whatever is done there.
pub(crate) fn exists(ask: &Ask<'_>) -> bool {
    // The name of a list is that of its field selector, unless the verb stood in the path.
    let lists = matches!(ask.info.verb, Verb::List | Verb::Watch) && !ask.info.by_prefix;
    let (named, whole) = (!ask.info.name.is_empty(), ask.info.namespace.is_empty());
    // What is only ever asked, or done, is nowhere to be found.
    if named && !lists && !ask.resource.verbs.contains(Allowed::Get) {
        return false;
    }
    if ask.resource.namespaced {
        lists || !(named && whole)
    } else {
        whole || ask.resource.is("", "namespaces")
    }
}

pub(crate) fn not_allowed() -> Status {
    let mut status = Status::failure(
        405,
        meta::status::Reason::MethodNotAllowed,
        "the server does not allow this method on the requested resource",
    );
    status.details = Some(Box::default());
    status
}

async fn get(api: &Api, ask: &Ask<'_>) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ask, true)?;
    respond::fits(ask, accepted, false)?;
    let include = Include::of(ask.query, accepted)?;
    if ask.query.flag("export") {
        let text = "the export parameter, deprecated since v1.14, is no longer supported";
        return Err(Status::bad_request(text));
    }
    let asked = object::asked_version(ask.query.get("resourceVersion").unwrap_or_default())?;
    let key = ask.resource.key(&ask.info.namespace, &ask.info.name);
    trace::event("About to Get from storage");
    let from_cache = asked == Some(0);
    // Upstream's names: it asks etcd where we need not.
    let storage = traced::storage(if from_cache {
        "cacher.Get"
    } else {
        "Get etcd3"
    });
    let snapshot = match asked {
        None => api.latest().await?,
        Some(0) => api.store.latest(),
        Some(revision) => Box::pin(api.not_older(revision)).await?,
    };
    let entry = snapshot.get(key.as_bytes());
    traced::got(&storage, &key, from_cache, entry.map(|it| it.value.len()));
    drop(storage);
    let entry = entry.ok_or_else(|| ask.not_found())?;
    let show = Show::new(&ask.resource, accepted, include);
    if !show.is_spliced(&entry.value, entry.modified) {
        ask.heavy(api, entry.value.len()).await?;
    }
    let body = traced::serialize(|| show.one(entry))?;
    Ok(respond::ok(accepted.format.content_type(), body))
}

async fn create(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let options = write_options(ask, "CreateOptions")?;
    let (object, length) = read(api, ask, body).await?;
    let write = Write::new(api, ask, options);
    let written = traced::stored(length, write.create(object, false)).await?;
    show(ask, &written)
}

async fn update(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let options = write_options(ask, "UpdateOptions")?;
    let (object, length) = read(api, ask, body).await?;
    check_named(ask, &object)?;
    let write = Write::new(api, ask, options);
    let mut replace = Replace { ask, object };
    let update = write.update(&ask.info.name, &mut replace);
    let written = traced::stored(length, update).await?;
    show(ask, &written)
}

/// What takes the place of an object says which.
pub(crate) fn check_named(ask: &Ask<'_>, object: &Value) -> Result<(), Status> {
    if object::name(object).is_empty() {
        return Err(Status::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            ask.info.name
        )));
    }
    object::check_name(object, &ask.info.name)
}

/// PUT: the client's object takes the place of what is there.
struct Replace<'a> {
    ask: &'a Ask<'a>,
    object: Value,
}

impl Change for Replace<'_> {
    fn apply(&mut self, live: Option<&Value>) -> Result<Changed, Status> {
        let Some(live) = live else {
            if !crate::write::strategy::allows_create_on_update(&self.ask.resource) {
                return Err(self.ask.not_found());
            }
            return Ok(Changed {
                object: self.object.clone(),
                managed: false,
                exact: true,
            });
        };
        self.ask.check_uid(&self.object, live)?;
        let version = self.object.str_at(&["metadata", "resourceVersion"]);
        Ok(Changed {
            object: self.object.clone(),
            managed: false,
            exact: version.is_some_and(|it| !it.is_empty()),
        })
    }
}

/// The object in a request's body, of the resource's kind, and how long the body was.
pub(crate) async fn read(
    api: &Api,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<(Value, usize), Status> {
    let expected = Expected {
        kind: &ask.resource.gvk(),
        schema: ask.resource.schema.as_ref(),
        custom: ask.resource.custom.as_deref(),
    };
    read_as(api, ask, body, &expected).await
}

/// The same of another kind: what is done to an object has one of its own.
pub(crate) async fn read_as(
    api: &Api,
    ask: &Ask<'_>,
    body: RequestBody,
    expected: &Expected<'_>,
) -> Result<(Value, usize), Status> {
    let format = decode::format(ask)?;
    let validation = Validation::of(ask);
    let body = traced::body(api, ask, body).await?;
    trace::event("About to convert to expected version");
    let decoded = decode::object(&body, format, validation, expected)?;
    ask.warnings.add(decoded.warnings);
    trace::event("Conversion done");
    Ok((decoded.object, body.len()))
}

pub(crate) fn show(ask: &Ask<'_>, written: &Written) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ask, true)?;
    let show = Show::new(&ask.resource, accepted, Include::of(ask.query, accepted)?);
    let body = traced::serialize(|| {
        if written.entry.modified == 0 {
            let mut object =
                crate::catalog::convert::decode(&ask.resource, &written.entry.value, 0)?;
            if let Some(given) = &written.given_version {
                object::metadata(&mut object)?.insert("resourceVersion", given);
            } else {
                object::forget_version(&mut object);
            }
            show.value(object)
        } else {
            show.one(&written.entry)
        }
    })?;
    let code = if written.created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let media = accepted.format.content_type();
    Ok(respond::with_code(code, media, body))
}

/// What the query of a write says, checked.
pub(crate) fn write_options(ask: &Ask<'_>, kind: &'static str) -> Result<Options, Status> {
    let query = Query(ask.query.pairs());
    let (dry_run, manager) = match kind {
        "PatchOptions" => {
            let apply = crate::write::patch::Kind::of(ask)? == crate::write::patch::Kind::Apply;
            let options = PatchOptions::from_query(&query, apply)?;
            (options.dry_run, options.field_manager)
        }
        "UpdateOptions" => {
            let options = CreateOptions::from_update_query(&query)?;
            (options.dry_run, options.field_manager)
        }
        _ => {
            let options = CreateOptions::from_query(&query)?;
            (options.dry_run, options.field_manager)
        }
    };
    let mut value = Object::new();
    // What a patch does is an update to admission.
    let seen_as = match kind {
        "PatchOptions" => "UpdateOptions",
        other => other,
    };
    value.insert("kind", seen_as);
    value.insert("apiVersion", "meta.k8s.io/v1");
    if dry_run {
        value.insert("dryRun", json!(["All"]));
    }
    if !manager.is_empty() {
        value.insert("fieldManager", &manager);
    }
    if let Some(validation) = ask.query.get("fieldValidation").filter(|it| !it.is_empty()) {
        value.insert("fieldValidation", validation);
    }
    Ok(Options {
        dry_run,
        field_manager: manager_of(ask, &manager),
        value: value.into(),
    })
}

/// Without a name, a manager goes by the first word of its user agent.
fn manager_of(ask: &Ask<'_>, named: &str) -> String {
    if !named.is_empty() {
        return named.to_owned();
    }
    let agent = respond::text(ask.headers, &http::header::USER_AGENT).unwrap_or_default();
    let first = agent.split('/').next().unwrap_or_default();
    let printable = first.chars().filter(|it| !it.is_control());
    let name: String = printable.take(128).collect();
    if name.is_empty() {
        "unknown".into()
    } else {
        name
    }
}
