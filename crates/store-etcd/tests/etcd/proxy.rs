//! etcd behind a proxy.

use egress::{Network, Selector};
use store::Error;
use store_etcd::wire::{Dial, Stream};
use store_etcd::{Config, Tls};
use testkit::collector::Listen;
use testkit::etcd::Cluster;
use testkit::proxy::Proxy;

use crate::{config, open_with};

fn through(proxy: &Proxy) -> Dial {
    let selector = format!(
        "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n\
         - name: etcd\n  connection: {{proxyProtocol: HTTPConnect, transport: {{tcp: {{url: 'http://127.0.0.1:{}'}}}}}}\n",
        proxy.served.port()
    );
    let selector = Selector::parse(selector.as_bytes()).unwrap();
    let dialer = selector.dialer(Network::Etcd).clone();
    Dial::new(move |host, port| {
        let dialer = dialer.clone();
        async move {
            let stream = dialer.dial(&host, port).await;
            let stream = stream.map_err(std::io::Error::other)?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        }
    })
}

#[testkit::requires(etcd)]
#[tokio::test]
async fn all_goes_through_the_proxy() {
    let etcd = Cluster::find();
    for tls in [false, true] {
        let etcd = etcd.clone();
        let cluster = if tls {
            etcd.tls().start()
        } else {
            etcd.start()
        };
        let proxy = Proxy::on(&Listen::Port, None);
        let certificates = cluster.certificates();
        let config = Config {
            dial: Some(through(&proxy)),
            tls: certificates.map(|it| Tls {
                ca: Some(it.ca.clone()),
                cert: Some(it.client_cert.clone()),
                key: Some(it.client_key.clone()),
            }),
            ..config(cluster.endpoints())
        };
        let store = open_with(config).await;
        store.create("/a", "1").await.unwrap();
        assert!(!proxy.asked().is_empty());
        let endpoint = cluster.endpoints().remove(0);
        let address = endpoint.rsplit('/').next().unwrap();
        assert!(proxy.asked().iter().all(|it| it == address));
        store.close().await.unwrap();
    }
}

#[tokio::test]
async fn what_the_proxy_says_is_told() {
    let proxy = Proxy::on(&Listen::Port, None);
    proxy.refuse(407);
    let config = Config {
        dial: Some(through(&proxy)),
        start_timeout: std::time::Duration::from_secs(2),
        ..config(vec!["http://127.0.0.1:1".into()])
    };
    let opened = store_etcd::open(config, &store::Options::default()).await;
    let Err(Error::Unavailable { reason }) = opened else {
        panic!("it opened");
    };
    assert!(reason.contains("code 407"), "{reason}");
}
