//! The resources of a build, in order, found by id without looking at all of them.

mod absorb;
mod meta_selector;
mod select;

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::id::ResId;
use crate::node::{settle, take_changed};
use crate::origin::Origin;
use crate::resource::Resource;

pub(crate) use meta_selector::MetaSelector;
pub(crate) use select::SelectorRegex;

#[derive(Clone, Debug, Default)]
pub(crate) struct ResMap {
    list: Vec<Resource>,
    /// Made when asked for, gone when resources change.
    current: Option<Current>,
    /// Who has or had this id.
    any: Option<HashMap<ResId, Vec<usize>>>,
}

/// How many have which current id.
#[derive(Clone, Debug, Default)]
struct Current {
    counts: HashMap<ResId, u32>,
    /// How many ids more than one has.
    doubles: usize,
}

impl Current {
    /// How many have it now.
    fn add(&mut self, id: ResId) -> u32 {
        let count = self.counts.entry(id).or_default();
        *count += 1;
        self.doubles += usize::from(*count == 2);
        *count
    }

    fn remove(&mut self, id: &ResId) {
        if let Some(count) = self.counts.get_mut(id) {
            self.doubles -= usize::from(*count == 2);
            *count = count.saturating_sub(1);
        }
    }
}

impl ResMap {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Resource> {
        self.list.iter()
    }

    pub(crate) fn get(&self, at: usize) -> &Resource {
        &self.list[at]
    }

    /// For any change. What was known of ids is forgotten.
    pub(crate) fn list_mut(&mut self) -> &mut Vec<Resource> {
        self.current = None;
        self.any = None;
        &mut self.list
    }

    /// For changes that leave ids as they are.
    pub(crate) fn raw_list_mut(&mut self) -> &mut Vec<Resource> {
        &mut self.list
    }

    pub(crate) fn into_list(self) -> Vec<Resource> {
        self.list
    }

    fn current(&mut self) -> &mut Current {
        self.current.get_or_insert_with(|| {
            let mut ids = Current::default();
            ids.counts.reserve(self.list.len());
            for resource in &self.list {
                ids.add(resource.current_id().key());
            }
            ids
        })
    }

    fn any(&mut self) -> &mut HashMap<ResId, Vec<usize>> {
        self.any.get_or_insert_with(|| {
            let mut ids = HashMap::with_capacity(self.list.len());
            for (at, resource) in self.list.iter().enumerate() {
                add_ids(&mut ids, at, resource);
            }
            ids
        })
    }

    pub(crate) fn append(&mut self, resource: Resource) -> Result<()> {
        let id = resource.current_id();
        if self.current().add(id.key()) > 1 {
            let known = self
                .list
                .iter()
                .find(|it| it.current_id().key() == id.key());
            return Err(already_registered(&id).at_second(&resource, known));
        }
        if let Some(any) = &mut self.any {
            add_ids(any, self.list.len(), &resource);
        }
        self.list.push(resource);
        Ok(())
    }

    pub(crate) fn append_all(&mut self, other: Self) -> Result<()> {
        if self.list.is_empty() && other.current.is_some() {
            *self = other;
            return Ok(());
        }
        other.list.into_iter().try_for_each(|it| self.append(it))
    }

    /// Those that have or had an id, in order.
    pub(crate) fn positions(&mut self, id: &ResId) -> Vec<usize> {
        let mut found = self.any().get(&id.key()).cloned().unwrap_or_default();
        found.dedup();
        found.retain(|at| !self.list[*at].node.is_empty());
        found
    }

    pub(crate) fn find_one(&mut self, id: &ResId) -> Result<usize> {
        let found = self.positions(id);
        let what = match found[..] {
            [one] => return Ok(one),
            [] => "no",
            _ => "multiple",
        };
        Err(Error::new(format!(
            "{what} matches for Id {id}; failed to find unique target for patch {id}"
        )))
    }

