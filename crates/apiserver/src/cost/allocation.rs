//! Cluster IPs and node ports of Services.

use std::sync::Arc;

use auth::Rbac;
use auth::authenticate::Authenticator;
use auth::authorizer::{Authorizer, Union};
use auth::serviceaccount::Verifier;
use auth::token_cache::TokenCache;
use auth::token_file::StaticTokens;
use json::{Value, json};
use telemetry::export::Queue;
use telemetry::metrics::Registry;
use telemetry::trace::Tracer;
use tokio::sync::watch;

use super::measure::{Report, TIMES};
use crate::access::authenticate::Authentication;
use crate::discovery::documents::Documents;
use crate::state::{Api, Config, Settings};
use crate::write::allocate;

const SMALL: usize = 300;

/// With as many node ports as any of the shapes has.
fn api() -> Api {
    let rbac = Arc::new(Rbac::new());
    let modes: [(&str, Arc<dyn Authorizer>); 1] = [("RBAC", rbac.clone())];
    let metrics = Registry::default();
    let mut settings = Settings::default();
    settings.services.ports = (20_000, 60_000);
    let config = Config {
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
                cache: TokenCache::new(10, 16).expect("a source of random numbers"),
            },
        },
        authorizer: Arc::new(Union::new(modes)),
        rbac,
        issuer: None,
        tracer: Arc::new(Tracer::new(Arc::new(Queue::new(1)))),
        recent: None,
        admission: admission::Chain::new(Vec::new(), Arc::new(admission::Metrics::new(&metrics))),
        documents: Documents::default(),
        settings,
        metrics,
    };
    Api::new(config, watch::channel(false).1)
}

fn service(mut spec: Value) -> Value {
    if let Some(fields) = spec.as_object_mut() {
        fields.insert("type", "NodePort");
    }
    let metadata = json!({"name": "a", "namespace": "default"});
    json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
}

fn number(it: usize) -> i64 {
    i64::try_from(it).unwrap_or_default()
}

/// A Service as it is, and as it is to be.
fn shape(name: &str, count: usize) -> (Value, Value) {
    let with = |ports: Value| {
        service(json!({"clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"], "ports": ports}))
    };
    let ports = |port: &dyn Fn(usize) -> Value| with((0..count).map(port).collect());
    let none = || with(json!([]));
    let named = |it: usize| json!({"name": (format!("p{it}")), "port": (number(it + 1))});
    let given = |it: usize| json!({"name": (format!("p{it}")), "port": (number(it + 1)), "nodePort": (number(20_000 + it))});
    let shared = |it: usize| json!({"name": (format!("p{it}")), "port": 1, "nodePort": (number(20_000 + it.min(count / 2)))});
    match name {
        "ports that keep their node ports" => (ports(&given), ports(&|it| named(count - 1 - it))),
        "ports without node ports" => (none(), ports(&named)),
        "other node ports" => (none(), ports(&given)),
        "shared node ports" => (none(), ports(&shared)),
        "other ports with one node port" => (
            none(),
            ports(&|it| json!({"port": (number(it + 1)), "nodePort": 20_000})),
        ),
        "fewer node ports" => (ports(&given), none()),
        _ => {
            let ip = |it: usize| Value::from(format!("10.96.{}.{}", it / 256, it % 256));
            let ips: Value = (0..count).map(ip).collect();
            (
                service(json!({})),
                service(json!({"clusterIP": "10.96.0.0", "clusterIPs": ips})),
            )
        }
    }
}

#[test]
fn services() {
    let mut report = Report::default();
    let api = api();
    let catalog = api.catalog().load();
    let services = catalog.get("", "v1", "services").expect("a built-in kind");
    for name in [
        "ports that keep their node ports",
        "ports without node ports",
        "other node ports",
        "shared node ports",
        "other ports with one node port",
        "fewer node ports",
        "many addresses",
    ] {
        let inputs = (shape(name, SMALL), shape(name, SMALL * TIMES as usize));
        let size = json::to_vec(&inputs.1.0).len() + json::to_vec(&inputs.1.1).len();
        let mut step = |step: &str, run: &dyn Fn(&Value, &mut Value)| {
            let name = format!("a Service with {name}: {step}");
            report.step(&name, (&inputs.0, &inputs.1), size, |(live, new)| {
                run(live, &mut new.clone());
            });
        };
        step("carry over", &|live, new| {
            allocate::carry_over(services, new, live);
        });
        step("create", &|_, new| {
            drop(allocate::assign(&api, services, None, new));
        });
        step("update", &|live, new| {
            drop(allocate::assign(&api, services, Some(live), new));
        });
        step("release", &|_, new| {
            drop(allocate::release(&api, services, new));
        });
    }
    report.judge(28);
}

/// What is measured is also done: ports keep theirs, others get some, and the range has them no more.
#[test]
fn services_get_what_they_ask_for() {
    let api = api();
    let catalog = api.catalog().load();
    let services = catalog.get("", "v1", "services").expect("a built-in kind");
    let (live, mut new) = shape("ports that keep their node ports", 9);
    allocate::carry_over(services, &mut new, &live);
    let port = |it: &Value| it.at(&["nodePort"]).and_then(Value::as_i64);
    let ports = |it: &Value| -> Vec<Option<i64>> {
        let ports = it.at(&["spec", "ports"]).and_then(Value::as_array);
        ports.into_iter().flatten().map(port).collect()
    };
    let reversed: Vec<_> = ports(&live).into_iter().rev().collect();
    assert_eq!(ports(&new), reversed);
    let (live, mut new) = shape("shared node ports", 9);
    assert!(allocate::assign(&api, services, Some(&live), &mut new).is_ok());
    let (_, mut new) = shape("ports without node ports", 9);
    assert!(allocate::assign(&api, services, None, &mut new).is_ok());
    let given: std::collections::BTreeSet<_> = ports(&new).into_iter().flatten().collect();
    assert_eq!(given.len(), 9);
    // One node port is shared by protocols of one port, which these are not.
    let (_, mut new) = shape("other ports with one node port", 2);
    assert!(allocate::assign(&api, services, None, &mut new).is_err());
}
