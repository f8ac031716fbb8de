//! Upstream's tables of good and bad names.

use super::*;
use crate::field::Path;

type Check = fn(&str) -> Vec<String>;
type FieldCheck = fn(&Path, &str) -> Vec<crate::field::Error>;

fn a(count: usize) -> String {
    "a".repeat(count)
}

fn judge(check: Check, good: &[&str], bad: &[&str]) {
    for name in good {
        assert_eq!(check(name), Vec::<String>::new(), "{name:?}");
    }
    for name in bad {
        assert!(!check(name).is_empty(), "{name:?}");
    }
}

const LABELS: [&str; 6] = ["a", "ab", "abc", "a1", "a-1", "a--1--2--b"];
const NUMBERED: [&str; 6] = ["0", "01", "012", "1a", "1-a", "1--a--b--2"];
const NEVER: [&str; 26] = [
    "", "A", "ABC", "aBc", "A1", "A-1", "1-A", "-", "a-", "-a", "1-", "-1", "_", "a_", "_a", "a_b",
    "1_2", ".", "a.", ".a", "1.", ".1", " ", "a ", " a", "1 2",
];

#[test]
fn dns_names() {
    judge(
        dns1123_label,
        &[&LABELS[..], &NUMBERED, &[&a(63)]].concat(),
        &[&NEVER[..], &["a.b", &a(64)]].concat(),
    );
    judge(
        dns1035_label,
        &[&LABELS[..], &[&a(63)]].concat(),
        &[&NEVER[..], &NUMBERED, &["a.b", &a(64)]].concat(),
    );
    let dotted = [
        "a.a",
        "a-1.a",
        "a--1--2--b.1",
        "0.1",
        "1.2.3.4.5",
        "aa.bb.cc.dd.ee",
        &a(253),
    ];
    let undotted = [
        "a..b",
        "1..2",
        "A.a",
        "ab.A",
        "a1.A",
        "0.A",
        "a.B.c.d.e",
        "a@b",
        "a,b",
        "a;b",
        "a:b",
        "a%b",
        "a?b",
        "a$b",
        &a(254),
    ];
    judge(
        dns1123_subdomain,
        &[&LABELS[..], &NUMBERED, &dotted].concat(),
        &[&NEVER[..], &undotted].concat(),
    );
    judge(
        dns1123_subdomain_caseless,
        &["A.B.C", "aB.a", &a(253)],
        &["", "-", "a..b", "a_b", &a(254)],
    );
    judge(
        wildcard_dns1123_subdomain,
        &["*.example.com", "*.bar.com", "*.foo.bar.com"],
        &["*.*.bar.com", "*.foo.*.com", "*bar.com", "f*.bar.com", "*"],
    );
    judge(
        dns1123_subdomain_with_underscore,
        &[
            "example.com",
            "_example.com",
            "sub._example.com",
            "sub-domain.example.com",
            "sub_domain.example.com",
        ],
        &[
            "",
            "Example.com",
            "-example.com",
            "example.com-",
            "example@.com",
            "example..com",
            "_",
        ],
    );
}

#[test]
fn labels() {
    let longest = format!("{}/{}", a(253), a(63));
    judge(
        qualified_name,
        &[
            "simple",
            "now-with-dashes",
            "1-starts-with-num",
            "1234",
            "simple/simple",
            "now.with.dots/simple",
            "1-num.2-num/3-num",
            "1.2.3.4/5678",
            "Uppercase_Is_OK_123",
            "example.com/Uppercase_Is_OK_123",
            "requests.storage-foo",
            &a(63),
            &longest,
        ],
        &[
            "nospecialchars%^=@",
            "cantendwithadash-",
            "-cantstartwithadash-",
            "only/one/slash",
            "Example.com/abc",
            "example_com/abc",
            "example.com/",
            "/simple",
            "",
            &a(64),
            &format!("{}/abc", a(254)),
        ],
    );
    judge(
        label_value,
        &[
            "simple",
            "now-with-dashes",
            "1-starts-with-num",
            "end-with-num-1",
            "1234",
            "",
            &a(63),
        ],
        &[
            "nospecialchars%^=@",
            "Tama-nui-te-rā.is.Māori.sun",
            "\\backslashes\\are\\bad",
            "-starts-with-dash",
            "ends-with-dash-",
            ".starts.with.dot",
            "ends.with.dot.",
            &a(64),
        ],
    );
    let anything = [
        "",
        "foo",
        "foo.bar.baz",
        "sha256:ABC@ABC",
        "Iñtërnâtiônàlizætiøn",
        ".test",
        "..test",
    ];
    judge(
        path_segment_name,
        &anything,
        &[".", "..", "foo/bar", "foo%bar"],
    );
    judge(path_segment_prefix, &[".", ".."], &["foo/bar", "foo%bar"]);
}

