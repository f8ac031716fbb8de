//! Expressions of the cases with something changed in them: nothing panics, and nothing takes long.

use requires::requires;

use crate::drive::drive;

/// How often each expression is changed. `CEL_FUZZ_ROUNDS` makes it a longer run.
fn rounds() -> usize {
    let given = std::env::var("CEL_FUZZ_ROUNDS");
    given.ok().and_then(|it| it.parse().ok()).unwrap_or(5)
}

#[requires(cel_cases)]
#[test]
fn changed_expressions_do_no_harm() {
    let all = crate::cases("k8s/library.jsonl");
    let texts: Vec<&str> = all.iter().filter_map(|it| it.str_at(&["expr"])).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap_or(0)
    };
    let (mut tried, mut compiled) = (0, 0);
    for text in std::iter::repeat_n(&texts, rounds()).flatten() {
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
        tried += 1;
        compiled += usize::from(drive(&text));
    }
    // Else nothing but the parser is tried.
    assert!(compiled * 20 > tried, "{compiled} of {tried} compile");
}
