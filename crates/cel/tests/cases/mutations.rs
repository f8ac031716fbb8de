//! Expressions of the cases with something changed in them: nothing panics, and nothing takes long.

use cel::kubernetes::{self, Mode};
use cel::{Limits, Type, Value};
use requires::requires;

#[requires(cel_cases)]
#[test]
fn changed_expressions_do_no_harm() {
    let env = kubernetes::environment(37, Mode::Stored)
        .variable("i", Type::Int)
        .variable("s", Type::String)
        .variable("li", Type::list(Type::Int))
        .variable("dy", Type::Dyn);
    let all = crate::cases("k8s/library.jsonl");
    let texts: Vec<&str> = all.iter().filter_map(|it| it.str_at(&["expr"])).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap_or(0)
    };
    for text in std::iter::repeat_n(&texts, 5).flatten() {
        let mut chars: Vec<char> = text.chars().take(400).collect();
        for _ in 0..=next(3) {
            let at = next(chars.len());
            match next(4) {
                0 if !chars.is_empty() => {
                    chars.remove(at);
                }
                1 => {
                    let marks = [
                        '(', ')', '[', ']', '.', '?', '-', '!', '9', 'x', '\'', '{', ':', ',', '😁',
                    ];
                    chars.insert(at, marks[next(marks.len())]);
                }
                2 => {
                    let other: Vec<char> = texts[next(texts.len())].chars().take(60).collect();
                    chars.splice(at..at, other);
                }
                _ => chars.truncate(at + 1),
            }
        }
        let text: String = chars.into_iter().collect();
        let Ok(expression) = env.compile(&text) else {
            continue;
        };
        expression.estimate(&());
        let Ok(program) = expression.program() else {
            continue;
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
        let _ = program.evaluate(&find, limits);
    }
}
