//! Bodies that are meant for parsers: deep, self-referring, half, or of bytes that are no text.

use std::io;

use encoding::protobuf::Message;

use super::crowd;
use crate::field::{BLOBS, Field, MAPS};
use crate::{Attack, USUAL, Who};

pub(super) const ALL: &[Attack] = &[
    Attack {
        name: "deep-nesting",
        about: "a million brackets in JSON and YAML, ten thousand messages within each other in protobuf",
        who: Who::Editor,
        bounds: USUAL,
        run: deep_nesting,
    },
    Attack {
        name: "deep-but-allowed",
        about: "objects as deep as parsers let through, in JSON and YAML, created, patched, applied and read",
        who: Who::Editor,
        bounds: USUAL,
        run: deep_but_allowed,
    },
    Attack {
        name: "billion-laughs",
        about: "YAML whose aliases multiply",
        who: Who::Editor,
        bounds: USUAL,
        run: billion_laughs,
    },
    Attack {
        name: "numbers-and-bytes",
        about: "numbers with a million digits, exponents without end, bytes that are no UTF-8, NUL",
        who: Who::Editor,
        bounds: USUAL,
        run: numbers_and_bytes,
    },
    Attack {
        name: "protobuf-lengths",
        about: "protobuf that says it is longer than it is, of wire types that there are not",
        who: Who::Editor,
        bounds: USUAL,
        run: protobuf_lengths,
    },
];

const JSON: &str = "application/json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
/// `JSONSchemaProps.not`, a message within a message of the same kind.
const NOT: u32 = 28;

