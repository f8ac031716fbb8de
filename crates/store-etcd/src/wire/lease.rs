//! Service `Lease`. Times are in seconds.

use prost::Message;
use tonic::Status;

use super::{Client, ResponseHeader};

impl Client {
    pub fn lease_grant(
        &self,
        request: LeaseGrantRequest,
    ) -> impl Future<Output = Result<LeaseGrantResponse, Status>> + Send + use<> {
        self.unary("/etcdserverpb.Lease/LeaseGrant", request)
    }

    pub fn lease_revoke(
        &self,
        request: LeaseRevokeRequest,
    ) -> impl Future<Output = Result<LeaseRevokeResponse, Status>> + Send + use<> {
        self.unary("/etcdserverpb.Lease/LeaseRevoke", request)
    }

    /// etcd takes a stream of these; this sends one and waits for its answer. No time left: no such lease.
    pub fn lease_keep_alive(
        &self,
        request: LeaseKeepAliveRequest,
    ) -> impl Future<Output = Result<LeaseKeepAliveResponse, Status>> + Send + use<> {
        let path = "/etcdserverpb.Lease/LeaseKeepAlive";
        let opening = self.streaming(path, tokio_stream::once(request));
        async move {
            let answer = opening.await?.message().await?;
            answer.ok_or_else(|| Status::unknown("the stream ended without an answer"))
        }
    }

    pub fn lease_time_to_live(
        &self,
        request: LeaseTimeToLiveRequest,
    ) -> impl Future<Output = Result<LeaseTimeToLiveResponse, Status>> + Send + use<> {
        self.unary("/etcdserverpb.Lease/LeaseTimeToLive", request)
    }

    pub fn lease_leases(
        &self,
    ) -> impl Future<Output = Result<LeaseLeasesResponse, Status>> + Send + use<> {
        self.unary("/etcdserverpb.Lease/LeaseLeases", LeaseLeasesRequest {})
    }
}

/// Id 0: etcd chooses.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct LeaseGrantRequest {
    #[prost(int64, tag = "1")]
    pub ttl: i64,
    #[prost(int64, tag = "2")]
    pub id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct LeaseGrantResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    #[prost(int64, tag = "2")]
    pub id: i64,
    #[prost(int64, tag = "3")]
    pub ttl: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct LeaseRevokeRequest {
    #[prost(int64, tag = "1")]
    pub id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct LeaseRevokeResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct LeaseKeepAliveRequest {
    #[prost(int64, tag = "1")]
    pub id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct LeaseKeepAliveResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    #[prost(int64, tag = "2")]
    pub id: i64,
    #[prost(int64, tag = "3")]
    pub ttl: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct LeaseTimeToLiveRequest {
    #[prost(int64, tag = "1")]
    pub id: i64,
}

/// `ttl` is -1 when there is no such lease.
#[derive(Clone, PartialEq, Message)]
pub struct LeaseTimeToLiveResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    #[prost(int64, tag = "2")]
    pub id: i64,
    #[prost(int64, tag = "3")]
    pub ttl: i64,
    #[prost(int64, tag = "4")]
    pub granted_ttl: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct LeaseLeasesRequest {}

#[derive(Clone, PartialEq, Message)]
pub struct LeaseLeasesResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    #[prost(message, repeated, tag = "2")]
    pub leases: Vec<LeaseStatus>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct LeaseStatus {
    #[prost(int64, tag = "1")]
    pub id: i64,
}
