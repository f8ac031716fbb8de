//! The command line as a user meets it: every flag that is wired, on the real program, over real TLS.

mod flags {
    mod access;
    mod client;
    mod kubeconfig;
    mod program;
    mod proxies;
    mod requests;
    mod stop;
    mod telemetry;
    mod tls;
    mod tokens;
    mod words;
}
