//! The whole server while etcd is in trouble: clear answers, no old ones, and all is well again by itself.

use std::time::{Duration, Instant};

use apiserver::local::Local;
use json::{Value, json};
use meta::Status;
use testkit::etcd::Cluster;
use testkit::server::Server;

const DEADLINE: Duration = Duration::from_secs(90);
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn server(cluster: &Cluster) -> Server {
    let config = store_etcd::Config {
        endpoints: cluster.endpoints(),
        prefix: "/registry".into(),
        request_timeout: Duration::from_secs(3),
        ..store_etcd::Config::default()
    };
    Server::start_on(move || async move {
        let opened = store_etcd::open(config, &store::Options::default()).await;
        opened.expect("open the store")
    })
    .await
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

/// Until it succeeds; refusals on the way are those that a client can understand.
async fn recovers(client: &Local, name: &str) {
    let begun = Instant::now();
    loop {
        match client.create(MAPS, &map(name)).await {
            Ok(_) => return,
            // One of the tries may have got through with its answer lost.
            Err(status) if status.is_already_exists() => return,
            Err(status) => {
                clear(&status);
                assert!(begun.elapsed() < DEADLINE, "{status}");
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[track_caller]
fn clear(status: &Status) {
    assert!(matches!(status.code, 503 | 504), "{} {status}", status.code);
    assert!(status.message.contains("etcd"), "{status}");
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn without_etcd_it_says_so_and_goes_on_when_it_is_back() {
    let found = Cluster::find();
    let mut cluster = found.start();
    let server = server(&cluster).await;
    let client = server.local();
    client.create(MAPS, &map("before")).await.unwrap();
    let mut watch = client
        .watch(&format!(
            "{MAPS}?watch=true&fieldSelector=metadata.name%3Dafter"
        ))
        .await
        .unwrap();
    cluster.kill(0);
    clear(&client.get(&format!("{MAPS}/before")).await.unwrap_err());
    clear(&client.create(MAPS, &map("between")).await.unwrap_err());
    let path = format!("{MAPS}/before");
    clear(&client.delete(&path, &Value::Null).await.unwrap_err());
    // Whoever takes any version is served from memory.
    let old = client.get(&format!("{path}?resourceVersion=0")).await;
    assert_eq!(meta::object::name(&old.unwrap()), "before");
    // What /readyz says of it.
    let refusing = || server.api().store().stats().1.refusing;
    assert!(refusing().is_some_and(|it| it.contains("etcd")));
    cluster.restart(0);
    recovers(&client, "after").await;
    client.get(&path).await.unwrap();
    assert_eq!(refusing(), None);
    assert!(
        client
            .get(&format!("{MAPS}/between"))
            .await
            .unwrap_err()
            .is_not_found(),
        "what was refused did not happen"
    );
    let (kind, object) = watch.next().await.expect("the watch has gone on");
    assert_eq!((&*kind, meta::object::name(&object)), ("ADDED", "after"));
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn a_leader_goes_and_nothing_acknowledged_with_it() {
    let found = Cluster::find();
    let mut cluster = found.members(3).start();
    let server = server(&cluster).await;
    let client = server.local();
    for round in 0..2 {
        let leader = cluster.leader();
        client
            .create(MAPS, &map(&format!("a-{round}")))
            .await
            .unwrap();
        cluster.kill(leader);
        recovers(&client, &format!("b-{round}")).await;
        for name in ["a", "b"] {
            let path = format!("{MAPS}/{name}-{round}");
            client.get(&path).await.unwrap();
        }
        cluster.restart(leader);
    }
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn a_full_etcd_refuses_writes_with_what_to_do_and_serves_reads() {
    let found = Cluster::find();
    let cluster = found.quota_bytes(8 << 20).start();
    let server = server(&cluster).await;
    let client = server.local();
    let large = "x".repeat(900_000);
    let begun = Instant::now();
    let mut count = 0;
    let full = loop {
        let map =
            json!({"metadata": {"name": (format!("m-{count}"))}, "data": {"k": (large.clone())}});
        match client.create(MAPS, &map).await {
            Ok(_) => count += 1,
            // The one that crosses the line may have been done.
            Err(status) if status.code == 503 => break status,
            Err(status) => {
                clear(&status);
                count += 1;
            }
        }
        assert!(begun.elapsed() < DEADLINE, "etcd is never full");
    };
    assert!(full.message.contains("etcdctl defrag"), "{full}");
    client.get(&format!("{MAPS}/m-0")).await.unwrap();
}
