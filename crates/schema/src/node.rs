//! Nodes, and how to walk them.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use json::{Text, Value};

use crate::structural::Rules;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(pub u32);

/// All nodes of a set of types.
#[derive(Debug, Default)]
pub struct Arena {
    pub nodes: Vec<Node>,
}

/// The type of one kind of object.
#[derive(Clone, Debug)]
pub struct Schema {
    pub arena: Arc<Arena>,
    pub root: NodeId,
}

impl Schema {
    pub fn place(&self) -> Place<'_> {
        Place {
            arena: &self.arena,
            id: self.root,
        }
    }
}

/// What may stand at one place.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub shape: Shape,
    pub nullable: bool,
    /// `x-kubernetes-preserve-unknown-fields`: below, fields that no schema names are kept.
    pub preserve_unknown: bool,
    /// `x-kubernetes-embedded-resource`: an object with apiVersion, kind and metadata of its own.
    pub embedded: bool,
    /// How a strategic merge patch treats it.
    pub patch: Patch,
    pub default: Option<Value>,
    /// What the shape does not say of how values are written.
    pub format: Format,
    /// The only values there are, if they are listed. Built-in kinds check them by code, not by schema.
    pub values: Option<Arc<[Text]>>,
    /// The Go type behind a built-in type.
    pub go: Option<Arc<Go>>,
    /// What a structural schema demands of values.
    pub rules: Option<Arc<Rules>>,
}

/// How a value is written within its shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    None,
    /// Of an integer or a number.
    Int32,
    Int64,
    Double,
    /// A string that is the base64 of bytes.
    Byte,
    Quantity,
    /// Of seconds.
    Time,
    MicroTime,
    Duration,
    /// Any object, kept as it came.
    RawExtension,
    FieldsV1,
    /// Any value, kept as it came.
    Json,
    /// A schema (of `JSONSchemaProps`), or as well: an array of them, a boolean, an array of strings.
    SchemaOrArray(NodeId),
    SchemaOrBool(NodeId),
    SchemaOrStrings(NodeId),
}

/// What a Go type adds to its schema: how `encoding/json` and the generated protobuf code treat it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// As Go prints it: `v1.PodSpec`.
    pub name: Text,
    /// Of an object: one for each of its fields, in the same order.
    pub fields: Vec<GoField>,
    /// Of an object: its protobuf fields, by number.
    pub members: Vec<Member>,
    /// Of a list: in protobuf a message of its own, with the items in field 1.
    pub wrapped: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent")]
pub struct GoField {
    /// The embedded structs that it comes from, which Go's errors name: `VolumeSource`.
    pub through: Option<Text>,
    pub pointer: bool,
    pub omit_empty: bool,
    pub omit_zero: bool,
    /// The published schema names the type's zero value as default.
    pub zero_default: bool,
}

/// A field of a protobuf message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub number: u32,
    pub what: Inside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// The index of the object's field.
    Field(u16),
    /// A message of its own, whose fields stand among the object's.
    Inlined(NodeId),
}

#[derive(Clone, Debug, Default)]
pub enum Shape {
    /// Anything at all: a schema says nothing here.
    #[default]
    Any,
    Boolean,
    Integer,
    Number,
    String,
    /// `x-kubernetes-int-or-string`
    IntOrString,
    /// Fields with names. In the order in which they are written.
    Object {
        fields: Fields,
        map_type: MapType,
    },
    /// Any key, all values of one type.
    Map {
        values: NodeId,
        map_type: MapType,
    },
    List {
        items: NodeId,
        list_type: ListType,
    },
}

/// The fields of an object. Many of them, as a definition may have, are found by an index.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    list: Vec<Field>,
    index: HashMap<Text, usize>,
}

impl Fields {
    /// More than this are indexed; no built-in type has so many.
    const FEW: usize = 64;

    pub fn position(&self, name: &str) -> Option<usize> {
        if self.index.is_empty() {
            return self.list.iter().position(|it| *it.name == *name);
        }
        self.index.get(name).copied()
    }

    pub fn find(&self, name: &str) -> Option<&Field> {
        self.position(name).map(|at| &self.list[at])
    }

    /// Names stay as they are.
    pub(crate) fn for_each_node(&mut self, mut change: impl FnMut(NodeId) -> NodeId) {
        for field in &mut self.list {
            field.node = change(field.node);
        }
    }

    pub fn into_vec(self) -> Vec<Field> {
        self.list
    }
}

impl Deref for Fields {
    type Target = [Field];

    fn deref(&self) -> &[Field] {
        &self.list
    }
}

impl<'a> IntoIterator for &'a Fields {
    type Item = &'a Field;
    type IntoIter = std::slice::Iter<'a, Field>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl From<Vec<Field>> for Fields {
    /// The first of a name counts.
    fn from(list: Vec<Field>) -> Self {
        let mut index = HashMap::new();
        if list.len() > Self::FEW {
            for (at, field) in list.iter().enumerate() {
                index.entry(field.name.clone()).or_insert(at);
            }
        }
        Self { list, index }
    }
}

impl FromIterator<Field> for Fields {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        fields.into_iter().collect::<Vec<_>>().into()
    }
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: Text,
    pub node: NodeId,
    pub required: bool,
}

/// `x-kubernetes-map-type`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapType {
    #[default]
    Granular,
    Atomic,
}

/// `x-kubernetes-list-type`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListType {
    #[default]
    Atomic,
    Set,
    /// With its `x-kubernetes-list-map-keys`.
    Map(Vec<Text>),
}

/// `x-kubernetes-patch-strategy` and `x-kubernetes-patch-merge-key`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// A list is merged, not replaced.
    pub merge: bool,
    /// An object is replaced, not merged.
    pub replace: bool,
    /// Fields that the patch does not name in `$retainKeys` go.
    pub retain_keys: bool,
    pub merge_key: Option<Text>,
}

/// A node in its arena. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    arena: &'a Arena,
    id: NodeId,
}

impl<'a> Place<'a> {
    pub fn new(arena: &'a Arena, id: NodeId) -> Self {
        Self { arena, id }
    }

    pub fn id(self) -> NodeId {
        self.id
    }

    /// Another place of the same arena.
    #[must_use]
    pub fn at(self, id: NodeId) -> Place<'a> {
        self.go(id)
    }

    pub fn node(self) -> &'a Node {
        &self.arena.nodes[self.id.0 as usize]
    }

    /// How many nodes there are in all.
    pub(crate) fn nodes(self) -> usize {
        self.arena.nodes.len()
    }

    pub fn shape(self) -> &'a Shape {
        &self.node().shape
    }

    /// The type below a key: the field of that name, or the map's values.
    pub fn field(self, name: &str) -> Option<Place<'a>> {
        match self.shape() {
            Shape::Object { fields, .. } => fields.find(name).map(|field| self.go(field.node)),
            Shape::Map { values, .. } => Some(self.go(*values)),
            _ => None,
        }
    }

    pub fn items(self) -> Option<Place<'a>> {
        match self.shape() {
            Shape::List { items, .. } => Some(self.go(*items)),
            _ => None,
        }
    }

    fn go(self, id: NodeId) -> Place<'a> {
        Place {
            arena: self.arena,
            id,
        }
    }
}
