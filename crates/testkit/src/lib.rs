//! What tests share.

pub mod faulty;
