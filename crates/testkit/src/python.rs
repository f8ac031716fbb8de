//! Programs of another hand are often in Python.

use std::process::{Command, Stdio};

/// An interpreter with these modules, such as `grpc, kubernetes`: `$PYTHON`, what is first in the path, or the system's,
/// which is the one that has what the system's packages bring. Panics if there is none: tests that need it are marked
/// `#[requires(python_...)]`.
pub fn with(modules: &str) -> String {
    let named = std::env::var("PYTHON").ok();
    let all = named.into_iter();
    let all = all.chain(["python3".into(), "/usr/bin/python3".into()]);
    let found = all.into_iter().find(|python| {
        let tried = Command::new(python)
            .args(["-c", &format!("import {modules}")])
            .stderr(Stdio::null())
            .status();
        tried.is_ok_and(|it| it.success())
    });
    found.unwrap_or_else(|| panic!("no Python has {modules}"))
}
