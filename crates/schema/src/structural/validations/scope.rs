//! One place of a schema, as a rule there would see it: for those who try a rule before they write it down.

use std::fmt;
use std::sync::Arc;

use cel::kubernetes::{self, Mode};
use cel::{Charges, Env, Expression, Limits, Program};
use json::{Value, json};

use super::author::{Child, Context};
use super::correlate::OldItems;
use super::evaluate::Variables;
use super::{MINOR, RULES, below, is_correlatable, list_keys};

/// A place of a schema.
#[derive(Debug)]
pub struct RuleScope<'s> {
    root: &'s Value,
    types: Option<Arc<cel::Schema>>,
    cardinality: Option<u64>,
    /// From the root to the place.
    steps: Vec<Step<'s>>,
}

/// From a value to one within it.
#[derive(Debug)]
struct Step<'s> {
    by: By,
    /// The schema that it is a step of.
    schema: &'s Value,
    /// Where the schema of the values is, in that one.
    keys: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum By {
    Key(String),
    Index(usize),
    /// All items, or the values of all keys.
    Each,
}

/// A value at the place.
#[derive(Clone, Debug)]
pub struct ScopedValue<'v> {
    /// Where it is in the object.
    pub path: String,
    pub value: &'v Value,
    /// What it was before, if that can be told.
    pub old: Option<&'v Value>,
}

/// A path that is not one of the schema.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ScopeError {
    #[error(
        "{0:?} is not a path: write .spec.name, .spec.items[0], .spec.items[*] or .spec['a key']"
    )]
    Syntax(String),
    #[error("the schema has nothing at {path}: {why}")]
    Missing { path: String, why: String },
}

impl<'s> RuleScope<'s> {
    /// The place at a path such as `.spec.containers[*]`; the empty path is the root.
    pub fn find(root: &'s Value, path: &str) -> Result<Self, ScopeError> {
        let mut node = root;
        let mut context = Context::root(root);
        let mut steps: Vec<Step<'s>> = Vec::new();
        for by in parse(path)? {
            let (child, below, keys) = step(node, &by).map_err(|why| {
                let at: String = steps.iter().map(|it| it.by.to_string()).collect();
                ScopeError::Missing {
                    path: format!("{at}{by}"),
                    why,
                }
            })?;
            context = context.child(node, child, below);
            steps.push(Step {
                by: by.clone(),
                schema: node,
                keys,
            });
            node = below;
        }
        let (types, cardinality) = context.as_if_it_had_rules(node, steps.is_empty());
        Ok(Self {
            root,
            types,
            cardinality,
            steps,
        })
    }

    /// What expressions see of the data here; nothing if they do not see it.
    pub fn types(&self) -> Option<&cel::Schema> {
        self.types.as_deref()
    }

    /// How often values can be here in one object. The maximum of a rule's cost is multiplied by that.
    pub fn cardinality(&self) -> Option<u64> {
        self.cardinality
    }

    /// What a new rule here is compiled with.
    pub fn environment(&self, optional_old_self: bool) -> Option<Env> {
        let base = kubernetes::environment(MINOR, Mode::New);
        kubernetes::schema_environment(base, self.types()?, optional_old_self)
    }

    /// The schema without any rules, and with these ones here.
    pub fn schema_with(&self, rules: &[Value]) -> Value {
        let mut schema = self.root.clone();
        remove_rules(&mut schema);
        let keys = self.steps.iter().flat_map(|it| &it.keys);
        let keys: Vec<&str> = keys.map(String::as_str).collect();
        if let Some(node) = schema.at_mut(&keys).and_then(Value::as_object_mut)
            && !rules.is_empty()
        {
            node.insert(RULES, rules.to_vec());
        }
        schema
    }

    /// The values of an object here, with what they were before.
    pub fn values<'v>(&self, object: &'v Value, old: Option<&'v Value>) -> Vec<ScopedValue<'v>> {
        let mut all = vec![ScopedValue {
            path: String::new(),
            value: object,
            old,
        }];
        for step in &self.steps {
            all = all.iter().flat_map(|it| step.values(it)).collect();
        }
        all.retain(|it| !it.value.is_null());
        all
    }

