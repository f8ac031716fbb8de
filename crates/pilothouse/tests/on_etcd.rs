//! Some of the same stories on a real etcd: answers, and what a cluster does by itself. testkit puts the servers of a
//! program with this name there; `cargo xtask on-etcd` does so with all stories.

#[path = "answers.rs"]
mod answers;

mod controllers {
    #[allow(dead_code, reason = "stories that are not told here use the rest")]
    mod cluster;
    mod custom_resources;
    mod namespaces;
    mod upkeep;
}
