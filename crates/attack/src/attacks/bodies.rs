//! Bodies whose cost is meant to be more than their size: long keys, many errors, many fields.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use json::json;

use super::crowd;
use crate::field::{BLOBS, Field, MAPS, NAMESPACE};
use crate::{Attack, Bounds, USUAL, Who};

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/// Bodies of a megabyte or three, twenty times that in memory at most.
const LARGE: Bounds = Bounds {
    memory_mib: 192,
    ..USUAL
};

pub(super) const ALL: &[Attack] = &[
    Attack {
        name: "review-long-key",
        about: "SelfSubjectAccessReview with unknown fields below a key of 700,000 characters",
        who: Who::NoRole,
        bounds: LARGE,
        run: review_long_key,
    },
    Attack {
        name: "custom-long-key",
        about: "custom object with a key of 100 KB and 15,000 wrong entries: created, applied, patched",
        who: Who::Editor,
        bounds: LARGE,
        run: custom_long_key,
    },
    Attack {
        name: "many-duplicates",
        about: "the same key 100,000 times, and 100,000 unknown fields, with warnings asked for",
        who: Who::Editor,
        bounds: LARGE,
        run: many_duplicates,
    },
    Attack {
        name: "apply-many-fields",
        about: "server-side apply of an object with 40,000 fields, again and again by several managers",
        who: Who::Editor,
        bounds: Bounds {
            memory_mib: 384,
            cpu: Duration::from_secs(20),
            ..USUAL
        },
        run: apply_many_fields,
    },
    Attack {
        name: "patch-bombs",
        about: "JSON patches that copy, merge patches with the size of the limit, 10,000 tests",
        who: Who::Editor,
        bounds: LARGE,
        run: patch_bombs,
    },
    Attack {
        name: "zip-bomb",
        about: "bodies that are packed: a thousandth of what they unpack to",
        who: Who::Editor,
        bounds: USUAL,
        run: zip_bomb,
    },
];

/// `"f0":1,"f1":1`...
fn fields(count: usize, value: &str) -> String {
    let mut text = String::new();
    for number in 0..count {
        let comma = if number > 0 { "," } else { "" };
        let _ = write!(text, "{comma}\"f{number}\":{value}");
    }
    text
}

