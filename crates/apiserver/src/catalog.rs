//! The kinds that are served now: built-in rows, and custom ones that come and go.
//!
//! A catalog is never changed: a new one takes its place.
//!
//! **Belongs here:** kinds, built-in and custom: rows, schemas, versions, defaults, metadata of objects, and
//! conversion between versions and stored bytes.
//! **May use:** `instruments`, `runtime`.

pub(crate) mod canonical;
pub(crate) mod convert;
pub mod converter;
pub mod custom;
pub(crate) mod defaults;
pub(crate) mod fields;
pub mod gates;
pub(crate) mod object;
mod served;
pub(crate) mod structural;

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use json::Text;
use meta::gvk::{
    GroupKind, GroupResource, GroupVersionKind, GroupVersionResource, api_version, compare_versions,
};
use resources::Resource as Row;
use schema::Schema;

pub use served::ServedCatalog;

use crate::catalog::custom::Custom;
use crate::catalog::gates::Gates;
use crate::instruments::row::RowSeries;

/// One resource at one version: its row, and what serving it takes.
#[derive(Debug)]
pub struct Resource {
    pub row: Arc<Row>,
    /// Every key of this resource begins with it, as in `/services/specs/`: kube-apiserver's layout below `/registry`.
    /// Empty if it is not stored.
    pub prefix: String,
    pub schema: Option<Schema>,
    pub custom: Option<Arc<Custom>>,
    /// How the canonical bytes of an object at this version begin: kind and apiVersion, with the comma behind them.
    pub head: String,
    /// Where requests for it are counted.
    pub(crate) series: RowSeries,
    /// If any of its fields are off by a feature gate.
    pub(crate) gates: Option<Arc<Gates>>,
    /// Whether any of its fields belongs to a feature gate.
    pub(crate) may_be_gated: bool,
}

impl Deref for Resource {
    type Target = Row;

    fn deref(&self) -> &Row {
        &self.row
    }
}

impl Resource {
    pub fn builtin(row: Arc<Row>) -> Self {
        let prefix = row
            .prefix
            .as_ref()
            .map_or(String::new(), |it| format!("/{it}/"));
        Self {
            prefix,
            schema: row.builtin_schema(),
            custom: None,
            head: head(&row.group, &row.version, &row.kind, false),
            series: RowSeries::default(),
            gates: None,
            may_be_gated: false,
            row,
        }
    }

    fn gated(mut self, gates: &Arc<Gates>) -> Self {
        let root = self.schema.as_ref().map(|it| it.root);
        let concerned = root.is_some_and(|it| gates.concern(it));
        self.gates = concerned.then(|| gates.clone());
        self.may_be_gated = root.is_some_and(|it| Gates::all().concern(it));
        self
    }

    pub fn group_resource(&self) -> GroupResource {
        GroupResource::new(&*self.group, &*self.plural)
    }

    pub fn gvk(&self) -> GroupVersionKind {
        GroupVersionKind::new(&*self.group, &*self.version, &*self.kind)
    }

    pub fn gvr(&self) -> GroupVersionResource {
        GroupVersionResource::new(&*self.group, &*self.version, &*self.plural)
    }

    pub fn group_kind(&self) -> GroupKind {
        GroupKind::new(&*self.group, &*self.kind)
    }

    pub fn key(&self, namespace: &str, name: &str) -> String {
        // Each request makes one: `format!` takes several times as long.
        let mut key = String::with_capacity(self.prefix.len() + namespace.len() + 1 + name.len());
        key.push_str(&self.prefix);
        if self.namespaced {
            key.push_str(namespace);
            key.push('/');
        }
        key.push_str(name);
        key
    }

    /// The keys of a namespace, or all if it is empty.
    pub fn range(&self, namespace: &str) -> String {
        if self.namespaced && !namespace.is_empty() {
            format!("{}{namespace}/", self.prefix)
        } else {
            self.prefix.clone()
        }
    }

    pub fn is_stored_version(&self) -> bool {
        self.stored.0 == self.group && self.stored.1 == self.version
    }

    pub fn is(&self, group: &str, plural: &str) -> bool {
        self.group == *group && self.plural == *plural
    }
}

/// How canonical bytes begin. Built-in kinds have their kind first, as Go writes its structs; custom ones are maps.
pub fn head(group: &str, version: &str, kind: &str, custom: bool) -> String {
    let api_version = api_version(group, version);
    if custom {
        format!("{{\"apiVersion\":\"{api_version}\",\"kind\":\"{kind}\",")
    } else {
        format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{api_version}\",")
    }
}

/// A group as discovery lists it.
#[derive(Clone, Debug)]
pub struct Group {
    pub name: Text,
    /// The preferred one first.
    pub versions: Vec<GroupVersion>,
}

impl Group {
    /// Whether some of its kinds are not custom.
    pub fn is_builtin(&self) -> bool {
        self.versions.iter().any(GroupVersion::is_builtin)
    }
}

#[derive(Clone, Debug)]
pub struct GroupVersion {
    pub version: Text,
    /// In discovery's order.
    pub resources: Vec<Arc<Resource>>,
}

