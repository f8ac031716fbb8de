//! Rules of definitions in CEL, against what the real Kubernetes 1.37 answers: `../shared/cases/cel/k8s` beside the
//! workspace.

use std::fs;
use std::path::Path as File;

use json::Value;
use meta::field::{Error, Path};
use requires::requires;
use schema::structural::{
    self, Budget, KnownExpressions, SchemaOptions, Validator, check_definition, check_schema,
};

/// Upstream puts a number behind it that changes with each compilation.
const SELF_TYPE: (&str, &str) = ("selfType<N>", cel::kubernetes::SELF_TYPE);

fn cases(name: &str) -> Vec<Value> {
    let folder = File::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/cel/k8s");
    let text = fs::read_to_string(folder.join(name)).expect("a file of cases");
    let lines = text.lines().filter(|it| !it.is_empty());
    lines
        .map(|it| json::parse(it.as_bytes()).expect("JSON"))
        .collect()
}

/// Texts of errors, in order: upstream walks maps in any order.
fn wanted(case: &Value, key: &str) -> Vec<String> {
    let all = case.get(key).and_then(Value::as_array);
    let mut texts: Vec<String> = (all.into_iter().flatten())
        .map(|it| it.as_str().or_else(|| it.str_at(&["text"])).unwrap())
        .map(|it| it.replace(SELF_TYPE.0, SELF_TYPE.1))
        .collect();
    texts.sort();
    texts
}

fn sorted(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.into_iter().collect();
    texts.sort();
    texts
}

fn told(errors: &[Error]) -> Vec<String> {
    sorted(errors.iter().map(Error::to_string))
}

/// The kinds of errors with their fields and details, which the texts do not tell apart.
fn kinds(case: &Value) -> Vec<String> {
    let all = case.get("errors").and_then(Value::as_array);
    sorted(all.into_iter().flatten().map(|it| {
        let text = |key: &str| it.str_at(&[key]).unwrap_or_default();
        let line = [text("type"), text("field"), text("detail")].join(" ");
        line.replace(SELF_TYPE.0, SELF_TYPE.1)
    }))
}

fn told_kinds(errors: &[Error]) -> Vec<String> {
    let line = |it: &Error| [it.kind.reason(), &it.field, &it.detail].join(" ");
    sorted(errors.iter().map(line))
}

fn flag(value: &Value, path: &[&str]) -> bool {
    value.at(path).and_then(Value::as_bool) == Some(true)
}

/// Runs all cases. Those that are known to differ must differ, and no others.
fn run(file: &str, known: &[(usize, &str)], check: impl Fn(&Value) -> Result<(), String>) {
    let all = cases(file);
    let mut wrong = Vec::new();
    for (index, case) in all.iter().enumerate() {
        let is_known = known.iter().any(|it| it.0 == index);
        match check(case) {
            Ok(()) if is_known => wrong.push(format!("{index}: known to differ, and does not")),
            Err(why) if !is_known => wrong.push(format!("{index}: {why}")),
            _ => {}
        }
    }
    let shown = wrong[..wrong.len().min(20)].join("\n");
    assert!(
        wrong.is_empty(),
        "{shown}\n{file}: {} wrong of {}",
        wrong.len(),
        all.len()
    );
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, wanted: &T) -> Result<(), String> {
    if found == wanted {
        return Ok(());
    }
    Err(format!(
        "{what}\n    {found:#?}\n    instead of\n    {wanted:#?}"
    ))
}

#[requires(cel_cases)]
#[test]
fn schemas_of_authors() {
    run("crd-schema.jsonl", &[], |case| {
        let at = case.str_at(&["field_path"]).unwrap();
        let option = |name: &str| flag(case, &["options", name]);
        let version = case.str_at(&["compat_version"]).unwrap();
        let minor: u32 = version.strip_prefix("1.").unwrap().parse().unwrap();
        let options = SchemaOptions {
            // New expressions can use what the version before knows.
            minor: minor + 1,
            allow_defaults: option("allowDefaults"),
            structural: option("requireStructuralSchema"),
            valid_types: option("requireValidPropertyType"),
            pruned_defaults: option("requirePrunedDefaults"),
            atomic_sets: option("requireAtomicSetType"),
            map_keys: option("requireMapListKeysMapSetValidation"),
            is_unchanged: option("suppressPerExpressionCost"),
            known: None,
            costs: None,
        };
        let path = Path::new(at);
        let schema = case.get("schema").unwrap();
        let errors = check_schema(&path.child("openAPIV3Schema"), schema, &options);
        same("errors", &told(&errors), &wanted(case, "errors"))?;
        same("kinds", &told_kinds(&errors), &kinds(case))
    });
}

