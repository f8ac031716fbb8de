//! Schemas that users bring: an `OpenAPI` document with `definitions`.

use json::Value;

use super::{Around, Schema, Shape, Type};
use crate::error::{Error, Result};

impl Schema {
    /// Adds a user's definitions; those that are there stay.
    pub(crate) fn parse(mut self, text: &[u8]) -> Result<Self> {
        let document = if text.starts_with(b"{") {
            json::parse(text)
                .map_err(|error| Error::new(format!("invalid schema file: {error}")))?
        } else {
            yaml::to_json(text)?
        };
        let empty = json::Object::new();
        let definitions = document.get("definitions").and_then(Value::as_object);
        let definitions = definitions.unwrap_or(&empty);
        let mut new = Vec::new();
        for (name, definition) in definitions.iter() {
            if !self.named.contains_key(name.as_str()) {
                self.named.insert(name.to_string(), self.types.len());
                new.push((self.types.len(), definition));
                self.types.push(Type::default());
            }
        }
        let mut reader = Reader { schema: self };
        for (at, definition) in new {
            let of = reader.read_type(definition);
            reader.schema.types[at] = of;
            let kinds = definition.get("x-kubernetes-group-version-kind");
            for kind in kinds.and_then(Value::as_array).into_iter().flatten() {
                let part = |key| kind.get(key).and_then(Value::as_str).unwrap_or_default();
                let api_version = match part("group") {
                    "" => part("version").to_owned(),
                    group => format!("{group}/{}", part("version")),
                };
                let key = (api_version, part("kind").to_owned());
                reader.schema.kinds.entry(key).or_insert(at);
            }
        }
        Ok(reader.schema)
    }
}

struct Reader {
    schema: Schema,
}

impl Reader {
    fn read_type(&mut self, definition: &Value) -> Type {
        let mut of = Type::default();
        let properties = definition.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flat_map(json::Object::iter) {
            let shape = self.shape(property);
            of.fields.push((name.to_string(), shape));
        }
        let others = definition.get("additionalProperties");
        of.others = others
            .filter(|it| it.as_object().is_some())
            .map(|it| self.shape(it));
        of
    }

    fn shape(&mut self, property: &Value) -> Shape {
        let mut shape = Shape::default();
        let is_list = |it: &Value| it.get("type").and_then(Value::as_str) == Some("array");
        if is_list(property) {
            let strategy = property.get("x-kubernetes-patch-strategy");
            let strategy = strategy.and_then(Value::as_str).unwrap_or_default();
            if strategy.split(',').any(|it| it == "merge") {
                shape.merge_keys = Some(keys(property));
            }
        }
        let mut inner = property;
        loop {
            if let Some(reference) = inner.get("$ref").and_then(Value::as_str) {
                let name = reference.rsplit('/').next().unwrap_or(reference);
                shape.inner = self.schema.named.get(name).copied();
                return shape;
            }
            let items = inner.get("items").filter(|_| is_list(inner));
            match items {
                Some(items) => {
                    shape.around.push(Around::List);
                    inner = items;
                }
                None => break,
            }
        }
        if inner.get("properties").is_some() || inner.get("additionalProperties").is_some() {
            let of = self.read_type(inner);
            self.schema.types.push(of);
            shape.inner = Some(self.schema.types.len() - 1);
        }
        shape
    }
}

fn keys(property: &Value) -> Vec<String> {
    let list = property.get("x-kubernetes-list-map-keys");
    if let Some(list) = list.and_then(Value::as_array) {
        return list
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
    }
    let key = property.get("x-kubernetes-patch-merge-key");
    key.and_then(Value::as_str)
        .map(str::to_owned)
        .into_iter()
        .collect()
}
