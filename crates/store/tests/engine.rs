//! The writer and its engine: what holds whatever the engine does.

use store::engine::{AppendError, Engine, EngineStats, Record, Recovered};
use store::{Error, Options, Revision, embedded};

#[derive(Debug)]
struct Panics;

impl Engine for Panics {
    fn append(&mut self, _: &[Record], _: Revision) -> Result<(), AppendError> {
        panic!("the engine has a bug");
    }

    fn stats(&self) -> EngineStats {
        EngineStats::default()
    }

    fn close(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

#[tokio::test]
async fn a_writer_that_panics_leaves_nobody_waiting() {
    let store = embedded::with_engine(Panics, Recovered::default(), &Options::default()).unwrap();
    // It was taken: nobody knows what became of it. The next one was not.
    assert!(matches!(
        store.put("a", "1").await,
        Err(Error::Unknown { .. })
    ));
    assert!(matches!(store.put("b", "1").await, Err(Error::Closed)));
    assert_eq!(store.latest().len(), 0);
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_closed_directory_can_be_opened_again_at_once() {
    let place = tempfile::tempdir().unwrap();
    let options = Options::default();
    for round in 0..5 {
        let store = embedded::open(place.path(), &options).unwrap();
        store.put("a", "1").await.unwrap();
        assert_eq!(store.latest().revision(), round + 1);
        let (first, second) = tokio::join!(store.close(), store.close());
        first.unwrap();
        second.unwrap();
        // The handle still exists: reading what it saw needs no directory.
        let again = embedded::open(place.path(), &options).unwrap();
        assert_eq!(again.latest().len(), store.latest().len());
        again.close().await.unwrap();
    }
}
