//! What fuzzing calls, with or without a fuzzer: whatever parses and compiles also evaluates without a panic, within its
//! cost.

use cel::kubernetes::{self, Mode};
use cel::{Limits, Type, Value};

/// Compiles and evaluates a text. Tells whether it compiled.
pub(crate) fn drive(text: &str) -> bool {
    let env = kubernetes::environment(37, Mode::Stored)
        .variable("i", Type::Int)
        .variable("s", Type::String)
        .variable("li", Type::list(Type::Int))
        .variable("dy", Type::Dyn);
    let Ok(expression) = env.compile(text) else {
        return false;
    };
    let estimate = expression.estimate(&());
    assert!(estimate.min <= estimate.max, "{text}: {estimate:?}");
    let Ok(program) = expression.program() else {
        return true;
    };
    let find = |name: &str| match name {
        "i" => Some(Value::Int(7)),
        "s" => Some(Value::string("hello wörld")),
        "li" => Some(Value::list(vec![Value::Int(3), Value::Int(1)])),
        _ => Some(Value::Null),
    };
    let limits = Limits {
        cost: kubernetes::PER_CALL_LIMIT,
        interrupt: None,
    };
    let first = program.evaluate(&find, limits);
    // The same again: what an evaluation leaves behind changes nothing.
    let again = program.evaluate(&find, limits);
    assert_eq!(first.1, again.1, "{text}: two evaluations differ in cost");
    assert_eq!(first.0.is_ok(), again.0.is_ok(), "{text}");
    true
}
