//! Service `Maintenance`.

use prost::{Enumeration, Message};
use tonic::Status;

use super::{Client, ResponseHeader};

impl Client {
    pub fn status(&self) -> impl Future<Output = Result<StatusResponse, Status>> + Send + use<> {
        self.unary("/etcdserverpb.Maintenance/Status", StatusRequest {})
    }

    pub fn alarm(
        &self,
        request: AlarmRequest,
    ) -> impl Future<Output = Result<AlarmResponse, Status>> + Send + use<> {
        self.unary("/etcdserverpb.Maintenance/Alarm", request)
    }

    /// Of this member only, which does nothing else meanwhile.
    pub fn defragment(
        &self,
    ) -> impl Future<Output = Result<DefragmentResponse, Status>> + Send + use<> {
        self.unary("/etcdserverpb.Maintenance/Defragment", DefragmentRequest {})
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct StatusRequest {}

#[derive(Clone, PartialEq, Message)]
pub struct StatusResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    #[prost(string, tag = "2")]
    pub version: String,
    #[prost(int64, tag = "3")]
    pub db_size: i64,
    /// The leader's member id; 0 without one.
    #[prost(uint64, tag = "4")]
    pub leader: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct AlarmRequest {
    #[prost(enumeration = "AlarmAction", tag = "1")]
    pub action: i32,
    /// 0: of all members.
    #[prost(uint64, tag = "2")]
    pub member_id: u64,
    #[prost(enumeration = "AlarmType", tag = "3")]
    pub alarm: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct AlarmResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    #[prost(message, repeated, tag = "2")]
    pub alarms: Vec<AlarmMember>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct AlarmMember {
    #[prost(uint64, tag = "1")]
    pub member_id: u64,
    #[prost(enumeration = "AlarmType", tag = "2")]
    pub alarm: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum AlarmAction {
    Get = 0,
    Activate = 1,
    Deactivate = 2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum AlarmType {
    None = 0,
    Nospace = 1,
    Corrupt = 2,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct DefragmentRequest {}

#[derive(Clone, PartialEq, Message)]
pub struct DefragmentResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
}