impl GroupVersion {
    fn is_builtin(&self) -> bool {
        self.resources.iter().any(|it| it.custom.is_none())
    }
}

/// The built-in kinds of a server, the same in every catalog.
#[derive(Clone, Debug)]
pub struct Builtin {
    /// Those that are served by default, in discovery's order.
    pub groups: Vec<Group>,
    pub gates: Arc<Gates>,
}

#[derive(Debug, Default)]
pub struct Catalog {
    pub groups: Vec<Group>,
    /// Which fields of built-in kinds are off.
    pub gates: Arc<Gates>,
    index: HashMap<String, Arc<Resource>>,
}

/// The built-in kinds, as feature gates make them.
pub fn builtin(features: &features::Settings<'_>) -> Builtin {
    let table = resources::builtin();
    let gates = Arc::new(Gates::new(features));
    let mut groups: Vec<Group> = Vec::new();
    for version in table.versions.iter().filter(|it| it.served_by_default) {
        let rows = table.of_version(&version.group, &version.version);
        let rows = rows.filter(|row| row.served_by_default);
        let rows = rows.filter_map(|row| served(row, &version.api_version(), features));
        let resources = rows.map(|row| Resource::builtin(row).gated(&gates));
        let served = GroupVersion {
            version: version.version.clone(),
            resources: resources.map(Arc::new).collect(),
        };
        if served.resources.is_empty() {
            continue;
        }
        match groups.last_mut() {
            Some(last) if last.name == version.group => last.versions.push(served),
            _ => groups.push(Group {
                name: version.group.clone(),
                versions: vec![served],
            }),
        }
    }
    Builtin { groups, gates }
}

/// A row as feature gates and the emulated version leave it.
fn served(
    row: &Arc<Row>,
    api_version: &str,
    features: &features::Settings<'_>,
) -> Option<Arc<Row>> {
    if !features.serves(api_version, &row.plural) {
        return None;
    }
    let is_served = |it: &resources::Subresource| {
        features.serves(api_version, &format!("{}/{}", row.plural, it.name))
    };
    if row.subresources.iter().all(is_served) {
        return Some(row.clone());
    }
    let mut less = (**row).clone();
    less.subresources.retain(is_served);
    Some(Arc::new(less))
}

impl Catalog {
    /// Versions and groups of `custom` resources are put where upstream has them.
    pub fn new(builtin: Builtin, custom: &[Arc<Resource>]) -> Self {
        let Builtin { mut groups, gates } = builtin;
        let built_in = groups.len();
        for resource in custom {
            let group = if let Some(at) = groups.iter().position(|it| it.name == resource.group) {
                &mut groups[at]
            } else {
                groups.push(Group {
                    name: resource.group.clone(),
                    versions: Vec::new(),
                });
                groups.last_mut().expect("just pushed")
            };
            let at = group
                .versions
                .iter()
                .position(|it| it.version == resource.version);
            if at.is_some_and(|at| group.versions[at].is_builtin()) {
                // What others define in a version of the server's own is hidden by it.
                continue;
            }
            let at = at.unwrap_or_else(|| {
                group.versions.push(GroupVersion {
                    version: resource.version.clone(),
                    resources: Vec::new(),
                });
                group.versions.len() - 1
            });
            group.versions[at].resources.push(resource.clone());
        }
        for group in &mut groups[built_in..] {
            group
                .versions
                .sort_by(|a, b| compare_versions(&b.version, &a.version));
            for version in &mut group.versions {
                version.resources.sort_by(|a, b| a.plural.cmp(&b.plural));
            }
        }
        groups[built_in..].sort_by(|a, b| a.name.cmp(&b.name));
        let all = groups.iter().flat_map(|group| &group.versions);
        let all = all.flat_map(|version| &version.resources);
        let index = all
            .map(|it| (path(&it.group, &it.version, &it.plural), it.clone()))
            .collect();
        Self {
            groups,
            gates,
            index,
        }
    }

    pub fn get(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.index.get(&path(group, version, plural))
    }

    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == *name)
    }

    pub fn version(&self, group: &str, version: &str) -> Option<&GroupVersion> {
        let versions = &self.group(group)?.versions;
        versions.iter().find(|it| it.version == *version)
    }

    /// The resource of a kind.
    pub fn by_kind(&self, group: &str, version: &str, kind: &str) -> Option<&Arc<Resource>> {
        let resources = &self.version(group, version)?.resources;
        resources.iter().find(|it| it.kind == *kind)
    }

    /// Each resource once, at its group's most preferred version that has it.
    pub fn preferred(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.groups.iter().flat_map(|group| {
            let all = group.versions.iter().enumerate();
            all.flat_map(move |(at, version)| {
                let earlier = &group.versions[..at];
                version.resources.iter().filter(move |resource| {
                    let mut before = earlier.iter().flat_map(|it| &it.resources);
                    !before.any(|it| it.plural == resource.plural)
                })
            })
        })
    }

    pub fn all(&self) -> impl Iterator<Item = &Arc<Resource>> {
        let versions = self.groups.iter().flat_map(|group| &group.versions);
        versions.flat_map(|version| &version.resources)
    }
}

fn path(group: &str, version: &str, plural: &str) -> String {
    [group, version, plural].join("/")
}
