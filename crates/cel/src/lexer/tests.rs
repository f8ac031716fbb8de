use super::*;

fn kinds(text: &str) -> (Vec<Kind>, String) {
    let mut issues = Issues::new(text);
    let all = tokens(text, &mut issues);
    (all.iter().map(|it| it.kind).collect(), issues.to_string())
}

#[test]
fn numbers_are_as_long_as_they_can_be() {
    use Kind::{Dot, Eof, Float, Ident, Int, Plus, Uint};
    let cases: &[(&str, &[Kind])] = &[
        (
            "1 2u 0x1F 0xfu 1.5 .5 1e3 1.e",
            &[
                Int, Uint, Int, Uint, Float, Float, Float, Int, Dot, Ident, Eof,
            ],
        ),
        ("0x 1e+", &[Int, Ident, Int, Ident, Plus, Eof]),
    ];
    for (text, wanted) in cases {
        assert_eq!(kinds(text).0, *wanted, "{text}");
    }
}

#[test]
fn strings_and_their_prefixes() {
    use Kind::{Bytes, Eof, Ident, String};
    assert_eq!(
        kinds(r#"'a' r"\" b'\x00' br'''a'b''' """q"q""" rb"#).0,
        [String, String, Bytes, Bytes, String, Ident, Eof]
    );
}

#[test]
fn errors_tell_the_characters_they_skip() {
    let (all, text) = kinds(r#""\q" | 'x"#);
    assert_eq!(all, [Kind::Eof]);
    assert!(
        text.contains(r#"token recognition error at: '"\q'"#),
        "{text}"
    );
    assert!(
        text.contains(r#"token recognition error at: '" | 'x'"#),
        "{text}"
    );
}
