//! Managed fields after a write: the rules of server-side apply. Hot path.

mod prune;

use std::borrow::Cow;

use json::Value;

use crate::fieldpath::{Filter, Set};
use crate::typed::{Comparison, Emptied, Type};
use prune::prune;

/// The other versions of an object.
pub trait Versions {
    /// The object as the version has it, which may be the version it is in.
    fn convert(&self, object: &Value, version: &str) -> Result<Value, Unconverted>;

    /// Its type there.
    fn schema(&self, version: &str) -> Type<'_>;

    /// Whether the object need not be converted to become one of that version.
    fn is_at(&self, object: &Value, version: &str) -> bool {
        object.get("apiVersion").and_then(Value::as_str) == Some(version)
    }

    /// Fields that no manager owns in that version.
    fn reset_fields(&self, _version: &str) -> Option<&Filter> {
        None
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unconverted {
    /// The version is not served any more: managers of fields in it lose them.
    MissingVersion,
    Failed(String),
}

/// What one manager owns, and in which version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned<'a, K> {
    pub manager: K,
    pub version: Cow<'a, str>,
    pub applied: bool,
    pub fields: Set<'a>,
    pub time: Option<Cow<'a, str>>,
}

/// All managers of an object, each once.
pub type Managers<'a, K> = Vec<Owned<'a, K>>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateError<'a, K> {
    /// For each manager, the fields that it owns and the patch changes.
    Conflicts(Vec<(K, Set<'a>)>),
    Failed(String),
}

/// The object at a version, converted where it must be.
fn at<'v>(
    versions: &dyn Versions,
    object: &'v Value,
    version: &str,
) -> Result<Cow<'v, Value>, Unconverted> {
    if versions.is_at(object, version) {
        Ok(Cow::Borrowed(object))
    } else {
        versions.convert(object, version).map(Cow::Owned)
    }
}

/// The kind and version that a write is in.
#[derive(Clone, Copy)]
pub struct Updater<'v> {
    pub versions: &'v dyn Versions,
    pub schema: Type<'v>,
    pub version: &'v str,
}

impl std::fmt::Debug for Updater<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Updater")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// What changed and what is gone, in the words of one version.
type Changes = (Set<'static>, Set<'static>);

