//! Built-in types as `OpenAPI` schemas, from the table of types.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use docs::Texts;
use json::{Object, Value, json};
use schema::{Builtin, Field, Format, Go, GoField, ListType, MapType, Node, NodeId, Shape};

use super::dialect::Dialect;
use super::facts;
use crate::catalog::Resource;
use crate::catalog::gates::Gates;

/// All built-in types, by what documents need to know of them.
pub(super) struct Types {
    builtin: &'static Builtin,
    names: HashMap<NodeId, &'static str>,
    /// A node that adds to a type shares its Go type, by which the type is found.
    by_go: HashMap<*const Go, &'static str>,
    kinds: HashMap<NodeId, (&'static str, &'static str, &'static str)>,
    /// What is not published, for its gate is off.
    gates: Arc<Gates>,
}

impl Types {
    pub(super) fn new(gates: &Arc<Gates>) -> Self {
        let builtin = schema::builtin();
        let mut names = HashMap::new();
        let mut by_go = HashMap::new();
        for name in builtin.names() {
            let Some(schema) = builtin.named(name) else {
                continue;
            };
            names.insert(schema.root, name);
            if let Some(go) = &node(builtin, schema.root).go {
                by_go.insert(Arc::as_ptr(go), name);
            }
        }
        let mut kinds = HashMap::new();
        for (group, version, kind) in builtin.kinds() {
            if let Some(schema) = builtin.kind(group, version, kind) {
                kinds.insert(schema.root, (group, version, kind));
            }
        }
        Self {
            builtin,
            names,
            by_go,
            kinds,
            gates: gates.clone(),
        }
    }

    /// The version of Kubernetes that documents are of.
    pub(super) fn release(&self) -> &str {
        self.gates.release()
    }

    /// The name of the type of a kind, if it is built in.
    pub(super) fn kind(&self, group: &str, version: &str, kind: &str) -> Option<String> {
        let root = self.builtin.kind(group, version, kind)?.root;
        self.names.get(&root).map(|name| (*name).to_owned())
    }

    /// The schemas of the types of these names and of all that they lead to.
    pub(super) fn schemas(
        &self,
        dialect: Dialect,
        scope: &[Scope],
        mut wanted: BTreeSet<String>,
    ) -> BTreeMap<String, Value> {
        let mut found = BTreeMap::new();
        let mut writer = Writer {
            types: self,
            dialect,
            scope,
            texts: Texts::default(),
            next: Vec::new(),
        };
        while let Some(name) = wanted.pop_first() {
            if found.contains_key(&name) {
                continue;
            }
            if let Some(schema) = writer.named(&name) {
                found.insert(name, schema);
            }
            let new = writer.next.drain(..);
            wanted.extend(new.filter(|it| !found.contains_key(*it)).map(str::to_owned));
        }
        found
    }

    /// The name by which documents refer to a node: structs and those types that write themselves.
    fn reference(&self, id: NodeId, node: &Node) -> Option<&'static str> {
        let refers = match (&node.shape, node.format) {
            (Shape::Object { .. } | Shape::IntOrString, _) => true,
            (_, Format::None | Format::Int32 | Format::Int64 | Format::Double | Format::Byte) => {
                false
            }
            _ => true,
        };
        if !refers {
            return None;
        }
        let by_go = || self.by_go.get(&Arc::as_ptr(node.go.as_ref()?));
        self.names.get(&id).or_else(by_go).copied()
    }
}

/// The name of the type of a resource, or of its list.
pub(super) fn name_of(resource: &Resource, kind: &str) -> String {
    if resource.custom.is_some() {
        let group: Vec<&str> = resource.group.rsplit('.').collect();
        return format!("{}.{}.{kind}", group.join("."), resource.version);
    }
    match resource.row.schema.rsplit_once('.') {
        Some((package, _)) => format!("{package}.{kind}"),
        None => kind.into(),
    }
}

fn node(builtin: &'static Builtin, id: NodeId) -> &'static Node {
    &builtin.arena().nodes[id.0 as usize]
}

/// Group and version that a document is about.
pub(super) type Scope = (json::Text, json::Text);

struct Writer<'a> {
    types: &'a Types,
    dialect: Dialect,
    scope: &'a [Scope],
    texts: Texts,
    /// Types that were referred to.
    next: Vec<&'static str>,
}

