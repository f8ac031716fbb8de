//! Structural schemas: what a `CustomResourceDefinition` says of its objects, as nodes like those of built-in types.

mod check;
mod check_defaults;
mod default;
mod definition;
mod embedded;
mod formats;
mod lists;
mod pattern;
mod ratchet;
mod rules;
mod validate;
mod validations;
mod values;

pub use check::check;
pub use default::{default, drop_nulls, lacks_default};
pub use definition::{
    ExpressionCost, SchemaOptions, check_definition, check_definition_costs, check_schema,
};
pub use embedded::{coerce, validate_embedded};
pub use formats::is_known_format;
pub use lists::validate_lists;
pub use pattern::Pattern;
pub use validate::{validate, validate_update};
pub use validations::{
    Budget, KnownExpressions, LazyValidator, Outcome, RuleScope, ScopeError, ScopedValue,
    Validator, declared, rules_of,
};
pub use values::{Properties, Values};

use std::collections::HashSet;
use std::sync::Arc;

use json::{Text, Value};
use meta::field;

use crate::{Arena, Field, Fields, ListType, MapType, Node, NodeId, Schema, Shape};

/// What a schema demands of values, apart from their shape.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent")]
pub struct Rules {
    /// The types that a value may have; none allows all.
    pub types: Vec<Text>,
    /// Only if it is one that is checked.
    pub format: Option<Text>,
    pub maximum: Option<f64>,
    pub exclusive_maximum: bool,
    pub minimum: Option<f64>,
    pub exclusive_minimum: bool,
    pub multiple_of: Option<f64>,
    pub max_length: Option<i64>,
    pub min_length: Option<i64>,
    pub pattern: Option<Pattern>,
    pub max_items: Option<i64>,
    pub min_items: Option<i64>,
    pub unique_items: bool,
    pub max_properties: Option<i64>,
    pub min_properties: Option<i64>,
    pub required: Vec<Text>,
    pub values: Values,
    pub all_of: Vec<NodeId>,
    pub any_of: Vec<NodeId>,
    pub one_of: Vec<NodeId>,
    pub not: Option<NodeId>,
    pub properties: Properties,
    /// Those of the properties that have a default.
    pub defaults: Vec<(Text, NodeId)>,
    pub additional: Option<NodeId>,
    /// `additionalProperties: false`
    pub closed: bool,
    pub items: Option<NodeId>,
    /// Of the root: the rules in CEL of the whole schema, if it has any.
    pub validator: Option<Arc<LazyValidator>>,
}

/// The schema of `openAPIV3Schema`. It is taken as it is: [`check`] says whether it may be.
///
/// Only what cannot be built at all is an error here, told below the path `openAPIV3Schema`.
pub fn from_json_schema_props(schema: &Value) -> Result<Schema, Vec<field::Error>> {
    if schema.as_object().is_none() {
        return Err(vec![field::Error::invalid(
            "openAPIV3Schema",
            schema.clone(),
            "must be an object",
        )]);
    }
    let mut builder = Builder {
        nodes: Vec::new(),
        has_validations: false,
    };
    let root = builder.node(schema);
    if builder.has_validations
        && let Some(rules) = &mut builder.nodes[root.0 as usize].rules
    {
        let validator = LazyValidator::new(schema.clone());
        Arc::make_mut(rules).validator = Some(Arc::new(validator));
    }
    Ok(Schema {
        arena: Arc::new(Arena {
            nodes: builder.nodes,
        }),
        root,
    })
}

struct Builder {
    nodes: Vec<Node>,
    /// Some schema has `x-kubernetes-validations`.
    has_validations: bool,
}

impl Builder {
    fn add(&mut self, node: Node) -> NodeId {
        let id = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push(node);
        NodeId(id)
    }

    fn all(&mut self, schema: &Value, key: &str) -> Vec<NodeId> {
        let all = schema.get(key).and_then(Value::as_array);
        all.into_iter().flatten().map(|it| self.node(it)).collect()
    }

