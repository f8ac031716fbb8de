//! One API server without a listener, and requests to it.

use std::sync::Arc;
use std::time::Duration;

use admission::{Chain, Plugin};
use apiserver::authenticate::Authentication;
use apiserver::incoming::RequestBody;
use apiserver::informers::Indexes;
use apiserver::local::{Local, Watch};
use apiserver::nonresource::Documents;
use apiserver::pipeline::{Api, Caller, Config, Settings};
use auth::authenticate::Authenticator;
use auth::authorizer::{Authorizer, Union};
use auth::serviceaccount::Verifier;
use auth::token_cache::TokenCache;
use auth::token_file::StaticTokens;
use auth::{Rbac, User};
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use json::{Value, json};
use telemetry::export::Queue;
use telemetry::metrics::Registry;
use telemetry::trace::Tracer;
use tokio::sync::watch;

pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// For what must happen, on whatever machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) api: Arc<Api>,
    /// A member of `system:masters`.
    pub(crate) admin: Local,
    stop: watch::Sender<bool>,
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

/// A response that has been read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let parsed = json::parse(&self.body);
        parsed.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub(crate) fn message(&self) -> String {
        let value = self.json();
        value.str_at(&["message"]).unwrap_or_default().to_owned()
    }

    /// All of them.
    pub(crate) fn warnings(&self) -> String {
        let all = self.headers.get_all("warning").iter();
        let all = all.map(|it| it.to_str().unwrap().replace("\\\"", "\""));
        all.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).map(|it| it.to_str().unwrap());
        value.unwrap_or_default()
    }
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// With these admission plugins.
    pub(crate) fn admitting(plugins: Vec<Box<dyn Plugin>>) -> Self {
        Self::with(|config| {
            let metrics = Arc::new(admission::Metrics::new(&config.metrics));
            config.admission = Chain::new(plugins, metrics);
        })
    }

    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let (stop, stopped) = watch::channel(false);
        let rbac = Arc::new(Rbac::new());
        let modes: [(&str, Arc<dyn Authorizer>); 1] = [("RBAC", rbac.clone())];
        let metrics = Registry::default();
        let mut config = Config {
            store: store::embedded::in_memory(&store::Options::default()),
            authentication: Authentication {
                clients: None,
                proxies: None,
                ways: Authenticator {
                    static_tokens: StaticTokens::default(),
                    service_accounts: Verifier {
                        issuers: Vec::new(),
                        keys: Vec::new(),
                        api_audiences: Vec::new(),
                    },
                    bootstrap_tokens: false,
                    anonymous: true,
                    cache: TokenCache::new(10, 16).unwrap(),
                },
            },
            authorizer: Arc::new(Union::new(modes)),
            rbac: rbac.clone(),
            issuer: None,
            tracer: Arc::new(Tracer::new(Arc::new(Queue::new(1)))),
            recent: None,
            admission: Chain::new(Vec::new(), Arc::new(admission::Metrics::new(&metrics))),
            documents: Documents::default(),
            settings: Settings::default(),
            metrics,
        };
        change(&mut config);
        let api = Arc::new(Api::new(config, stopped));
        let indexes = Indexes {
            rbac,
            nodes: None,
            targets: Arc::default(),
        };
        apiserver::informers::start(&api, indexes);
        api.set_ready();
        let admin = User::new("admin", &["system:masters"]);
        Self {
            admin: Local::new(api.clone(), admin, "test"),
            api,
            stop,
        }
    }

    /// Somebody without any rights of their own.
    pub(crate) fn user(&self, name: &str) -> Local {
        Local::new(self.api.clone(), User::new(name, &[]), "test")
    }

    /// A request of an administrator.
    pub(crate) async fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let admin = User::new("admin", &["system:masters"]);
        let caller = Caller::Local(Arc::new(admin));
        self.request_of(&caller, method, path, headers, body).await
    }

    pub(crate) async fn request_of(
        &self,
        caller: &Caller,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let body = RequestBody::Bytes(body.into());
        let response = apiserver::pipeline::handle(&self.api, caller, parts, body).await;
        let (parts, body) = response.into_parts();
        let Ok(body) = body.collect().await;
        Answer {
            code: parts.status,
            headers: parts.headers,
            body: body.to_bytes(),
        }
    }

    /// Defines a custom resource `<plural>.example.com` with this schema of its `spec`, served as `v1`.
    pub(crate) async fn define(&self, plural: &str, kind: &str, scope: &str, spec: Value) {
        let schema = json!({"type": "object", "properties": {"spec": spec}});
        let versions = json!([{
            "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
        }]);
        self.define_versions(plural, kind, scope, versions).await;
    }

    pub(crate) async fn define_versions(
        &self,
        plural: &str,
        kind: &str,
        scope: &str,
        versions: Value,
    ) {
        let singular = plural.trim_end_matches('s');
        let definition = json!({
            "metadata": {"name": (format!("{plural}.example.com"))},
            "spec": {
                "group": "example.com",
                "scope": scope,
                "names": {"plural": plural, "singular": singular, "kind": kind},
                "versions": versions,
            },
        });
        let made = self.admin.create(DEFINITIONS, &definition).await;
        made.unwrap();
    }

    /// Gives a user one rule in all namespaces.
    pub(crate) async fn grant(&self, user: &str, rule: Value) {
        let group = "/apis/rbac.authorization.k8s.io/v1";
        let role = json!({"metadata": {"name": user}, "rules": [rule]});
        let roles = format!("{group}/clusterroles");
        self.admin.create(&roles, &role).await.unwrap();
        let binding = json!({
            "metadata": {"name": user},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        });
        let bindings = format!("{group}/clusterrolebindings");
        self.admin.create(&bindings, &binding).await.unwrap();
    }
}

/// The next event of a watch as `ADDED name`.
pub(crate) async fn next(watch: &mut Watch) -> String {
    let event = tokio::time::timeout(DEADLINE, watch.next()).await;
    let (kind, object) = event
        .expect("an event in time")
        .expect("a watch that lasts");
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
    format!("{kind} {name}")
}