#[requires(cel_cases)]
#[test]
fn definitions_of_authors() {
    run("crd-create.jsonl", &[], |case| {
        let old = case.get("old_crd").filter(|it| !it.is_null());
        let definition = case.get("crd").unwrap();
        let errors = check_definition(definition, old);
        if has_same_selectable_fields(definition) {
            // The case is of the internal type. The real code converts a definition of the API first, and moves what is
            // the same in all versions to the whole; asked with such a definition, it answers this.
            let text = "spec.selectableFields: Invalid value: \"\": may only be set when validations.schema is included";
            return same("errors", &told(&errors), &vec![text.to_owned()]);
        }
        same("errors", &told(&errors), &wanted(case, "errors"))?;
        same("kinds", &told_kinds(&errors), &kinds(case))
    });
}

fn has_same_selectable_fields(definition: &Value) -> bool {
    let versions = definition.at(&["spec", "versions"]);
    let versions = versions.and_then(Value::as_array).unwrap();
    let fields = |it: &Value| it.get("selectableFields").cloned();
    versions.len() > 1
        && fields(&versions[0]).is_some()
        && versions.iter().all(|it| fields(it) == fields(&versions[0]))
}

/// Numbers of format `float` were Go's float32 when this was recorded: the text is that of the shorter type.
#[expect(clippy::cast_possible_truncation, reason = "that is what is restored")]
fn restored(schema: &Value, value: &Value) -> Value {
    match value {
        Value::Number(json::Number::Float(it)) if schema.str_at(&["format"]) == Some("float") => {
            Value::Number(json::Number::Float(f64::from(*it as f32)))
        }
        Value::Object(fields) => {
            let restore = |(key, value): (&json::Text, &Value)| {
                let below = schema.at(&["properties", key]);
                (
                    key.clone(),
                    below.map_or_else(|| value.clone(), |it| restored(it, value)),
                )
            };
            Value::Object(fields.iter().map(restore).collect())
        }
        other => other.clone(),
    }
}

#[requires(cel_cases)]
#[test]
fn rules_on_objects() {
    run("crd-rules.jsonl", &[], |case| {
        let written = &completed(case);
        let compiled = structural::from_json_schema_props(written).unwrap();
        let number = |key: &str| case.get(key).and_then(Value::as_i64).unwrap();
        let budget = Budget {
            per_call: number("per_call_limit").cast_unsigned(),
            total: number("cost_budget"),
        };
        let path = Path::new(case.str_at(&["field_path"]).unwrap());
        let object = &restored(written, case.get("object").unwrap());
        let old = case.get("old_object").filter(|it| !it.is_null());
        let validator = Validator::new(written, flag(case, &["is_resource_root"]));
        let Some(validator) = validator else {
            return Err(format!("no rules in {written}"));
        };
        let outcome = match old.filter(|_| flag(case, &["ratcheting"])) {
            Some(old) => validator.validate_update(&path, compiled.place(), object, old, budget),
            None => validator.validate(&path, object, old, budget),
        };
        let show = |it: String| format!("{it}\n    {written}\n    {object}");
        same("errors", &told(&outcome.errors), &wanted(case, "errors")).map_err(show)?;
        same("kinds", &told_kinds(&outcome.errors), &kinds(case)).map_err(show)?;
        let warnings = sorted(outcome.warnings);
        same("warnings", &warnings, &wanted(case, "warnings")).map_err(show)?;
        same("remaining", &outcome.remaining, &number("remaining_budget")).map_err(show)
    });
}

