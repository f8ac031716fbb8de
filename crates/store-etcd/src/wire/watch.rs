//! Service `Watch`.

use prost::{Enumeration, Message, Oneof};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use super::{Client, KeyValue, ResponseHeader};

/// Questions that wait to be sent.
const QUESTIONS: usize = 100;

impl Client {
    /// A stream of its own with one watch in it. Its first message says that the watch is created, or why not.
    pub fn watch(
        &self,
        request: WatchCreateRequest,
    ) -> impl Future<Output = Result<WatchStream, Status>> + Send + use<> {
        let (requests, queue) = mpsc::channel(QUESTIONS);
        let opening = self.streaming("/etcdserverpb.Watch/Watch", ReceiverStream::new(queue));
        async move {
            send(&requests, WatchRequestUnion::Create(request)).await?;
            let answers = opening.await?;
            Ok(WatchStream { requests, answers })
        }
    }
}

/// Ends the watch when it is dropped.
#[derive(Debug)]
pub struct WatchStream {
    requests: mpsc::Sender<WatchRequest>,
    answers: Streaming<WatchResponse>,
}

impl WatchStream {
    /// The next message; `None` when etcd has ended the stream. Nothing is lost when the future is dropped.
    pub async fn message(&mut self) -> Result<Option<WatchResponse>, Status> {
        self.answers.message().await
    }

    /// Asks for a message without events that tells how far the watch is.
    pub async fn request_progress(&self) -> Result<(), Status> {
        let request = WatchRequestUnion::Progress(WatchProgressRequest {});
        send(&self.requests, request).await
    }

    /// The last message of that watch says `canceled`.
    pub async fn cancel(&self, watch_id: i64) -> Result<(), Status> {
        let request = WatchRequestUnion::Cancel(WatchCancelRequest { watch_id });
        send(&self.requests, request).await
    }
}

async fn send(
    requests: &mpsc::Sender<WatchRequest>,
    request: WatchRequestUnion,
) -> Result<(), Status> {
    let request = WatchRequest {
        request_union: Some(request),
    };
    let sent = requests.send(request).await;
    sent.map_err(|_| Status::unknown("the watch takes no more requests"))
}

#[derive(Clone, PartialEq, Message)]
struct WatchRequest {
    #[prost(oneof = "WatchRequestUnion", tags = "1, 2, 3")]
    request_union: Option<WatchRequestUnion>,
}

#[derive(Clone, PartialEq, Oneof)]
enum WatchRequestUnion {
    #[prost(message, tag = "1")]
    Create(WatchCreateRequest),
    #[prost(message, tag = "2")]
    Cancel(WatchCancelRequest),
    #[prost(message, tag = "3")]
    Progress(WatchProgressRequest),
}

/// Keys as in [`super::RangeRequest`]. Revision 0 is what comes next.
#[derive(Clone, PartialEq, Message)]
pub struct WatchCreateRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub range_end: Vec<u8>,
    #[prost(int64, tag = "3")]
    pub start_revision: i64,
    #[prost(bool, tag = "4")]
    pub progress_notify: bool,
    #[prost(bool, tag = "6")]
    pub prev_kv: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct WatchCancelRequest {
    #[prost(int64, tag = "1")]
    pub watch_id: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct WatchProgressRequest {}

#[derive(Clone, PartialEq, Message)]
pub struct WatchResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    #[prost(int64, tag = "2")]
    pub watch_id: i64,
    #[prost(bool, tag = "3")]
    pub created: bool,
    #[prost(bool, tag = "4")]
    pub canceled: bool,
    /// Not 0: the watch began, or fell, behind this compaction.
    #[prost(int64, tag = "5")]
    pub compact_revision: i64,
    #[prost(string, tag = "6")]
    pub cancel_reason: String,
    #[prost(message, repeated, tag = "11")]
    pub events: Vec<Event>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Event {
    #[prost(enumeration = "EventType", tag = "1")]
    pub r#type: i32,
    #[prost(message, optional, tag = "2")]
    pub kv: Option<KeyValue>,
    #[prost(message, optional, tag = "3")]
    pub prev_kv: Option<KeyValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum EventType {
    Put = 0,
    Delete = 1,
}
