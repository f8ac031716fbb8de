//! The command line as a user meets it: every flag that is wired, on the real program, over real TLS.

mod flags {
    mod access;
    mod admission_config;
    mod auth_config;
    mod client;
    mod deploy;
    mod features;
    mod frozen_etcd;
    mod full_disk;
    mod kubeconfig;
    mod kyverno;
    mod program;
    mod proxies;
    mod requests;
    mod signals;
    mod stop;
    mod telemetry;
    mod tls;
    mod tokens;
    mod traces;
    mod unenforced;
    mod words;
}
