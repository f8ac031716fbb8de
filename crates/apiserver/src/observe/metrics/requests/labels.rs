//! The labels of a request.

use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, Method};

use crate::handler::context::RequestContext;
use crate::handler::respond::text;
use crate::instruments::labels::{Reported, ReportedVerb, Scope};
use crate::request::NonResourceRequest;
use crate::request::{Query, RequestInfo, ResourceRequest, Verb};

const APPLY: &str = "application/apply-patch+yaml";

impl ReportedVerb {
    /// `scope` distinguishes lists from reads of one object.
    fn of(method: &Method, headers: &HeaderMap, scope: Scope) -> Self {
        match *method {
            Method::GET | Method::HEAD => match scope {
                Scope::Resource | Scope::None => Self::Get,
                Scope::Namespace | Scope::Cluster => Self::List,
            },
            Method::POST => Self::Post,
            Method::PUT => Self::Put,
            Method::PATCH if text(headers, &CONTENT_TYPE) == Some(APPLY) => Self::Apply,
            Method::PATCH => Self::Patch,
            Method::DELETE => Self::Delete,
            Method::CONNECT => Self::Connect,
            _ => Self::Other,
        }
    }
}

impl Scope {
    /// By what the request says.
    fn of_request(info: &ResourceRequest<'_>) -> Self {
        if !info.name.is_empty() || info.verb == Verb::Create {
            Self::Resource
        } else {
            Self::of_collection(!info.namespace.is_empty())
        }
    }

    fn of_collection(in_namespace: bool) -> Self {
        if in_namespace {
            Self::Namespace
        } else {
            Self::Cluster
        }
    }
}

/// Subresources that are streams, whatever the method.
const CONNECTS: &[&str] = &["log", "exec", "portforward", "attach", "proxy"];
const APISERVER: &str = "apiserver";

impl<'a> Reported<'a> {
    /// None for what no handler is there for: what clients make up is not to become a label.
    pub(super) fn resource(ctx: &'a RequestContext<'_>) -> Option<Self> {
        let (info, row) = (ctx.info, &ctx.resource);
        if !info.subresource.is_empty() && row.subresource(&info.subresource).is_none() {
            return None;
        }
        let scope = if row.custom.is_some() {
            Scope::of_request(info)
        } else {
            // By the path alone: a field selector makes no list the read of one object.
            match info.verb {
                Verb::Watch if info.by_prefix && !info.name.is_empty() => Scope::Resource,
                Verb::List | Verb::Watch | Verb::DeleteCollection => {
                    Scope::of_collection(row.namespaced && !info.namespace.is_empty())
                }
                _ => Scope::Resource,
            }
        };
        let verb = verb(info, ctx.method, ctx.headers, scope);
        (verb != ReportedVerb::Other).then_some(Self {
            verb,
            scope,
            dry_run: dry_run(ctx.query),
            group: &row.group,
            version: &row.version,
            resource: &row.plural,
            subresource: &info.subresource,
            component: APISERVER,
        })
    }

    /// The few paths beside resources that upstream counts.
    pub(super) fn path(request: &NonResourceRequest<'a>) -> Option<Self> {
        let (subresource, component) = match request.path {
            "/healthz" | "/livez" | "/readyz" => (request.path, ""),
            "/openapi/v3" => ("openapi/v3", ""),
            path if path.starts_with("/openapi/v3/") => ("openapi/v3/", ""),
            "/api" | "/apis" if request.accepts().contains("g=apidiscovery.k8s.io") => {
                (&request.path[1..], APISERVER)
            }
            _ => return None,
        };
        Some(Self {
            verb: ReportedVerb::of(request.method, request.headers, Scope::None),
            scope: Scope::None,
            dry_run: "",
            group: "",
            version: "",
            resource: "",
            subresource,
            component,
        })
    }

    /// As upstream counts what ends before a handler.
    pub(super) fn unhandled(info: &'a RequestInfo<'_>, parts: &Parts, served: bool) -> Self {
        let query = Query::parse(parts.uri.query());
        let (method, headers) = (&parts.method, &parts.headers);
        let Some(resource) = info.resource.as_ref().filter(|_| served) else {
            return Self {
                verb: ReportedVerb::of(method, headers, Scope::None),
                scope: Scope::None,
                dry_run: dry_run(&query),
                group: "",
                version: "",
                resource: "",
                // Not the path, which is the client's to choose.
                subresource: "",
                component: APISERVER,
            };
        };
        let scope = Scope::of_request(resource);
        Self {
            verb: verb(resource, method, headers, scope),
            scope,
            dry_run: dry_run(&query),
            group: &resource.group,
            version: &resource.version,
            resource: &resource.resource,
            subresource: &resource.subresource,
            component: APISERVER,
        }
    }
}

fn verb(
    info: &ResourceRequest<'_>,
    method: &Method,
    headers: &HeaderMap,
    scope: Scope,
) -> ReportedVerb {
    if CONNECTS.contains(&&*info.subresource) {
        ReportedVerb::Connect
    } else if info.verb == Verb::Watch {
        ReportedVerb::Watch
    } else {
        ReportedVerb::of(method, headers, scope)
    }
}

fn dry_run(query: &Query) -> &'static str {
    let mut all = query.all("dryRun").peekable();
    if all.peek().is_none() {
        ""
    } else if all.all(|it| it == "All") {
        "All"
    } else {
        "invalid"
    }
}