/// The schema of a case. Where the file lacks `additionalProperties` below `allOf`, the rules that were there are in
/// the list of rules, with their places.
fn completed(case: &Value) -> Value {
    let mut schema = case.get("schema").unwrap().clone();
    for rule in case
        .get("rules")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let at = rule.str_at(&["at"]).unwrap();
        let Some(place) = at
            .find("/allOf/")
            .filter(|_| at.contains("/additionalProperties"))
        else {
            continue;
        };
        if !at[place..].contains("/additionalProperties") {
            continue;
        }
        let message = match rule.str_at(&["rule"]).unwrap() {
            "self.size() == 5" => "len must be 5",
            _ => "must be value2 or not value",
        };
        let text = rule.get("rule").unwrap().clone();
        let added = json::json!({"rule": text, "message": message});
        let mut node = &mut schema;
        for part in at.split('/').skip(1) {
            node = match node {
                Value::Array(all) => {
                    if all.is_empty() {
                        all.push(json::json!({}));
                    }
                    &mut all[0]
                }
                Value::Object(all) => {
                    if !all.contains_key(part) {
                        let empty = if part == "allOf" {
                            json::json!([])
                        } else {
                            json::json!({})
                        };
                        all.insert(part, empty);
                    }
                    all.get_mut(part).unwrap()
                }
                other => panic!("{part} of {other}"),
            };
        }
        let node = node.as_object_mut().unwrap();
        let mut rules = match node.get("x-kubernetes-validations") {
            Some(Value::Array(all)) => all.clone(),
            _ => Vec::new(),
        };
        rules.push(added);
        node.insert("x-kubernetes-validations", Value::Array(rules));
    }
    schema
}

/// What docs/cel.md says of costs.
#[test]
fn documented_costs() {
    let is_taken = |schema: Value| {
        let schema = json::json!({"type": "object", "properties": {"a": schema}});
        check_schema(&Path::new("s"), &schema, &SchemaOptions::default()).is_empty()
    };
    let pairs = json::json!([{"rule": "self.all(x, self.exists_one(y, x == y))"}]);
    assert!(!is_taken(json::json!({
        "type": "array", "items": {"type": "string"}, "x-kubernetes-validations": (pairs.clone()),
    })));
    assert!(is_taken(json::json!({
        "type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 63},
        "x-kubernetes-validations": pairs,
    })));
    let message = |text: &str| {
        json::json!({
            "type": "object", "properties": {"min": {"type": "integer"}, "max": {"type": "integer"}},
            "x-kubernetes-validations": [{"rule": "self.min <= self.max", "messageExpression": text, "fieldPath": ".min"}],
        })
    };
    assert!(!is_taken(message("'at most ' + string(self.max)")));
    assert!(is_taken(message("'at most %d'.format([self.max])")));
    let both = "'min %d is above max %d'.format([self.min, self.max])";
    assert!(is_taken(message(both)));
}

/// What was stored may use what the version before did not know.
#[test]
fn known_expressions() {
    let schema = json::json!({"type": "object", "properties": {"l": {
        "type": "array", "maxItems": 3, "items": {"type": "integer"},
        "x-kubernetes-validations": [{"rule": "self.includes(1)", "messageExpression": "string(self.includes(2))"}],
    }}});
    let path = Path::new("s");
    let errors = check_schema(&path, &schema, &SchemaOptions::default());
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0]
            .detail
            .contains("undeclared reference to 'includes'")
    );
    let mut known = KnownExpressions::default();
    known.add(&schema);
    let options = SchemaOptions {
        known: Some(&known),
        ..SchemaOptions::default()
    };
    assert_eq!(told(&check_schema(&path, &schema, &options)), [""; 0]);
}

/// A definition that was stored before a rule for definitions came may stay as it is, and break that rule elsewhere.
#[test]
fn stored_definitions_are_not_held_to_new_rules() {
    let definition = |schema: Value| {
        let version = json::json!({"name": "v1", "schema": {"openAPIV3Schema": schema}});
        json::json!({"spec": {"versions": [version]}})
    };
    let set = |count: usize| {
        let set = |it: usize| {
            let item = json::json!({"type": "object"});
            let set =
                json::json!({"type": "array", "items": item, "x-kubernetes-list-type": "set"});
            (format!("f{it}"), set)
        };
        let all: json::Object = (0..count).map(set).collect();
        definition(json::json!({"type": "object", "properties": all}))
    };
    let text = "must be atomic as item of a list with x-kubernetes-list-type=set";
    assert_eq!(check_definition(&set(1), None)[0].detail, text);
    assert_eq!(told(&check_definition(&set(2), Some(&set(1)))), [""; 0]);
    let fine = definition(json::json!({"type": "object"}));
    assert_eq!(check_definition(&set(1), Some(&fine))[0].detail, text);
}

