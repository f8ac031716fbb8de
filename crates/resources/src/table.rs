//! The built-in rows, from a table of facts that `cargo xtask tables` writes (and says how), and the rows that Pilothouse adds, from a
//! table that is kept by hand.

use std::sync::{Arc, OnceLock};

use json::Text;

use crate::resource::api_version;
use crate::{Resource, Strategy, Subresource, Verb, Verbs, strategy};

const TABLE: &str = concat!(
    include_str!("../tables/kinds.txt"),
    include_str!("../tables/own-kinds.txt")
);

/// Versions and resources, both in the order of discovery.
#[derive(Debug, Default)]
pub struct Table {
    pub versions: Vec<Version>,
    pub resources: Vec<Arc<Resource>>,
}

/// A version of a group.
#[derive(Clone, Debug)]
pub struct Version {
    pub group: Text,
    pub version: Text,
    /// `groupPriorityMinimum` and `versionPriority` of its `APIService`.
    pub group_priority: i32,
    pub version_priority: i32,
    pub served_by_default: bool,
}

/// Reads the table when first asked.
pub fn builtin() -> &'static Table {
    static READ: OnceLock<Table> = OnceLock::new();
    READ.get_or_init(|| read(TABLE))
}

impl Table {
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.of_version(group, version)
            .find(|it| it.plural == *plural)
    }

    pub fn kind(&self, group: &str, version: &str, kind: &str) -> Option<&Arc<Resource>> {
        self.of_version(group, version).find(|it| it.kind == *kind)
    }

    pub fn of_version(&self, group: &str, version: &str) -> impl Iterator<Item = &Arc<Resource>> {
        let of = move |it: &&Arc<Resource>| it.group == *group && it.version == *version;
        self.resources.iter().filter(of)
    }

    /// Each group once; the core group, which `/apis` does not list, among them.
    pub fn groups(&self) -> impl Iterator<Item = &Text> {
        let mut last = None;
        let groups = self.versions.iter().map(|it| &it.group);
        groups.filter(move |group| last.replace(*group) != Some(*group))
    }
}

impl Version {
    /// `v1` or `apps/v1`
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }
}

fn read(text: &str) -> Table {
    let mut table = Table::default();
    let mut current: Option<Resource> = None;
    for line in text.lines() {
        let mut words = line.split(' ');
        let first = words.next().unwrap_or_default();
        if let Some(name) = first.strip_prefix('/') {
            if let Some(resource) = &mut current {
                let sub = subresource(resource, name, words);
                resource.subresources.push(sub);
            }
            continue;
        }
        table.resources.extend(current.take().map(Arc::new));
        if first == ":version" {
            table.versions.push(version(words));
        } else if let Some(of) = table.versions.last() {
            current = Some(resource(of, first, words));
        }
    }
    table.resources.extend(current.map(Arc::new));
    table
}

fn version<'a>(mut words: impl Iterator<Item = &'a str>) -> Version {
    let (group, version) = pair(words.next().unwrap_or_default());
    let mut row = Version {
        group,
        version,
        group_priority: 0,
        version_priority: 0,
        served_by_default: false,
    };
    for word in words {
        match word.split_once('=') {
            Some(("group", it)) => row.group_priority = it.parse().unwrap_or_default(),
            Some(("version", it)) => row.version_priority = it.parse().unwrap_or_default(),
            _ => row.served_by_default |= word == "default",
        }
    }
    row
}

fn resource<'a>(of: &Version, plural: &str, mut words: impl Iterator<Item = &'a str>) -> Resource {
    let mut row = Resource {
        group: of.group.clone(),
        version: of.version.clone(),
        kind: words.next().unwrap_or_default().into(),
        list_kind: None,
        plural: plural.into(),
        singular: words.next().unwrap_or_default().into(),
        namespaced: false,
        short_names: Vec::new(),
        categories: Vec::new(),
        verbs: Verbs::default(),
        subresources: Vec::new(),
        prefix: None,
        stored: (of.group.clone(), of.version.clone()),
        schema: Text::default(),
        served_by_default: of.served_by_default,
        strategy: Strategy::CUSTOM,
    };
    row.strategy = strategy::find(&row.group, &row.kind);
    for word in words {
        match word.split_once('=') {
            None => row.namespaced |= word == "namespaced",
            Some(("verbs", it)) => row.verbs = verbs(it),
            Some(("short", it)) => row.short_names = it.split(',').map(Text::from).collect(),
            Some(("categories", it)) => row.categories = it.split(',').map(Text::from).collect(),
            Some(("list", it)) => row.list_kind = Some(it.into()),
            Some(("prefix", it)) => row.prefix = Some(it.into()),
            Some(("stored", it)) => row.stored = pair(it),
            Some((_, it)) => row.schema = it.into(),
        }
    }
    row
}

fn subresource<'a>(
    of: &Resource,
    name: &str,
    mut words: impl Iterator<Item = &'a str>,
) -> Subresource {
    let mut row = Subresource {
        name: name.into(),
        group: of.group.clone(),
        version: of.version.clone(),
        kind: words.next().unwrap_or_default().into(),
        foreign: false,
        verbs: Verbs::default(),
    };
    for word in words {
        match word.split_once('=') {
            Some(("verbs", it)) => row.verbs = verbs(it),
            Some(("of", it)) => {
                (row.group, row.version) = pair(it);
                row.foreign = true;
            }
            _ => {}
        }
    }
    row
}

fn verbs(text: &str) -> Verbs {
    match text {
        "*" => Verbs::ALL,
        _ => text.split(',').filter_map(Verb::from_name).collect(),
    }
}

fn pair(text: &str) -> (Text, Text) {
    let (group, version) = text.split_once('/').unwrap_or(("", text));
    (group.into(), version.into())
}