impl Writer<'_> {
    fn named(&mut self, name: &str) -> Option<Value> {
        let id = self.types.builtin.named(name)?.root;
        let node = node(self.types.builtin, id);
        let mut schema = Object::new();
        let text = self.text(name, "");
        if !text.is_empty() {
            schema.push("description", text);
        }
        if !facts::special(self.dialect, node, &mut schema) {
            self.object(name, id, &mut schema);
        }
        let kinds = self.kinds(id);
        if !kinds.is_empty() {
            schema.push("x-kubernetes-group-version-kind", kinds);
        }
        facts::of_type(name, &mut schema);
        Some(schema.into())
    }

    /// What is said of a type or of one of its fields. Lists are not described by themselves.
    fn text(&mut self, name: &str, field: &str) -> String {
        if let Some(text) = self.texts.of(name, field) {
            return text;
        }
        let Some(of) = name.strip_suffix("List") else {
            return String::new();
        };
        let kind = of.rsplit('.').next().unwrap_or_default();
        match field {
            "" => format!("{kind}List is a list of {kind}."),
            "items" => format!("The objects of kind {kind}."),
            "metadata" => String::new(),
            _ => self.texts.of(of, field).unwrap_or_default(),
        }
    }

    fn object(&mut self, name: &str, id: NodeId, schema: &mut Object) {
        let node = node(self.types.builtin, id);
        schema.push("type", "object");
        let Shape::Object { fields, map_type } = &node.shape else {
            return;
        };
        let gates = &*self.types.gates;
        let is_published = |it: &Field| !gates.hide(id, &it.name);
        let required = fields.iter().filter(|it| it.required && is_published(it));
        let required: Value = required.map(|it| &it.name).collect();
        if required.as_array().is_some_and(|it| !it.is_empty()) {
            schema.push("required", required);
        }
        let go = node.go.as_deref().map_or(&[][..], |it| &it.fields);
        let mut order: Vec<usize> = (0..fields.len()).collect();
        order.retain(|at| is_published(&fields[*at]));
        order.sort_by_key(|at| &fields[*at].name);
        let mut properties = Object::with_capacity(fields.len());
        for at in order {
            let field = &fields[at];
            let value = self.property(name, field, go.get(at));
            properties.push(&field.name, value);
        }
        if !properties.is_empty() {
            schema.push("properties", properties);
        }
        if *map_type == MapType::Atomic {
            schema.push("x-kubernetes-map-type", "atomic");
        }
    }

    fn property(&mut self, name: &str, field: &Field, go: Option<&GoField>) -> Value {
        let node = node(self.types.builtin, field.node);
        let mut text = self.text(name, &field.name);
        let more = facts::values(name, &field.name);
        let values = self.values(field.node);
        if let Some(values) = values.as_deref().or(more.as_deref()) {
            facts::name_values(&mut text, values);
        }
        let mut schema = Object::new();
        if !text.is_empty() {
            schema.push("description", text);
        }
        let default = match go {
            Some(go) if go.zero_default && node.default.is_none() => Some(json!({})),
            _ => node.default.clone(),
        };
        let default = default.filter(|_| self.dialect == Dialect::V3);
        if let Some(of) = self.types.reference(field.node, node) {
            if let Some(default) = default {
                schema.push("default", default);
            }
            facts::extensions(name, &field.name, node, true, &mut schema);
            return self.refer(of, schema);
        }
        self.inline(field.node, default, &mut schema);
        if let Some(values) = more {
            schema.push("enum", values.iter().collect::<Value>());
        }
        facts::extensions(name, &field.name, node, false, &mut schema);
        schema.into()
    }

    /// A reference with what stands beside it, which `OpenAPI` 3.0 allows only around it.
    fn refer(&mut self, of: &'static str, mut beside: Object) -> Value {
        self.next.push(of);
        let target = format!("{}{of}", self.dialect.definitions());
        if self.dialect == Dialect::V2 || beside.is_empty() {
            beside.push("$ref", target);
            beside.sort_by_rank(|key| usize::from(key.starts_with("x-")));
        } else {
            beside.push("allOf", json!([{"$ref": target}]));
            beside.sort_by_rank(|key| usize::from(key.starts_with("x-")));
        }
        beside.into()
    }

    /// The values of an enum that are published.
    fn values(&self, id: NodeId) -> Option<Vec<json::Text>> {
        let gates = &self.types.gates;
        let all = node(self.types.builtin, id).values.as_deref()?;
        let shown = all.iter().filter(|it| !gates.hide_value(id, it));
        Some(shown.cloned().collect())
    }

    fn inline(&mut self, id: NodeId, default: Option<Value>, schema: &mut Object) {
        let node = node(self.types.builtin, id);
        let (ty, format) = match (&node.shape, node.format) {
            (Shape::Boolean, _) => ("boolean", ""),
            (Shape::Integer, Format::Int32) => ("integer", "int32"),
            (Shape::Integer, _) => ("integer", "int64"),
            (Shape::Number, _) => ("number", "double"),
            (Shape::String, Format::Byte) => ("string", "byte"),
            (Shape::String, _) => ("string", ""),
            (Shape::List { .. }, _) => ("array", ""),
            (Shape::Map { .. } | Shape::Object { .. }, _) => ("object", ""),
            (Shape::Any | Shape::IntOrString, _) => return,
        };
        schema.push("type", ty);
        if !format.is_empty() {
            schema.push("format", format);
        }
        if let Some(default) = default {
            schema.push("default", default);
        }
        if let Some(values) = self.values(id) {
            schema.push("enum", values.iter().collect::<Value>());
        }
        match &node.shape {
            Shape::List { items, .. } => {
                let items = self.inner(*items);
                schema.push("items", items);
            }
            Shape::Map { values, .. } => {
                let values = self.inner(*values);
                schema.push("additionalProperties", values);
            }
            _ => {}
        }
    }

    fn inner(&mut self, id: NodeId) -> Value {
        let node = node(self.types.builtin, id);
        if let Some(of) = self.types.reference(id, node) {
            return self.refer(of, Object::new());
        }
        let mut schema = Object::new();
        self.inline(id, None, &mut schema);
        schema.into()
    }

    /// The kinds that a type is. One that is a kind in every group is so in the document's.
    fn kinds(&self, id: NodeId) -> Vec<Value> {
        let one = |group: &str, version: &str, kind: &str| json!({"group": group, "kind": kind, "version": version});
        match self.types.kinds.get(&id) {
            None => Vec::new(),
            Some(("*", _, kind)) => {
                let mut all = vec![one("", "v1", kind)];
                let others = self.scope.iter().filter(|it| !it.0.is_empty());
                all.extend(others.map(|it| one(&it.0, &it.1, kind)));
                all
            }
            Some((group, version, kind)) => vec![one(group, version, kind)],
        }
    }
}

/// Whether a list's type is one that documents name.
pub(super) fn list_type(of: &ListType) -> (&'static str, &[json::Text]) {
    match of {
        ListType::Atomic => ("atomic", &[]),
        ListType::Set => ("set", &[]),
        ListType::Map(keys) => ("map", keys),
    }
}
