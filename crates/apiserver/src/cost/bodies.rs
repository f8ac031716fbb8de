//! Bodies and patches that no kind is asked about yet: unknown and repeated fields, long keys, depth, many operations.

use std::fmt::Write as _;

use json::{Value, json};
use meta::gvk::GroupVersionKind;
use meta::quantity::Quantity;
use meta::selector::{FieldSelector, LabelSelector};

use super::measure::{Report, TIMES};
use crate::handler::decode::{self, Expected, Validation};
use crate::request::negotiate::Format;

const SMALL: usize = 400;

fn sizes<T>(make: impl Fn(usize) -> T) -> (T, T) {
    (make(SMALL), make(SMALL * TIMES as usize))
}

/// The kind does not matter: what is measured are fields that it does not have.
fn review(inner: &str) -> String {
    format!(
        r#"{{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{{}},{inner}}}"#
    )
}

fn fields(count: usize, name: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    for index in 0..count {
        let comma = if index > 0 { "," } else { "" };
        write!(out, "{comma}\"{}\":{{\"a\":[{index}]}}", name(index)).expect("a String takes all");
    }
    out
}

fn body(shape: &str, count: usize) -> String {
    let many = || fields(count, |it| format!("f{it}"));
    review(&match shape {
        "unknown fields" => many(),
        "a long key" => {
            let key = "k".repeat(count * 60);
            format!("\"{key}\":{{{}}},\"b\":1,\"c\":2", many())
        }
        "long keys" => fields(count / 8, |it| format!("{it}{}", "k".repeat(200))),
        "repeated fields" => fields(count, |it| format!("f{}", it % 3)),
        "repeated fields below a long key" => {
            let key = "k".repeat(count * 20);
            let again = fields(count, |it| format!("f{}", it / 2));
            format!("\"{key}\":{{{again}}},\"b\":1,\"b\":2")
        }
        "a deep value" => {
            let (open, close) = ("{\"a\":[".repeat(200), "]}".repeat(200));
            format!("\"d\":{open}{{{}}}{close},\"e\":1", many())
        }
        _ => {
            let key = "k".repeat(count * 20);
            format!("\"metadata\":{{\"labels\":{{\"{key}\":\"v\"}},{}}}", many())
        }
    })
}

#[test]
fn bodies() {
    let mut report = Report::default();
    let kind = GroupVersionKind::new("authorization.k8s.io", "v1", "SelfSubjectAccessReview");
    let schema = schema::builtin().kind(&kind.group, &kind.version, &kind.kind);
    let expected = Expected {
        kind: &kind,
        schema: schema.as_ref(),
        custom: None,
    };
    for shape in [
        "unknown fields",
        "a long key",
        "long keys",
        "repeated fields",
        "repeated fields below a long key",
        "a deep value",
        "labels",
    ] {
        let inputs = sizes(|count| body(shape, count));
        let size = inputs.1.len();
        for (format, name) in [(Format::Json, "JSON"), (Format::Yaml, "YAML")] {
            for validation in [Validation::Warn, Validation::Strict] {
                let name = format!("{name} with {shape}, {validation:?}");
                report.step(&name, (&inputs.0, &inputs.1), size, |it| {
                    decode::object(it.as_bytes(), format, validation, &expected)
                });
            }
        }
    }
    report.judge(20);
}

fn operations(count: usize, operation: impl Fn(usize) -> Value) -> Value {
    (0..count).map(operation).collect()
}

#[test]
fn json_patches() {
    let mut report = Report::default();
    type Make = fn(usize) -> Value;
    let cases: [(&str, Make); 6] = [
        ("inserts", |count| {
            operations(
                count,
                |it| json!({"op": "add", "path": "/x/0", "value": (it.to_string())}),
            )
        }),
        ("removals", |count| {
            operations(count, |_| json!({"op": "remove", "path": "/x/3"}))
        }),
        ("moves within", |count| {
            operations(
                count,
                |it| json!({"op": "move", "from": (format!("/x/{it}")), "path": "/x/0"}),
            )
        }),
        ("moves of all", |count| {
            operations(count, |it| {
                let (from, path) = if it % 2 == 0 {
                    ("/x", "/y")
                } else {
                    ("/y", "/x")
                };
                json!({"op": "move", "from": from, "path": path})
            })
        }),
        ("moves and inserts", |count| {
            operations(count, |it| match it % 4 {
                0 => json!({"op": "move", "from": "/x", "path": "/y"}),
                1 => json!({"op": "add", "path": "/y/0", "value": 1}),
                2 => json!({"op": "move", "from": "/y", "path": "/x"}),
                _ => json!({"op": "add", "path": "/x/0", "value": 1}),
            })
        }),
        ("tests", |count| {
            operations(
                count,
                |it| json!({"op": "test", "path": (format!("/x/{it}")), "value": 0}),
            )
        }),
    ];
    for (name, patch) in cases {
        let inputs = sizes(|count| {
            let list: Value = std::iter::repeat_n(Value::from(0), count * 20).collect();
            (json!({"x": list}), patch(count))
        });
        let size = json::to_vec(&inputs.1.0).len() + json::to_vec(&inputs.1.1).len();
        report.step(name, (&inputs.0, &inputs.1), size, |(doc, patch)| {
            merge::json_patch(doc.clone(), patch.clone())
        });
    }
    report.judge(6);
}

#[test]
fn texts() {
    let mut report = Report::default();
    let mut step = |name: &str, make: &dyn Fn(usize) -> String, run: &dyn Fn(&String)| {
        let inputs = sizes(make);
        report.step(name, (&inputs.0, &inputs.1), inputs.1.len(), run);
    };
    let list = |count: usize, each: &dyn Fn(usize) -> String| {
        let all: Vec<String> = (0..count).map(each).collect();
        all.join(",")
    };
    let label = |it: &String| {
        if let Ok(selector) = LabelSelector::parse(it) {
            for index in 0..200 {
                selector.matches_with(|_| Some(["v1", "v9"][index % 2]));
            }
            drop(selector.to_string());
        }
    };
    let values = |count| format!("a in ({})", list(count, &|it| format!("v{it}")));
    step("values of a label", &values, &label);
    let wrong = |count| format!("a in ({})", list(count, &|it| format!("-v{it}-")));
    step("wrong values", &wrong, &label);
    step(
        "labels",
        &|count| list(count, &|it| format!("k{it}=v")),
        &label,
    );
    let fields = |count| list(count, &|it| format!("metadata.name!=a{it}"));
    step("fields", &fields, &|it| drop(FieldSelector::parse(it)));
    let digits = |count: usize| "7".repeat(count * 50);
    step("digits", &digits, &|it| drop(Quantity::parse(it)));
    let fraction = |count: usize| format!("0.{}1", "0".repeat(count * 50));
    step("a fraction", &fraction, &|it| drop(Quantity::parse(it)));
    let name = |count: usize| "a-.".repeat(count * 20);
    step("a name", &name, &|it| {
        drop(meta::names::qualified_name(it));
        drop(meta::names::dns1123_subdomain(it));
        drop(meta::names::dns1123_label(it));
        drop(meta::names::config_map_key(it));
        let _ = meta::names::parse_ip_sloppy(it);
        drop(meta::time::Time::parse(it));
    });
    report.judge(7);
}
