use super::Regexp;
use super::parse::parse;
use super::program::Program;

/// What Go's `regexp.Compile` says.
#[test]
fn errors_are_those_of_go() {
    for (text, expected) in [
        ("(", "missing closing ): `(`"),
        ("a)", "unexpected ): `a)`"),
        ("[a", "missing closing ]: `[a`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("*", "missing argument to repetition operator: `*`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("(a{100}){100}", "invalid repeat count: `{100}`"),
        ("a\\", "trailing backslash at end of expression: ``"),
        ("\\8", "invalid escape sequence: `\\8`"),
        ("\\y", "invalid escape sequence: `\\y`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?<=a)", "invalid named capture: `(?<=a)`"),
        ("(?i-)a", "invalid or unsupported Perl syntax: `(?i-)`"),
        ("[a-\\d]", "invalid escape sequence: `\\d`"),
        ("\\pX", "invalid character class range: `\\pX`"),
        ("(?P<>a)", "invalid named capture: `(?P<>`"),
        ("(?i)+", "missing argument to repetition operator: `+`"),
        ("|*", "missing argument to repetition operator: `*`"),
        ("[]", "missing closing ]: `[]`"),
        ("(?P<n", "invalid named capture: `(?P<n`"),
        ("\\p{Nope}", "invalid character class range: `\\p{Nope}`"),
        ("[[:nope:]]", "invalid character class range: `[:nope:]`"),
    ] {
        let found = Regexp::new(text).map(drop);
        assert_eq!(found, Err(format!("error parsing regexp: {expected}")));
        assert!(Regexp::check(text).is_err(), "{text}");
    }
}

/// Both engines say the same, and what Go says.
#[test]
fn matches_as_go_does() {
    for (text, yes, no) in [
        ("", &["", "a"][..], &[][..]),
        (
            "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
            &["a", "a-b", "0"],
            &["-a", "a-", "A", ""],
        ),
        ("^(a|bc|)$", &["a", "bc", ""], &["b", "ab"]),
        ("^\\d+$", &["12"], &["\u{663}", "1a"]),
        ("^\\w{1,63}$", &["a_1"], &["\u{e9}", ""]),
        ("^\\s$", &[" ", "\t"], &["\u{b}", "\u{a0}"]),
        ("\\bfoo\\b", &["a foo b", "foo"], &["afoo", "foob"]),
        (
            "^\\p{L}{2,3}$",
            &["\u{e9}\u{e8}", "abc"],
            &["a", "abcd", "a1"],
        ),
        ("^[^\\pL\\d]+$", &["-_"], &["-a", "1"]),
        ("(?i)^straSSe$", &["STRASSE", "strasse"], &["stras"]),
        ("(?i)^[k]$", &["K", "k"], &["l"]),
        ("^a.b$", &["a-b"], &["a\nb"]),
        ("(?s)^a.b$", &["a\nb"], &["ab"]),
        ("(?m)^b$", &["a\nb\nc"], &["a\nbb"]),
        ("^b$", &["b"], &["b\n"]),
        ("^[[a]&&b]$", &["[&&b]", "a&&b]"], &["b", "a"]),
        ("^[a\\]b-]+$", &["a]b-"], &["c"]),
        ("^[]a]$", &["]", "a"], &["b"]),
        ("^a{,2}$", &["a{,2}"], &["aa"]),
        ("^a{2,}$", &["aa", "aaaa"], &["a"]),
        ("^\\Qa.b\\E+$", &["a.bb"], &["axb"]),
        ("^\\x41\\x{42}\\103\\.$", &["ABC."], &["ABCx"]),
        ("^[[:alpha:]_]+$", &["ab_"], &["1"]),
        ("^(?:(?P<x>a)(?<y>b))+$", &["abab"], &["aba"]),
        ("^(a*)*$", &["", "aaa"], &["b"]),
        ("x*", &["", "y"], &[]),
    ] {
        let regexp = Regexp::new(text).unwrap();
        let program = Program::new(&parse(text).unwrap()).unwrap();
        for (subjects, expected) in [(yes, true), (no, false)] {
            for subject in subjects {
                let mut steps = usize::MAX;
                assert_eq!(
                    regexp.is_match(subject, &mut steps),
                    expected,
                    "{text} {subject:?}"
                );
                assert_eq!(
                    program.is_match(subject, &mut steps),
                    expected,
                    "{text} {subject:?}"
                );
            }
        }
    }
}

/// Many states and a long text are a product: it stops when its steps are used up.
#[test]
fn steps_are_counted() {
    let regexp = Regexp::new("(?:[\\p{L}]{0,20}){40}$").unwrap();
    let mut steps = 10_000;
    regexp.is_match(&"a1".repeat(100_000), &mut steps);
    assert_eq!(steps, 0);
}

#[test]
fn large_ones_are_refused() {
    let large = "(a{1000}){1}".repeat(40);
    let error = Regexp::new(&large).map(drop).unwrap_err();
    assert!(
        error.starts_with("error parsing regexp: expression too large"),
        "{error}"
    );
    assert!(Regexp::check(&"a".repeat(100_000)).is_err());
    assert!(Regexp::new("^[\\p{L}0-9]{1,255}$").is_ok());
}
