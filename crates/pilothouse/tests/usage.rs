//! A user whose builds are counted, or not: all with the real program, and a receiver that reads what it is sent.

#[path = "usage/apply.rs"]
mod apply;
#[path = "usage/canary.rs"]
mod canary;
#[path = "usage/cases.rs"]
mod cases;
#[path = "usage/consent.rs"]
mod consent;
#[path = "usage/real_collector.rs"]
mod real_collector;
#[path = "usage/user.rs"]
mod user;
