//! What tests share.

pub mod etcd;
pub mod faulty;
pub mod linearize;
pub mod model;
#[cfg(feature = "receiver")]
pub mod receiver;
#[cfg(feature = "server")]
pub mod server;
pub mod suite;
