//! Which documents there are, and their hashes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use json::Value;

use super::{Dialect, gnostic, is_custom, roots, v2, v3};
use crate::catalog::{Catalog, Resource};
use crate::digest;

/// The hashes of documents that were made.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    known: Mutex<HashMap<String, Known>>,
}

#[derive(Debug)]
struct Known {
    /// What it was made of. Held, so that no other can come to lie at the same address.
    of: Vec<Arc<Resource>>,
    etag: String,
}

/// The document of a whole catalog.
pub(super) const WHOLE: &str = "v2";

impl Cache {
    /// The hash of a document, which is made if it is not known yet, and comes along then.
    pub(super) fn etag(&self, catalog: &Catalog, name: &str) -> Option<(String, Option<Bytes>)> {
        let of = resources(catalog, name)?;
        let same = |it: &&Known| {
            it.of.len() == of.len() && it.of.iter().zip(&of).all(|(a, b)| Arc::ptr_eq(a, b))
        };
        // Held while a document is made: who wants the same waits for it.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(name).filter(same) {
            return Some((found.etag.clone(), None));
        }
        let bytes = document(catalog, name)?;
        let etag = digest::etag(&bytes);
        let entry = Known {
            of: of.into_iter().cloned().collect(),
            etag: etag.clone(),
        };
        known.insert(name.to_owned(), entry);
        Some((etag, Some(bytes)))
    }

    /// Forgets documents that are no more.
    pub(super) fn retain(&self, names: &[String]) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|name, _| name == WHOLE || names.contains(name));
    }
}

/// The names of all documents of version 3, in order.
pub(super) fn names(catalog: &Catalog) -> Vec<String> {
    let mut names: Vec<String> = roots::PLAIN.iter().map(|it| (*it).to_owned()).collect();
    for group in &catalog.groups {
        let base = if group.name.is_empty() {
            "api".to_owned()
        } else {
            format!("apis/{}", group.name)
        };
        let all = group.versions.iter().map(|it| &it.version);
        names.extend(all.map(|it| format!("{base}/{it}")));
        let mut all = group.versions.iter().flat_map(|it| &it.resources);
        // The group of custom resources alone has no document of its own.
        if !group.name.is_empty() && !all.all(|it| is_custom(it)) {
            names.push(base);
        }
    }
    names.sort();
    names
}

/// What a document is made of, if there is one of that name.
fn resources<'a>(catalog: &'a Catalog, name: &str) -> Option<Vec<&'a Arc<Resource>>> {
    if name == WHOLE {
        return Some(catalog.all().collect());
    }
    if roots::PLAIN.contains(&name) {
        return Some(Vec::new());
    }
    let (group, version) = split(name)?;
    if version.is_empty() {
        let group = catalog.group(group)?;
        let mut all = group.versions.iter().flat_map(|it| &it.resources);
        return (!all.all(|it| is_custom(it))).then(Vec::new);
    }
    Some(catalog.version(group, version)?.resources.iter().collect())
}

/// The group and the version, which may be empty, of `api/v1`, `apis/apps` or `apis/apps/v1`.
fn split(name: &str) -> Option<(&str, &str)> {
    if let Some(version) = name.strip_prefix("api/") {
        return (!version.is_empty()).then_some(("", version));
    }
    let rest = name.strip_prefix("apis/").filter(|it| !it.is_empty())?;
    match rest.split_once('/') {
        None => Some((rest, "")),
        Some((group, version)) => {
            (!group.is_empty() && !version.is_empty()).then_some((group, version))
        }
    }
}

/// Makes a document.
pub(super) fn document(catalog: &Catalog, name: &str) -> Option<Bytes> {
    Some(json::to_vec(&tree(catalog, name)?).into())
}

/// The same as protobuf.
pub(super) fn protobuf(catalog: &Catalog, name: &str) -> Option<Bytes> {
    let dialect = if name == WHOLE {
        Dialect::V2
    } else {
        Dialect::V3
    };
    Some(gnostic::encode(dialect, &tree(catalog, name)?).into())
}

pub(super) fn tree(catalog: &Catalog, name: &str) -> Option<Value> {
    if name == WHOLE {
        return Some(v2::document(catalog));
    }
    if let Some(path) = roots::plain(name) {
        return Some(v3::plain(path));
    }
    let (group, version) = split(name)?;
    let of = resources(catalog, name)?;
    if version.is_empty() {
        return Some(v3::plain(roots::group(group)));
    }
    let of: Vec<&Resource> = of.iter().map(|it| &***it).collect();
    Some(v3::version(group, version, &of))
}