    /// Evaluates a rule on one of the values.
    pub fn evaluate<'a>(
        &'a self,
        expression: &Expression,
        program: &'a Program,
        at: &ScopedValue<'a>,
        optional_old_self: bool,
        limits: Limits<'_>,
    ) -> (Result<cel::Value<'a>, cel::Error>, u64, Charges) {
        let Some(schema) = self.types() else {
            let error = cel::Error::new("the schema has no types here");
            return (Err(error), 0, program.no_charges());
        };
        let variables = Variables {
            schema,
            value: at.value,
            old: at.old.filter(|it| !it.is_null()),
            has_old_self: expression.uses_variable("oldSelf"),
            is_optional: optional_old_self,
        };
        program.evaluate_parts(&variables, limits)
    }
}

/// A rule as it is declared.
pub fn declared(rule: &str, optional_old_self: bool) -> Value {
    // A rule of several lines must have a message.
    let mut declared = json!({"rule": rule, "message": "-"});
    if optional_old_self && let Some(fields) = declared.as_object_mut() {
        fields.insert("optionalOldSelf", true);
    }
    declared
}

impl Step<'_> {
    fn values<'v>(&self, of: &ScopedValue<'v>) -> Vec<ScopedValue<'v>> {
        let found = |by: By, value: &'v Value, old: Option<&'v Value>| ScopedValue {
            path: format!("{}{by}", of.path),
            value,
            old,
        };
        match of.value {
            Value::Object(fields) => {
                let old = of.old.filter(|_| is_correlatable(self.schema));
                let all = fields.iter().filter(|(key, _)| match &self.by {
                    By::Key(wanted) => **wanted == ***key,
                    By::Each => true,
                    By::Index(_) => false,
                });
                all.map(|(key, it)| {
                    let old = old.and_then(|old| old.get(key));
                    found(By::Key(key.to_string()), it, old)
                })
                .collect()
            }
            Value::Array(items) => {
                let keys = list_keys(self.schema);
                let known = keys.as_deref().zip(of.old);
                let known = known.and_then(|(keys, old)| OldItems::new(keys, old));
                let all = items.iter().enumerate().filter(|(index, _)| match self.by {
                    By::Index(wanted) => *index == wanted,
                    By::Each => true,
                    By::Key(_) => false,
                });
                all.map(|(index, it)| {
                    let old = known.as_ref().and_then(|known| known.find(it));
                    found(By::Index(index), it, old)
                })
                .collect()
            }
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(name) if is_plain(name) => write!(f, ".{name}"),
            Self::Key(name) => write!(f, "['{name}']"),
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Each => f.write_str("[*]"),
        }
    }
}

fn is_plain(name: &str) -> bool {
    let is_word = |it: char| it.is_alphanumeric() || it == '_' || it == '-';
    !name.is_empty() && name.chars().all(is_word)
}

fn parse(path: &str) -> Result<Vec<By>, ScopeError> {
    let wrong = || ScopeError::Syntax(path.to_owned());
    let mut rest = path.strip_prefix("self").unwrap_or(path);
    if rest == "." {
        rest = "";
    }
    let mut all = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let name = &after[..end];
            if name.is_empty() {
                return Err(wrong());
            }
            all.push(By::Key(name.to_owned()));
            rest = &after[end..];
        } else if let Some(after) = rest.strip_prefix('[') {
            let quote = after.chars().next().filter(|it| matches!(it, '\'' | '"'));
            let (inside, after) = match quote {
                Some(quote) => {
                    let inside = &after[1..];
                    let end = inside.find(quote).ok_or_else(wrong)?;
                    let after = inside[end + 1..].strip_prefix(']').ok_or_else(wrong)?;
                    all.push(By::Key(inside[..end].to_owned()));
                    rest = after;
                    continue;
                }
                None => after.split_once(']').ok_or_else(wrong)?,
            };
            all.push(match inside {
                "" | "*" => By::Each,
                digits => By::Index(digits.parse().map_err(|_| wrong())?),
            });
            rest = after;
        } else {
            return Err(wrong());
        }
    }
    Ok(all)
}

