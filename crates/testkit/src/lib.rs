//! What tests share.

pub mod certificates;
#[cfg(feature = "network")]
pub mod collector;
pub mod etcd;
pub mod faulty;
pub mod linearize;
pub mod model;
#[cfg(feature = "network")]
pub mod proxy;
pub mod python;
#[cfg(feature = "network")]
pub mod receiver;
#[cfg(feature = "server")]
pub mod server;
pub mod small_disk;
pub mod suite;

pub use requires::requires;
