//! Hot path. Walking to the fields that a spec names, making what is missing where it says so.

use std::collections::HashMap;
use std::rc::Rc;

use crate::error::{Error, Result, Wrap as _};
use crate::id::{Gvk, ResId};
use crate::node::{Data, Kind, Node, Style, Tag, check_depth, is_field_name, split_path};
use crate::types::FieldSpec;

pub(crate) type Set<'s> = &'s mut dyn FnMut(&mut Node) -> Result<()>;

/// What is made at the end of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Make {
    pub(crate) kind: Kind,
    pub(crate) tag: Tag,
}

#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) gvk: Gvk,
    pub(crate) path: String,
    pub(crate) create: bool,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    name: String,
    /// Written as `name[]`.
    is_list: bool,
}

impl From<&FieldSpec> for Spec {
    fn from(spec: &FieldSpec) -> Self {
        let parts = split_path(&spec.path, '/').into_iter();
        Self {
            gvk: spec.gvk(),
            path: spec.path.clone(),
            create: spec.create,
            parts: parts
                .map(|part| match part.strip_suffix("[]") {
                    Some(name) => Part {
                        name: name.to_owned(),
                        is_list: true,
                    },
                    None => Part {
                        name: part,
                        is_list: false,
                    },
                })
                .collect(),
        }
    }
}

/// Specs, and which of them are for which kind.
#[derive(Debug)]
pub(crate) struct Specs {
    all: Vec<Rc<Spec>>,
    by_gvk: HashMap<Gvk, Rc<[Rc<Spec>]>>,
}

impl<'a> FromIterator<&'a FieldSpec> for Specs {
    fn from_iter<I: IntoIterator<Item = &'a FieldSpec>>(specs: I) -> Self {
        Self {
            all: specs.into_iter().map(|it| Rc::new(it.into())).collect(),
            by_gvk: HashMap::new(),
        }
    }
}

impl Specs {
    pub(crate) fn of(&mut self, gvk: &Gvk) -> Rc<[Rc<Spec>]> {
        if let Some(known) = self.by_gvk.get(gvk) {
            return Rc::clone(known);
        }
        let fit = self.all.iter().filter(|it| gvk.is_selected(&it.gvk));
        let fit: Rc<[Rc<Spec>]> = fit.cloned().collect();
        self.by_gvk.insert(gvk.clone(), Rc::clone(&fit));
        fit
    }

    /// Sets all fields of an object that are meant.
    pub(crate) fn apply(
        &mut self,
        node: &mut Node,
        make: Option<Make>,
        set: Set<'_>,
    ) -> Result<()> {
        for spec in self.of(&Gvk::of(node)).iter() {
            spec.apply(node, make, set)?;
        }
        Ok(())
    }
}

impl Spec {
    /// The caller knows that the object is of the right kind.
    pub(crate) fn apply(&self, node: &mut Node, make: Option<Make>, set: Set<'_>) -> Result<()> {
        let fits = check_depth(self.parts.len(), &Node::plain(""));
        let done = fits.and_then(|()| self.walk(node, &self.parts, make, set));
        done.map_err(|error| {
            let id = ResId {
                gvk: Gvk::of(node),
                name: node.name(),
                namespace: node.namespace(),
            };
            error.wrap(format!("considering field '{}' of object {id}", self.path))
        })
    }

    fn walk(
        &self,
        node: &mut Node,
        parts: &[Part],
        make: Option<Make>,
        set: Set<'_>,
    ) -> Result<()> {
        if parts.is_empty() {
            return set(node);
        }
        if node.is_null() {
            return Ok(());
        }
        match &mut node.data {
            Data::Seq(items) => {
                for item in items {
                    self.walk(item, parts, make, set).wrap_with(|| {
                        let parts: Vec<_> = parts.iter().map(Part::text).collect();
                        format!("visit traversal on path: [{}]", parts.join(" "))
                    })?;
                }
                Ok(())
            }
            Data::Map(_) => self.walk_map(node, parts, make, set),
            Data::Scalar(_) => Err(Error::new("expected sequence or mapping node")),
        }
    }

    fn walk_map(
        &self,
        node: &mut Node,
        parts: &[Part],
        make: Option<Make>,
        set: Set<'_>,
    ) -> Result<()> {
        let Some((part, rest)) = parts.split_first() else {
            return Ok(());
        };
        if part.name.is_empty() {
            return Err(Error::new("cannot set or create an empty field name"));
        }
        let (kind, tag) = match make {
            Some(make) if self.create && !part.is_list && rest.is_empty() => {
                (Some(make.kind), make.tag)
            }
            Some(_) if self.create && !part.is_list => (Some(Kind::Map), Tag::Map),
            _ if part.is_list => (Some(Kind::Seq), Tag::None),
            _ => (None, Tag::None),
        };
        let create = kind.filter(|_| !part.is_list);
        let Some(field) = part.find(node, create)? else {
            return Ok(());
        };
        if let (true, Some(kind)) = (field.is_null(), kind) {
            let text = field.raw().clone();
            match kind {
                Kind::Map => field.data = Data::Map(Vec::new()),
                Kind::Seq => field.data = Data::Seq(Vec::new()),
                Kind::Scalar => {}
            }
            if kind != Kind::Scalar {
                // The text stays, as upstream has it.
                field.mark_was_null(text);
            }
            field.tag = tag;
        }
        self.walk(field, rest, make, set)
    }
}

impl Part {
    fn find<'n>(&self, node: &'n mut Node, create: Option<Kind>) -> Result<Option<&'n mut Node>> {
        if !is_field_name(&self.name) {
            let path = [&self.name];
            let found = match create {
                Some(kind) => node.lookup_create(&path, kind),
                None => node.lookup_mut(&path),
            };
            return found.wrap_with(|| format!("fieldName: {}", self.name));
        }
        if let (None, Some(kind)) = (node.get(&self.name), create) {
            node.push(&self.name, new(kind), Style::Plain);
        }
        Ok(node.get_mut(&self.name))
    }

    fn text(&self) -> String {
        format!("{}{}", self.name, if self.is_list { "[]" } else { "" })
    }
}

fn new(kind: Kind) -> Node {
    match kind {
        Kind::Map => Node::map(),
        Kind::Seq => Node::seq(Vec::new()),
        Kind::Scalar => Node::plain(""),
    }
}
