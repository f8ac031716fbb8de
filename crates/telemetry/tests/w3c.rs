//! The rules of W3C's Trace Context, level 2, and of Baggage, one table each. W3C's own suite asks the same over HTTP: see
//! `examples/w3c_endpoint.rs`.

use telemetry::context::{TraceContext, baggage, tracestate};

const ID: &str = "12345678901234567890123456789012";
const PARENT: &str = "1234567890123456";

fn read(header: &str) -> Option<String> {
    let context = TraceContext::parse(header.as_bytes())?;
    Some(String::from_utf8(context.write().to_vec()).unwrap())
}

#[test]
fn traceparent() {
    let same = |flags: &str| format!("00-{ID}-{PARENT}-{flags}");
    let kept: &[(&str, &str)] = &[
        ("00-{}-00", "00"),
        ("00-{}-01", "01"),
        // The random flag of level 2 goes on; flags that nobody knows yet do not.
        ("00-{}-02", "02"),
        ("00-{}-03", "03"),
        ("00-{}-04", "00"),
        ("00-{}-ff", "03"),
        // Later versions are read as far as this one goes.
        ("01-{}-01", "01"),
        ("cc-{}-01", "01"),
        ("cc-{}-01-what-the-future-will-be-like", "01"),
        ("fe-{}-00-", "00"),
    ];
    for (header, flags) in kept {
        let header = header.replace("{}", &format!("{ID}-{PARENT}"));
        assert_eq!(read(&header), Some(same(flags)), "{header}");
    }
    let refused = [
        String::new(),
        "00".into(),
        format!("ff-{ID}-{PARENT}-01"),
        format!("0-{ID}-{PARENT}-01"),
        format!("000-{ID}-{PARENT}-01"),
        format!(".0-{ID}-{PARENT}-01"),
        format!("0.-{ID}-{PARENT}-01"),
        format!("FE-{ID}-{PARENT}-01"),
        format!("00-{ID}-{PARENT}-01."),
        format!("00-{ID}-{PARENT}-01-what-the-future-will-be-like"),
        format!("cc-{ID}-{PARENT}-01.what-the-future-will-be-like"),
        format!("00-{}-{PARENT}-01", "0".repeat(32)),
        format!("00-{}-{PARENT}-01", &ID[1..]),
        format!("00-{ID}1-{PARENT}-01"),
        format!("00-.{}-{PARENT}-01", &ID[1..]),
        format!("00-A{}-{PARENT}-01", &ID[1..]),
        format!("00-{ID}-{}-01", "0".repeat(16)),
        format!("00-{ID}-{}-01", &PARENT[1..]),
        format!("00-{ID}-{PARENT}1-01"),
        format!("00-{ID}-.{}-01", &PARENT[1..]),
        format!("00-{ID}-{PARENT}-.0"),
        format!("00-{ID}-{PARENT}-0."),
        format!("00-{ID}-{PARENT}-0"),
        format!("00-{ID}-{PARENT}-001"),
        format!("00-{ID}-{PARENT}-0A"),
        format!(" 00-{ID}-{PARENT}-01"),
        format!("00-{ID}-{PARENT}-01 "),
        format!("00_{ID}_{PARENT}_01"),
        format!("00-{ID}-{PARENT}-é"),
    ];
    for header in refused {
        assert_eq!(read(&header), None, "{header:?}");
    }
}

#[test]
fn several_headers() {
    let parent = format!("00-{ID}-{PARENT}-01");
    let other = format!("00-{ID}-{PARENT}-00");
    let read = |parents: &[&str], states: &[&str]| {
        let parents = parents.iter().map(|it| it.as_bytes());
        let context = TraceContext::read(parents, states.iter().map(|it| it.as_bytes()));
        context.map(|it| it.state.as_deref().unwrap_or_default().to_owned())
    };
    assert_eq!(read(&[&parent], &[]), Some(String::new()));
    assert_eq!(read(&[&parent, &other], &[]), None);
    assert_eq!(read(&[&parent, &parent], &["foo=1"]), None);
    assert_eq!(read(&[], &["foo=1"]), None);
    assert_eq!(read(&["nonsense"], &["foo=1"]), None);
    assert_eq!(read(&[&parent], &["foo=1"]), Some("foo=1".into()));
    // What is wrong with one does not touch the other.
    assert_eq!(read(&[&parent], &["foo=1,"]), Some("foo=1".into()));
    assert_eq!(read(&[&parent], &["FOO=1"]), Some(String::new()));
}

