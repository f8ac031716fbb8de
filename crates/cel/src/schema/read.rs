//! Schemas from JSON, and what expressions see of them.

use std::collections::HashSet;
use std::sync::Arc;

use json::Value;

use super::{Format, Kind, ListKind, MAX_REQUEST_SIZE, Property, Schema, Visible, escape};
use crate::types::Type;

/// The longest name of an object.
const MAX_NAME: i64 = 253;

impl Schema {
    /// Reads an `OpenAPI` schema. The root of a resource has a kind, an API version and metadata, whether it says so or
    /// not.
    pub fn from_json(schema: &Value, is_resource_root: bool) -> Self {
        let mut it = Self::read(schema);
        it.show(is_resource_root, true);
        it
    }

    /// As [`Self::from_json`], for schemas of built-in kinds, whose names have no bounds.
    pub fn from_open_api(schema: &Value, is_resource_root: bool) -> Self {
        let mut it = Self::read(schema);
        it.show(is_resource_root, false);
        it
    }

    fn read(schema: &Value) -> Self {
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let flag = |key: &str| schema.get(key).and_then(Value::as_bool) == Some(true);
        let number = |key: &str| schema.get(key).and_then(Value::as_i64);
        let required: HashSet<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|it| it.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let properties = schema
            .get("properties")
            .and_then(Value::as_object)
            .map(|all| {
                all.iter()
                    .map(|(name, it)| Property {
                        name: Arc::from(&**name),
                        escaped: escape::escape(name).map(|it| Arc::from(&*it)),
                        required: required.contains(&**name),
                        schema: Arc::new(Self::read(it)),
                    })
                    .collect()
            });
        let kind = if flag("x-kubernetes-int-or-string") {
            Kind::IntOrString
        } else {
            match text("type") {
                None | Some("") => Kind::None,
                Some("object") => Kind::Object,
                Some("array") => Kind::Array,
                Some("string") => Kind::String,
                Some("number") => Kind::Number,
                Some("integer") => Kind::Integer,
                Some("boolean") => Kind::Boolean,
                Some(_) => Kind::Other,
            }
        };
        let below = |key: &str| schema.get(key).filter(|it| it.as_object().is_some());
        Self {
            kind,
            format: match text("format") {
                Some("duration") => Format::Duration,
                Some("date") => Format::Date,
                Some("date-time") => Format::DateTime,
                Some("byte") => Format::Byte,
                _ => Format::None,
            },
            nullable: flag("nullable"),
            embedded: flag("x-kubernetes-embedded-resource"),
            preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
            properties,
            additional: below("additionalProperties").map(|it| Arc::new(Self::read(it))),
            items: below("items").map(|it| Arc::new(Self::read(it))),
            list_kind: match text("x-kubernetes-list-type") {
                Some("set") => ListKind::Set,
                Some("map") => ListKind::Map,
                _ => ListKind::Atomic,
            },
            list_keys: schema
                .get("x-kubernetes-list-map-keys")
                .and_then(Value::as_array)
                .map(|it| it.iter().filter_map(Value::as_str).map(Arc::from).collect())
                .unwrap_or_default(),
            has_default: schema.get("default").is_some_and(|it| !it.is_null()),
            enums: schema
                .get("enum")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default(),
            max_length: number("maxLength"),
            max_items: number("maxItems"),
            max_properties: number("maxProperties"),
            visible: None,
        }
    }