    /// Changes one, and what is known of its ids.
    pub(crate) fn change<T>(
        &mut self,
        at: usize,
        change: impl FnOnce(&mut Resource) -> Result<T>,
    ) -> Result<T> {
        if let Some(current) = &mut self.current {
            current.remove(&self.list[at].current_id().key());
        }
        if let Some(any) = &mut self.any {
            for id in all_ids(&self.list[at]) {
                if let Some(known) = any.get_mut(&id) {
                    known.retain(|it| *it != at);
                }
            }
        }
        let done = change(&mut self.list[at]);
        if let Some(current) = &mut self.current
            && !self.list[at].node.is_empty()
        {
            current.add(self.list[at].current_id().key());
        }
        if let Some(any) = &mut self.any {
            for id in all_ids(&self.list[at]) {
                let known = any.entry(id).or_default();
                if let Err(place) = known.binary_search(&at) {
                    known.insert(place, at);
                }
            }
        }
        done
    }

    /// What changed in one of several copies changes in all.
    pub(crate) fn settle(&mut self) {
        if !take_changed() {
            return;
        }
        for resource in self.list.iter_mut().filter(|it| it.shares) {
            settle(&mut resource.node);
        }
    }

    pub(crate) fn drop_empty(&mut self) {
        if self.list.iter().any(|it| it.node.is_empty()) {
            self.list_mut().retain(|it| !it.node.is_empty());
        }
    }

    pub(crate) fn has_doubles(&mut self) -> bool {
        self.current().doubles > 0
    }

    /// An error if two have the same current id.
    pub(crate) fn check_ids(&mut self) -> Result<()> {
        if !self.has_doubles() {
            return Ok(());
        }
        let mut seen = Current::default();
        for resource in &self.list {
            let id = resource.current_id();
            if seen.add(id.key()) > 1 {
                return Err(already_registered(&id));
            }
        }
        Ok(())
    }

    pub(crate) fn annotate_transformation(&mut self, origin: &Origin) -> Result<()> {
        for resource in &mut self.list {
            if resource.origin()?.is_none() {
                resource.set_origin(Some(origin))?;
            } else {
                resource.add_transformation(origin)?;
            }
        }
        Ok(())
    }

    pub(crate) fn annotate_origin(&mut self, origin: &Origin) -> Result<()> {
        for resource in &mut self.list {
            if resource.origin()?.is_none() {
                resource.set_origin(Some(origin))?;
            }
        }
        Ok(())
    }
}

impl FromIterator<Resource> for ResMap {
    fn from_iter<I: IntoIterator<Item = Resource>>(list: I) -> Self {
        Self {
            list: list.into_iter().collect(),
            current: None,
            any: None,
        }
    }
}

impl Error {
    /// Where a resource is, and where the one is that has its id already.
    fn at_second(self, second: &Resource, first: Option<&Resource>) -> Self {
        let place = |it: &Resource| {
            let (file, line) = it.node.file_and_line()?;
            Some(format!("{file}:{line}"))
        };
        match (place(second), first.and_then(place)) {
            (Some(second), Some(first)) => self.at(|| format!("{second}, the first is at {first}")),
            (Some(second), None) => self.at(|| second),
            (None, _) => self,
        }
    }
}

fn already_registered(id: &ResId) -> Error {
    Error::new(format!(
        "may not add resource with an already registered id: {id}"
    ))
}

fn all_ids(resource: &Resource) -> Vec<ResId> {
    if resource.node.is_empty() {
        return Vec::new();
    }
    let mut ids: Vec<ResId> = resource.previous_ids().map(|id| id.key()).collect();
    ids.push(resource.current_id().key());
    ids
}

fn add_ids(ids: &mut HashMap<ResId, Vec<usize>>, at: usize, resource: &Resource) {
    for id in all_ids(resource) {
        let known = ids.entry(id).or_default();
        if known.last() != Some(&at) {
            known.push(at);
        }
    }
}
