//! `/metrics`, a start: what the store knows.

use std::fmt::Write as _;

use crate::pipeline::Api;

pub(crate) fn render(api: &Api) -> String {
    let (view, _) = api.store.stats();
    let mut out = String::new();
    let mut gauge = |name: &str, help: &str, value: u64| {
        write!(
            out,
            "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n"
        )
        .expect("a String takes all");
    };
    gauge(
        "pilothouse_store_revision",
        "The newest revision.",
        view.revision,
    );
    gauge("pilothouse_store_keys", "Keys that are there.", view.keys);
    gauge(
        "pilothouse_store_watchers",
        "Watches on the store.",
        view.watchers,
    );
    out
}
