//! Reads the table of types; xtask says how it is written. It is ours: what it cannot mean is a bug, found by the tests.

use std::collections::HashMap;
use std::sync::Arc;

use json::{Text, Value};

use super::Builtin;
use crate::{
    Arena, Field, Format, Go, GoField, Inside, ListType, MapType, Member, Node, NodeId, Patch,
    Shape,
};

pub(super) fn read(text: &'static str) -> Builtin {
    let mut reader = Reader::default();
    reader.declare(text);
    for at in 0..reader.declared.len() {
        reader.define(at);
    }
    for id in reader.derived.keys().copied().collect::<Vec<_>>() {
        reader.derive(id);
    }
    let arena = Arc::new(Arena {
        nodes: reader.nodes,
    });
    Builtin {
        arena,
        names: reader.names,
        kinds: reader.kinds,
    }
}

/// What the special words of the table stand for, with their names in documents.
const SPECIAL: &[(&str, &str, Shape, Format)] = &[
    (
        "quantity",
        "io.k8s.apimachinery.pkg.api.resource.Quantity",
        Shape::String,
        Format::Quantity,
    ),
    (
        "time",
        "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
        Shape::String,
        Format::Time,
    ),
    (
        "microtime",
        "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
        Shape::String,
        Format::MicroTime,
    ),
    (
        "duration",
        "io.k8s.apimachinery.pkg.apis.meta.v1.Duration",
        Shape::String,
        Format::Duration,
    ),
    (
        "fields",
        "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
        Shape::Any,
        Format::FieldsV1,
    ),
    (
        "raw",
        "io.k8s.apimachinery.pkg.runtime.RawExtension",
        Shape::Any,
        Format::RawExtension,
    ),
    (
        "intorstring",
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
        Shape::IntOrString,
        Format::None,
    ),
    (
        "json",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
        Shape::Any,
        Format::Json,
    ),
];
const EXTENSIONS: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";

