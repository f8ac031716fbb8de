//! Who set a field: each step of a build that changed a resource leaves a copy of it behind, if someone is to ask.
//! If nobody is, a resource carries an empty pointer and nothing else happens.

mod field;

use std::fmt::{self, Write as _};
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::node::Node;
use crate::output::Output;
use crate::resmap::ResMap;
use crate::resource::Resource;
use field::{Field, leaves, shown};

/// What a resource was after each step that changed it.
pub(crate) type History = Option<Box<Vec<Step>>>;

#[derive(Clone, Debug)]
pub(crate) struct Step {
    by: Rc<Cause>,
    node: Node,
}

/// What changed a resource.
#[derive(Debug)]
pub(crate) struct Cause {
    /// A file, or a field of one.
    pub(crate) place: String,
    /// The file that it has the new nodes from, if it has.
    pub(crate) file: Option<String>,
}

impl Cause {
    pub(crate) fn of(place: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            file: None,
        }
    }

    pub(crate) fn file(path: String) -> Self {
        Self {
            place: String::new(),
            file: Some(path),
        }
    }
}

/// Adds a step to all resources that are not what they were.
pub(crate) fn record(map: &mut ResMap, cause: Cause) {
    let cause = Rc::new(cause);
    for resource in map.raw_list_mut() {
        resource.record(&cause);
    }
}

impl Resource {
    pub(crate) fn record(&mut self, cause: &Rc<Cause>) {
        let steps = self.history.get_or_insert_default();
        if steps.last().is_none_or(|last| last.node != self.node) {
            steps.push(Step {
                by: Rc::clone(cause),
                node: self.node.clone(),
            });
        }
    }
}

/// The answer to who set a field, or all fields of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// As `Deployment/web:spec.replicas`.
    pub of: String,
    /// The newest first.
    pub changes: Vec<Change>,
}

/// A field got a value, or lost it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Empty if only one field was asked for.
    pub field: String,
    pub value: Option<String>,
    /// The file with its line, or the field of a kustomization.
    pub by: String,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.of)?;
        let left = |it: &Change| {
            let value = it.value.as_deref().unwrap_or("(not set)");
            if it.field.is_empty() {
                value.to_owned()
            } else {
                format!("{}: {value}", it.field)
            }
        };
        let lefts: Vec<String> = self.changes.iter().map(left).collect();
        let width = lefts.iter().map(|it| it.chars().count()).max().unwrap_or(0);
        for (change, left) in self.changes.iter().zip(lefts) {
            writeln!(f, "  {left:width$}  {}", change.by)?;
        }
        Ok(())
    }
}

impl Output {
    /// Answers `KIND[.GROUP]/[NAMESPACE/]NAME[:FIELD]`, by the name that the resource has or once had; the options of
    /// the build must have said that it would be asked.
    pub fn explain(&self, question: &str) -> std::result::Result<Explanation, Error> {
        self.sources.during(|| self.answer(question))
    }

    fn answer(&self, question: &str) -> Result<Explanation> {
        let (resource, field) = match question.split_once(':') {
            Some((resource, field)) => (resource, Some(Field::parse(field)?)),
            None => (question, None),
        };
        let resource = self.find(resource)?;
        let steps = resource.history.as_deref().map_or(&[][..], Vec::as_slice);
        if steps.is_empty() {
            return Err(Error::new("the build kept no record to explain it from"));
        }
        let id = resource.current_id();
        let mut of = format!("{}/{}", id.gvk.kind, id.name);
        let changes = if let Some(field) = field {
            _ = write!(of, ":{field}");
            changes_of(&field, steps)
        } else {
            let fields = leaves(&resource.node).into_iter();
            let last = fields.filter_map(|field| {
                let newest = changes_of(&field, steps).into_iter().next()?;
                Some(Change {
                    field: field.to_string(),
                    ..newest
                })
            });
            last.collect()
        };
        if changes.is_empty() {
            return Err(Error::new(format!("{of} is not set, and never was")));
        }
        Ok(Explanation { of, changes })
    }

    fn find(&self, wanted: &str) -> Result<&Resource> {
        let parts: Vec<&str> = wanted.split('/').collect();
        let (kind, namespace, name) = match parts[..] {
            [kind, name] => (kind, None, name),
            [kind, namespace, name] => (kind, Some(namespace), name),
            _ => {
                return Err(Error::new(format!(
                    "'{wanted}' is not of the form KIND[.GROUP]/[NAMESPACE/]NAME"
                )));
            }
        };
        let (kind, group) = match kind.split_once('.') {
            Some((kind, group)) => (kind, Some(group)),
            None => (kind, None),
        };
        let fits = |it: &&Resource, name_of: &dyn Fn(&Resource) -> bool| {
            let id = it.current_id();
            id.gvk.kind.eq_ignore_ascii_case(kind)
                && group.is_none_or(|group| *id.gvk.group == *group)
                && namespace.is_none_or(|it| *id.namespace == *it)
                && name_of(it)
        };
        let now = |it: &Resource| *it.current_id().name == *name;
        let ever = |it: &Resource| it.history_names().any(|it| it == name);
        let mut found: Vec<&Resource> = self
            .resources()
            .iter()
            .filter(|it| fits(it, &now))
            .collect();
        if found.is_empty() {
            found = self
                .resources()
                .iter()
                .filter(|it| fits(it, &ever))
                .collect();
        }
        match found[..] {
            [one] => Ok(one),
            [] => Err(Error::new(format!("the output has no {wanted}"))),
            _ => {
                let all: Vec<String> = found.iter().map(|it| it.current_id().to_string()).collect();
                Err(Error::new(format!(
                    "{wanted} may be any of: {}",
                    all.join(", ")
                )))
            }
        }
    }
}

impl Resource {
    fn history_names(&self) -> impl Iterator<Item = String> {
        let steps = self.history.iter().flat_map(|it| it.iter());
        steps.map(|step| step.node.name().to_string())
    }
}

/// The newest first.
fn changes_of(field: &Field, steps: &[Step]) -> Vec<Change> {
    let mut changes = Vec::new();
    let (mut before, mut place_before) = (None, None);
    for step in steps {
        let found = field.find(&step.node);
        let value = found.map(shown);
        let place = found.and_then(Node::file_and_line);
        if value != before {
            // A node that stayed in its place got another value there.
            let is_new = place != place_before;
            changes.push(Change {
                field: String::new(),
                value: value.clone(),
                by: step.name(place.as_ref().filter(|_| is_new)),
            });
        }
        (before, place_before) = (value, place);
    }
    changes.reverse();
    changes
}

impl Step {
    fn name(&self, source: Option<&(Rc<str>, u32)>) -> String {
        let Cause { place, file } = &*self.by;
        let source = source.map(|(file, line)| format!("{file}:{line}"));
        let file = source.or_else(|| file.clone());
        match (file, place.is_empty()) {
            (Some(file), true) => file,
            (Some(file), false) => format!("{file}, by {place}"),
            (None, _) => place.clone(),
        }
    }
}
