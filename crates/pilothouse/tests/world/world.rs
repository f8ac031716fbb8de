//! A server, and a client inside of it.

use std::net::SocketAddr;
use std::sync::Arc;

use apiserver::incoming::RequestBody;
use apiserver::local::Local;
use apiserver::pipeline::Caller;
use auth::User;
use auth::pki::ServingNames;
use http::{Method, Request};
use http_body_util::BodyExt as _;
use json::{Value, json};
use meta::Status;
use pilothouse::pki;
use pilothouse::server::{Options, Server, now};
use testkit::server::Backing;

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) client: Local,
    _etcd: Option<Arc<testkit::etcd::Cluster>>,
}

#[allow(dead_code, reason = "each story uses its part")]
impl World {
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(set: impl FnOnce(&mut Options)) -> Self {
        let names = ServingNames::new("cluster.local", &[]);
        let files = pki::in_memory(&names, now()).expect("certificates");
        let Backing { store, etcd } = Backing::open().await;
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut options = Options::new(store, address, files);
        // What controllers write would reach the webhooks too.
        options.controllers = controllers::Selection::none();
        set(&mut options);
        let server = Server::start(options).await.expect("a server");
        let admin = User::new("admin", &["system:masters", "system:authenticated"]);
        let client = Local::new(server.api.clone(), admin, "test");
        Self {
            server,
            client,
            _etcd: etcd,
        }
    }

    pub(crate) fn as_user(&self, name: &str) -> Local {
        let user = User::new(name, &["system:authenticated"]);
        Local::new(self.server.api.clone(), user, "test")
    }

    pub(crate) async fn create(&self, path: &str, object: Value) -> Result<Value, Status> {
        self.client.create(path, &object).await
    }

    pub(crate) async fn make(&self, path: &str, object: Value) -> Value {
        let made = self.create(path, object).await;
        made.unwrap_or_else(|status| panic!("{path}: {status}"))
    }

    pub(crate) async fn namespace(&self, name: &str, labels: Value) {
        let object = json!({"metadata": {"name": name, "labels": labels}});
        self.make("/api/v1/namespaces", object).await;
        let account = json!({"metadata": {"name": "default"}});
        let path = format!("/api/v1/namespaces/{name}/serviceaccounts");
        // A controller may be faster.
        let _ = self.create(&path, account).await;
    }

    /// The warnings beside an answer.
    pub(crate) async fn warnings(&self, method: Method, path: &str, body: &Value) -> Vec<String> {
        let caller = Caller::Local(User::new("admin", &["system:masters"]).into());
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json")
            .body(())
            .expect("a request");
        let (parts, ()) = request.into_parts();
        let body = RequestBody::Bytes(json::to_vec(body).into());
        let api = Arc::clone(&self.server.api);
        let response = apiserver::pipeline::handle(&api, &caller, parts, body).await;
        let all = response.headers().get_all("warning").iter();
        let all = all.map(|it| it.to_str().unwrap_or_default().to_owned());
        let all = all.collect();
        let _ = response.into_body().collect().await;
        all
    }
}

/// What an API answered in place of an object.
#[allow(dead_code, reason = "each story uses its part")]
pub(crate) fn refusal(result: Result<Value, Status>) -> String {
    match result {
        Ok(object) => panic!("not refused: {object}"),
        Err(status) => format!("{} {}", status.code, status.message),
    }
}
