//! The scale subresource: a manager of `spec.replicas` there is one of the replicas field of the object that is scaled.

use std::borrow::Cow;

use json::Value;

use crate::fieldpath::{Path, Set};
use crate::managed::{self, Managed};

const SCALE: &str = "autoscaling/v1";
const REPLICAS: [&str; 2] = ["spec", "replicas"];

/// Where a version of a kind keeps its replicas; None where it has no scale subresource.
pub type ReplicasPath<'a> = Option<Path<'a>>;

/// The managed fields of a Scale, from those of the object that is scaled.
pub fn scale_fields(
    parent: Option<&Value>,
    path_of: impl Fn(&str) -> Option<ReplicasPath<'static>>,
) -> Result<Option<Value>, String> {
    let mut scale: Managed = Vec::new();
    for mut owned in managed::decode(parent)? {
        if let Some(Some(path)) = path_of(&owned.version)
            && owned.fields.has(&path)
        {
            owned.fields = replicas();
            owned.version = Cow::Borrowed(SCALE);
            scale.push(owned);
        }
    }
    Ok(managed::encode(&mut scale))
}

fn replicas() -> Set<'static> {
    Set::from_iter([REPLICAS.into_iter().collect()])
}

/// The managed fields of the object that is scaled, after a write to its Scale. `version` is that of the object.
pub fn scale_to_parent(
    parent: Option<&Value>,
    scale: Option<&Value>,
    version: &str,
    path_of: impl Fn(&str) -> Option<ReplicasPath<'static>>,
) -> Result<Option<Value>, String> {
    let mut scale = managed::decode(scale)?;
    let mut merged: Managed = Vec::new();
    let parents = managed::decode(parent)?;
    let times: Vec<_> = (parents.iter())
        .map(|it| (it.manager.clone(), it.time.clone()))
        .collect();
    for mut owned in parents {
        let Some(path) = path_of(&owned.version) else {
            continue;
        };
        if let Some(path) = path.filter(|path| owned.fields.has(path)) {
            let same = scale.iter().position(|it| it.manager == owned.manager);
            match same {
                Some(at) => _ = scale.remove(at),
                // Someone else has scaled since.
                None => owned.fields.subtract(&Set::from_iter([path])),
            }
        }
        if !owned.fields.is_empty() {
            merged.push(owned);
        }
    }
    for mut owned in scale {
        if !owned.fields.has(&REPLICAS.into_iter().collect()) {
            continue;
        }
        owned.fields = match path_of(version) {
            Some(Some(path)) => Set::from_iter([path]),
            _ => Set::new(),
        };
        owned.version = Cow::Owned(version.to_owned());
        let known = times.iter().find(|(it, _)| *it == owned.manager);
        owned.time = known.and_then(|(_, time)| time.clone());
        match merged.iter_mut().find(|it| it.manager == owned.manager) {
            Some(there) => *there = owned,
            None => merged.push(owned),
        }
    }
    Ok(managed::encode(&mut merged))
}