    fn node(&mut self, schema: &Value) -> NodeId {
        let mut rules = rules(schema);
        self.has_validations |= schema.get("x-kubernetes-validations").is_some();
        rules.all_of = self.all(schema, "allOf");
        rules.any_of = self.all(schema, "anyOf");
        rules.one_of = self.all(schema, "oneOf");
        rules.not = schema
            .get("not")
            .filter(|it| it.as_object().is_some())
            .map(|it| self.node(it));
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.into_iter().flat_map(json::Object::iter);
        rules.properties = properties
            .map(|(name, property)| (name.clone(), self.node(property)))
            .collect();
        let has_default = |(_, id): &&(Text, NodeId)| self.nodes[id.0 as usize].default.is_some();
        rules.defaults = (rules.properties.iter().filter(has_default).cloned()).collect();
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => rules.closed = true,
            Some(it @ Value::Object(_)) => rules.additional = Some(self.node(it)),
            _ => {}
        }
        if let Some(items @ Value::Object(_)) = schema.get("items") {
            rules.items = Some(self.node(items));
        }
        let shape = self.shape(schema, &rules);
        self.add(Node {
            shape,
            nullable: flag(schema, "nullable"),
            preserve_unknown: flag(schema, "x-kubernetes-preserve-unknown-fields"),
            embedded: flag(schema, "x-kubernetes-embedded-resource"),
            default: schema.get("default").filter(|it| !it.is_null()).cloned(),
            rules: Some(Arc::new(rules)),
            ..Node::default()
        })
    }

    fn shape(&mut self, schema: &Value, rules: &Rules) -> Shape {
        let map_type = match schema.str_at(&["x-kubernetes-map-type"]) {
            Some("atomic") => MapType::Atomic,
            _ => MapType::Granular,
        };
        if flag(schema, "x-kubernetes-int-or-string") {
            return Shape::IntOrString;
        }
        match schema.str_at(&["type"]).unwrap_or_default() {
            "boolean" => Shape::Boolean,
            "integer" => Shape::Integer,
            "number" => Shape::Number,
            "string" => Shape::String,
            "array" => Shape::List {
                items: rules.items.unwrap_or_else(|| self.add(Node::default())),
                list_type: list_type(schema),
            },
            ty => match (rules.additional, schema.get("additionalProperties")) {
                _ if !rules.properties.is_empty() => Shape::Object {
                    fields: fields(rules),
                    map_type,
                },
                (Some(values), _) => Shape::Map { values, map_type },
                (None, Some(Value::Bool(_))) => Shape::Map {
                    values: self.add(Node::default()),
                    map_type,
                },
                _ if ty == "object" => Shape::Object {
                    fields: Fields::default(),
                    map_type,
                },
                _ => Shape::Any,
            },
        }
    }
}

fn fields(rules: &Rules) -> Fields {
    let required: HashSet<&Text> = rules.required.iter().collect();
    let field = |(name, node): &(Text, NodeId)| Field {
        name: name.clone(),
        node: *node,
        required: required.contains(name),
    };
    rules.properties.iter().map(field).collect()
}

fn rules(schema: &Value) -> Rules {
    let number = |key: &str| {
        schema
            .get(key)
            .and_then(Value::as_number)
            .map(json::Number::as_f64)
    };
    let integer = |key: &str| schema.get(key).and_then(Value::as_i64);
    let types = if flag(schema, "x-kubernetes-int-or-string") {
        vec!["integer".into(), "string".into()]
    } else {
        schema
            .str_at(&["type"])
            .filter(|it| !it.is_empty())
            .map(Text::from)
            .into_iter()
            .collect()
    };
    let format = schema
        .str_at(&["format"])
        .filter(|it| formats::is_supported(&types, it));
    Rules {
        types,
        format: format.map(Text::from),
        maximum: number("maximum"),
        exclusive_maximum: flag(schema, "exclusiveMaximum"),
        minimum: number("minimum"),
        exclusive_minimum: flag(schema, "exclusiveMinimum"),
        multiple_of: number("multipleOf"),
        max_length: integer("maxLength"),
        min_length: integer("minLength"),
        pattern: schema
            .str_at(&["pattern"])
            .filter(|it| !it.is_empty())
            .map(Pattern::new),
        max_items: integer("maxItems"),
        min_items: integer("minItems"),
        unique_items: flag(schema, "uniqueItems"),
        max_properties: integer("maxProperties"),
        min_properties: integer("minProperties"),
        required: texts(schema, "required"),
        values: schema
            .get("enum")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
            .into(),
        ..Rules::default()
    }
}

fn list_type(schema: &Value) -> ListType {
    match schema.str_at(&["x-kubernetes-list-type"]) {
        Some("map") => ListType::Map(texts(schema, "x-kubernetes-list-map-keys")),
        Some("set") => ListType::Set,
        _ => ListType::Atomic,
    }
}

fn texts(schema: &Value, key: &str) -> Vec<Text> {
    let all = schema
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    all.filter_map(Value::as_str).map(Text::from).collect()
}

fn flag(schema: &Value, key: &str) -> bool {
    schema.get(key) == Some(&Value::Bool(true))
}