impl<'v> Updater<'v> {
    /// After a create, update or patch: the manager owns what changed; fields that are gone have no owner.
    pub fn update<'m, K: PartialEq + Clone>(
        &self,
        live: &'m Value,
        new: &'m Value,
        managers: &mut Managers<'m, K>,
        manager: &K,
    ) -> Result<(), String>
    where
        'v: 'm,
    {
        self.reconcile(live, managers)?;
        let compared = match self.take_over(live, new, managers, manager, true) {
            Ok(compared) => compared,
            Err(UpdateError::Failed(why)) => return Err(why),
            // A forced apply has no conflicts.
            Err(UpdateError::Conflicts(_)) => return Ok(()),
        };
        let found = managers.iter().position(|it| it.manager == *manager);
        let mut owned = match found {
            Some(at) => managers.remove(at),
            None => Owned {
                manager: manager.clone(),
                version: Cow::Borrowed(self.version),
                applied: false,
                fields: Set::new(),
                time: None,
            },
        };
        owned.fields.subtract(&compared.removed);
        owned.fields.union(compared.modified);
        owned.fields.union(compared.added);
        if let Some(filter) = self.versions.reset_fields(self.version) {
            filter.keep_in(&mut owned.fields);
        }
        if !owned.fields.is_empty() {
            owned.version = Cow::Borrowed(self.version);
            owned.applied = false;
            managers.push(owned);
        }
        Ok(())
    }

    /// The first half of an apply: the live object with the applied one merged in, and without what the manager
    /// applied before and does not now. The manager owns what it applied.
    pub fn merge<'m, K: PartialEq + Clone>(
        &self,
        live: Value,
        config: &'m Value,
        managers: &mut Managers<'m, K>,
        manager: &K,
        emptied: Emptied,
    ) -> Result<Value, String>
    where
        'v: 'm,
    {
        self.reconcile(&live, managers)?;
        let mut merged = live;
        (self.schema.merge(&mut merged, config))
            .map_err(|why| format!("failed to merge config: {why}"))?;
        let mut fields = self.schema.to_set(config);
        if let Some(filter) = self.versions.reset_fields(self.version) {
            filter.keep_in(&mut fields);
        }
        let found = managers.iter().position(|it| it.manager == *manager);
        let before = found.map(|at| managers.remove(at));
        managers.push(Owned {
            manager: manager.clone(),
            version: Cow::Borrowed(self.version),
            applied: true,
            fields,
            time: before.as_ref().and_then(|it| it.time.clone()),
        });
        match before {
            Some(before) => prune(self, merged, managers, &before, emptied)
                .map_err(|why| format!("failed to prune fields: {why}")),
            None => Ok(merged),
        }
    }

    /// The second half: takes from the other managers what the write changed, or says which conflicts there are.
    pub fn take_over<'m, K: PartialEq + Clone>(
        &self,
        live: &'m Value,
        new: &'m Value,
        managers: &mut Managers<'m, K>,
        manager: &K,
        force: bool,
    ) -> Result<Comparison<'m>, UpdateError<'m, K>>
    where
        'v: 'm,
    {
        let here = self.schema.compare(live, new);
        let mut here =
            here.map_err(|why| UpdateError::Failed(format!("failed to compare objects: {why}")))?;
        here.filter(self.versions.reset_fields(self.version));
        let mut changed: Set = here.modified.clone();
        changed.union(here.added.clone());
        let elsewhere = self.compare_elsewhere(live, new, managers, manager)?;
        let changes_of = |owned: &Owned<K>| {
            let mut found = elsewhere.iter().filter(|(it, _)| *it == *owned.version);
            found.next().map(|(_, changes)| changes.as_ref())
        };

        let mut conflicts = Vec::new();
        for other in managers.iter().filter(|it| it.manager != *manager) {
            let conflict = match changes_of(other) {
                None => other.fields.intersection(&changed),
                Some(Some((changed, _))) => other.fields.intersection(changed),
                Some(None) => continue,
            };
            if !conflict.is_empty() {
                conflicts.push((other.manager.clone(), conflict));
            }
        }
        if !force && !conflicts.is_empty() {
            return Err(UpdateError::Conflicts(conflicts));
        }
        managers.retain_mut(|owned| {
            if owned.manager != *manager {
                let lost = conflicts.iter().find(|(it, _)| *it == owned.manager);
                if let Some((_, fields)) = lost {
                    owned.fields.subtract(fields);
                }
                match changes_of(owned) {
                    None => owned.fields.subtract(&here.removed),
                    Some(Some((_, removed))) => owned.fields.subtract(removed),
                    Some(None) => return false,
                }
            }
            !owned.fields.is_empty()
        });
        Ok(here)
    }

    /// The changes in the words of all other versions that managers use. None for versions that are no more.
    fn compare_elsewhere<'m, K: PartialEq>(
        &self,
        live: &Value,
        new: &Value,
        managers: &Managers<'m, K>,
        manager: &K,
    ) -> Result<Vec<(String, Option<Changes>)>, UpdateError<'m, K>> {
        let mut all: Vec<(String, Option<Changes>)> = Vec::new();
        for other in managers.iter().filter(|it| it.manager != *manager) {
            let version = &*other.version;
            if version != self.version && !all.iter().any(|(it, _)| it == version) {
                let changes = compare_at(self.versions, version, live, new);
                all.push((version.to_owned(), changes.map_err(UpdateError::Failed)?));
            }
        }
        Ok(all)
    }

    /// Sets that were written under an older schema are read with the present one.
    fn reconcile<K>(&self, live: &Value, managers: &mut Managers<K>) -> Result<(), String> {
        let mut failed = None;
        managers.retain_mut(|owned| {
            if *owned.version == *self.version {
                self.schema.reconcile(&mut owned.fields);
                return true;
            }
            match at(self.versions, live, &owned.version) {
                Ok(_) => {
                    let schema = self.versions.schema(&owned.version);
                    schema.reconcile(&mut owned.fields);
                    true
                }
                Err(Unconverted::MissingVersion) => false,
                Err(Unconverted::Failed(why)) => {
                    failed = Some(why);
                    true
                }
            }
        });
        failed.map_or(Ok(()), Err)
    }

    fn schema_at(&self, version: &str) -> Type<'v> {
        if version == self.version {
            self.schema
        } else {
            self.versions.schema(version)
        }
    }
}

/// What changed and what is gone, in the words of another version. None if there is no such version.
fn compare_at(
    versions: &dyn Versions,
    version: &str,
    live: &Value,
    new: &Value,
) -> Result<Option<Changes>, String> {
    let (live, new) = match (at(versions, live, version), at(versions, new, version)) {
        (Ok(live), Ok(new)) => (live, new),
        (Err(Unconverted::MissingVersion), _) | (_, Err(Unconverted::MissingVersion)) => {
            return Ok(None);
        }
        (Err(Unconverted::Failed(why)), _) => {
            return Err(format!("failed to convert old object: {why}"));
        }
        (_, Err(Unconverted::Failed(why))) => {
            return Err(format!("failed to convert new object: {why}"));
        }
    };
    let compared = versions.schema(version).compare(&live, &new);
    let mut compared = compared.map_err(|why| format!("failed to compare objects: {why}"))?;
    compared.filter(versions.reset_fields(version));
    let mut changed = compared.modified;
    changed.union(compared.added);
    Ok(Some((changed.into_owned(), compared.removed.into_owned())))
}
