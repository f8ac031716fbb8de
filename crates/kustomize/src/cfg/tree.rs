//! Resources as a tree: by directory, or by who owns whom.

use std::collections::{BTreeMap, HashMap};

use yaml::Node;

use super::annotations as notes;
use super::read::Reader;
use super::{Input, PACKAGE_FILE, order, path};
use crate::error::{Error, Result};
use crate::fs::{FileSystem, exists};
use crate::paths;

#[derive(Clone, Debug, Default)]
pub struct TreeOptions {
    /// Paths of fields to show.
    pub fields: Vec<String>,
    /// Known fields to show: name, image, command, args, env, replicas, resources, ports.
    pub known: Vec<&'static str>,
    pub include_local: bool,
    pub exclude_non_local: bool,
    /// `directory` or `owners`; by what there is if it is empty.
    pub structure: String,
}

const CONTAINERS: &[&str] = &[
    "spec.containers",
    "spec.template.spec.containers",
    "spec.jobTemplate.spec.template.spec.containers",
];

pub fn tree(
    fs: &dyn FileSystem,
    input: Input<'_>,
    options: &TreeOptions,
) -> std::result::Result<String, Error> {
    let reader = Reader {
        fs: Some(fs),
        ..Reader::default()
    };
    let (root, resources) = match input {
        Input::Text(text) => (".".to_owned(), reader.text(text)?),
        Input::Path(path) => (paths::clean(path), reader.package(path)?),
    };
    let fields = fields(options)?;
    let mut resources = super::local(resources, options.include_local, options.exclude_non_local)?;
    if resources.is_empty() {
        return Ok(String::new());
    }
    for resource in &mut resources {
        notes::copy_legacy(resource)?;
    }
    let owned = |it: &Node| owners(it).is_some();
    let tree = match options.structure.as_str() {
        "directory" => by_directory(fs, &root, &resources, &fields)?,
        "owners" => by_owner(&resources, &fields)?,
        _ if resources.iter().any(owned) => by_owner(&resources, &fields)?,
        _ => by_directory(fs, &root, &resources, &fields)?,
    };
    let mut out = format!("{}\n", tree.text);
    tree.write("", &mut out);
    Ok(out)
}

/// A field to show: below which heading, and by which name if it is in a list of containers.
struct Field {
    heading: String,
    name: Option<String>,
    path: Vec<String>,
}

fn fields(options: &TreeOptions) -> Result<Vec<Field>> {
    let mut all = Vec::new();
    for text in &options.fields {
        all.push(field(path::parse(text)?));
    }
    for known in &options.known {
        match *known {
            "replicas" => all.push(field(vec!["spec".into(), "replicas".into()])),
            known => {
                for containers in CONTAINERS {
                    let mut path: Vec<String> = containers.split('.').map(str::to_owned).collect();
                    path.extend(["[name=.*]".to_owned(), known.to_owned()]);
                    all.push(field(path));
                }
                if known == "ports" {
                    all.push(field(vec!["spec".into(), "ports".into()]));
                }
            }
        }
    }
    Ok(all)
}

fn field(path: Vec<String>) -> Field {
    let text = path.join(".");
    let list = CONTAINERS.iter().find(|it| text.starts_with(**it));
    Field {
        heading: list.map_or_else(|| text.clone(), |it| (*it).to_owned()),
        name: list.and(path.last().cloned()),
        path,
    }
}

#[derive(Debug, Default)]
struct Branch {
    text: String,
    children: Vec<Branch>,
}

impl Branch {
    fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            children: Vec::new(),
        }
    }

    fn write(&self, indent: &str, out: &mut String) {
        for (at, child) in self.children.iter().enumerate() {
            let last = at + 1 == self.children.len();
            let (edge, below) = if last {
                ("└── ", "    ")
            } else {
                ("├── ", "│   ")
            };
            let below = format!("{indent}{below}");
            out.push_str(indent);
            out.push_str(edge);
            out.push_str(&child.text.replace('\n', &format!("\n{below}")));
            out.push('\n');
            child.write(&below, out);
        }
    }

    /// The branch that a way of positions leads to.
    fn at(&mut self, way: &[usize]) -> &mut Self {
        match way {
            [first, rest @ ..] if *first < self.children.len() => self.children[*first].at(rest),
            _ => self,
        }
    }
}

fn source(resource: &Node) -> &str {
    notes::get(resource, notes::PATH).unwrap_or_default()
}

fn sort_key(resource: &Node) -> [&str; 5] {
    [
        paths::base(source(resource)),
        notes::namespace(resource),
        notes::name(resource),
        notes::kind(resource),
        notes::api_version(resource),
    ]
}

fn by_directory(
    fs: &dyn FileSystem,
    root: &str,
    resources: &[Node],
    fields: &[Field],
) -> Result<Branch> {
    let mut by_dir: BTreeMap<String, Vec<&Node>> = BTreeMap::new();
    for resource in resources.iter().filter(|it| !notes::kind(it).is_empty()) {
        let dir = source(resource)
            .rsplit_once('/')
            .map_or(".", |(dir, _)| dir);
        by_dir.entry(dir.to_owned()).or_default().push(resource);
    }
    let mut tree = Branch::new(root);
    let mut known: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (dir, mut resources) in by_dir {
        let above = known.iter().filter(|(it, _)| dir.starts_with(it.as_str()));
        let above = above.max_by_key(|(it, _)| it.len());
        let mut way = above.map(|(_, way)| way.clone()).unwrap_or_default();
        if dir != "." {
            let package = paths::join(&paths::join(root, &dir), PACKAGE_FILE);
            let name = paths::base(&dir);
            let branch = tree.at(&way);
            branch.children.push(Branch::new(if exists(fs, &package) {
                format!("Pkg: {name}")
            } else {
                name.to_owned()
            }));
            way.push(branch.children.len() - 1);
        }
        resources.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        for resource in resources {
            let branch = show(resource, paths::base(source(resource)), fields)?;
            tree.at(&way).children.push(branch);
        }
        known.insert(dir, way);
    }
    Ok(tree)
}

