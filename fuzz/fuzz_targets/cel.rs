//! Expressions: whatever parses and compiles also evaluates without a panic, within its cost.

#![no_main]

use cel::kubernetes::{self, Mode};
use cel::{Limits, Type, Value};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let env = kubernetes::environment(37, Mode::Stored)
        .variable("d", Type::Dyn)
        .variable("s", Type::String)
        .variable("l", Type::list(Type::Int));
    let Ok(expression) = env.compile(text) else {
        return;
    };
    expression.estimate(&());
    let Ok(program) = expression.program() else {
        return;
    };
    let find = |name: &str| match name {
        "s" => Some(Value::string("some text")),
        "l" => Some(Value::list((0..9).map(Value::Int).collect())),
        _ => Some(Value::Null),
    };
    let limits = Limits {
        cost: kubernetes::PER_CALL_LIMIT,
        interrupt: None,
    };
    let _ = program.evaluate(&find, limits);
});
