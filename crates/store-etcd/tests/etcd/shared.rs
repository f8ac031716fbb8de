use testkit::etcd::Cluster;

use crate::direct::Direct;
use crate::{next, open};

#[testkit::requires(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_store_was_answered_the_other_reads() {
    let found = Cluster::find();
    let cluster = found.start();
    let (one, two) = (open(&cluster).await, open(&cluster).await);
    let mut watch = two.watch(b"/", two.latest().revision()).await.unwrap();

    // Somebody else writes all the time, so that most revisions are not ours.
    let foreign = Direct::to(&cluster);
    let noise = tokio::spawn(async move {
        for round in 0_u64.. {
            foreign.put("/foreign", round.to_string()).await;
        }
    });
    let mut at = one.create("/turn", "0").await.unwrap();
    for turn in 1..=200 {
        let (writer, reader) = if turn % 2 == 0 {
            (&one, &two)
        } else {
            (&two, &one)
        };
        at = writer.update("/turn", turn.to_string(), at).await.unwrap();
        assert_eq!(
            writer.latest().get(b"/turn").unwrap().modified,
            at,
            "its own write"
        );
        let read = reader.snapshot().await.unwrap();
        assert_eq!(read.get(b"/turn").unwrap().modified, at, "turn {turn}");
    }
    noise.abort();
    let events = next(&mut watch, 201).await;
    let values: Vec<_> = events
        .iter()
        .map(|it| it.current.as_ref().unwrap().value.clone())
        .collect();
    let expected: Vec<_> = (0..=200).map(|turn| turn.to_string()).collect();
    assert_eq!(values, expected);
}