/// The type of metadata is known; its values are those that the schema declares.
#[test]
fn metadata_of_embedded_resources() {
    let schema = |metadata: Value| {
        json::json!({"type": "object", "properties": {"e": {
            "type": "object", "x-kubernetes-embedded-resource": true, "properties": {"metadata": metadata},
        }}})
    };
    let rules = json::json!([{"rule": "self.name == 'a'"}]);
    let object = json::json!({"e": {"apiVersion": "v1", "kind": "A", "metadata": {"name": "b"}}});
    let told = |metadata: Value| {
        let validator = Validator::new(&schema(metadata), true).unwrap();
        told(
            &validator
                .validate(&Path::root(), &object, None, Budget::default())
                .errors,
        )
    };
    let names = json::json!({"name": {"type": "string"}});
    let declared = json::json!({"type": "object", "properties": names, "x-kubernetes-validations": (rules.clone())});
    assert_eq!(
        told(declared),
        ["e.metadata: Invalid value: failed rule: self.name == 'a'"]
    );
    assert_eq!(
        told(json::json!({"type": "object", "x-kubernetes-validations": rules})),
        [
            "e.metadata: Invalid value: \"object\": no such key: name evaluating rule: self.name == 'a'"
        ]
    );
}

/// As deep as JSON can be, on the stack of a worker thread.
#[test]
fn deep_schemas_and_objects() {
    let depth = 480;
    let leaf = json::json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1"}]});
    let list = (0..depth).fold(leaf, |below, _| {
        json::json!({"type": "array", "maxItems": 1, "items": below, "x-kubernetes-validations": [{"rule": "self == self"}]})
    });
    let schema = json::json!({"type": "object", "properties": {"l": list}});
    let value = (0..depth).fold(json::json!(1), |below, _| json::json!([below]));
    let object = json::json!({"l": value});
    let small = std::thread::Builder::new().stack_size(2 << 20);
    let run = move || {
        let path = Path::new("s");
        let errors = check_schema(&path, &schema, &SchemaOptions::default());
        assert_eq!(told(&errors), [""; 0]);
        let compiled = structural::from_json_schema_props(&schema).unwrap();
        let rules = structural::rules_of(compiled.place()).unwrap();
        for old in [None, Some(&object)] {
            let outcome = rules
                .evaluate(compiled.place(), &object, old, Budget::default())
                .unwrap();
            assert_eq!(outcome.errors.len() + outcome.warnings.len(), 1);
        }
        // Its parts are dropped where there is room for it.
        (schema, object)
    };
    drop(small.spawn(run).unwrap().join().unwrap());
}

/// Many broken rules are told up to a bound, and a budget that is used up ends all.
#[test]
fn errors_and_cost_are_bounded() {
    let schema = json::json!({"type": "object", "properties": {"l": {"type": "array", "items": {
        "type": "string", "x-kubernetes-validations": [{"rule": "self == ''", "messageExpression": "self"}],
    }}}});
    let compiled = structural::from_json_schema_props(&schema).unwrap();
    let rules = structural::rules_of(compiled.place()).unwrap();
    let object = |count: usize, length: usize| {
        let items: Value = (0..count).map(|_| "x".repeat(length)).collect();
        json::json!({"l": items})
    };
    let evaluate = |object: &Value, old: Option<&Value>, budget: Budget| {
        rules
            .evaluate(compiled.place(), object, old, budget)
            .unwrap()
    };
    let many = object(5_000, 1);
    let outcome = evaluate(&many, None, Budget::default());
    assert_eq!(outcome.errors.len(), meta::field::MAX_ERRORS);
    let long = object(5_000, 4_000);
    let outcome = evaluate(&long, None, Budget::default());
    let size: usize = outcome.errors.iter().map(|it| it.to_string().len()).sum();
    assert!(size < 1 << 20, "{size}");
    let outcome = evaluate(&long, Some(&long), Budget::default());
    let size: usize = outcome.warnings.iter().map(String::len).sum();
    assert!(
        outcome.errors.is_empty() && size > 0 && size < 1 << 20,
        "{size}"
    );
    let budget = Budget {
        total: 100,
        ..Budget::default()
    };
    let outcome = evaluate(&many, None, budget);
    assert_eq!(outcome.remaining, -1);
    let last = outcome.errors.last().unwrap().to_string();
    assert!(last.contains("running out of cost budget"), "{last}");
    assert_eq!(outcome.errors.len(), 51);
}