fn review_long_key(field: &mut Field) -> io::Result<()> {
    let key = "k".repeat(field.of(700_000, 100_000));
    let many = fields(field.of(60_000, 10_000), "1");
    // More than one unknown field, so that they are put in order.
    let body = format!(r#"{{"spec":{{"{key}":{{{many}}},"one":1,"two":2}}}}"#);
    let mallory = field.mallory();
    for path in [
        REVIEWS.to_owned(),
        format!("{REVIEWS}?fieldValidation=Strict"),
    ] {
        let answer = mallory.send("POST", &path, "application/json", body.as_bytes());
        field.expect("a review", answer, &[201, 400, 413, 422]);
    }
    Ok(())
}

fn custom_long_key(field: &mut Field) -> io::Result<()> {
    let number = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let definition = json!({
        "metadata": {"name": "numbers.attack.example.com"},
        "spec": {
            "group": "attack.example.com", "scope": "Namespaced", "names": {"plural": "numbers", "kind": "Number"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "additionalProperties": number}},
            }}}],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    field.admin().make(definitions, &definition)?;
    let path = format!("/apis/attack.example.com/v1/namespaces/{NAMESPACE}/numbers");
    let key = "k".repeat(field.of(100_000, 30_000));
    let wrong = fields(field.of(15_000, 3000), r#""no""#);
    let head = r#""apiVersion":"attack.example.com/v1","kind":"Number","metadata":{"name":"n"}"#;
    let body = format!(r#"{{{head},"spec":{{"{key}":{{{wrong}}}}}}}"#);
    let right = format!(r#"{{{head},"spec":{{}}}}"#);
    let alice = field.alice();
    let made = alice.send("POST", &path, "application/json", right.as_bytes());
    field.expect("a right one", made, &[201]);
    let one = format!("{path}/n");
    for (method, path, kind) in [
        ("POST", path.clone(), "application/json"),
        ("PUT", one.clone(), "application/json"),
        ("PATCH", one.clone(), "application/merge-patch+json"),
        (
            "PATCH",
            format!("{one}?fieldManager=m"),
            "application/apply-patch+yaml",
        ),
    ] {
        let answer = alice.send(method, &path, kind, body.as_bytes());
        let told = field.expect(kind, answer, &[400, 409, 413, 422, 500]);
        let length = told.map_or(0, |it| it.body.len() + it.head.len());
        if length > 10 * body.len() {
            field.fault(format!(
                "{kind}: an answer of {length} bytes to {}",
                body.len()
            ));
        }
    }
    Ok(())
}

fn many_duplicates(field: &mut Field) -> io::Result<()> {
    let count = field.of(100_000, 10_000);
    let same = vec![r#""a":"1""#; count].join(",");
    let alice = field.alice();
    for validation in ["Warn", "Strict", "Ignore"] {
        let path = format!("{MAPS}?dryRun=All&fieldValidation={validation}");
        for body in [
            format!(r#"{{"metadata":{{"name":"d"}},"data":{{{same}}}}}"#),
            format!(
                r#"{{"metadata":{{"name":"d"}},"more":{{{}}}}}"#,
                fields(count, "1")
            ),
            format!(r#"{{"metadata":{{"name":"d"}},{}}}"#, fields(count, "1")),
        ] {
            let answer = alice.send("POST", &path, "application/json", body.as_bytes());
            let told = field.expect(validation, answer, &[201, 400]);
            let head = told.map_or(0, |it| it.head.len());
            if head > 64 << 10 {
                field.fault(format!("{validation}: {head} bytes of warnings"));
            }
        }
    }
    Ok(())
}

fn apply_many_fields(field: &mut Field) -> io::Result<()> {
    let count = field.of(40_000, 4000);
    let alice = field.alice();
    let answers = crowd(4, |manager| {
        let number = manager.to_string();
        let body = format!(
            r#"{{"apiVersion":"attack.example.com/v1","kind":"Blob","metadata":{{"name":"b"}},"spec":{{{}}}}}"#,
            fields(count, &number)
        );
        let path = format!("{BLOBS}/b?fieldManager=m{manager}&force=true");
        let kind = "application/apply-patch+yaml";
        let all = (0..2).map(|_| alice.send("PATCH", &path, kind, body.as_bytes()));
        all.collect::<Vec<_>>()
    });
    for answer in answers.into_iter().flatten() {
        field.expect("an apply", answer, &[200, 201, 409, 413, 422, 500]);
    }
    Ok(())
}

fn patch_bombs(field: &mut Field) -> io::Result<()> {
    let alice = field.alice();
    let large = json!({"metadata": {"name": "bomb"}, "data": {"x": ("x".repeat(100_000))}});
    alice.make(MAPS, &large)?;
    let path = format!("{MAPS}/bomb");
    let (many, depth) = (field.of(10_000, 1000), field.of(100_000, 20_000));
    let copies =
        (0..1000).map(|it| format!(r#"{{"op":"copy","from":"/data","path":"/data/{it}"}}"#));
    let copies = format!("[{}]", copies.collect::<Vec<_>>().join(","));
    let tests = vec![r#"{"op":"test","path":"/data","value":{"x":"y"}}"#; many].join(",");
    let adds =
        vec![r#"{"op":"add","path":"/metadata/annotations","value":{"a":"b"}}"#; many].join(",");
    let deep = format!(
        r#"{{"data":{}1{}}}"#,
        r#"{"a":"#.repeat(depth),
        "}".repeat(depth)
    );
    let wide = format!(
        r#"{{"data":{{{}}}}}"#,
        fields(field.of(150_000, 5000), r#""v""#)
    );
    for (kind, body, codes) in [
        ("application/json-patch+json", copies, &[413, 422][..]),
        ("application/json-patch+json", format!("[{tests}]"), &[422]),
        (
            "application/json-patch+json",
            format!("[{adds}]"),
            &[200, 422],
        ),
        ("application/merge-patch+json", deep.clone(), &[400, 422]),
        ("application/strategic-merge-patch+json", deep, &[400, 422]),
        (
            "application/merge-patch+json",
            wide.clone(),
            &[200, 400, 413, 422, 500],
        ),
        (
            "application/strategic-merge-patch+json",
            wide,
            &[200, 400, 413, 422, 500],
        ),
    ] {
        let answer = alice.send("PATCH", &path, kind, body.as_bytes());
        field.expect(kind, answer, codes);
    }
    Ok(())
}

fn zip_bomb(field: &mut Field) -> io::Result<()> {
    let alice = field.alice();
    let packed = encoding::gzip::pack(&vec![b' '; 64 << 20]);
    for encoding in ["gzip", "deflate", "br", "zstd", "gzip, gzip"] {
        let headers = format!("Content-Type: application/json\r\nContent-Encoding: {encoding}\r\n");
        let mut connection = crate::client::Connection::new(alice.clone());
        let answer = connection.send_with("POST", MAPS, &headers, &packed);
        field.expect(encoding, answer, &[400, 415]);
    }
    Ok(())
}
