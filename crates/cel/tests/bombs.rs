//! Expressions that try to cost more than they may: stack, memory or time.

use cel::kubernetes::{self, Mode};
use cel::{Env, ErrorKind, Limits, Type, Value};

fn env() -> Env {
    kubernetes::environment(37, Mode::Stored)
        .variable("s", Type::String)
        .variable("l", Type::list(Type::Int))
        .variable("d", Type::Dyn)
}

/// Compiles and evaluates as the server does. Nothing here may panic or run out of stack.
fn run(text: &str) -> Result<(), String> {
    let expression = env().compile(text).map_err(|it| it.to_string())?;
    expression.estimate(&());
    let program = expression.program().map_err(|it| it.to_string())?;
    let long = "x".repeat(100_000);
    let find = |name: &str| match name {
        "s" => Some(Value::string(long.clone())),
        "l" => Some(Value::list((0..10_000).map(Value::Int).collect())),
        _ => Some(Value::Null),
    };
    let limits = Limits {
        cost: kubernetes::PER_CALL_LIMIT,
        interrupt: None,
    };
    let (value, _) = program.evaluate(&find, limits);
    match value {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::CostLimit => Err("cost".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// A release build needs less than half of the stack that a thread has by default. Other builds need more.
#[test]
fn nesting_is_bounded() {
    let size = if cfg!(debug_assertions) {
        32 << 20
    } else {
        1 << 20
    };
    let thread = std::thread::Builder::new().stack_size(size).spawn(nest);
    thread.expect("a thread").join().expect("no panic");
}

fn nest() {
    for depth in [100, 248, 300, 5_000] {
        for (open, inner, close) in [
            ("(", "1", ")"),
            ("[", "1", "]"),
            ("{1:", "1", "}"),
            ("dyn(", "1", ")"),
            ("-(", "1", ")"),
            ("true ? 1 : (", "1", ")"),
            ("1 + (", "1", ")"),
            ("[1].map(x, ", "x", ")"),
            ("[1].all(x, ", "true", ")"),
            ("has(", "d.a", ".b)"),
            ("optional.of(1).optMap(x, ", "x", ")"),
        ] {
            let text = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
            let _ = run(&text);
        }
        for part in [
            "d.a", ".b", "[0]", ".?c", "!", "-", " + 1", " == 1", " && true", " ? 1 : 2",
        ] {
            let _ = run(&format!("d{}", part.repeat(depth)));
            let _ = run(&part.repeat(depth));
        }
    }
}

#[test]
fn what_doubles_is_stopped() {
    let strings = format!("['aaaaaaaa']{}.size() > 0", ".map(x, x + x)".repeat(100));
    assert_eq!(run(&strings), Err("cost".to_owned()));
    let lists = format!("[[1, 2]]{}.size() > 0", ".map(x, x + x)".repeat(100));
    let _ = run(&lists);
    let compared = format!("[[1, 2]]{}.all(x, x == x)", ".map(x, x + x)".repeat(60));
    assert_eq!(run(&compared), Err("cost".to_owned()));
    let types = format!("[1]{}.size() > 0", ".map(x, {x: x})".repeat(60));
    let _ = run(&types);
    let nested = format!("[1]{}.size() > 0", ".map(x, [x, x])".repeat(60));
    let _ = run(&nested);
    let replaced = "'aaaaaaaaaa'.replace('', s).replace('', s).size() > 0";
    let _ = run(replaced);
}

#[test]
fn loops_within_loops_are_stopped() {
    let text = format!("{}true{}", "l.all(x, ".repeat(6), ")".repeat(6));
    assert_eq!(run(&text), Err("cost".to_owned()));
    assert_eq!(
        run("l.map(x, l.map(y, s)).size() > 0"),
        Err("cost".to_owned())
    );
    assert_eq!(run("sets.contains(l, l.map(x, x))"), Err("cost".to_owned()));
    assert_eq!(run("l.distinct().size() > 0"), Err("cost".to_owned()));
    assert_eq!(run("s.matches('(x+x+)+y')"), Ok(()));
    assert!(run("s.matches('(((x{100}){100}){100})')").is_err());
}

#[test]
fn an_interrupt_ends_an_evaluation() {
    let program = env()
        .compile("l.all(x, l.all(y, true))")
        .unwrap()
        .program()
        .unwrap();
    let limits = Limits {
        cost: u64::MAX,
        interrupt: Some(&|| true),
    };
    let find = |_: &str| Some(Value::list((0..1_000).map(Value::Int).collect()));
    let (value, _) = program.evaluate(&find, limits);
    assert_eq!(value.unwrap_err().kind(), ErrorKind::Interrupted);
}

#[test]
fn programs_are_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<cel::Program>();
    is_shared::<cel::Expression>();
    is_shared::<cel::Env>();
    is_shared::<cel::Schema>();
}