    /// Adds what every resource has. Of the metadata only the names are visible.
    fn as_resource(&mut self, bounded: bool) {
        let string = |max: Option<i64>| Schema {
            kind: Kind::String,
            max_length: max,
            ..Schema::default()
        };
        let property = |name: &str, schema: Schema| Property {
            name: Arc::from(name),
            escaped: Some(Arc::from(name)),
            required: false,
            schema: Arc::new(schema),
        };
        let mut properties = self.properties.take().unwrap_or_default();
        let is_complete = |name: &str, kind: Kind| {
            properties
                .iter()
                .any(|it: &Property| &*it.name == name && it.schema.kind == kind)
        };
        // Properties are not in order yet.
        let find = |schema: &Schema, name: &str| {
            let mut all = schema.properties.iter().flatten();
            all.find(|it| &*it.name == name).map(|it| it.schema.clone())
        };
        let is_text = |schema: &Schema, name: &str| {
            find(schema, name).is_some_and(|it| it.kind == Kind::String)
        };
        if is_complete("kind", Kind::String)
            && is_complete("apiVersion", Kind::String)
            && properties.iter().any(|it| {
                &*it.name == "metadata"
                    && it.schema.kind == Kind::Object
                    && is_text(&it.schema, "name")
                    && is_text(&it.schema, "generateName")
            })
        {
            self.properties = Some(properties);
            return;
        }
        let bound = |name: &str, max: i64| {
            let metadata = properties.iter().find(|it| &*it.name == "metadata");
            let own = metadata
                .and_then(|it| find(&it.schema, name))
                .and_then(|it| it.max_length);
            bounded.then(|| own.map_or(max, |it| it.min(max)))
        };
        let names = vec![
            property("name", string(bound("name", MAX_NAME))),
            property("generateName", string(bound("generateName", MAX_NAME - 1))),
        ];
        let metadata = Schema {
            kind: Kind::Object,
            properties: Some(names),
            ..Schema::default()
        };
        let required: Vec<Arc<str>> = properties
            .iter()
            .filter(|it| it.required)
            .map(|it| it.name.clone())
            .collect();
        properties.retain(|it| !matches!(&*it.name, "kind" | "apiVersion" | "metadata"));
        for (name, schema) in [
            ("kind", string(None)),
            ("apiVersion", string(None)),
            ("metadata", metadata),
        ] {
            let mut it = property(name, schema);
            it.required = required.iter().any(|it| &**it == name);
            properties.push(it);
        }
        self.properties = Some(properties);
    }

    /// Finds out what expressions see, from the leaves up.
    fn show(&mut self, is_root: bool, bounded: bool) {
        if is_root && self.kind != Kind::IntOrString {
            self.as_resource(bounded);
        }
        if let Some(all) = &mut self.properties {
            all.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let below = self.properties.iter_mut().flatten();
        let below = below.map(|it| &mut it.schema);
        for it in below.chain(&mut self.items).chain(&mut self.additional) {
            let is_root = it.embedded;
            // Nobody else has it yet: nothing is copied.
            Arc::make_mut(it).show(is_root, bounded);
        }
        self.visible = self.seen();
    }

    fn seen(&self) -> Option<Visible> {
        let simple = |cel: Type, max_elements: i64, min_size: i64| {
            Some(Visible {
                cel,
                max_elements,
                min_size,
            })
        };
        // A code point has at most four bytes.
        let characters = self.max_length.map(|it| it.max(0).saturating_mul(4));
        let longest = MAX_REQUEST_SIZE - 2;
        match self.kind {
            Kind::IntOrString => simple(Type::Dyn, characters.unwrap_or(longest), 1),
            Kind::Array => {
                let items = self.items.as_ref()?.visible.as_ref()?;
                let max = self
                    .max_items
                    .map_or_else(|| longest / (items.min_size + 1), |it| it.max(0));
                simple(Type::Dyn, max, 2)
            }
            Kind::Object => {
                if let Some(values) = &self.additional {
                    let values = values.visible.as_ref()?;
                    let max = self
                        .max_properties
                        .map_or_else(|| longest / (values.min_size + 6), |it| it.max(0));
                    return simple(Type::Dyn, max, 2);
                }
                let mut min = 2;
                for it in self.properties.iter().flatten() {
                    if let Some(visible) = &it.schema.visible
                        && it.required
                        && !it.schema.has_default
                    {
                        min += i64::try_from(it.name.len()).unwrap_or(0) + visible.min_size + 4;
                    }
                }
                simple(Type::Dyn, 0, min)
            }
            Kind::String => match self.format {
                Format::Byte => simple(
                    Type::Bytes,
                    self.max_length.map_or(longest, |it| it.max(0)),
                    2,
                ),
                Format::Duration => simple(Type::Duration, 32, 3),
                Format::Date => simple(Type::Timestamp, 12, 12),
                Format::DateTime => simple(Type::Timestamp, 32, 21),
                Format::None => {
                    let longest_enum = self
                        .enums
                        .iter()
                        .filter_map(Value::as_str)
                        .map(str::len)
                        .max();
                    let of_enum = (!self.enums.is_empty())
                        .then(|| i64::try_from(longest_enum.unwrap_or(0)).unwrap_or(longest));
                    simple(Type::String, characters.or(of_enum).unwrap_or(longest), 2)
                }
            },
            Kind::Boolean => simple(Type::Bool, 0, 4),
            Kind::Number => simple(Type::Double, 0, 1),
            Kind::Integer => simple(Type::Int, 0, 1),
            Kind::None | Kind::Other => None,
        }
    }
}