fn deep_nesting(field: &mut Field) -> io::Result<()> {
    let alice = field.alice();
    let depth = field.of(1_000_000, 100_000);
    let maps = |inner: &str| format!(r#"{{"metadata":{{"name":"a"}},"data":{inner}}}"#);
    let cases = [
        ("application/json", maps(&"[".repeat(depth))),
        ("application/json", maps(&(r#"{"a":"#.repeat(depth / 5)))),
        (
            "application/json",
            maps(&("[".repeat(depth) + &"]".repeat(depth))),
        ),
        ("application/yaml", format!("data: {}", "[".repeat(depth))),
        (
            "application/yaml",
            format!("data: {}", "{a: ".repeat(depth / 4)),
        ),
        ("application/yaml", "- ".repeat(depth)),
        ("application/yaml", "? ".repeat(depth)),
        (
            "application/yaml",
            (0..field.of(2000, 300))
                .map(|it| format!("{}a:\n", " ".repeat(it)))
                .collect(),
        ),
    ];
    for (kind, body) in cases {
        let answer = alice.send("POST", MAPS, kind, body.as_bytes());
        field.expect(&beginning(kind, body.as_bytes()), answer, &[400, 413, 422]);
    }
    let mut message = Vec::new();
    for _ in 0..field.of(10_000, 3000) {
        message = bytes_field(NOT, &message);
    }
    // CustomResourceDefinition: spec, its first version, its schema, and in there the first of many.
    let schema = bytes_field(1, &message);
    let version = [bytes_field(1, b"v1"), bytes_field(4, &schema)].concat();
    let object = bytes_field(2, &bytes_field(7, &version));
    let body = unknown(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        &object,
    );
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let answer = field.admin().send("POST", definitions, PROTOBUF, &body);
    field.expect("protobuf", answer, &[400, 422]);
    Ok(())
}

/// Whatever recurses on what was read meets its end here: upstream's parsers take up to 10,000 levels.
fn deep_but_allowed(field: &mut Field) -> io::Result<()> {
    let alice = field.alice();
    let codes = [200, 201, 400, 404, 409, 413, 422, 500];
    let head = r#""apiVersion":"attack.example.com/v1","kind":"Blob","metadata":{"name":"deep"}"#;
    // A debug build takes far more of its stack for each level.
    let most = field.of(10_000, 1500);
    for depth in [100, 1000, 4000, 9000, 9990]
        .into_iter()
        .filter(|it| *it < most)
    {
        for (open, close) in [(r#"{"a":"#, "}"), ("[", "]")] {
            let inner = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let body = format!(r#"{{{head},"spec":{inner}}}"#);
            let one = format!("{BLOBS}/deep");
            for (method, path, kind) in [
                ("POST", BLOBS, JSON),
                ("POST", BLOBS, "application/yaml"),
                ("POST", MAPS, JSON),
                ("PUT", &*one, JSON),
                ("PATCH", &one, "application/merge-patch+json"),
                (
                    "PATCH",
                    &format!("{one}?fieldManager=m&force=true"),
                    "application/apply-patch+yaml",
                ),
                ("GET", &one, JSON),
                ("GET", &format!("{one}?pretty=true"), JSON),
                ("GET", BLOBS, JSON),
                ("DELETE", &one, JSON),
            ] {
                let body = if method == "GET" || method == "DELETE" {
                    ""
                } else {
                    &*body
                };
                let answer = alice.send(method, path, kind, body.as_bytes());
                field.expect(&format!("{method} {kind} {open} {depth}"), answer, &codes);
            }
        }
        let indented: String = (0..depth.min(field.of(2000, 300)))
            .map(|it| format!("{}a:\n", " ".repeat(it)))
            .collect();
        for body in [
            indented,
            "- ".repeat(depth),
            format!("a: {}", "[".repeat(depth)),
        ] {
            let answer = alice.send("POST", MAPS, "application/yaml", body.as_bytes());
            field.expect(&format!("YAML {} {depth}", &body[..2]), answer, &codes);
        }
    }
    Ok(())
}

fn billion_laughs(field: &mut Field) -> io::Result<()> {
    let alice = field.alice();
    let names: Vec<char> = ('a'..='z').collect();
    let line = |pair: &[char]| {
        let [last, name] = pair else {
            return String::new();
        };
        format!(
            "{name}: &{name} [{}]\n",
            vec![format!("*{last}"); 10].join(",")
        )
    };
    let lists: String = names.windows(2).map(line).collect();
    let merge = |pair: &[char]| {
        let [last, name] = pair else {
            return String::new();
        };
        format!(
            "{name}: &{name}\n  <<: [{}]\n  {name}1: 1\n",
            vec![format!("*{last}"); 50].join(",")
        )
    };
    let merges: String = names.windows(2).map(merge).collect();
    let large = format!("a: &a {}\n", "x".repeat(field.of(100_000, 10_000)));
    let copies = (0..field.of(20_000, 2000)).map(|it| format!("k{it}: *a\n"));
    let bodies = [
        format!("a: &a [x,x,x,x,x,x,x,x,x,x]\n{lists}"),
        format!("a: &a\n  x: 1\n{merges}"),
        large + &copies.collect::<String>(),
        "a: &a [*a]\n".to_owned(),
    ];
    let answers = crowd(bodies.len(), |it| {
        alice.send("POST", MAPS, "application/yaml", bodies[it].as_bytes())
    });
    for (number, answer) in answers.into_iter().enumerate() {
        field.expect(&format!("bomb {number}"), answer, &[400, 413, 422]);
    }
    Ok(())
}

fn numbers_and_bytes(field: &mut Field) -> io::Result<()> {
    let alice = field.alice();
    let digits = "9".repeat(field.of(2_000_000, 200_000));
    let generation = |number: &str| {
        format!(r#"{{"metadata":{{"name":"n","generation":{number}}}}}"#).into_bytes()
    };
    let named = |name: &[u8]| [&br#"{"metadata":{"name":""#[..], name, br#""}}"#].concat();
    let path = format!("{MAPS}?dryRun=All");
    for body in [
        generation(&digits),
        generation(&format!("1e{digits}")),
        generation("1e999999999"),
        generation(&format!("0.{digits}e-999999999")),
        generation("-0x10"),
        generation("NaN"),
        named(b"a\xff\xfe"),
        named(b"a\xed\xa0\x80"),
        named(b"a\0b"),
        named(b"a\\u0000b"),
        named(b"\\ud800"),
        named(&[b'\\'; 1001]),
        b"\xef\xbb\xbf{}".to_vec(),
        b"\0".repeat(1000),
        b"{\"metadata\":{\"name\":\"a\"}}{}".to_vec(),
        b"\"".repeat(100_001),
    ] {
        for kind in [JSON, "application/yaml"] {
            let answer = alice.send("POST", &path, kind, &body);
            // YAML has numbers and documents that JSON has not.
            let fine: &[u16] = if kind == JSON {
                &[400, 422]
            } else {
                &[201, 400, 422]
            };
            field.expect(&beginning(kind, &body), answer, fine);
        }
    }
    Ok(())
}

/// So that one knows which it was.
fn beginning(kind: &str, body: &[u8]) -> String {
    let short = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
    format!("{kind} {}", short.escape_debug())
}

fn protobuf_lengths(field: &mut Field) -> io::Result<()> {
    let alice = field.alice();
    let name = bytes_field(1, &bytes_field(1, b"p"));
    let whole = unknown("v1", "ConfigMap", &name);
    let path = format!("{MAPS}?dryRun=All");
    field.expect(
        "a right one",
        alice.send("POST", &path, PROTOBUF, &whole),
        &[201],
    );
    let envelope = |object: &[u8]| unknown("v1", "ConfigMap", object);
    let long = [&[0x0a][..], &[0xff; 9], &[1]].concat();
    let mut bodies = vec![
        b"k8s\0".to_vec(),
        [b"k8s\0".as_slice(), &[0xff; 1000]].concat(),
        envelope(&long),
        envelope(&[0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
        envelope(&[0x0b; 5000]),
        envelope(&[0x0f; 10]),
        envelope(&[0x08; 100_001]),
        envelope(&bytes_field(1, &[0xff; 100])),
        envelope(&[0x80; 1 << 20]),
    ];
    bodies.extend((4..whole.len()).map(|it| whole[..it].to_vec()));
    for body in bodies {
        let answer = alice.send("POST", &path, PROTOBUF, &body);
        field.expect("protobuf", answer, &[201, 400, 422]);
    }
    Ok(())
}

/// What Kubernetes puts around protobuf: four bytes, and a message with type and content.
fn unknown(api_version: &str, kind: &str, object: &[u8]) -> Vec<u8> {
    let kind = [
        bytes_field(1, api_version.as_bytes()),
        bytes_field(2, kind.as_bytes()),
    ]
    .concat();
    [
        b"k8s\0".to_vec(),
        bytes_field(1, &kind),
        bytes_field(2, object),
    ]
    .concat()
}

fn bytes_field(number: u32, content: &[u8]) -> Vec<u8> {
    let mut message = Message::default();
    message.bytes(number, content);
    message.0
}
