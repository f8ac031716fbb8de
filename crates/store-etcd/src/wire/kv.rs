//! Service `KV`, but for transactions.

use bytes::Bytes;
use prost::Message;
use tonic::Status;

use super::{Client, KeyValue, ResponseHeader};

impl Client {
    pub fn range(
        &self,
        request: RangeRequest,
    ) -> impl Future<Output = Result<RangeResponse, Status>> + Send + use<> {
        self.unary("/etcdserverpb.KV/Range", request)
    }

    pub fn put(
        &self,
        request: PutRequest,
    ) -> impl Future<Output = Result<PutResponse, Status>> + Send + use<> {
        self.unary("/etcdserverpb.KV/Put", request)
    }

    pub fn delete_range(
        &self,
        request: DeleteRangeRequest,
    ) -> impl Future<Output = Result<DeleteRangeResponse, Status>> + Send + use<> {
        self.unary("/etcdserverpb.KV/DeleteRange", request)
    }

    pub fn compact(
        &self,
        request: CompactionRequest,
    ) -> impl Future<Output = Result<CompactionResponse, Status>> + Send + use<> {
        self.unary("/etcdserverpb.KV/Compact", request)
    }
}

/// An empty `range_end` is one key, `\0` all keys from `key` on. Revision 0 is now.
#[derive(Clone, PartialEq, Message)]
pub struct RangeRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub range_end: Vec<u8>,
    #[prost(int64, tag = "3")]
    pub limit: i64,
    #[prost(int64, tag = "4")]
    pub revision: i64,
    #[prost(bool, tag = "7")]
    pub serializable: bool,
    #[prost(bool, tag = "9")]
    pub count_only: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct RangeResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    #[prost(message, repeated, tag = "2")]
    pub kvs: Vec<KeyValue>,
    #[prost(bool, tag = "3")]
    pub more: bool,
    #[prost(int64, tag = "4")]
    pub count: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct PutRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
    #[prost(bytes = "bytes", tag = "2")]
    pub value: Bytes,
    #[prost(int64, tag = "3")]
    pub lease: i64,
    #[prost(bool, tag = "4")]
    pub prev_kv: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct PutResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    #[prost(message, optional, tag = "2")]
    pub prev_kv: Option<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub struct DeleteRangeRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub range_end: Vec<u8>,
    #[prost(bool, tag = "3")]
    pub prev_kv: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct DeleteRangeResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    #[prost(int64, tag = "2")]
    pub deleted: i64,
    #[prost(message, repeated, tag = "3")]
    pub prev_kvs: Vec<KeyValue>,
}

/// With `physical` it is answered when the space is free, not only promised.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct CompactionRequest {
    #[prost(int64, tag = "1")]
    pub revision: i64,
    #[prost(bool, tag = "2")]
    pub physical: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct CompactionResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
}
