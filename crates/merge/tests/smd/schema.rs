//! Types as the tables write them: `@name` refers to a type; the rest is scalar, list and map, or several of them.

use std::collections::HashMap;
use std::sync::Arc;

use json::{Object, Text, Value};
use merge::typed::Type;
use schema::{Arena, Field, ListType, MapType, Node, NodeId, Place, Schema, Shape};

pub(crate) struct Schemas(HashMap<String, Value>);

pub(crate) enum Root {
    Deduced,
    Atomic,
    Schema(Schema),
}

impl Root {
    pub(crate) fn ty(&self) -> Type<'_> {
        match self {
            Self::Deduced => Type::Deduced,
            Self::Atomic => Type::Atomic,
            Self::Schema(schema) => Type::of(Place::new(&schema.arena, schema.root)),
        }
    }
}

impl Schemas {
    pub(crate) fn load(lines: Vec<Vec<Value>>) -> Self {
        let named = lines.into_iter().map(|line| {
            let name = line[1].as_str().expect("a name").to_owned();
            (name, line[2].clone())
        });
        Self(named.collect())
    }

    /// None for types that cannot be written in our schemas.
    pub(crate) fn root(&self, reference: &Value) -> Option<Root> {
        let items = reference.as_array()?;
        let types = &self.0[items[0].as_str()?];
        match items[1].as_str() {
            Some("@__untyped_deduced_") => return Some(Root::Deduced),
            Some("@__untyped_atomic_") => return Some(Root::Atomic),
            _ => {}
        }
        let mut builder = Builder {
            types,
            nodes: Vec::new(),
            named: HashMap::new(),
        };
        let root = builder.reference(&items[1])?;
        let arena = Arc::new(Arena {
            nodes: builder.nodes,
        });
        Some(Root::Schema(Schema { arena, root }))
    }
}

struct Builder<'a> {
    types: &'a Value,
    nodes: Vec<Node>,
    named: HashMap<String, NodeId>,
}

impl Builder<'_> {
    fn push(&mut self) -> NodeId {
        self.nodes.push(Node::default());
        NodeId(u32::try_from(self.nodes.len() - 1).expect("few"))
    }

    fn reference(&mut self, reference: &Value) -> Option<NodeId> {
        let Some(name) = reference.as_str() else {
            let id = self.push();
            self.fill(id, reference)?;
            return Some(id);
        };
        if let Some(id) = self.named.get(name) {
            return Some(*id);
        }
        let id = self.push();
        self.named.insert(name.to_owned(), id);
        match name {
            "@__untyped_deduced_" => return Some(id),
            "@__untyped_atomic_" => return None,
            _ => {}
        }
        let (bare, relation) = match name[1..].split_once('!') {
            Some((bare, relation)) => (bare, Some(relation)),
            None => (&name[1..], None),
        };
        let atom = self.types.get(bare)?.clone();
        self.fill(id, &atom)?;
        if let Some(relation) = relation {
            let wanted = map_type(relation);
            match &mut self.nodes[id.0 as usize].shape {
                Shape::Object { map_type, .. } | Shape::Map { map_type, .. } => *map_type = wanted,
                Shape::List { list_type, .. } if relation == "atomic" => {
                    *list_type = ListType::Atomic;
                }
                _ => return None,
            }
        }
        Some(id)
    }

    fn fill(&mut self, id: NodeId, atom: &Value) -> Option<()> {
        let atom = atom.as_object()?;
        if atom.len() != 1 {
            let list = atom.get("list")?.get("rel")?.as_str()?;
            let values = atom.get("map")?.get("values")?.as_str()?;
            let deduced = list == "atomic" && values == "@__untyped_deduced_";
            return deduced.then_some(());
        }
        let (kind, body) = atom.iter().next()?;
        let mut preserve = false;
        let shape = match kind.as_str() {
            "scalar" => match body.as_str()? {
                "string" => Shape::String,
                "numeric" => Shape::Number,
                "boolean" => Shape::Boolean,
                _ => Shape::IntOrString,
            },
            "list" => Shape::List {
                items: match body.get("items")? {
                    items if items.as_str() == Some("@__untyped_atomic_") => self.push(),
                    items => self.reference(items)?,
                },
                list_type: match (body.get("rel")?.as_str()?, body.get("keys")) {
                    ("associative", Some(keys)) => ListType::Map(
                        (keys.as_array()?.iter())
                            .filter_map(|it| it.as_str().map(Text::from))
                            .collect(),
                    ),
                    ("associative", None) => ListType::Set,
                    _ => ListType::Atomic,
                },
            },
            _ => {
                let map_type = map_type(body.get("rel")?.as_str()?);
                let deduced =
                    body.get("values").and_then(Value::as_str) == Some("@__untyped_deduced_");
                match (body.get("fields"), body.get("values")) {
                    (None, Some(values)) if !deduced => Shape::Map {
                        values: self.reference(values)?,
                        map_type,
                    },
                    (None, None) => return None,
                    (Some(_), Some(_)) if !deduced => return None,
                    (fields, _) => {
                        preserve = deduced;
                        let fields = self.fields(fields, body.get("defaults"))?;
                        Shape::Object {
                            fields: fields.into(),
                            map_type,
                        }
                    }
                }
            }
        };
        let node = &mut self.nodes[id.0 as usize];
        node.shape = shape;
        node.preserve_unknown = preserve;
        Some(())
    }

    fn fields(&mut self, fields: Option<&Value>, defaults: Option<&Value>) -> Option<Vec<Field>> {
        let mut all = Vec::new();
        for (name, reference) in fields
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Object::iter)
        {
            let mut node = self.reference(reference)?;
            if let Some(default) = defaults.and_then(|it| it.get(name)) {
                // A default belongs to the field, not to the type that others share.
                let mut own = self.nodes[node.0 as usize].clone();
                own.default = Some(default.clone());
                node = self.push();
                self.nodes[node.0 as usize] = own;
            }
            all.push(Field {
                name: name.clone(),
                node,
                required: false,
            });
        }
        Some(all)
    }
}

fn map_type(relation: &str) -> MapType {
    match relation {
        "atomic" => MapType::Atomic,
        _ => MapType::Granular,
    }
}