/// The schema one step below another, and where it is in that.
fn step<'s, 'b>(
    node: &'s Value,
    by: &'b By,
) -> Result<(Child<'b>, &'s Value, Vec<String>), String> {
    let owned = |keys: &[&str]| keys.iter().map(|it| (*it).to_owned()).collect();
    if let By::Key(name) = by {
        let keys = ["properties", name];
        if let Some(found) = node.at(&keys) {
            return Ok((Child::Property(name), found, owned(&keys)));
        }
    }
    if let By::Key(_) | By::Each = by
        && let Some(found) = below(node, "additionalProperties")
    {
        return Ok((Child::Values, found, owned(&["additionalProperties"])));
    }
    match (by, below(node, "items")) {
        (By::Index(_) | By::Each, Some(found)) => Ok((Child::Items, found, owned(&["items"]))),
        (By::Key(_), Some(_)) => Err("this is a list; write [*] for all of its items".to_owned()),
        (By::Key(_), None) => {
            let known: Vec<&str> = super::properties(node).map(|(name, _)| &**name).collect();
            Err(if known.is_empty() {
                "no fields are declared here".to_owned()
            } else {
                format!("the fields are {}", known.join(", "))
            })
        }
        (By::Index(_) | By::Each, None) => Err("this is not a list".to_owned()),
    }
}

fn remove_rules(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else {
        return;
    };
    fields.remove(RULES);
    for (key, below) in fields.iter_mut() {
        match (&**key, below) {
            ("properties", Value::Object(all)) => all.values_mut().for_each(remove_rules),
            ("items" | "additionalProperties" | "not", it) => remove_rules(it),
            ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => {
                all.iter_mut().for_each(remove_rules);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "ports": {
                    "type": "array", "maxItems": 10,
                    "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "properties": {
                        "name": {"type": "string"}, "port": {"type": "integer"}}},
                },
                "labels": {"type": "object", "maxProperties": 4, "additionalProperties": {"type": "string"}},
            }},
        }})
    }

    #[test]
    fn places_have_values_and_what_they_were() {
        let schema = schema();
        let scope = RuleScope::find(&schema, ".spec.ports[*].port").unwrap();
        assert_eq!(scope.cardinality(), Some(10));
        let object =
            json!({"spec": {"ports": [{"name": "b", "port": 2}, {"name": "a", "port": 1}]}});
        let old = json!({"spec": {"ports": [{"name": "a", "port": 7}]}});
        let values = scope.values(&object, Some(&old));
        let shown: Vec<String> = (values.iter())
            .map(|it| {
                format!(
                    "{} {} {:?}",
                    it.path,
                    it.value,
                    it.old.and_then(Value::as_i64)
                )
            })
            .collect();
        let expected = [
            ".spec.ports[0].port 2 None",
            ".spec.ports[1].port 1 Some(7)",
        ];
        assert_eq!(shown, expected);
        let scope = RuleScope::find(&schema, "self.spec.labels['a.b/c']").unwrap();
        let object = json!({"spec": {"labels": {"a.b/c": "x"}}});
        assert_eq!(scope.values(&object, None)[0].path, ".spec.labels['a.b/c']");
        assert_eq!(scope.cardinality(), Some(4));
    }

    #[test]
    fn a_rule_is_put_in_place_of_all_others() {
        let mut schema = schema();
        let rule = json!([{"rule": "true"}]);
        (schema.as_object_mut().unwrap()).insert(RULES, rule);
        let scope = RuleScope::find(&schema, ".spec.ports[*]").unwrap();
        let with = scope.schema_with(&[declared("self.port == 0", false)]);
        assert!(with.get(RULES).is_none());
        let items = with.at(&["properties", "spec", "properties", "ports", "items", RULES]);
        let expected = r#"[{"rule":"self.port == 0","message":"-"}]"#;
        assert_eq!(items.unwrap().to_string(), expected);
    }

    #[test]
    fn wrong_paths_say_what_there_is() {
        let schema = schema();
        let told = |path: &str| RuleScope::find(&schema, path).unwrap_err().to_string();
        assert_eq!(
            told(".spec.port"),
            "the schema has nothing at .spec.port: the fields are ports, labels"
        );
        assert!(
            told(".spec.ports.name").ends_with("this is a list; write [*] for all of its items")
        );
        assert!(told(".spec[0]").ends_with("this is not a list"));
        for path in ["spec", "..", ".a[", ".a['b]", ".a[x]"] {
            assert!(told(path).contains("is not a path"), "{path}");
        }
    }
}
