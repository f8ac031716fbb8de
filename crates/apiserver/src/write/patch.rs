//! PATCH in its four forms.

mod document;
pub(crate) mod kind;
mod shape;

use std::sync::Arc;

use http::Response;
use json::Value;
use meta::Status;
use telemetry::trace;

use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::handler::decode::{self, Expected, Validation};
use crate::state::Api;
use crate::transport::body::Body;
use crate::transport::incoming::RequestBody;
use crate::write::disabled;
use crate::write::managed;
use crate::write::options;
use crate::write::verbs;
use crate::write::{Change, Changed, Write};
pub(crate) use document::Document;
use kind::Kind;

pub(crate) async fn patch(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let options = options::from_query(ctx, options::OptionsKind::Patch)?;
    let validation = Validation::of(ctx);
    let bytes = crate::write::body::read(api, ctx, body).await?;
    trace::event("Recorded the audit event");
    let write = Write::new(api, ctx, options);
    let mut change = Patch {
        ctx,
        write: &write,
        body: Document::read(ctx, &bytes)?,
        validation,
        force: ctx.query.flag("force"),
    };
    let written = write.update(&ctx.info.name, &mut change).await?;
    trace::event("Object stored in database");
    verbs::written_response(ctx, &written)
}

struct Patch<'a> {
    ctx: &'a RequestContext<'a>,
    write: &'a Write<'a>,
    body: Document,
    validation: Validation,
    force: bool,
}

impl Patch<'_> {
    /// What is applied where nothing is must name itself, and nothing that was.
    fn check_new(&self, object: &Value) -> Result<(), Status> {
        let uid = meta::object::uid(object);
        if uid.is_empty() {
            return verbs::check_named(self.ctx, object);
        }
        let text = format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        );
        let resource = self.ctx.resource.group_resource();
        Err(Status::conflict(&resource, &self.ctx.info.name, text))
    }
}

impl Change for Patch<'_> {
    fn apply(&mut self, live: Option<&Value>) -> Result<Changed, Status> {
        if live.is_some() || self.body.kind == Kind::Apply {
            trace::handler_event("About to apply patch");
        }
        let version = self.body.value.str_at(&["metadata", "resourceVersion"]);
        let exact = version.is_some_and(|it| !matches!(it, "" | "0"));
        let expected = Expected {
            kind: &self.ctx.resource.gvk(),
            schema: self.ctx.resource.schema.as_ref(),
            custom: self.ctx.resource.custom.as_deref(),
        };
        if self.body.kind == Kind::Apply {
            if live.is_none() && !self.ctx.info.subresource.is_empty() {
                return Err(self.ctx.not_found());
            }
            // What the schema does not know, the merge refuses by itself.
            let strict = self.body.duplicates.clone();
            if let (Validation::Strict, Some(first)) = (self.validation, strict.first()) {
                return Err(Status::bad_request(format!(
                    "error strict decoding patch: error converting YAML to JSON: {first}"
                )));
            }
            let warnings = decode::strict(strict, self.validation, &expected)?;
            self.ctx.warnings.add(warnings);
            // Before the merge: no manager owns a field that is dropped.
            let mut applied = self.body.value.clone();
            disabled::drop_sent(self.ctx, &self.ctx.resource, &mut applied, live)?;
            let manager = self.write.field_manager();
            let mut object = managed::apply(manager, live, &applied, self.force)?;
            object::check_name(&object, &self.ctx.info.name)?;
            if live.is_none() {
                self.check_new(&object)?;
                object::forget_version(&mut object);
            }
            return Ok(Changed {
                object,
                managed: true,
                exact,
            });
        }
        let Some(live) = live else {
            return Err(self.ctx.not_found());
        };
        let schema = self.ctx.resource.schema.as_ref();
        let patched = self.body.apply(live, schema, self.validation)?;
        let decoded = self.body.decode(patched, self.validation, &expected)?;
        self.ctx.warnings.add(decoded.warnings);
        verbs::check_named(self.ctx, &decoded.object)?;
        Ok(Changed {
            object: decoded.object,
            managed: false,
            exact,
        })
    }
}
