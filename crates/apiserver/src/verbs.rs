//! From the verb to its function, and what a write's query says.

use std::sync::Arc;

use http::{Method, Response, StatusCode};
use json::{Object, Value, json};
use meta::Status;
use meta::options::{CreateOptions, PatchOptions, Query};
use resources::Verb as Allowed;

use crate::body::Body;
use crate::decode::{self, Expected, Validation};
use crate::delete;
use crate::incoming::RequestBody;
use crate::list;
use crate::object;
use crate::patch;
use crate::pipeline::{Api, Ask};
use crate::request::Verb;
use crate::respond;
use crate::show::Show;
use crate::subresources;
use crate::table::Include;
use crate::watch;
use crate::write::{Change, Changed, Options, Write, Written};

pub(crate) async fn answer(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    if *ask.method == Method::HEAD {
        return Err(not_allowed());
    }
    if !ask.info.subresource.is_empty() {
        return subresources::answer(api, ask, body).await;
    }
    check_name(&ask.info.name)?;
    if !allows(ask) {
        return Err(not_allowed());
    }
    if ask.resource.prefix.is_empty() {
        return subresources::unstored(api, ask, body).await;
    }
    object(api, ask, body).await
}

/// The verbs on whole objects and their collections.
pub(crate) async fn object(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    match ask.info.verb {
        Verb::Get => get(api, ask).await,
        Verb::List => list::list(api, ask).await,
        Verb::Watch => watch::watch(api, ask).await,
        Verb::Create => create(api, ask, body).await,
        Verb::Update => update(api, ask, body).await,
        Verb::Patch => patch::patch(api, ask, body).await,
        Verb::Delete => delete::one(api, ask, body).await,
        Verb::DeleteCollection => delete::collection(api, ask, body).await,
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
    let namespaced = ask.resource.namespaced;
    let whole = ask.info.namespace.is_empty();
    let placed = match ask.info.verb {
        // All namespaces can be read at once; what is written or named is in one.
        Verb::List | Verb::Watch => namespaced || whole,
        _ if namespaced => !whole,
        _ => whole || ask.resource.is("", "namespaces"),
    };
    verbs.contains(verb) && fits && placed
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
    let include = Include::of(ask.query)?;
    let asked = object::asked_version(ask.query.get("resourceVersion").unwrap_or_default())?;
    let key = ask.resource.key(&ask.info.namespace, &ask.info.name);
    let snapshot = match asked {
        None => api.latest().await?,
        Some(0) => api.store.latest(),
        Some(revision) => api.not_older(revision).await?,
    };
    let entry = snapshot
        .get(key.as_bytes())
        .ok_or_else(|| ask.not_found())?;
    let show = Show::new(&ask.resource, accepted, include);
    Ok(respond::ok(
        accepted.format.content_type(),
        show.one(entry)?,
    ))
}

async fn create(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let options = write_options(ask, "CreateOptions")?;
    let (object, warnings) = read(api, ask, body).await?;
    let write = Write::new(api, ask, options);
    let mut written = write.create(object, false).await?;
    written.warnings.splice(0..0, warnings);
    show(ask, &written)
}

async fn update(
    api: &Arc<Api>,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let options = write_options(ask, "UpdateOptions")?;
    let (object, warnings) = read(api, ask, body).await?;
    if object::name(&object).is_empty() {
        return Err(Status::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            ask.info.name
        )));
    }
    object::check_name(&object, &ask.info.name)?;
    let write = Write::new(api, ask, options);
    let mut replace = Replace { ask, object };
    let mut written = write.update(&ask.info.name, &mut replace).await?;
    written.warnings.splice(0..0, warnings);
    show(ask, &written)
}

/// PUT: the client's object takes the place of what is there.
struct Replace<'a> {
    ask: &'a Ask<'a>,
    object: Value,
}

impl Change for Replace<'_> {
    fn apply(&mut self, live: Option<&Value>) -> Result<Changed, Status> {
        let Some(live) = live else {
            if !crate::strategy::allows_create_on_update(&self.ask.resource) {
                return Err(self.ask.not_found());
            }
            return Ok(Changed {
                object: self.object.clone(),
                managed: false,
                exact: true,
            });
        };
        object::check_uid(self.ask, &self.object, live)?;
        let version = self.object.str_at(&["metadata", "resourceVersion"]);
        Ok(Changed {
            object: self.object.clone(),
            managed: false,
            exact: version.is_some_and(|it| !it.is_empty()),
        })
    }
}

/// The object in a request's body, of the resource's kind.
pub(crate) async fn read(
    api: &Api,
    ask: &Ask<'_>,
    body: RequestBody,
) -> Result<(Value, Vec<String>), Status> {
    let format = decode::format(ask)?;
    let validation = Validation::of(ask);
    let body = body.read(api.settings.max_body_bytes).await?;
    let expected = Expected {
        kind: &ask.resource.gvk(),
        schema: ask.resource.schema.as_ref(),
        custom: ask.resource.custom.as_deref(),
    };
    let decoded = decode::object(&body, format, validation, &expected)?;
    Ok((decoded.object, decoded.warnings))
}

pub(crate) fn show(ask: &Ask<'_>, written: &Written) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ask, true)?;
    let show = Show::new(&ask.resource, accepted, Include::of(ask.query)?);
    let body = if written.entry.modified == 0 {
        let mut object = crate::convert::decode(&ask.resource, &written.entry.value, 0)?;
        object::forget_version(&mut object);
        show.value(object)?
    } else {
        show.one(&written.entry)?
    };
    let code = if written.created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let mut response = respond::with_code(code, accepted.format.content_type(), body);
    respond::warn(&mut response, &written.warnings);
    Ok(response)
}

/// What the query of a write says, checked.
pub(crate) fn write_options(ask: &Ask<'_>, kind: &'static str) -> Result<Options, Status> {
    let query = Query(ask.query.pairs());
    let (dry_run, manager, force) = match kind {
        "PatchOptions" => {
            let apply = crate::patch::Kind::of(ask)? == crate::patch::Kind::Apply;
            let options = PatchOptions::from_query(&query, apply)?;
            (
                options.dry_run,
                options.field_manager,
                options.force == Some(true),
            )
        }
        "UpdateOptions" => {
            let options = CreateOptions::from_update_query(&query)?;
            (options.dry_run, options.field_manager, false)
        }
        _ => {
            let options = CreateOptions::from_query(&query)?;
            (options.dry_run, options.field_manager, false)
        }
    };
    let mut value = Object::new();
    value.insert("kind", kind);
    value.insert("apiVersion", "meta.k8s.io/v1");
    if dry_run {
        value.insert("dryRun", json!(["All"]));
    }
    if force {
        value.insert("force", true);
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
