//! `serviceaccounts/x/token`: a token for a service account, bound to what is asked.

use std::sync::Arc;

use admission::Operation;
use auth::serviceaccount::{TokenSpec, expiration, validate_token_request};
use http::{Response, StatusCode};
use json::{Object, Value, json};
use meta::Status;
use meta::gvk::{GroupKind, GroupResource, GroupVersionKind};

use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::handler::decode::Expected;
use crate::handler::render;
use crate::handler::respond;
use crate::handler::serialize;
use crate::observe::traced;
use crate::runtime::clock;
use crate::runtime::random;
use crate::state::Api;
use crate::transport::body::Body;
use crate::transport::incoming::RequestBody;
use crate::write::Write;
use crate::write::body;
use crate::write::options;

pub(super) async fn create(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    body: RequestBody,
) -> Result<Response<Body>, Status> {
    let accepted = respond::accept(ctx, false)?;
    let kind = GroupVersionKind::new("authentication.k8s.io", "v1", "TokenRequest");
    let schema = schema::builtin().kind(&kind.group, &kind.version, &kind.kind);
    let expected = Expected {
        kind: &kind,
        schema: schema.as_ref(),
        custom: None,
    };
    let (request, length) = body::object_as(api, ctx, body, &expected).await?;
    let request = traced::stored(length, sign(api, ctx, &kind, request)).await?;
    let body = serialize::serialize(|| render::encode(&request, accepted))?;
    let media = accepted.format.content_type();
    Ok(respond::with_code(StatusCode::CREATED, media, body))
}

/// The request with its token.
async fn sign(
    api: &Arc<Api>,
    ctx: &RequestContext<'_>,
    kind: &GroupVersionKind,
    mut request: Value,
) -> Result<Value, Status> {
    let (namespace, name) = (&*ctx.info.namespace, &*ctx.info.name);
    let mut write = Write::new(
        api,
        ctx,
        options::from_query(ctx, options::OptionsKind::Create)?,
    );
    write.kind = kind.clone();
    // A kubelet that may not ask learns nothing of what is there.
    write.act(Operation::Create, name, &mut request).await?;
    matches_url(&request, kind, namespace, name)?;
    let account = super::target::target(api, ctx)?;
    same_account(&request, kind, &account)?;
    let Some(issuer) = api.issuer() else {
        return Err(Status::internal("this server signs no tokens"));
    };
    let spec = request.get("spec").cloned().unwrap_or_default();
    let errors = validate_token_request(&spec);
    if !errors.is_empty() {
        let kind = GroupKind::new(&*kind.group, &*kind.kind);
        return Err(Status::invalid(&kind, "", &errors));
    }
    let asked = spec.get("audiences").and_then(Value::as_array);
    let asked = asked.into_iter().flatten().filter_map(Value::as_str);
    let mut audiences: Vec<String> = asked.map(str::to_owned).collect();
    if audiences.is_empty() {
        audiences.clone_from(&api.authentication().ways.service_accounts.api_audiences);
    }
    let bound = bound(api, namespace, &account, spec.get("boundObjectRef"))?;
    let seconds = spec
        .get("expirationSeconds")
        .and_then(Value::as_i64)
        .unwrap_or(3600);
    let own = api
        .authentication()
        .ways
        .service_accounts
        .api_audiences
        .iter()
        .all(|it| audiences.contains(it));
    let extend = bound.pod.is_some() && api.settings().extend_token_expiration;
    let expires = expiration(seconds, api.settings().max_token_expiration, extend, own);
    ctx.warnings.add(expires.warning.clone());
    let id = random::uid();
    let pair = |it: &'_ Option<(String, String)>| it.clone();
    let (pod, secret, node) = (pair(&bound.pod), pair(&bound.secret), pair(&bound.node));
    let token = issuer.sign(
        &TokenSpec {
            namespace,
            name,
            uid: object::uid(&account),
            audiences: &audiences,
            pod: pod.as_ref().map(|(a, b)| (&**a, &**b)),
            secret: secret.as_ref().map(|(a, b)| (&**a, &**b)),
            node: node.as_ref().map(|(a, b)| (&**a, &**b)),
            expiration_seconds: expires.seconds,
            warn_after_seconds: expires.warn_after,
            id: &id,
        },
        clock::unix(),
    );
    let token = token.ok_or_else(|| Status::internal("failed to generate token"))?;
    let metadata = object::metadata(&mut request)?;
    metadata.insert("name", name);
    metadata.insert("namespace", namespace);
    metadata.insert("uid", object::uid(&account));
    metadata.insert("creationTimestamp", clock::now());
    let mut spec = spec.as_object().cloned().unwrap_or_else(Object::new);
    spec.insert("audiences", audiences.into_iter().collect::<Value>());
    spec.insert("expirationSeconds", expires.told);
    if let Some(fields) = request.as_object_mut() {
        fields.insert("spec", spec);
        let until = clock::after(expires.told);
        fields.insert(
            "status",
            json!({"token": token, "expirationTimestamp": until}),
        );
    }
    Ok(request)
}

