use std::time::Duration;

use store::{Error, Options};
use store_etcd::{Config, Tls};
use testkit::etcd::Cluster;

use crate::{config, open_with};

#[testkit::requires(etcd)]
#[tokio::test]
async fn tls_with_a_client_certificate() {
    let found = Cluster::find();
    let cluster = found.tls().start();
    let files = cluster.certificates().unwrap();
    let with = |tls: Tls| Config {
        tls: Some(tls),
        start_timeout: Duration::from_secs(1),
        ..config(cluster.endpoints())
    };
    let right = Tls {
        ca: Some(files.ca.clone()),
        cert: Some(files.client_cert.clone()),
        key: Some(files.client_key.clone()),
    };
    let store = open_with(with(right.clone())).await;
    store.create("/a", "1").await.unwrap();
    assert_eq!(store.get(b"/a").await.unwrap().unwrap().value, "1");

    let refused = |tls: Tls| {
        let config = with(tls);
        async move {
            match store_etcd::open(config, &Options::default()).await {
                Err(Error::Unavailable { reason }) => reason.to_string(),
                other => panic!("not refused: {other:?}"),
            }
        }
    };
    let wrong_ca = refused(Tls {
        ca: Some(files.wrong_ca.clone()),
        ..right.clone()
    });
    let wrong_ca = wrong_ca.await;
    assert!(wrong_ca.contains("invalid peer certificate"), "{wrong_ca}");
    assert!(wrong_ca.contains(&cluster.endpoints()[0]), "{wrong_ca}");

    let anonymous = refused(Tls {
        ca: right.ca.clone(),
        ..Tls::default()
    });
    let anonymous = anonymous.await;
    assert!(
        anonymous.to_lowercase().contains("certificate"),
        "{anonymous}"
    );

    let half = refused(Tls {
        key: None,
        ..right.clone()
    });
    assert!(half.await.contains("together"));

    let missing = with(Tls {
        ca: Some("/nowhere/ca.pem".into()),
        ..right
    });
    let missing = store_etcd::open(missing, &Options::default()).await;
    let missing = missing.unwrap_err().to_string();
    assert!(missing.contains("/nowhere/ca.pem"), "{missing}");
}

#[tokio::test]
async fn nobody_there_is_said_with_the_address() {
    let config = Config {
        // Port 1 is nobody's.
        start_timeout: Duration::from_millis(300),
        ..config(vec!["http://127.0.0.1:1".into()])
    };
    let error = store_etcd::open(config, &Options::default())
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }));
    let text = error.to_string();
    assert!(
        text.contains("127.0.0.1:1") && text.contains("refused"),
        "{text}"
    );

    let none = store_etcd::open(crate::config(Vec::new()), &Options::default()).await;
    assert!(none.unwrap_err().to_string().contains("no etcd endpoint"));
}
