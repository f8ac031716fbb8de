//! What tests share.

pub mod etcd;
pub mod faulty;
pub mod linearize;
pub mod model;
pub mod suite;
