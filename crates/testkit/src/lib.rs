//! What tests share.

pub mod faulty;
pub mod linearize;
pub mod model;
pub mod suite;
