//! Expressions: whatever parses and compiles also evaluates without a panic, within its cost. `cargo test -p cel --test cases
//! changed` drives the same function with changed expressions of the cases, where there is no fuzzer.

#![no_main]

#[path = "../../crates/cel/tests/cases/drive.rs"]
mod drive;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    drive::drive(text);
});
