//! etcd's v3 API as far as we use it: its messages, and a client for one member.
//!
//! Written by hand from the field numbers of etcd's `rpc.proto` and `kv.proto`, so that no build needs `protoc`. Names are
//! etcd's. Fields we do not use are left out: what etcd sends in them is skipped. The client hides nothing: one call is
//! one request, sent once, and a failure is gRPC's own [`tonic::Status`].

mod client;
mod dial;
mod kv;
mod lease;
mod maintenance;
mod txn;
mod watch;

pub use client::{Client, Options};
pub use dial::{Dial, Stream};
pub use kv::{
    CompactionRequest, CompactionResponse, DeleteRangeRequest, DeleteRangeResponse, PutRequest,
    PutResponse, RangeRequest, RangeResponse,
};
pub use lease::{
    LeaseGrantRequest, LeaseGrantResponse, LeaseKeepAliveRequest, LeaseKeepAliveResponse,
    LeaseLeasesRequest, LeaseLeasesResponse, LeaseRevokeRequest, LeaseRevokeResponse, LeaseStatus,
    LeaseTimeToLiveRequest, LeaseTimeToLiveResponse,
};
pub use maintenance::{
    AlarmAction, AlarmMember, AlarmRequest, AlarmResponse, AlarmType, DefragmentRequest,
    DefragmentResponse, StatusRequest, StatusResponse,
};
pub use txn::{
    Compare, CompareResult, CompareTarget, Operation, Outcome, RequestOp, ResponseOp, TargetUnion,
    TxnRequest, TxnResponse,
};
pub use watch::{
    Event, EventType, WatchCancelRequest, WatchCreateRequest, WatchProgressRequest, WatchResponse,
    WatchStream,
};

/// In every answer.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ResponseHeader {
    #[prost(uint64, tag = "1")]
    pub cluster_id: u64,
    #[prost(uint64, tag = "2")]
    pub member_id: u64,
    #[prost(int64, tag = "3")]
    pub revision: i64,
    #[prost(uint64, tag = "4")]
    pub raft_term: u64,
}

/// Key and value are copied out of the message: a few bytes kept for long must not keep a whole page of a list.
#[derive(Clone, PartialEq, prost::Message)]
pub struct KeyValue {
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
    #[prost(int64, tag = "2")]
    pub create_revision: i64,
    #[prost(int64, tag = "3")]
    pub mod_revision: i64,
    #[prost(int64, tag = "4")]
    pub version: i64,
    #[prost(bytes = "vec", tag = "5")]
    pub value: Vec<u8>,
    #[prost(int64, tag = "6")]
    pub lease: i64,
}
