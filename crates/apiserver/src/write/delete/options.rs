//! `DeleteOptions`, as clients send them and as admission sees them.

use json::{Object, Value, json};
use meta::Status;
use meta::options::{DeleteOptions, Query};
use telemetry::trace;

use crate::handler::context::RequestContext;
use crate::handler::decode::format as format_of;
use crate::request::negotiate::Format;
use crate::state::Api;
use crate::transport::incoming::RequestBody;
use crate::write::Options;

/// From the body if there is one, else from the query.
pub(super) async fn read(
    api: &Api,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<DeleteOptions, Status> {
    let body = crate::write::body::read(api, ctx, body).await?;
    if body.is_empty() {
        return DeleteOptions::from_query(&Query(ctx.query.pairs()));
    }
    let format = format_of(ctx)?;
    let value = decode(&body, format)?;
    let options = DeleteOptions::from_value(&value);
    trace::event("Decoded delete options");
    trace::event("Recorded the audit event");
    options
}

pub(super) fn for_write(options: &DeleteOptions) -> Options {
    Options {
        dry_run: options.dry_run,
        field_manager: String::new(),
        value: options_value(options),
    }
}

/// As webhooks see them.
fn options_value(options: &DeleteOptions) -> Value {
    let mut value = Object::new();
    value.insert("kind", "DeleteOptions");
    value.insert("apiVersion", "meta.k8s.io/v1");
    if let Some(seconds) = options.grace_period_seconds {
        value.insert("gracePeriodSeconds", seconds);
    }
    if let Some(preconditions) = &options.preconditions {
        let mut inner = Object::new();
        if let Some(uid) = &preconditions.uid {
            inner.insert("uid", uid);
        }
        if let Some(version) = &preconditions.resource_version {
            inner.insert("resourceVersion", version);
        }
        value.insert("preconditions", inner);
    }
    if let Some(orphan) = options.orphan_dependents {
        value.insert("orphanDependents", orphan);
    }
    if let Some(policy) = options.propagation_policy {
        value.insert("propagationPolicy", format!("{policy:?}"));
    }
    if options.dry_run {
        value.insert("dryRun", json!(["All"]));
    }
    value.into()
}

/// `DeleteOptions` and the like in a body.
fn decode(body: &[u8], format: Format) -> Result<Value, Status> {
    match format {
        Format::Json => json::parse(body).map_err(|error| {
            let text = format!("couldn't get version/kind; json parse error: {error}");
            Status::bad_request(text)
        }),
        Format::Yaml => yaml::to_json(body).map_err(|error| Status::bad_request(error.to_string())),
        Format::Protobuf => schema::protobuf::decode_object(body)
            .map_err(|error| Status::bad_request(error.to_string())),
    }
}
