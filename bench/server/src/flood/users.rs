//! Two service accounts. Both belong to the `FlowSchema` `service-accounts`, which tells flows apart by user, and thereby to one
//! priority level.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderValue};
use http::{Method, Request, StatusCode, Uri};
use http_body_util::Full;

use crate::client::{Client, Endpoint};
use crate::objects::{self, NAMESPACE, NAMESPACES, post};
use crate::server::Server;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/bench";
const ROLE: &str = r#"{"metadata":{"name":"bench"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get","list","create"]}]}"#;
const BINDING: &str = r#"{"metadata":{"name":"bench"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"bench"},
"subjects":[{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"system:serviceaccounts:bench"}]}"#;

/// A user who shows a token on connections without a certificate.
#[derive(Clone)]
pub(crate) struct User {
    pub(crate) endpoint: Endpoint,
    authorization: HeaderValue,
}

impl User {
    pub(crate) fn new(endpoint: Endpoint, token: &str) -> Result<Self> {
        let mut authorization = HeaderValue::from_str(&format!("Bearer {token}"))?;
        authorization.set_sensitive(true);
        Ok(Self {
            endpoint,
            authorization,
        })
    }

    pub(crate) async fn connect(&self) -> Result<Client> {
        self.endpoint.connect().await
    }

    pub(crate) fn get(&self, uri: Uri) -> Request<Full<Bytes>> {
        self.request(&Method::GET, uri, Full::default())
    }

    pub(crate) fn post(&self, uri: Uri, body: Bytes) -> Request<Full<Bytes>> {
        self.request(&Method::POST, uri, Full::new(body))
    }

    pub(crate) fn request<B>(&self, method: &Method, uri: Uri, body: B) -> Request<B> {
        let mut request = Request::new(body);
        *request.method_mut() = method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = objects::headers(Some(objects::JSON));
        let headers = request.headers_mut();
        headers.insert(AUTHORIZATION, self.authorization.clone());
        request
    }
}

/// The two, and where the flood's process finds what it needs.
pub(crate) struct Users {
    pub(crate) bystander: User,
    /// The authority of the server.
    pub(crate) authority: PathBuf,
    /// The token of the user that floods, in a file: command lines are public.
    pub(crate) token: PathBuf,
    pub(crate) log: PathBuf,
}

impl Users {
    pub(crate) async fn make(server: &Server, dir: &Path) -> Result<Self> {
        let mut admin = server.endpoint.connect().await?;
        for (path, body) in [("roles", ROLE), ("rolebindings", BINDING)] {
            let uri = server.endpoint.uri(&format!("{RBAC}/{path}"))?;
            let request = post(uri, Bytes::from_static(body.as_bytes()));
            admin.call(request, StatusCode::CREATED).await?;
        }
        let token = dir.join("flood.token");
        std::fs::write(&token, account(server, &mut admin, "flood").await?)?;
        let authority = server.authority.clone();
        let endpoint = Endpoint::without_certificate(server.endpoint.address, &authority)?;
        let bystander = account(server, &mut admin, "bystander").await?;
        Ok(Self {
            bystander: User::new(endpoint, &bystander)?,
            authority,
            token,
            log: dir.join("flood.log"),
        })
    }
}

/// Makes a service account. Its token.
async fn account(server: &Server, admin: &mut Client, name: &str) -> Result<String> {
    let path = format!("{NAMESPACES}/{NAMESPACE}/serviceaccounts");
    let body = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
    let request = post(server.endpoint.uri(&path)?, body.into());
    admin.call(request, StatusCode::CREATED).await?;
    let uri = server.endpoint.uri(&format!("{path}/{name}/token"))?;
    let request = post(uri, Bytes::from_static(b"{\"spec\":{}}"));
    let answer = admin.read(request, StatusCode::CREATED).await?;
    let answer = String::from_utf8(answer.into())?;
    let token = answer.split_once(r#""token":"#).map(|(_, rest)| rest);
    let token = token.and_then(|it| it.trim_start().strip_prefix('"')?.split('"').next());
    Ok(token.context("no token in the answer")?.to_owned())
}
