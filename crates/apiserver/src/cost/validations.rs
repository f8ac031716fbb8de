//! Definitions with rules in CEL, and objects of their kinds.

use json::{Value, json};
use meta::field::Path;
use schema::structural::{self, Budget, Outcome, SchemaOptions, Validator};

use super::measure::{Report, TIMES};

const SMALL: usize = 100;

fn many(count: usize, item: impl Fn(usize) -> Value) -> Value {
    (0..count).map(item).collect()
}

fn map(count: usize, value: impl Fn(usize) -> Value) -> Value {
    let pairs = (0..count).map(|it| (format!("f{it}"), value(it)));
    Value::Object(pairs.collect())
}

fn rule(rule: impl Into<Value>) -> Value {
    json!({"rule": (rule.into())})
}

fn with_rules(mut schema: Value, rules: Value) -> Value {
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("x-kubernetes-validations", rules);
    }
    schema
}

fn definition(shape: &str, count: usize) -> Value {
    let text = || json!({"type": "string", "maxLength": 9});
    let fields = |count| json!({"type": "object", "properties": (map(count, |_| text()))});
    let one = |schema: Value, text: String| with_rules(schema, json!([(rule(text))]));
    match shape {
        "a rule for each field" => {
            let field = |_| one(text(), "self != 'a'".to_owned());
            json!({"type": "object", "properties": (map(count, field))})
        }
        "rules around many fields" => (0..60).fold(fields(count), |below, _| {
            let schema = json!({"type": "object", "properties": {"a": below}});
            one(schema, "has(self.a)".to_owned())
        }),
        "many rules in one place" => {
            let rules = many(count, |it| rule(format!("self.f{it} != 'a'")));
            with_rules(fields(count), rules)
        }
        "rules that do not compile" => {
            let rules = many(count, |it| rule(format!("self.f{it}.x + 1 == g{it}('')")));
            with_rules(fields(count), rules)
        }
        "a long rule" => {
            let all: Vec<String> = (0..count).map(|it| format!("self.f{it} != 'a'")).collect();
            one(fields(count), all.join(" && "))
        }
        "a deep rule" => {
            let text = format!("{}self.f0 != ''{}", "(".repeat(200), ")".repeat(200));
            let rules = many(count, |_| rule(&*text));
            with_rules(fields(1), rules)
        }
        _ => {
            let field = |it: usize| {
                let schema = json!({"type": "string", "default": (format!("v{it}"))});
                one(schema, "self.startsWith('w')".to_owned())
            };
            json!({"type": "object", "properties": (map(count, field))})
        }
    }
}

#[test]
fn definitions_with_rules() {
    let mut report = Report::default();
    for shape in [
        "a rule for each field",
        "rules around many fields",
        "many rules in one place",
        "rules that do not compile",
        "a long rule",
        "a deep rule",
        "defaults that break rules",
    ] {
        let make = |count| definition(shape, count);
        let inputs = (make(SMALL), make(SMALL * TIMES as usize));
        let size = json::to_vec(&inputs.1).len();
        let mut step = |name: &str, run: &dyn Fn(&Value)| {
            let name = format!("a definition with {shape}: {name}");
            report.step(&name, (&inputs.0, &inputs.1), size, run);
        };
        let path = Path::new("schema");
        let options = SchemaOptions::default();
        step("check", &|it| {
            drop(structural::check_schema(&path, it, &options));
        });
        step("compile", &|it| drop(Validator::new(it, true)));
    }
    report.judge(14);
}

fn object_of(list: Value) -> Value {
    json!({"type": "object", "properties": {"l": list}})
}

fn object(shape: &str, count: usize) -> (Value, Value) {
    let item = |rules: Value| {
        with_rules(
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}),
            rules,
        )
    };
    let list = |item: Value| json!({"type": "array", "items": item});
    let items = || json!({"l": (many(count, |it| json!({"a": (format!("a{it}")), "b": "b"})))});
    match shape {
        "items that break rules" => {
            let rules = json!([(rule("self.a == 'x'")), (rule("self.b == 'x'"))]);
            (object_of(list(item(rules))), items())
        }
        "items that keep rules" => {
            let rules = json!([(rule("self.a != ''"))]);
            (object_of(list(item(rules))), items())
        }
        "a rule over all items" => {
            let rules = json!([(rule("self.all(x, x.a != '') && self.exists(x, x.b == 'c')"))]);
            (object_of(with_rules(list(item(json!([]))), rules)), items())
        }
        "a rule over all pairs" => {
            let rules = json!([(rule("self.all(x, self.exists_one(y, x.a == y.a))"))]);
            (object_of(with_rules(list(item(json!([]))), rules)), items())
        }
        "rules on changed items" => {
            let rules = json!([(rule("self.b == oldSelf.b")), (rule("self.b == 'c'"))]);
            let mut list = list(item(rules));
            if let Some(fields) = list.as_object_mut() {
                fields.insert("x-kubernetes-list-type", "map");
                fields.insert("x-kubernetes-list-map-keys", json!(["a"]));
            }
            (object_of(list), items())
        }
        "broken rules below a long key" => {
            let value = with_rules(json!({"type": "integer"}), json!([(rule("self > 1"))]));
            let maps = json!({"type": "object", "additionalProperties": {"type": "object", "additionalProperties": value}});
            let key = "k".repeat(count * 40);
            let pairs = [(key, map(count, |_| 1.into()))];
            (maps, Value::Object(pairs.into_iter().collect()))
        }
        _ => {
            let rules = json!([{"rule": "false", "messageExpression": "self"}]);
            let text = with_rules(json!({"type": "string"}), rules);
            let object = json!({"l": (many(count, |_| "m".repeat(500).into()))});
            (object_of(list(text)), object)
        }
    }
}

fn evaluate(schema: &schema::Schema, object: &Value, old: Option<&Value>) -> Outcome {
    let rules = structural::rules_of(schema.place()).expect("rules");
    let outcome = rules.evaluate(schema.place(), object, old, Budget::default());
    outcome.expect("rules")
}

#[test]
fn objects_with_rules() {
    let mut report = Report::default();
    for shape in [
        "items that break rules",
        "items that keep rules",
        "a rule over all items",
        "a rule over all pairs",
        "rules on changed items",
        "broken rules below a long key",
        "messages as long as values",
    ] {
        let make = |count| {
            let (schema, object) = object(shape, count);
            let size = json::to_vec(&object).len();
            let schema = structural::from_json_schema_props(&schema).expect("a schema");
            (schema, object, size)
        };
        let inputs = (make(SMALL * 4), make(SMALL * 4 * TIMES as usize));
        let size = inputs.1.2;
        let mut step = |name: &str, run: &dyn Fn(&schema::Schema, &Value)| {
            let name = format!("an object with {shape}: {name}");
            let run = |(schema, object, _): &(schema::Schema, Value, usize)| run(schema, object);
            report.step(&name, (&inputs.0, &inputs.1), size, run);
        };
        step("create", &|schema, object| {
            drop(evaluate(schema, object, None));
        });
        step("update", &|schema, object| {
            drop(evaluate(schema, object, Some(object)));
        });
    }
    report.judge(14);
}
