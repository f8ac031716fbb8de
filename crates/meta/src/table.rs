//! Tables, which is what `kubectl get` asks for, and objects without all but their metadata.

use json::{Object, Value, json};

use crate::object::metadata;

/// A column, as clients see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub kind: String,
    pub format: String,
    pub description: String,
    /// Above 0 only for wide output.
    pub priority: i32,
}

impl Column {
    pub fn to_value(&self) -> Value {
        let mut out = Object::with_capacity(5);
        out.insert("name", &self.name);
        out.insert("type", &self.kind);
        out.insert("format", &self.format);
        out.insert("description", &self.description);
        out.insert("priority", self.priority);
        Value::Object(out)
    }
}

/// How much of the object goes into its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeObject {
    None,
    #[default]
    Metadata,
    Object,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub cells: Vec<Value>,
    /// Such as the condition that a pod has run to its end.
    pub conditions: Vec<Value>,
    pub object: Value,
}

impl Row {
    pub fn new(cells: Vec<Value>, object: &Value, include: IncludeObject) -> Self {
        Self {
            cells,
            conditions: Vec::new(),
            object: match include {
                IncludeObject::None => Value::Null,
                IncludeObject::Metadata => partial_object_metadata(object),
                IncludeObject::Object => object.clone(),
            },
        }
    }

    pub fn into_value(self) -> Value {
        let mut out = Object::with_capacity(3);
        out.insert("cells", self.cells);
        if !self.conditions.is_empty() {
            out.insert("conditions", self.conditions);
        }
        out.insert("object", self.object);
        Value::Object(out)
    }
}

/// `metav1.Table`. Without columns they are null, as in all but the first event of a watch.
pub fn table(list_meta: Value, columns: Option<&[Column]>, rows: Vec<Row>) -> Value {
    let columns: Value = match columns {
        Some(columns) => columns.iter().map(Column::to_value).collect(),
        None => Value::Null,
    };
    let rows: Value = rows.into_iter().map(Row::into_value).collect();
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": list_meta,
        "columnDefinitions": columns,
        "rows": rows,
    })
}

/// An object reduced to its metadata, under a kind of its own.
pub fn partial_object_metadata(object: &Value) -> Value {
    let metadata = metadata(object).cloned().unwrap_or_default();
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
    })
}

pub fn partial_object_metadata_list<'a>(
    list_meta: Value,
    items: impl IntoIterator<Item = &'a Value>,
) -> Value {
    let items: Value = items.into_iter().map(partial_object_metadata).collect();
    json!({
        "kind": "PartialObjectMetadataList",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": list_meta,
        "items": items,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::list_meta;

    #[test]
    fn tables() {
        let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {}});
        let columns = [Column {
            name: "Name".into(),
            kind: "string".into(),
            format: "name".into(),
            ..Column::default()
        }];
        let head = r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"columnDefinitions":"#;
        let names =
            r#"[{"name":"Name","type":"string","format":"name","description":"","priority":0}]"#;
        let partial = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}}"#;
        let table_of = |columns: Option<&[Column]>, include| {
            let rows = vec![Row::new(vec![json!("a")], &pod, include)];
            json::to_string(&table(list_meta("7", "", None), columns, rows))
        };
        let cases = [
            (IncludeObject::None, "null"),
            (IncludeObject::Metadata, partial),
            (IncludeObject::Object, &json::to_string(&pod)),
        ];
        for (include, object) in cases {
            let rows = format!(r#","rows":[{{"cells":["a"],"object":{object}}}]}}"#);
            assert_eq!(
                table_of(Some(&columns), include),
                format!("{head}{names}{rows}")
            );
            assert_eq!(table_of(None, include), format!("{head}null{rows}"));
        }
        let list = partial_object_metadata_list(list_meta("7", "c", Some(2)), [&pod]);
        let meta = r#"{"resourceVersion":"7","continue":"c","remainingItemCount":2}"#;
        let want = format!(
            r#"{{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{meta},"items":[{partial}]}}"#
        );
        assert_eq!(json::to_string(&list), want);
    }
}
