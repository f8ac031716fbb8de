//! Many at once.

use std::collections::HashSet;

use store::{Condition, Error, Store, Txn};

use super::{Backing, get, next, open, soon};

/// Runs `count` tasks over clones of the store and collects what they return.
async fn all<T: Send + 'static, F>(
    store: &Store,
    count: usize,
    task: impl Fn(usize, Store) -> F,
) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
{
    let tasks: Vec<_> = (0..count)
        .map(|number| tokio::spawn(task(number, store.clone())))
        .collect();
    let mut done = Vec::new();
    for task in tasks {
        done.push(soon("a task", task).await.unwrap());
    }
    done
}

pub async fn all_writers_are_answered_and_all_writes_are_there(backing: &impl Backing) {
    const WRITERS: usize = 64;
    const EACH: usize = 20;
    let store = open(backing).await;
    let start = store.snapshot().await.unwrap().revision();
    let mut watch = store.watch(b"", start).await.unwrap();
    let revisions = all(&store, WRITERS, |writer, store| async move {
        let mut revisions = Vec::new();
        for number in 0..EACH {
            let key = format!("{writer:02}/{number:02}");
            let txn = Txn::new()
                .put(key.clone(), "")
                .put(format!("{writer:02}/last"), key.clone());
            let revision = store.txn(txn).await.unwrap().revision;
            // Whoever is answered reads its own write.
            assert_eq!(
                store.latest().get(key.as_bytes()).unwrap().modified,
                revision
            );
            let last = get(&store, format!("{writer:02}/last").as_bytes()).await;
            assert_eq!((last.modified, &last.value[..]), (revision, key.as_bytes()));
            revisions.push(revision);
        }
        assert!(revisions.is_sorted_by(|a, b| a < b));
        revisions
    })
    .await;
    let unique: HashSet<_> = revisions.iter().flatten().collect();
    assert_eq!(
        unique.len(),
        WRITERS * EACH,
        "a revision is one transaction's"
    );
    let snapshot = store.latest();
    assert_eq!(snapshot.len(), WRITERS * (EACH + 1));
    for (writer, revisions) in revisions.iter().enumerate() {
        for (number, revision) in revisions.iter().enumerate() {
            let key = format!("{writer:02}/{number:02}");
            assert_eq!(snapshot.get(key.as_bytes()).unwrap().created, *revision);
        }
    }
    let mut seen = Vec::new();
    while seen.len() < WRITERS * EACH * 2 {
        let changes = next(&mut watch).await;
        assert!(
            changes.len().is_multiple_of(2),
            "a run never ends within a revision"
        );
        seen.extend_from_slice(&changes);
    }
    assert!(
        seen.chunks(2)
            .all(|pair| pair[0].revision == pair[1].revision)
    );
    assert!(
        seen.chunks(2)
            .is_sorted_by(|a, b| a[0].revision < b[0].revision)
    );
}

pub async fn of_many_creates_one_wins(backing: &impl Backing) {
    let store = open(backing).await;
    let answers = all(&store, 32, |number, store| async move {
        store
            .create("a", number.to_string())
            .await
            .map(|revision| (number, revision))
    })
    .await;
    let winners: Vec<_> = answers.iter().flatten().collect();
    assert_eq!(winners.len(), 1, "{answers:?}");
    let entry = get(&store, b"a").await;
    assert_eq!(
        (winners[0].0.to_string().as_bytes(), winners[0].1),
        (&entry.value[..], entry.modified)
    );
    for lost in answers.iter().filter_map(|answer| answer.as_ref().err()) {
        assert!(
            matches!(lost, Error::Conflict { current: Some(current), .. } if *current == entry),
            "{lost:?}"
        );
    }
}

