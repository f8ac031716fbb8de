//! The four forms of a patch, by their media types.

use http::header::CONTENT_TYPE;
use meta::Status;

use crate::handler::context::RequestContext;
use crate::handler::respond;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Json,
    Merge,
    Strategic,
    Apply,
}

impl Kind {
    pub(crate) fn of(ctx: &RequestContext<'_>) -> Result<Self, Status> {
        let header = respond::text(ctx.headers, &CONTENT_TYPE).unwrap_or_default();
        let media = header.split(';').next().unwrap_or_default().trim();
        let custom = ctx.resource.custom.is_some();
        match media {
            "application/json-patch+json" => Ok(Self::Json),
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/strategic-merge-patch+json" if !custom => Ok(Self::Strategic),
            "application/apply-patch+yaml" => Ok(Self::Apply),
            _ if custom => Err(Status::unsupported_media_type(&[
                "application/json-patch+json",
                "application/merge-patch+json",
                "application/apply-patch+yaml",
            ])),
            _ => {
                let reason = meta::status::Reason::UnsupportedMediaType;
                let mut status = Status::failure(415, reason, "415: Unsupported Media Type");
                status.details = Some(Box::default());
                Err(status)
            }
        }
    }
}
