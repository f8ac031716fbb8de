//! Reads of objects by the server itself, from memory and without waiting.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use json::Value;
use store::Entry;

use crate::access::used_tokens::UsedToken;
use crate::catalog::Resource;
use crate::catalog::convert;
use crate::state::Api;

/// Objects that were looked at lately, as trees: every write in a namespace looks at the Namespace.
#[derive(Debug)]
pub(crate) struct Remembered(Vec<Mutex<Slot>>);

type Slot = Option<(Arc<Entry>, Value)>;

impl Default for Remembered {
    fn default() -> Self {
        Self((0..64).map(|_| Mutex::default()).collect())
    }
}

impl Remembered {
    /// Larger objects are read each time: the memory that this may take stays small.
    const LARGEST: usize = 16 << 10;

    fn get(&self, entry: &Arc<Entry>, read: impl FnOnce() -> Option<Value>) -> Option<Value> {
        if entry.value.len() > Self::LARGEST {
            return read();
        }
        let mut hasher = DefaultHasher::new();
        entry.key.hash(&mut hasher);
        let slots = self.0.len() as u64;
        let slot = usize::try_from(hasher.finish() % slots).unwrap_or(0);
        let mut slot = self.0[slot].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((held, value)) = &*slot
            && Arc::ptr_eq(held, entry)
        {
            return Some(value.clone());
        }
        let value = read()?;
        *slot = Some((entry.clone(), value.clone()));
        Some(value)
    }
}

impl Api {
    /// One object at its stored version.
    pub fn find(&self, group: &str, plural: &str, namespace: &str, name: &str) -> Option<Value> {
        let resource = self.preferred(group, plural)?;
        let key = resource.key(namespace, name);
        let latest = self.store.latest();
        let entry = latest.get(key.as_bytes())?;
        let read = || convert::decode(&resource, &entry.value, entry.modified).ok();
        if resource.custom.is_some() {
            // What a custom object reads as depends on its definition too.
            return read();
        }
        self.remembered.get(entry, read)
    }

    pub fn list_all(&self, group: &str, plural: &str, namespace: &str) -> Vec<Value> {
        let Some(resource) = self.preferred(group, plural) else {
            return Vec::new();
        };
        let range = resource.range(namespace);
        let latest = self.store.latest();
        let all = latest.range(range.as_bytes());
        all.filter_map(|entry| convert::decode(&resource, &entry.value, entry.modified).ok())
            .collect()
    }

    /// The names of objects, as far as memory knows.
    pub fn names(&self, group: &str, plural: &str, namespace: &str) -> Vec<String> {
        let Some(resource) = self.preferred(group, plural) else {
            return Vec::new();
        };
        let range = resource.range(namespace);
        let latest = self.store.latest();
        let all = latest.range(range.as_bytes());
        let all = all.filter_map(|entry| str::from_utf8(&entry.key[range.len()..]).ok());
        all.map(str::to_owned).collect()
    }

    /// A resource at the version that its group prefers.
    pub fn preferred(&self, group: &str, plural: &str) -> Option<Arc<Resource>> {
        let catalog = self.catalog.load();
        let versions = &catalog.group(group)?.versions;
        let mut all = versions.iter().flat_map(|version| &version.resources);
        all.find(|it| it.plural == *plural).cloned()
    }
}

impl admission::Lookup for Api {
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        self.find(group, resource, namespace, name)
    }

    fn list(&self, group: &str, resource: &str, namespace: &str) -> Vec<Value> {
        self.list_all(group, resource, namespace)
    }

    fn stamp(&self, group: &str, resource: &str) -> u64 {
        let Some(resource) = self.preferred(group, resource) else {
            return 0;
        };
        self.stamps.get(&self.store, &resource.prefix)
    }

    fn versions(&self, group: &str, resource: &str) -> Vec<(String, u64)> {
        let Some(resource) = self.preferred(group, resource) else {
            return Vec::new();
        };
        let latest = self.store.latest();
        let all = latest.range(resource.prefix.as_bytes()).map(|entry| {
            let name = &entry.key[resource.prefix.len()..];
            (String::from_utf8_lossy(name).into_owned(), entry.modified)
        });
        all.collect()
    }
}

impl auth::serviceaccount::Lookup for Api {
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        self.find("", resource, namespace, name)
    }

    fn used(&self, namespace: &str, secret: &str, uid: &str) {
        self.used_tokens.add(UsedToken {
            namespace: namespace.to_owned(),
            secret: secret.to_owned(),
            uid: uid.to_owned(),
        });
    }
}
