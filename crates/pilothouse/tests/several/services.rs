use std::collections::BTreeSet;

use super::nodes::Nodes;
use json::{Value, json};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const ADDRESSES: &str = "/apis/networking.k8s.io/v1/ipaddresses";
const COUNT: usize = 24;

#[testkit::requires(etcd)]
#[tokio::test]
async fn no_address_and_no_port_is_given_twice_and_all_come_back() {
    // Little room, so that two often want the same.
    let nodes = Nodes::with(3, |options| {
        options.settings.services.network = ([10, 96, 0, 0].into(), 27);
        options.settings.services.ports = (30000, 30029);
    });
    let nodes = nodes.await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..COUNT {
        let client = nodes.client(number).clone();
        tasks.spawn(async move {
            let service = json!({
                "metadata": {"name": (format!("s-{number}"))},
                "spec": {"type": "NodePort", "ports": [{"port": 80}]},
            });
            loop {
                match client.create(SERVICES, &service).await {
                    Ok(made) => return made,
                    // Too many wanted the same at the same time.
                    Err(status) => assert!(status.is_conflict(), "{status}"),
                }
            }
        });
    }
    let (mut ips, mut ports) = (BTreeSet::new(), BTreeSet::new());
    while let Some(made) = tasks.join_next().await {
        let made = made.expect("a Service");
        let ip = made.str_at(&["spec", "clusterIP"]).expect("an address");
        assert!(ips.insert(ip.to_owned()), "{ip} twice");
        let port = made.at(&["spec", "ports"]).and_then(Value::as_array);
        let port = port.and_then(|it| it[0].get("nodePort")?.as_i64());
        assert!(ports.insert(port.expect("a port")), "{port:?} twice");
    }
    let held = nodes.client(0).items(ADDRESSES).await.unwrap();
    assert_eq!(held.len(), COUNT + 1, "and that of the server");
    for number in 0..COUNT {
        let path = format!("{SERVICES}/s-{number}");
        let client = nodes.client(number + 1);
        client.delete(&path, &Value::Null).await.unwrap();
    }
    assert_eq!(nodes.client(2).items(ADDRESSES).await.unwrap().len(), 1);
    // All ports are free: the first is, whoever had it.
    let service = json!({
        "metadata": {"name": "all"},
        "spec": {"type": "NodePort", "ports": ((0..30).map(|it| {
            json!({"name": (format!("p-{it}")), "port": (80 + it), "nodePort": (30000 + it)})
        }).collect::<Value>())},
    });
    nodes.client(1).create(SERVICES, &service).await.unwrap();
}
