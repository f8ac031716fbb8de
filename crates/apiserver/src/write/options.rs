//! What the query of a write says.

use json::{Object, json};
use meta::Status;
use meta::options::{CreateOptions, PatchOptions, Query};

use crate::handler::context::RequestContext;
use crate::handler::respond;
use crate::write::Options;
use crate::write::patch::kind::Kind;

/// Which options of `meta.k8s.io/v1` a query holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionsKind {
    Create,
    Update,
    Patch,
}

/// What the query of a write says, checked.
pub(crate) fn from_query(ctx: &RequestContext<'_>, kind: OptionsKind) -> Result<Options, Status> {
    let query = Query(ctx.query.pairs());
    let (dry_run, manager) = match kind {
        OptionsKind::Patch => {
            let apply = Kind::of(ctx)? == Kind::Apply;
            let options = PatchOptions::from_query(&query, apply)?;
            (options.dry_run, options.field_manager)
        }
        OptionsKind::Update => {
            let options = CreateOptions::from_update_query(&query)?;
            (options.dry_run, options.field_manager)
        }
        OptionsKind::Create => {
            let options = CreateOptions::from_query(&query)?;
            (options.dry_run, options.field_manager)
        }
    };
    let mut value = Object::new();
    // What a patch does is an update to admission.
    let seen_as = match kind {
        OptionsKind::Create => "CreateOptions",
        OptionsKind::Update | OptionsKind::Patch => "UpdateOptions",
    };
    value.insert("kind", seen_as);
    value.insert("apiVersion", "meta.k8s.io/v1");
    if dry_run {
        value.insert("dryRun", json!(["All"]));
    }
    if !manager.is_empty() {
        value.insert("fieldManager", &manager);
    }
    if let Some(validation) = ctx.query.get("fieldValidation").filter(|it| !it.is_empty()) {
        value.insert("fieldValidation", validation);
    }
    Ok(Options {
        dry_run,
        field_manager: manager_of(ctx, &manager),
        value: value.into(),
    })
}

/// Without a name, a manager goes by the first word of its user agent.
fn manager_of(ctx: &RequestContext<'_>, named: &str) -> String {
    if !named.is_empty() {
        return named.to_owned();
    }
    let agent = respond::text(ctx.headers, &http::header::USER_AGENT).unwrap_or_default();
    let first = agent.split('/').next().unwrap_or_default();
    let printable = first.chars().filter(|it| !it.is_control());
    let name: String = printable.take(128).collect();
    if name.is_empty() {
        "unknown".into()
    } else {
        name
    }
}