pub async fn of_many_updates_one_wins(backing: &impl Backing) {
    let store = open(backing).await;
    let mut revision = store.create("a", "").await.unwrap();
    for _ in 0..5 {
        let answers = all(&store, 16, move |number, store| async move {
            // Some replace, some delete and create anew: all on the same condition.
            let txn = Txn::new().when(Condition::Unchanged("a".into(), revision));
            store.txn(txn.put("a", number.to_string())).await
        })
        .await;
        let winners: Vec<_> = answers.iter().flatten().collect();
        assert_eq!(winners.len(), 1, "{answers:?}");
        revision = winners[0].revision;
        assert_eq!(get(&store, b"a").await.modified, revision);
    }
}

pub async fn increments_are_never_lost(backing: &impl Backing) {
    let store = open(backing).await;
    store.create("counter", "0").await.unwrap();
    all(&store, 8, |_, store| async move {
        for _ in 0..10 {
            loop {
                let entry = get(&store, b"counter").await;
                let count: u32 = std::str::from_utf8(&entry.value).unwrap().parse().unwrap();
                match store
                    .update("counter", (count + 1).to_string(), entry.modified)
                    .await
                {
                    Ok(_) => break,
                    Err(Error::Conflict { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    })
    .await;
    assert_eq!(get(&store, b"counter").await.value, "80");
}

pub async fn transfers_keep_the_sum(backing: &impl Backing) {
    let store = open(backing).await;
    let amount = |bytes: &[u8]| std::str::from_utf8(bytes).unwrap().parse::<i64>().unwrap();
    let txn = (0..4).fold(Txn::new(), |txn, account| {
        txn.put(format!("/{account}"), "100")
    });
    let start = store.txn(txn).await.unwrap().revision;
    let sum = move |snapshot: &store::Snapshot| -> i64 {
        snapshot.range(b"/").map(|entry| amount(&entry.value)).sum()
    };
    all(&store, 8, move |task, store| async move {
        for round in 0..15 {
            let (from, to) = ((task + round) % 4, (task * 3 + round * 2 + 1) % 4);
            let snapshot = store.snapshot().await.unwrap();
            assert_eq!(sum(&snapshot), 400, "a snapshot shows half a transaction");
            if from == to {
                continue;
            }
            let entry = |account: usize| {
                snapshot
                    .get(format!("/{account}").as_bytes())
                    .unwrap()
                    .clone()
            };
            let (from, to) = (entry(from), entry(to));
            let txn = Txn::new()
                .when(Condition::Unchanged(from.key.clone(), from.modified))
                .when(Condition::Unchanged(to.key.clone(), to.modified))
                .put(from.key.clone(), (amount(&from.value) - 1).to_string())
                .put(to.key.clone(), (amount(&to.value) + 1).to_string());
            match store.txn(txn).await {
                Ok(_) | Err(Error::Conflict { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    })
    .await;
    let end = store.snapshot().await.unwrap();
    assert_eq!(sum(&end), 400);
    // Every state there ever was had the same sum.
    let mut watch = store.watch(b"/", start).await.unwrap();
    while let Some(changes) = watch.try_next() {
        for event in changes.unwrap().iter() {
            assert_eq!(sum(&store.snapshot_at(event.revision).await.unwrap()), 400);
        }
    }
}

/// A caller that goes away leaves a whole transaction or none, and harms nobody.
pub async fn a_write_given_up_is_whole_or_not_at_all(backing: &impl Backing) {
    let store = open(backing).await;
    all(&store, 16, |task, store| async move {
        for round in 0..10 {
            let txn = Txn::new()
                .put(format!("/{task}/{round}/a"), "")
                .put(format!("/{task}/{round}/b"), "");
            tokio::select! {
                biased;
                answer = store.txn(txn) => drop(answer.unwrap()),
                () = tokio::task::yield_now() => {}
            }
        }
        store.put(format!("/{task}/end"), "").await.unwrap();
    })
    .await;
    let snapshot = store.snapshot().await.unwrap();
    for task in 0..16 {
        assert!(snapshot.get(format!("/{task}/end").as_bytes()).is_some());
        for round in 0..10 {
            let count = snapshot.count(format!("/{task}/{round}/").as_bytes());
            assert!(count == 0 || count == 2, "half of /{task}/{round}/");
        }
    }
}