/// The account is the URL's: a body that names another is a mistake, or worse.
fn matches_url(
    request: &Value,
    kind: &GroupVersionKind,
    namespace: &str,
    name: &str,
) -> Result<(), Status> {
    let found = |field| request.str_at(&["metadata", field]).unwrap_or_default();
    object::check_namespace(found("namespace"), namespace)?;
    let given = found("name");
    if given.is_empty() || given == name {
        return Ok(());
    }
    let detail = "must match the service account name if specified";
    let error = meta::field::Error::invalid("metadata.name", given, detail);
    let kind = GroupKind::new(&*kind.group, &*kind.kind);
    Err(Status::invalid(&kind, name, &[error]))
}

fn same_account(request: &Value, kind: &GroupVersionKind, account: &Value) -> Result<(), Status> {
    let (asked, found) = (object::uid(request), object::uid(account));
    if asked.is_empty() || asked == found {
        return Ok(());
    }
    let text = format!(
        "the UID in the token request ({asked}) does not match the UID of the service account ({found})"
    );
    let resource = GroupResource::new(&*kind.group, &*kind.kind);
    Err(Status::conflict(&resource, object::name(account), text))
}

/// What the token dies with: name and uid.
#[derive(Default)]
struct BoundObject {
    pod: Option<(String, String)>,
    secret: Option<(String, String)>,
    node: Option<(String, String)>,
}

/// A version and kind as Go prints the two.
fn of_go(api_version: &str, kind: &str) -> String {
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={kind}")
}

fn bound(
    api: &Api,
    namespace: &str,
    account: &Value,
    reference: Option<&Value>,
) -> Result<BoundObject, Status> {
    let Some(reference) = reference.filter(|it| !it.is_null()) else {
        return Ok(BoundObject::default());
    };
    let text = |field: &str| reference.str_at(&[field]).unwrap_or_default();
    let (kind, name, uid) = (text("kind"), text("name"), text("uid"));
    let version = text("apiVersion");
    let (plural, at) = match kind {
        // Of the core group, at whichever version.
        _ if version.contains('/') => ("", ""),
        "Pod" => ("pods", namespace),
        "Secret" => ("secrets", namespace),
        "Node" => ("nodes", ""),
        _ => ("", ""),
    };
    if plural.is_empty() {
        return Err(Status::bad_request(format!(
            "cannot bind token to object of type {}",
            of_go(version, kind)
        )));
    }
    if name.is_empty() {
        return Err(Status::bad_request("Name parameter required."));
    }
    let resource = GroupResource::new("", plural);
    let found = api
        .find("", plural, at, name)
        .ok_or_else(|| Status::not_found(&resource, name))?;
    let found_uid = object::uid(&found).to_owned();
    if !uid.is_empty() && uid != found_uid {
        let text = format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been deleted and then recreated"
        );
        return Err(Status::conflict(&GroupResource::new("", kind), name, text));
    }
    let pair = Some((name.to_owned(), found_uid));
    let mut bound = BoundObject::default();
    match plural {
        "pods" => {
            let of = found
                .str_at(&["spec", "serviceAccountName"])
                .unwrap_or_default();
            if of != object::name(account) {
                return Err(Status::bad_request(format!(
                    "cannot bind token for serviceaccount \"{}\" to pod running with different serviceaccount name.",
                    object::name(account)
                )));
            }
            if let Some(node) = found
                .str_at(&["spec", "nodeName"])
                .filter(|it| !it.is_empty())
            {
                let uid = api
                    .find("", "nodes", "", node)
                    .map(|it| object::uid(&it).to_owned());
                bound.node = Some((node.to_owned(), uid.unwrap_or_default()));
            }
            bound.pod = pair;
        }
        "secrets" => bound.secret = pair,
        _ => bound.node = pair,
    }
    Ok(bound)
}
