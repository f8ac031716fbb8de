//! What tests share.

pub mod etcd;
