//! etcd itself, past the store.

use store_etcd::wire::{
    Client, CompactionRequest, DeleteRangeRequest, Options, PutRequest, RangeRequest,
};
use testkit::etcd::Cluster;

#[derive(Debug)]
pub(crate) struct Direct(pub(crate) Client);

impl Direct {
    /// To the first member.
    pub(crate) fn to(cluster: &Cluster) -> Self {
        let client = Client::new(&cluster.endpoints()[0], &Options::default());
        Self(client.expect("an address"))
    }

    /// The revision it got.
    pub(crate) async fn put(&self, key: &str, value: impl Into<String>) -> i64 {
        let request = PutRequest {
            key: key.into(),
            value: value.into().into(),
            ..PutRequest::default()
        };
        let answer = self.0.put(request).await.expect("put");
        answer.header.expect("a header").revision
    }

    pub(crate) async fn get(&self, key: impl Into<Vec<u8>>) -> Option<Vec<u8>> {
        let request = RangeRequest {
            key: key.into(),
            ..RangeRequest::default()
        };
        let answer = self.0.range(request).await.expect("get");
        answer.kvs.into_iter().next().map(|kv| kv.value)
    }

    /// The revision it got.
    pub(crate) async fn delete(&self, key: &str) -> i64 {
        let request = DeleteRangeRequest {
            key: key.into(),
            ..DeleteRangeRequest::default()
        };
        let answer = self.0.delete_range(request).await.expect("delete");
        answer.header.expect("a header").revision
    }

    pub(crate) async fn compact(&self, revision: i64) {
        let request = CompactionRequest {
            revision,
            physical: true,
        };
        self.0.compact(request).await.expect("compact");
    }
}
