//! Several servers on one etcd behave as one.

mod several {
    mod consistency;
    mod controllers;
    mod features;
    mod nodes;
    mod policies;
    mod services;
}