#[test]
fn state() {
    let value: String = (b' '..=b'~').map(char::from).collect();
    let value = value.replace([',', '='], "");
    let key = "abcdefghijklmnopqrstuvwxyz0123456789_-*/";
    let all = format!("{key}@a-z0-9_-*/={value}");
    let (long, longer) = ("z".repeat(256), "z".repeat(257));
    let (long, longer) = (format!("{long}=1"), format!("{longer}=1"));
    let (text, texts) = ("v".repeat(256), "v".repeat(257));
    let (text, texts) = (format!("k={text}"), format!("k={texts}"));
    let members = |count: usize| {
        let all: Vec<_> = (1..=count)
            .map(|it| format!("bar{it:02}={it:02}"))
            .collect();
        all.join(",")
    };
    let (most, many) = (members(32), members(33));
    let cases: &[(&[&str], &str)] = &[
        (&[], ""),
        (&[""], ""),
        (&["foo=1", ""], "foo=1"),
        (&["", "foo=1"], "foo=1"),
        (
            &["foo=1,bar=2", "rojo=1,congo=2", "baz=3"],
            "foo=1,bar=2,rojo=1,congo=2,baz=3",
        ),
        (&["foo=1,foo=2"], "foo=1"),
        (&["foo=1", "foo=2,bar=3"], "foo=1,bar=3"),
        (&["foo=1 \t , \t bar=2, \t baz=3"], "foo=1,bar=2,baz=3"),
        (&["\t foo=1 \t"], "foo=1"),
        (&["foo=1,,bar=2"], "foo=1,bar=2"),
        (&["foo= 1"], "foo= 1"),
        (&["1foo=1"], "1foo=1"),
        (&["foo@=1,bar=2"], "foo@=1,bar=2"),
        (&["foo@@bar=1,bar=2"], "foo@@bar=1,bar=2"),
        (&["foo@bar@baz=1"], "foo@bar@baz=1"),
        (&[&all], &all),
        (&[&most], &most),
        (&[&many], ""),
        (&["foo=1", &long], &format!("foo=1,{long}")),
        (&["foo=1", &longer], ""),
        (&[&text], &text),
        (&["foo=1", &texts], ""),
        (&["foo"], ""),
        (&["foo=,bar=3"], ""),
        (&["foo =1"], ""),
        (&["FOO=1"], ""),
        (&["foo.bar=1"], ""),
        (&["@foo=1,bar=2"], ""),
        (&["foo=bar=baz"], ""),
        (&["foo=\u{e9}"], ""),
        (&["foo=a\tb"], ""),
        (&["=1"], ""),
    ];
    for (headers, expected) in cases {
        let found = tracestate(headers.iter().map(|it| it.as_bytes()));
        assert_eq!(found.unwrap_or_default(), *expected, "{headers:?}");
    }
    assert_eq!(tracestate([&b"foo=\xff"[..]].into_iter()), None);
}

#[test]
fn state_that_is_too_long_loses_whole_members() {
    let member =
        |name: &str, length: usize| format!("{name}={}", "x".repeat(length - name.len() - 1));
    let find = |members: &[String]| tracestate([members.join(",").as_bytes()].into_iter());
    let (short, long) = (member("short", 120), member("long", 200));
    // The long one goes first, wherever it is.
    let rest: Vec<_> = ["a", "b", "c"].iter().map(|it| member(it, 120)).collect();
    let all = [&[long, short.clone()], &rest[..]].concat();
    assert_eq!(find(&all), Some([&[short], &rest[..]].concat().join(",")));
    // Then those at the end.
    let many: Vec<_> = (0..10).map(|it| member(&format!("k{it}"), 100)).collect();
    assert_eq!(find(&many), Some(many[..5].join(",")));
}

#[test]
fn baggage_members() {
    let many: Vec<_> = (0..70).map(|it| format!("k{it}=v")).collect();
    let large: Vec<_> = (0..10)
        .map(|it| format!("k{it}={}", "v".repeat(1000)))
        .collect();
    let cases: &[(&str, &str)] = &[
        ("", ""),
        ("a=1", "a=1"),
        ("a=1,b=2", "a=1,b=2"),
        (" a = 1 ; p ; q = 3 , b=2", "a = 1 ; p ; q = 3,b=2"),
        ("a=", "a="),
        ("a=%E9%20x", "a=%E9%20x"),
        ("a=b=c", "a=b=c"),
        // What is no member is left out alone.
        ("a=%zz,b=2", "b=2"),
        ("a=\"x\",b=2", "b=2"),
        ("a b=1,c=2", "c=2"),
        ("novalue,c=2", "c=2"),
        ("=1,c=2", "c=2"),
        ("a=x y,c=2", "c=2"),
        ("a=1;p q,c=2", "c=2"),
        ("k\u{e9}=1,c=2", "c=2"),
        (&many.join(","), &many[..64].join(",")),
        (&large.join(","), &large[..8].join(",")),
    ];
    for (header, expected) in cases {
        let found = baggage::read([header.as_bytes()].into_iter());
        assert_eq!(found.unwrap_or_default(), *expected, "{header:?}");
    }
}
