//! Metadata of resources as trees; a resource is a document with one node.

use yaml::{Kind, Node, Style};

use crate::error::{Error, Result};

pub(super) const INDEX: &str = "internal.config.kubernetes.io/index";
pub(super) const PATH: &str = "internal.config.kubernetes.io/path";
pub(super) const ID: &str = "internal.config.kubernetes.io/id";
pub(super) const LEGACY_INDEX: &str = "config.kubernetes.io/index";
pub(super) const LEGACY_PATH: &str = "config.kubernetes.io/path";
pub(super) const LEGACY_ID: &str = "config.k8s.io/id";

const METADATA: &str = "metadata";
const ANNOTATIONS: &str = "annotations";

pub(super) fn root(resource: &Node) -> &Node {
    match resource.kind {
        Kind::Document => resource.content.first().unwrap_or(resource),
        _ => resource,
    }
}

pub(super) fn root_mut(resource: &mut Node) -> &mut Node {
    match resource.kind {
        Kind::Document if !resource.content.is_empty() => &mut resource.content[0],
        _ => resource,
    }
}

pub(super) fn into_root(resource: Node) -> Node {
    match resource.kind {
        Kind::Document => {
            let mut nodes = resource.content.into_vec().into_iter();
            nodes.next().unwrap_or_default()
        }
        _ => resource,
    }
}

fn is_null(node: &Node) -> bool {
    node.kind == Kind::Scalar && node.tag == "!!null"
}

/// As upstream refuses other kinds; null is of any.
pub(super) fn expect(node: &Node, kind: Kind) -> Result<()> {
    if node.kind == kind || is_null(node) {
        return Ok(());
    }
    let name = |kind| match kind {
        Kind::Document => "DocumentNode",
        Kind::Scalar => "ScalarNode",
        Kind::Sequence => "SequenceNode",
        Kind::Mapping => "MappingNode",
        Kind::Alias => "AliasNode",
    };
    Err(Error::new(format!(
        "wrong node kind: expected {} but got {}: node contents:\n{}",
        name(kind),
        name(node.kind),
        super::to_text(std::slice::from_ref(node))?
    )))
}

fn text<'n>(node: &'n Node, path: &[&str]) -> &'n str {
    let mut at = root(node);
    for key in path {
        match at.get(key) {
            Some(next) => at = next,
            None => return "",
        }
    }
    if is_null(at) { "" } else { &at.value }
}

pub(super) fn kind(resource: &Node) -> &str {
    text(resource, &["kind"])
}

pub(super) fn api_version(resource: &Node) -> &str {
    text(resource, &["apiVersion"])
}

pub(super) fn name(resource: &Node) -> &str {
    text(resource, &[METADATA, "name"])
}

pub(super) fn namespace(resource: &Node) -> &str {
    text(resource, &[METADATA, "namespace"])
}

/// Whether there is anything that tells what it is.
pub(super) fn check(resource: &Node) -> Result<()> {
    let root = root(resource);
    let told = ["apiVersion", "kind", METADATA].iter().any(|key| {
        root.get(key)
            .is_some_and(|it| !is_null(it) && (it.kind == Kind::Scalar || !it.content.is_empty()))
    });
    if told {
        return Ok(());
    }
    Err(Error::new("missing Resource metadata"))
}

pub(super) fn get<'n>(resource: &'n Node, key: &str) -> Option<&'n str> {
    let annotations = root(resource).get(METADATA)?.get(ANNOTATIONS)?;
    annotations.get(key).map(|it| it.value.as_str())
}

pub(super) fn set(resource: &mut Node, key: &str, value: &str) -> Result<()> {
    clear_empty(resource)?;
    let metadata = field(root_mut(resource), METADATA)?;
    let annotations = field(metadata, ANNOTATIONS)?;
    expect(annotations, Kind::Mapping)?;
    if let Some(old) = annotations.get_mut(key) {
        let style = old.style;
        *old = Node::scalar("!!str", value);
        old.style = style;
        return Ok(());
    }
    let mut node = Node::scalar("!!str", value);
    node.style = Style::SingleQuoted;
    annotations.content.push(Node::scalar("", key));
    annotations.content.push(node);
    Ok(())
}

/// The mapping of a key; made if it is not there.
fn field<'n>(node: &'n mut Node, key: &str) -> Result<&'n mut Node> {
    expect(node, Kind::Mapping)?;
    let found = node.get(key).is_some_and(|it| !is_null(it));
    if !found {
        remove(node, key, |_| true);
        node.content.push(Node::scalar("", key));
        node.content.push(Node::mapping([]));
    }
    node.get_mut(key)
        .ok_or_else(|| Error::new(format!("{key} is not a field here")))
}

pub(super) fn clear(resource: &mut Node, keys: &[&str]) -> Result<()> {
    let root = root_mut(resource);
    let Some(metadata) = root.get_mut(METADATA) else {
        return Ok(());
    };
    let Some(annotations) = metadata.get_mut(ANNOTATIONS) else {
        return Ok(());
    };
    expect(annotations, Kind::Mapping)?;
    for key in keys {
        remove(annotations, key, |_| true);
    }
    Ok(())
}

/// Drops annotations without members, and metadata without any.
pub(super) fn clear_empty(resource: &mut Node) -> Result<()> {
    let root = root_mut(resource);
    expect(root, Kind::Mapping)?;
    if let Some(metadata) = root.get_mut(METADATA) {
        expect(metadata, Kind::Mapping)?;
        remove(metadata, ANNOTATIONS, |it| it.content.is_empty());
    }
    remove(root, METADATA, |it| it.content.is_empty());
    Ok(())
}

fn remove(node: &mut Node, key: &str, goes: impl Fn(&Node) -> bool) {
    let at = node
        .pairs()
        .position(|(it, value)| it.value == key && goes(value));
    if let Some(at) = at {
        node.content.drain(2 * at..2 * at + 2);
    }
}

/// Each of these has two names; who has one gets the other.
pub(super) fn copy_legacy(resource: &mut Node) -> Result<()> {
    let pairs = [(LEGACY_PATH, PATH), (LEGACY_INDEX, INDEX), (LEGACY_ID, ID)];
    for (old, new) in pairs {
        let value = |key| get(resource, key).unwrap_or_default().to_owned();
        let (old_value, new_value) = (value(old), value(new));
        if old_value.is_empty() && !new_value.is_empty() {
            set(resource, old, &new_value)?;
        } else if new_value.is_empty() && !old_value.is_empty() {
            set(resource, new, &old_value)?;
        }
    }
    Ok(())
}
