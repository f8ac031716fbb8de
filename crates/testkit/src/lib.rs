//! What tests share.

pub mod faulty;
pub mod suite;