fn owners(resource: &Node) -> Option<&Node> {
    let metadata = notes::root(resource).get("metadata")?;
    metadata.get("ownerReferences")
}

fn by_owner(resources: &[Node], fields: &[Field]) -> Result<Branch> {
    let id = |kind: &str, namespace: &str, name: &str| format!("{kind} {namespace}/{name}");
    let own = |resource: &Node| {
        let namespace = notes::namespace(resource);
        id(notes::kind(resource), namespace, notes::name(resource))
    };
    let mut children: HashMap<String, Vec<&Node>> = HashMap::new();
    // Of those with the same id, the last stands for all.
    let ids: HashMap<String, &Node> = resources.iter().map(|it| (own(it), it)).collect();
    for resource in resources.iter().map(|it| ids[&own(it)]) {
        let namespace = notes::namespace(resource);
        let owner = owners(resource).and_then(|it| it.content.first());
        let text = |owner: &Node, key: &str| {
            owner
                .get(key)
                .map_or_else(String::new, |it| it.value.clone())
        };
        let owner = owner.map_or_else(String::new, |it| {
            id(&text(it, "kind"), namespace, &text(it, "name"))
        });
        children.entry(owner).or_default().push(resource);
    }
    let mut missing: Vec<_> = children
        .keys()
        .filter(|it| !it.is_empty() && !ids.contains_key(*it))
        .collect();
    missing.sort();
    if let Some(owner) = missing.first() {
        return Err(Error::new(format!(
            "owner '{owner}' not found in input, but found as an owner of input objects"
        )));
    }
    let mut tree = Branch::new(".");
    grow(&mut tree, "", &mut children, fields)?;
    Ok(tree)
}

/// Each list of children is used once, so owners that own each other end nothing but themselves.
fn grow(
    branch: &mut Branch,
    owner: &str,
    children: &mut HashMap<String, Vec<&Node>>,
    fields: &[Field],
) -> Result<()> {
    let mut own = children.remove(owner).unwrap_or_default();
    own.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
    for resource in own {
        let mut child = show(resource, "Resource", fields)?;
        let id = format!(
            "{} {}/{}",
            notes::kind(resource),
            notes::namespace(resource),
            notes::name(resource)
        );
        grow(&mut child, &id, children, fields)?;
        branch.children.push(child);
    }
    Ok(())
}

fn show(resource: &Node, source: &str, fields: &[Field]) -> Result<Branch> {
    let (kind, name) = (notes::kind(resource), notes::name(resource));
    let mut branch = Branch::new(match notes::namespace(resource) {
        "" => format!("[{source}]  {kind} {name}"),
        namespace => format!("[{source}]  {kind} {namespace}/{name}"),
    });
    let mut shown: Vec<(&str, Shown)> = Vec::new();
    for field in fields {
        let Some(found) = path::find(notes::root(resource), &field.path)? else {
            continue;
        };
        let at = shown.iter().position(|(it, _)| *it == field.heading);
        let at = at.unwrap_or_else(|| {
            shown.push((&field.heading, Shown::default()));
            shown.len() - 1
        });
        shown[at].1.add(field, found)?;
    }
    shown.sort_by(|(a, _), (b, _)| order::compare(a, b));
    let headings = shown.into_iter();
    branch.children = headings.map(|(it, shown)| shown.branch(it)).collect();
    Ok(branch)
}

/// What is below one heading: a value, or fields of members of a list.
#[derive(Default)]
struct Shown {
    value: String,
    members: BTreeMap<String, Vec<(String, String)>>,
}

impl Shown {
    fn add(&mut self, field: &Field, found: Vec<path::Found>) -> Result<()> {
        for (matches, mut node) in found {
            super::strip_comments(&mut node);
            let text = super::flow_text(&node)?;
            let Some(name) = &field.name else {
                self.value = text;
                break;
            };
            let member = self.members.entry(matches.join("/")).or_default();
            member.push((name.clone(), text));
        }
        Ok(())
    }

    fn branch(self, heading: &str) -> Branch {
        if self.members.is_empty() {
            return Branch::new(format!("{heading}: {}", self.value));
        }
        let mut branch = Branch::new(heading);
        let mut members: Vec<_> = self.members.into_iter().collect();
        members.sort_by(|(a, _), (b, _)| order::compare(a, b));
        for (at, (_, mut fields)) in members.into_iter().enumerate() {
            fields.sort_by(|a, b| order::compare(&a.0, &b.0).then_with(|| a.1.cmp(&b.1)));
            let mut member = Branch::new(at.to_string());
            let lines = fields.into_iter();
            member.children = lines
                .map(|(name, value)| Branch::new(format!("{name}: {value}")))
                .collect();
            branch.children.push(member);
        }
        branch
    }
}
