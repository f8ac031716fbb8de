//! Several servers on one etcd behave as one.

mod several {
    mod consistency;
    mod controllers;
    mod nodes;
    mod policies;
    mod services;
}
