//! Each built-in plugin by itself: a request goes in, the object or a refusal comes out.

mod plugins {
    mod certificates;
    mod limits;
    mod namespaces;
    mod nodes;
    mod pods;
    mod security;
    mod service_accounts;
    mod storage;
    mod world;
}