#[test]
fn words() {
    judge(
        port_name,
        &[
            "telnet",
            "re-mail-ck",
            "pop3",
            "a",
            "a-1",
            "1-a",
            "a-1-b-2-c",
            "1-a-2-b-3",
        ],
        &[
            "longerthan15characters",
            "",
            &a(16),
            "12345",
            "1-2-3-4",
            "-begin",
            "end-",
            "two--hyphens",
            "whois++",
        ],
    );
    judge(
        http_header_name,
        &[
            "Accept-Encoding",
            "Host",
            "a",
            "-a",
            "a--1--2--b",
            "--123-ABC",
        ],
        &["Host:", "X-@Home", "", "_", "a.b", " ", "#a#", "{"],
    );
    judge(
        percent,
        &["0%", "00000%", "1%", "01%", "99%", "101%"],
        &[
            "", "0", "100", "0.0%", "hundred", " 1%", "1% ", "-1%", "+1%", "%",
        ],
    );
    judge(
        config_map_key,
        &[
            "a",
            "good-good",
            "still.good",
            ".so.is.this",
            "THIS_IS_GOOD",
            "so_is_this_17",
        ],
        &[".", "..", "..bad", "b*d", "bad!&bad", ""],
    );
    judge(
        relaxed_env_var_name,
        &["-", ":", "a..", "a a", "0 a", "'a", "@a", "~"],
        &["", "=", "a=b", "\u{1}abc", "Ç ç"],
    );
    judge(
        env_var_name,
        &["a", "_A.b-1", ".a"],
        &["", "1a", "a=b", ".", "..", "..a", "a b"],
    );
    judge(
        c_identifier,
        &["a", "_a", "a__1", "A1"],
        &["", "1a", "a-", "a.b", "#a#", " a"],
    );
    judge(
        condition_reason,
        &["a", "A_", "R,S", "R:S"],
        &["", "_a", "1a", "a,", "a:", "a-b"],
    );
    judge(
        decimal_integer,
        &["0", "1", "-5", "100", "12345678901234567890"],
        &[
            "", "-", "-0", "00", "01", "-01", "+5", " 1", "1.0", "1e5", "0x1", "１",
        ],
    );
    assert!(
        [1, 1000, 65535]
            .into_iter()
            .all(|it| port_number(it).is_empty())
    );
    assert_eq!(port_number(0), ["must be between 1 and 65535, inclusive"]);
    assert_eq!(user_id(-1), ["must be between 0 and 2147483647, inclusive"]);
}

#[test]
fn qualified() {
    let path = Path::new("f");
    let long = format!("{0}.{0}.{0}", a(63));
    let table: [(FieldCheck, Vec<&str>, Vec<&str>); 4] = [
        (
            fully_qualified_domain_name,
            vec!["a.com", "dev.k8s.io.", "10.0.0.1", &long],
            vec![
                ".",
                "...",
                "com",
                ".com",
                "Dev.k8s.io",
                "*.example.com",
                "http://foo.example.com",
            ],
        ),
        (
            fully_qualified_name,
            vec!["dev.k8s.io", "10.0.0.1"],
            vec![
                "",
                "...",
                "dev.k8s.io.",
                "k8s.io",
                "Dev.k8s.io",
                "foo@bar.example.com",
            ],
        ),
        (
            domain_prefixed_path,
            vec!["a/b", "a.b.c.d/foo", "k8s.io/FOO/BAR"],
            vec![
                "",
                ".",
                "/b",
                "a.com/",
                "com",
                "a.b/foo?a=b",
                "a.b/foo#a",
                "under_score.io/foo",
                "a.b/{}",
            ],
        ),
        (
            domain_prefixed_key,
            vec!["example.com/foo", "example/com"],
            vec!["", "example", "example/foo/bar", "/example/foo"],
        ),
    ];
    for (check, good, bad) in table {
        assert!(
            good.iter().all(|it| check(&path, it).is_empty()),
            "{good:?}"
        );
        assert!(bad.iter().all(|it| !check(&path, it).is_empty()), "{bad:?}");
    }
    let label = fully_qualified_domain_name(&path, &format!("{}.k8s.io", a(64)));
    let text = label.first().map(ToString::to_string).unwrap_or_default();
    assert!(
        text.ends_with("must be no more than 63 characters"),
        "{text}"
    );
}

#[test]
fn prefixes_may_end_with_a_dash() {
    let table = [
        ("b-", true),
        ("foo-", true),
        ("-", false),
        ("-foo-", false),
        ("", false),
        ("é-", false),
        ("a--", true),
    ];
    for (name, fine) in table {
        assert_eq!(name_is_dns_subdomain(name, true).is_empty(), fine, "{name}");
    }
    assert!(!name_is_dns_label("foo-", false).is_empty());
    assert!(
        !name_is_dns1035_label("1-", true).is_empty()
            || !name_is_dns1035_label("1-", false).is_empty()
    );
    assert!(name_is_path_segment(".", true).is_empty());
    assert!(!name_is_path_segment(".", false).is_empty());
}

#[test]
fn texts() {
    let table: [(Check, &str, &[&str]); 7] = [
        (dns1123_label, "a.b", &["must not contain dots"]),
        (
            dns1123_label,
            "A",
            &[
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
            ],
        ),
        (
            dns1123_subdomain,
            "A",
            &[
                "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            ],
        ),
        (
            qualified_name,
            "example/foo/bar",
            &[
                "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
            ],
        ),
        (
            qualified_name,
            "/",
            &[
                "prefix part must be non-empty",
                "name part must be non-empty",
                "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            ],
        ),
        (config_map_key, "..", &["must not be '..'"]),
        (
            port_name,
            "--",
            &[
                "must contain at least one letter (a-z)",
                "must not contain consecutive hyphens",
                "must not begin or end with a hyphen",
            ],
        ),
    ];
    for (check, name, want) in table {
        assert_eq!(check(name), want);
    }
    assert_eq!(label_value(&a(64)), ["must be no more than 63 bytes"]);
    assert_eq!(
        dns1123_subdomain(&a(254)),
        ["must be no more than 253 characters"]
    );
    assert_eq!(
        qualified_name(&format!("{}/a", a(254))),
        ["prefix part must be no more than 253 bytes"]
    );
}
