//! Managed fields as the field manager of apimachinery writes them: the requests of its own tests, and the answers.

#[path = "smd/schema.rs"]
mod schema_table;

use json::{Value, json};
use merge::fieldpath::Path;
use merge::typed::Type;
use merge::{Context, Unconverted, Versions, apply, scale_fields, scale_to_parent, update};
use schema_table::{Root, Schemas};

const NOW: &str = "2030-01-01T00:00:00Z";

fn lines(text: &str) -> Vec<Vec<Value>> {
    let parse = |line: &str| json::parse(line.as_bytes()).expect("JSON");
    let list = |line| parse(line).as_array().expect("a list").clone();
    text.lines().map(list).collect()
}

struct OneVersion<'a>(Type<'a>, &'a str);

impl Versions for OneVersion<'_> {
    fn convert(&self, object: &Value, version: &str) -> Result<Value, Unconverted> {
        if version == self.1 {
            Ok(object.clone())
        } else {
            Err(Unconverted::MissingVersion)
        }
    }

    fn schema(&self, _: &str) -> Type<'_> {
        self.0
    }
}

#[test]
fn requests_are_answered_as_upstream_answers_them() {
    let mut lines = lines(include_str!("data/field_manager.jsonl"));
    let requests = lines.split_off(2);
    let roots = lines[1][1].clone();
    let schemas = Schemas::load(lines[..1].to_vec());
    let mut wrong = Vec::new();
    for request in &requests {
        let text = |at: usize| request[at].as_str().unwrap_or("");
        let (api_version, kind) = (text(1), text(2));
        let reference = roots.get(&format!("{api_version} {kind}")).expect("a root");
        let reference = ["kinds".into(), reference.clone()].into_iter().collect();
        let root: Root = schemas.root(&reference).expect("a type");
        let context = Context {
            schema: root.ty(),
            api_version,
            kind,
            subresource: text(3),
            custom: true,
            versions: &OneVersion(root.ty(), api_version),
            live: Some(&request[6]),
        };
        let got = if text(0) == "update" {
            let mut new = request[7].clone();
            update(&context, &mut new, text(4), NOW).map(|()| new)
        } else {
            let force = request[5].as_bool() == Some(true);
            apply(&context, &request[7], text(4), force, NOW)
        };
        let got = got.unwrap_or_else(|why| json!({ "error": (why.to_string()) }));
        if got != request[8] {
            wrong.push(format!("{}\n   got {got}", Value::from(request.clone())));
        }
    }
    let count = wrong.len();
    assert!(
        wrong.is_empty(),
        "{count} of {}:\n{}",
        requests.len(),
        wrong.join("\n")
    );
    assert!(requests.len() > 90, "{} requests", requests.len());
}

#[test]
fn scale_and_parent_agree() {
    for line in lines(include_str!("data/scale.jsonl")) {
        let path_of = |version: &str| {
            let path = line[2].get(version)?;
            Some(path.as_str().map(|path| {
                let names = path
                    .split('.')
                    .skip(1)
                    .map(|it| merge::fieldpath::Element::Field(it.to_owned().into()));
                Path(names.collect())
            }))
        };
        let (parent, version) = (Some(&line[1]), line[3].as_str().expect("a version"));
        let got = match line[0].as_str() {
            Some("to_scale") => scale_fields(parent, path_of),
            _ => scale_to_parent(parent, Some(&line[4]), version, path_of),
        };
        let expected = if line[6].as_str() == Some("") {
            Ok(line[5].clone())
        } else {
            Err(line[6].as_str().unwrap_or("").to_owned())
        };
        assert_eq!(
            got.map(Option::unwrap_or_default),
            expected,
            "{}",
            Value::from(line.clone())
        );
    }
}
