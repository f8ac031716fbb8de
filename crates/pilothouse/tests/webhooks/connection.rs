//! How webhooks are reached: by their service, over connections that are kept, all at once.

use egress::Selector;
use json::{Value, json};
use testkit::collector::Listen;
use testkit::proxy::Proxy;

use crate::hook::{Hook, Reply, allow, deny};
use crate::world::{World, refusal};
use crate::{CONFIGMAPS, configmap, register, unregister, webhook};

/// An address of this machine that is not loopback's. Nothing is sent.
fn own_address() -> String {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("a socket");
    socket.connect("192.0.2.1:9").expect("a route");
    let address = socket.local_addr().expect("an address").ip();
    address.to_string()
}

/// Go's mux answers a path that is not clean with a redirect, which nobody follows.
#[tokio::test]
async fn the_path_of_a_url_is_cleaned() {
    let world = World::start().await;
    let hook = Hook::start(|path, _| deny(path)).await;
    let mut all = Vec::new();
    for (path, want) in [
        ("//path", "/path"),
        ("/x/", "/x"),
        ("/a/../b", "/b"),
        ("/a%2Fb", "/a/b"),
        ("", "/"),
    ] {
        let url = format!("https://127.0.0.1:{}{path}", hook.port);
        let client = json!({"url": url, "caBundle": (&hook.bundle)});
        let webhooks = vec![webhook(client, Value::Null)];
        register(&world, "Validating", "v", webhooks).await;
        let said = refusal(world.create(CONFIGMAPS, configmap("one")).await);
        let is_asked = said.split([' ', '?']).any(|it| it == want);
        all.push((path, is_asked, said));
        unregister(&world, "Validating", "v").await;
    }
    assert!(all.iter().all(|it| it.1), "{all:#?}");
}

#[testkit::requires(own_address)]
#[tokio::test]
async fn a_service_is_found_through_its_endpoints() {
    let world = World::start().await;
    let hook = Hook::start(|_, _| deny("seen")).await;
    let client = json!({
        "service": {"namespace": "default", "name": "hook", "path": "/p", "port": 8443},
        "caBundle": (&hook.bundle),
    });
    register(
        &world,
        "Validating",
        "v",
        vec![webhook(client, Value::Null)],
    )
    .await;
    let failed = |why: &str| {
        format!(
            "500 Internal error occurred: failed calling webhook \"x.example.com\": failed to call webhook: Post \"https://hook.default.svc:8443/p?timeout=5s\": {why}"
        )
    };
    let ask = async || refusal(world.create(CONFIGMAPS, configmap("one")).await);
    assert_eq!(ask().await, failed("service \"hook\" not found"));
    let port = i64::from(hook.port);
    // Endpoints may not be on loopback.
    let own = own_address();
    let service =
        json!({"metadata": {"name": "hook"}, "spec": {"ports": [{"name": "https", "port": 443}]}});
    let services = "/api/v1/namespaces/default/services";
    world.make(services, service).await;
    assert_eq!(
        ask().await,
        failed("no service port 8443 found for service \"hook\"")
    );
    let ports = json!({"spec": {"ports": [{"name": "https", "port": 8443}]}});
    let patched = world
        .client
        .merge_patch(&format!("{services}/hook"), &ports)
        .await;
    patched.expect("another port");
    let slice = |ready: bool| {
        json!({
            "metadata": {"name": "hook-1", "labels": {"kubernetes.io/service-name": "hook"}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [(&own)], "conditions": {"ready": ready}}],
            "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
        })
    };
    let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    world.make(slices, slice(false)).await;
    assert_eq!(
        ask().await,
        failed("no endpoints available for service \"hook\"")
    );
    let patched = world
        .client
        .merge_patch(&format!("{slices}/hook-1"), &slice(true))
        .await;
    patched.expect("ready");
    let denied = "400 admission webhook \"x.example.com\" denied the request: seen";
    assert_eq!(ask().await, denied);
    // The older Endpoints do as well.
    let deleted = world
        .client
        .delete(&format!("{slices}/hook-1"), &Value::Null)
        .await;
    deleted.expect("gone");
    let endpoints = json!({
        "metadata": {"name": "hook"},
        "subsets": [{"addresses": [{"ip": (&own)}], "ports": [{"name": "https", "port": port}]}],
    });
    world
        .make("/api/v1/namespaces/default/endpoints", endpoints)
        .await;
    assert_eq!(ask().await, denied);
}

#[tokio::test]
async fn connections_are_kept_and_all_are_asked_at_once() {
    let world = World::start().await;
    let hook = Hook::start(|_, _| allow()).await;
    register(
        &world,
        "Validating",
        "v",
        vec![webhook(hook.url("/"), Value::Null)],
    )
    .await;
    for index in 0..5 {
        world
            .make(CONFIGMAPS, configmap(&format!("c{index}")))
            .await;
    }
    assert_eq!(*hook.connections.lock().expect("no panic"), 1);
    // Each of two answers only when both were asked.
    let both = Hook::start(|_, _| Reply::Together(2)).await;
    let change = |name: &str| json!({"name": name, "timeoutSeconds": 30});
    let webhooks = vec![
        webhook(both.url("/a"), change("a.example.com")),
        webhook(both.url("/b"), change("b.example.com")),
    ];
    register(&world, "Validating", "w", webhooks).await;
    world.make(CONFIGMAPS, configmap("late")).await;
    assert_eq!(both.asked().len(), 2);
}

#[tokio::test]
async fn the_clusters_network_may_be_behind_a_proxy() {
    let folder = tempfile::tempdir().expect("a directory");
    let socket = folder.path().join("proxy.sock");
    let proxy = Proxy::on(&Listen::Socket(socket.clone()), None);
    let selector = format!(
        "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n\
         - name: cluster\n  connection: {{proxyProtocol: HTTPConnect, transport: {{uds: {{udsName: {}}}}}}}\n",
        socket.display()
    );
    let selector = Selector::parse(selector.as_bytes()).expect("a selector");
    let world = World::with(move |options| options.egress = selector).await;
    let hook = Hook::start(|_, _| deny("seen")).await;
    let client = hook.url("/");
    let webhooks = vec![webhook(client, Value::Null)];
    register(&world, "Validating", "v", webhooks).await;
    let ask = async || refusal(world.create(CONFIGMAPS, configmap("one")).await);
    assert!(ask().await.contains("seen"));
    let asked = proxy.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].ends_with(&format!(":{}", hook.port)), "{asked:?}");
    // Of one that is not reached through it, what the proxy says is told.
    proxy.refuse(403);
    let client = json!({"url": "https://127.0.0.1:1/", "caBundle": (&hook.bundle)});
    unregister(&world, "Validating", "v").await;
    register(
        &world,
        "Validating",
        "w",
        vec![webhook(client, Value::Null)],
    )
    .await;
    let said = ask().await;
    let want = format!(
        "proxy error from {} while dialing 127.0.0.1:1, code 403: 403 No",
        socket.display()
    );
    assert!(said.contains(&want), "{said}");
}
