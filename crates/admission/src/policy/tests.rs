//! What the real Kubernetes 1.37 answers, extracted as data (`../shared/cases/cel` beside the workspace), and what that
//! data does not hold.

mod cases;
mod dispatch;
mod mutations;
mod world;