#[derive(Default)]
struct Reader {
    nodes: Vec<Node>,
    names: HashMap<String, NodeId>,
    kinds: HashMap<(&'static str, &'static str, &'static str), NodeId>,
    /// The document prefix of a package by its short name.
    packages: HashMap<String, String>,
    declared: Vec<Declared>,
    /// Of the nodes of what is declared, which follow each other.
    first: usize,
    /// Nodes of fields by package, type, facts and whether a zero value is the default.
    known: HashMap<(usize, &'static str, &'static str, bool), NodeId>,
    /// Nodes that are another one with something added: filled when all others are.
    derived: HashMap<NodeId, (NodeId, &'static str)>,
}

struct Declared {
    id: NodeId,
    /// The line after the name.
    rest: &'static str,
    is_alias: bool,
    lines: Vec<&'static str>,
    /// The document prefix of its package, and the number of that package.
    prefix: String,
    package: usize,
    go: Text,
}

impl Reader {
    /// Gives each declared type its node, so that lines can name any.
    fn declare(&mut self, text: &'static str) {
        self.add(Node::default());
        for (_, name, shape, format) in SPECIAL {
            let id = self.add(special(name, shape.clone(), *format));
            self.names.insert((*name).into(), id);
        }
        self.first = self.nodes.len();
        let (mut prefix, mut short, mut package) = (String::new(), "", 0);
        for line in text.lines() {
            if let Some(path) = line.strip_prefix(":package ") {
                let rest = path.trim_start_matches("k8s.io/");
                prefix = format!("io.k8s.{}", rest.replace('/', "."));
                let mut last = prefix.rsplitn(3, '.');
                let (b, a) = (
                    last.next().unwrap_or_default(),
                    last.next().unwrap_or_default(),
                );
                self.packages.insert(format!("{a}.{b}"), prefix.clone());
                short = path.rsplit('/').next().unwrap_or_default();
                package += 1;
            } else if let Some(line) = line.strip_prefix(':') {
                let mut words = line.splitn(3, ' ');
                let is_alias = words.next() == Some("alias");
                let name = words.next().unwrap_or_default();
                let rest = words.next().unwrap_or_default();
                let id = self.add(Node::default());
                self.names.insert(format!("{prefix}.{name}"), id);
                if let Some(kind) = attribute(rest, "kind=") {
                    let (group, version) = match kind {
                        "*" => ("*", "*"),
                        _ => kind.split_once('/').unwrap_or(("", kind)),
                    };
                    self.kinds.insert((group, version, name), id);
                }
                self.declared.push(Declared {
                    id,
                    rest,
                    is_alias,
                    lines: Vec::new(),
                    prefix: prefix.clone(),
                    package,
                    go: format!("{short}.{name}").into(),
                });
            } else if let Some(last) = self.declared.last_mut() {
                last.lines.push(line);
            }
        }
        if let Some(props) = self
            .names
            .get(&format!("{EXTENSIONS}.JSONSchemaProps"))
            .copied()
        {
            for (name, format) in [
                ("Array", Format::SchemaOrArray(props)),
                ("Bool", Format::SchemaOrBool(props)),
                ("StringArray", Format::SchemaOrStrings(props)),
            ] {
                let name = format!("{EXTENSIONS}.JSONSchemaPropsOr{name}");
                let id = self.add(special(&name, Shape::Any, format));
                self.names.insert(name, id);
            }
        }
    }

    fn define(&mut self, at: usize) {
        let id = self.declared[at].id;
        let is_alias = self.declared[at].is_alias;
        let (rest, go) = (self.declared[at].rest, self.declared[at].go.clone());
        if is_alias {
            let (ty, facts) = rest.split_once(' ').unwrap_or((rest, ""));
            let base = self.ty(at, ty, "", false);
            self.derived.insert(id, (base, ""));
            self.nodes[id.0 as usize] = Node {
                // To the end of the line: some values have spaces.
                values: facts
                    .strip_prefix("enum=")
                    .map(|it| it.split(',').map(Text::from).collect()),
                go: Some(Arc::new(Go {
                    name: go,
                    wrapped: facts == "wrapped",
                    ..Go::default()
                })),
                ..Node::default()
            };
            return;
        }
        let mut object = Flat::default();
        self.fields(at, &mut object, None);
        object.members.sort_by_key(|it| it.number);
        self.nodes[id.0 as usize] = Node {
            shape: Shape::Object {
                fields: object.fields.into(),
                map_type: map_type(rest),
            },
            go: Some(Arc::new(Go {
                name: go,
                fields: object.go,
                members: object.members,
                wrapped: false,
            })),
            ..Node::default()
        };
    }

    fn fields(&mut self, at: usize, object: &mut Flat, through: Option<&str>) {
        if self.declared[at].is_alias {
            let base = self.declared[at].rest.split(' ').next().unwrap_or_default();
            if let Some(base) = self.declared_at(self.find(at, base)) {
                self.fields(base, object, through);
            }
            return;
        }
        for index in 0..self.declared[at].lines.len() {
            let line = self.declared[at].lines[index];
            let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
            let mut words = rest.splitn(3, ' ');
            let ty = words.next().unwrap_or_default();
            let number = words.next().and_then(|it| it.parse().ok());
            let rest = words.next().unwrap_or_default();
            let what = if name == "~" {
                let inner = self.find(at, ty);
                if let Some(at) = self.declared_at(inner) {
                    let name = ty.rsplit('.').next().unwrap_or_default();
                    let path = through.map_or(name.to_owned(), |it| format!("{it}.{name}"));
                    self.fields(at, object, Some(&path));
                }
                Inside::Inlined(inner)
            } else {
                // Flags have no `=`; what follows them does.
                let (flags, facts) = match rest.split_once(' ') {
                    _ if rest.split(' ').next().is_some_and(|it| it.contains('=')) => ("", rest),
                    Some((flags, facts)) => (flags, facts),
                    None => (rest, ""),
                };
                let zero_default = flags.contains('d');
                let node = self.ty(at, ty, facts, zero_default);
                object.fields.push(Field {
                    name: name.into(),
                    node,
                    required: flags.contains('r'),
                });
                object.go.push(GoField {
                    through: through.map(Text::from),
                    pointer: ty.starts_with('*'),
                    omit_empty: flags.contains('e'),
                    omit_zero: flags.contains('z'),
                    zero_default,
                });
                Inside::Field(u16::try_from(object.fields.len() - 1).unwrap_or(u16::MAX))
            };
            if let (Some(number), true) = (number, through.is_none()) {
                object.members.push(Member { number, what });
            }
        }
    }

    /// The node of a type with the facts of a field. Nodes that say the same are one.
    fn ty(&mut self, at: usize, ty: &'static str, facts: &'static str, zero: bool) -> NodeId {
        let ty = ty.trim_start_matches('*');
        let zero = if zero { self.zero(at, ty) } else { None };
        let scalar = scalar(ty);
        let is_named = scalar.is_none() && !ty.starts_with("[]") && !ty.starts_with("map[");
        if is_named && facts.is_empty() && zero.is_none() {
            return self.find(at, ty);
        }
        let package = if scalar.is_some() {
            0
        } else {
            self.declared[at].package
        };
        let key = (package, ty, facts, zero.is_some());
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let mut node = Node {
            patch: patch(facts),
            default: attribute(facts, "default=")
                .and_then(|it| json::parse(it.as_bytes()).ok())
                .or(zero),
            ..Node::default()
        };
        let mut base = None;
        if let Some((shape, format)) = scalar {
            (node.shape, node.format) = (shape, format);
        } else if let Some(items) = ty.strip_prefix("[]") {
            let items = self.ty(at, items, "", false);
            let list_type = list_type(facts);
            node.shape = Shape::List { items, list_type };
        } else if let Some(values) = ty.strip_prefix("map[string]") {
            let values = self.ty(at, values, "", false);
            let map_type = map_type(facts);
            node.shape = Shape::Map { values, map_type };
        } else {
            base = Some(self.find(at, ty));
        }
        let id = self.add(node);
        if let Some(base) = base {
            self.derived.insert(id, (base, facts));
        }
        self.known.insert(key, id);
        id
    }

    /// The zero value of a type that is a scalar by its own or by another name.
    fn zero(&self, at: usize, ty: &str) -> Option<Value> {
        Some(match scalar(ty) {
            Some((Shape::String, _)) => "".into(),
            Some((Shape::Boolean, _)) => false.into(),
            Some(_) => 0.into(),
            None => {
                let at = self.declared_at(self.find(at, ty))?;
                let alias = Some(&self.declared[at]).filter(|it| it.is_alias)?;
                return self.zero(at, alias.rest.split(' ').next().unwrap_or_default());
            }
        })
    }

    fn find(&self, at: usize, ty: &str) -> NodeId {
        let name = match SPECIAL.iter().find(|it| it.0 == ty) {
            Some(special) => special.1.into(),
            None => match ty.rsplit_once('.') {
                Some((package, name)) => {
                    let prefix = self.packages.get(package);
                    format!("{}.{name}", prefix.map_or("", String::as_str))
                }
                None if ty.starts_with("schemaor") => format!(
                    "{EXTENSIONS}.JSONSchemaPropsOr{}",
                    match ty {
                        "schemaorarray" => "Array",
                        "schemaorbool" => "Bool",
                        _ => "StringArray",
                    }
                ),
                None => format!("{}.{ty}", self.declared[at].prefix),
            },
        };
        // The first node is `any`.
        self.names.get(&name).copied().unwrap_or(NodeId(0))
    }

    fn declared_at(&self, id: NodeId) -> Option<usize> {
        let at = (id.0 as usize).checked_sub(self.first)?;
        (at < self.declared.len()).then_some(at)
    }

    /// Gives a node that adds to another what the other says.
    fn derive(&mut self, id: NodeId) {
        let Some((base, facts)) = self.derived.remove(&id) else {
            return;
        };
        self.derive(base);
        let from = self.nodes[base.0 as usize].clone();
        let node = &mut self.nodes[id.0 as usize];
        (node.shape, node.format) = (from.shape, from.format);
        match &mut node.shape {
            Shape::Object { map_type: it, .. } | Shape::Map { map_type: it, .. }
                if facts.contains("map=") =>
            {
                *it = map_type(facts);
            }
            Shape::List { list_type: it, .. } => *it = list_type(facts),
            _ => {}
        }
        node.values = node.values.take().or(from.values);
        if let Some(go) = from.go {
            node.go = Some(match node.go.take() {
                // An alias keeps its own name.
                Some(own) => Arc::new(Go {
                    name: own.name.clone(),
                    wrapped: own.wrapped,
                    ..(*go).clone()
                }),
                None => go,
            });
        }
    }

    fn add(&mut self, node: Node) -> NodeId {
        let id = u32::try_from(self.nodes.len()).expect("the table has a few thousand nodes");
        self.nodes.push(node);
        NodeId(id)
    }
}

/// An object's fields, with those of inlined structs among them.
#[derive(Default)]
struct Flat {
    fields: Vec<Field>,
    go: Vec<GoField>,
    members: Vec<Member>,
}

fn special(name: &str, shape: Shape, format: Format) -> Node {
    let package = match format {
        Format::Quantity => "resource",
        Format::RawExtension => "runtime",
        Format::None => "intstr",
        _ => "v1",
    };
    let name = name.rsplit('.').next().unwrap_or_default();
    Node {
        shape,
        format,
        preserve_unknown: matches!(
            format,
            Format::RawExtension | Format::FieldsV1 | Format::Json
        ),
        go: Some(Arc::new(Go {
            name: format!("{package}.{name}").into(),
            ..Go::default()
        })),
        ..Node::default()
    }
}

fn scalar(ty: &str) -> Option<(Shape, Format)> {
    Some(match ty {
        "string" => (Shape::String, Format::None),
        "bool" => (Shape::Boolean, Format::None),
        "int32" => (Shape::Integer, Format::Int32),
        "int64" | "int" => (Shape::Integer, Format::Int64),
        "float64" => (Shape::Number, Format::Double),
        "bytes" => (Shape::String, Format::Byte),
        "any" => (Shape::Any, Format::Json),
        _ => return None,
    })
}

fn attribute(facts: &'static str, name: &str) -> Option<&'static str> {
    facts.split(' ').find_map(|it| it.strip_prefix(name))
}

fn map_type(facts: &'static str) -> MapType {
    match attribute(facts, "map=") {
        Some("atomic") => MapType::Atomic,
        _ => MapType::Granular,
    }
}

fn list_type(facts: &'static str) -> ListType {
    let Some(fact) = attribute(facts, "list=") else {
        return ListType::Atomic;
    };
    let mut words = fact.split(',');
    match words.next() {
        Some("map") => ListType::Map(words.map(Text::from).collect()),
        Some("set") => ListType::Set,
        _ => ListType::Atomic,
    }
}

fn patch(facts: &'static str) -> Patch {
    let Some(fact) = attribute(facts, "patch=") else {
        return Patch::default();
    };
    let (strategies, key) = match fact.split_once(':') {
        Some((strategies, key)) => (strategies, Some(key)),
        None => (fact, None),
    };
    let has = |strategy| strategies.split(',').any(|it| it == strategy);
    Patch {
        merge: has("merge"),
        replace: has("replace"),
        retain_keys: has("retainKeys"),
        merge_key: key.map(Text::from),
    }
}
