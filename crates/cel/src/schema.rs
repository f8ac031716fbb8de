//! Structural schemas: the types of data, how large it can be, and how JSON becomes a value.
//!
//! What is visible and how follows `SchemaDeclType` and `UnstructuredToVal` of Kubernetes.

pub(crate) mod escape;
pub(crate) mod formats;
mod read;
mod values;

use std::sync::Arc;

use crate::env::StructType;
use crate::types::Type;

/// No request has more bytes, which bounds what has no bound of its own.
pub const MAX_REQUEST_SIZE: i64 = 3 << 20;

/// A node of a structural schema.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a keyword of schemas"
)]
pub struct Schema {
    kind: Kind,
    format: Format,
    nullable: bool,
    embedded: bool,
    preserve_unknown: bool,
    /// The properties of an object by their names, in order; nothing if it has none.
    properties: Option<Vec<Property>>,
    additional: Option<Arc<Schema>>,
    items: Option<Arc<Schema>>,
    list_kind: ListKind,
    list_keys: Vec<Arc<str>>,
    has_default: bool,
    enums: Vec<json::Value>,
    max_length: Option<i64>,
    max_items: Option<i64>,
    max_properties: Option<i64>,
    /// The type of values; nothing if expressions do not see them.
    visible: Option<Visible>,
}

/// What expressions see of a node.
#[derive(Clone, Debug)]
struct Visible {
    cel: Type,
    max_elements: i64,
    min_size: i64,
}

#[derive(Clone, Debug)]
struct Property {
    name: Arc<str>,
    /// Its name in expressions; nothing if it cannot be written there.
    escaped: Option<Arc<str>>,
    required: bool,
    schema: Arc<Schema>,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Kind {
    #[default]
    None,
    Object,
    Array,
    String,
    Number,
    Integer,
    Boolean,
    IntOrString,
    Other,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Format {
    #[default]
    None,
    Duration,
    Date,
    DateTime,
    Byte,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum ListKind {
    #[default]
    Atomic,
    Set,
    Map,
}

/// Object types by their names.
pub type Structs = Vec<(Arc<str>, StructType)>;

impl Schema {
    /// The type of the values, and the object types it is made of. Objects are named by their path below `root`.
    pub fn types(&self, root: &str) -> Option<(Type, Structs)> {
        let mut all = Vec::new();
        let of = self.name(root, &mut all)?;
        Some((of, all))
    }

    /// How large values are: characters, elements or entries.
    pub fn max_elements(&self) -> Option<i64> {
        self.visible.as_ref().map(|it| it.max_elements)
    }

    /// How many bytes a value has at least.
    pub fn min_serialized_size(&self) -> Option<i64> {
        self.visible.as_ref().map(|it| it.min_size)
    }

    /// How many values of this schema a request can have at most.
    pub fn max_cardinality(&self) -> Option<u64> {
        let size = self.min_serialized_size()?.saturating_add(1).max(1);
        u64::try_from(MAX_REQUEST_SIZE / size).ok()
    }

    /// The schema of the elements of a list.
    pub fn items(&self) -> Option<&Arc<Schema>> {
        self.items.as_ref()
    }

    /// The schema of the values of a map.
    pub fn additional(&self) -> Option<&Arc<Schema>> {
        self.additional.as_ref()
    }

    /// The schema of a property by its name in the data.
    pub fn property(&self, name: &str) -> Option<&Arc<Schema>> {
        self.find_property(name).map(|it| &it.schema)
    }

    fn find_property(&self, name: &str) -> Option<&Property> {
        let all = self.properties.as_ref()?;
        let at = all.binary_search_by(|it| (*it.name).cmp(name)).ok()?;
        Some(&all[at])
    }

    /// A property by its name in expressions.
    fn find_escaped(&self, escaped: &str) -> Option<&Property> {
        let found = self.find_property(&escape::unescape(escaped)?)?;
        (found.escaped.as_deref() == Some(escaped)).then_some(found)
    }

    pub(crate) fn list_kind(&self) -> ListKind {
        self.list_kind
    }

    /// What a step of a path leads to: a field, `@items`, `@values` or `@keys`. How large that is.
    pub(crate) fn size_at(&self, path: &[Arc<str>]) -> Option<i64> {
        let mut node = self;
        for (at, step) in path.iter().enumerate() {
            node.visible.as_ref()?;
            node = match &**step {
                "@items" | "@values" => match (&node.kind, &node.items, &node.additional) {
                    (Kind::Array, Some(items), _) => items,
                    (Kind::Object, _, Some(additional)) => additional,
                    _ => return None,
                },
                "@keys" => {
                    let is_map = node.kind == Kind::Object && node.additional.is_some();
                    // Keys are strings of any length, and have no parts.
                    return (is_map && at + 1 == path.len()).then_some(0);
                }
                field => {
                    if node.additional.is_some() {
                        return None;
                    }
                    &node.find_escaped(field)?.schema
                }
            };
        }
        node.max_elements()
    }

    /// The type of the values; objects are named by their path below `name`, and described by [`Self::field_named`].
    pub(crate) fn type_named(&self, name: &str) -> Option<Type> {
        let visible = self.visible.as_ref()?;
        Some(match (self.kind, &self.additional) {
            (Kind::Array, _) => {
                Type::list(self.items.as_ref()?.type_named(&format!("{name}.@idx"))?)
            }
            (Kind::Object, Some(it)) => {
                Type::map(Type::String, it.type_named(&format!("{name}.@elem"))?)
            }
            (Kind::Object, None) => Type::structure(name),
            _ => visible.cel.clone(),
        })
    }

    /// The object that a path below this schema names.
    pub(crate) fn object_at(&self, path: &str) -> Option<&Schema> {
        let mut node = self;
        for step in path.split('.').filter(|it| !it.is_empty()) {
            node.visible.as_ref()?;
            node = match step {
                "@idx" => node.items.as_ref()?,
                "@elem" => node.additional.as_ref()?,
                field => &node.find_escaped(field)?.schema,
            };
        }
        let is_object = node.kind == Kind::Object && node.additional.is_none();
        (is_object && node.visible.is_some()).then_some(node)
    }

    /// The type of a field of an object that is named `name`.
    pub(crate) fn field_named(&self, name: &str, field: &str) -> Option<Type> {
        // A keyword can be written as it is.
        let found = if escape::is_reserved(field) {
            self.find_property(field)?
        } else {
            self.find_escaped(field)?
        };
        let escaped = found.escaped.as_ref()?;
        found.schema.type_named(&format!("{name}.{escaped}"))
    }

    fn name(&self, name: &str, all: &mut Structs) -> Option<Type> {
        let visible = self.visible.as_ref()?;
        Some(match self.kind {
            Kind::Array => Type::list(self.items.as_ref()?.name(&format!("{name}.@idx"), all)?),
            Kind::Object => {
                if let Some(it) = &self.additional {
                    Type::map(Type::String, it.name(&format!("{name}.@elem"), all)?)
                } else {
                    let mut structure = StructType::default();
                    for property in self.properties.iter().flatten() {
                        let Some(escaped) = &property.escaped else {
                            continue;
                        };
                        if let Some(of) = property.schema.name(&format!("{name}.{escaped}"), all) {
                            // A keyword can be written as it is.
                            if escape::is_reserved(&property.name) {
                                structure.fields.insert(property.name.clone(), of.clone());
                            }
                            structure.fields.insert(escaped.clone(), of);
                        }
                    }
                    let name: Arc<str> = Arc::from(name);
                    all.push((name.clone(), structure));
                    Type::Struct(name)
                }
            }
            _ => visible.cel.clone(),
        })
    }
}
