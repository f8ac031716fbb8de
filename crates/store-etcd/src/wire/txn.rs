//! Transactions of service `KV`.

use prost::{Enumeration, Message, Oneof};
use tonic::Status;

use super::{
    Client, DeleteRangeRequest, DeleteRangeResponse, PutRequest, PutResponse, RangeRequest,
    RangeResponse, ResponseHeader,
};

impl Client {
    pub fn txn(
        &self,
        request: TxnRequest,
    ) -> impl Future<Output = Result<TxnResponse, Status>> + Send + use<> {
        self.unary("/etcdserverpb.KV/Txn", request)
    }
}

/// All of `success` if every comparison holds, else all of `failure`.
#[derive(Clone, PartialEq, Message)]
pub struct TxnRequest {
    #[prost(message, repeated, tag = "1")]
    pub compare: Vec<Compare>,
    #[prost(message, repeated, tag = "2")]
    pub success: Vec<RequestOp>,
    #[prost(message, repeated, tag = "3")]
    pub failure: Vec<RequestOp>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TxnResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    #[prost(bool, tag = "2")]
    pub succeeded: bool,
    /// One for each operation done.
    #[prost(message, repeated, tag = "3")]
    pub responses: Vec<ResponseOp>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Compare {
    #[prost(enumeration = "CompareResult", tag = "1")]
    pub result: i32,
    #[prost(enumeration = "CompareTarget", tag = "2")]
    pub target: i32,
    #[prost(bytes = "vec", tag = "3")]
    pub key: Vec<u8>,
    #[prost(oneof = "TargetUnion", tags = "4, 5, 6")]
    pub target_union: Option<TargetUnion>,
}

impl Compare {
    /// How often a key was written since it was created; 0 for one that does not exist.
    pub fn version(key: Vec<u8>, result: CompareResult, version: i64) -> Self {
        Self {
            result: result.into(),
            target: CompareTarget::Version.into(),
            key,
            target_union: Some(TargetUnion::Version(version)),
        }
    }

    /// A key that does not exist compares as 0.
    pub fn create_revision(key: Vec<u8>, result: CompareResult, revision: i64) -> Self {
        Self {
            result: result.into(),
            target: CompareTarget::Create.into(),
            key,
            target_union: Some(TargetUnion::CreateRevision(revision)),
        }
    }

    /// A key that does not exist compares as 0.
    pub fn mod_revision(key: Vec<u8>, result: CompareResult, revision: i64) -> Self {
        Self {
            result: result.into(),
            target: CompareTarget::Mod.into(),
            key,
            target_union: Some(TargetUnion::ModRevision(revision)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum CompareResult {
    Equal = 0,
    Greater = 1,
    Less = 2,
    NotEqual = 3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum CompareTarget {
    Version = 0,
    Create = 1,
    Mod = 2,
    Value = 3,
    Lease = 4,
}

#[derive(Clone, Copy, PartialEq, Eq, Oneof)]
pub enum TargetUnion {
    #[prost(int64, tag = "4")]
    Version(i64),
    #[prost(int64, tag = "5")]
    CreateRevision(i64),
    #[prost(int64, tag = "6")]
    ModRevision(i64),
}

#[derive(Clone, PartialEq, Message)]
pub struct RequestOp {
    #[prost(oneof = "Operation", tags = "1, 2, 3")]
    pub request: Option<Operation>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Operation {
    #[prost(message, tag = "1")]
    Range(RangeRequest),
    #[prost(message, tag = "2")]
    Put(PutRequest),
    #[prost(message, tag = "3")]
    DeleteRange(DeleteRangeRequest),
}

impl From<Operation> for RequestOp {
    fn from(operation: Operation) -> Self {
        Self {
            request: Some(operation),
        }
    }
}

#[derive(Clone, PartialEq, Message)]
pub struct ResponseOp {
    #[prost(oneof = "Outcome", tags = "1, 2, 3")]
    pub response: Option<Outcome>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Outcome {
    #[prost(message, tag = "1")]
    Range(RangeResponse),
    #[prost(message, tag = "2")]
    Put(PutResponse),
    #[prost(message, tag = "3")]
    DeleteRange(DeleteRangeResponse),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protocol buffers by hand: (field number << 3 | wire type), then a varint (type 0) or a length and bytes (type 2).
    #[test]
    fn a_transaction_is_on_the_wire_as_etcd_defines_it() {
        let put = PutRequest {
            key: b"k".to_vec(),
            value: "v".into(),
            lease: 7,
            prev_kv: true,
        };
        let txn = TxnRequest {
            compare: vec![Compare::create_revision(
                b"k".to_vec(),
                CompareResult::Equal,
                0,
            )],
            success: vec![Operation::Put(put).into()],
            failure: vec![Operation::Range(RangeRequest::default()).into()],
        };
        let compare = [0x10, 1, 0x1a, 1, b'k', 0x28, 0];
        let put = [0x0a, 1, b'k', 0x12, 1, b'v', 0x18, 7, 0x20, 1];
        let expected = [
            &[0x0a, 7][..],
            &compare,
            &[0x12, 12, 0x12, 10],
            &put,
            &[0x1a, 2, 0x0a, 0],
        ];
        assert_eq!(txn.encode_to_vec(), expected.concat());
    }
}
