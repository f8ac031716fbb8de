//! Replacements: a value from one place into many.

mod structured;

use crate::decode::decode_yaml;
use crate::decode::{List, go_struct};
use crate::error::{Error, Result, Wrap as _, quote};
use crate::id::ResId;
use crate::loader::Loader;
use crate::node::{Data, Kind, Node, check_depth, smarter_split};
use crate::resmap::{MetaSelector, ResMap, SelectorRegex};
use crate::resource::Resource;
use crate::schema::Schema;
use crate::transform::Transformer;
use crate::types::{FieldOptions, Replacement, Selector, Target};

const DEFAULT_PATH: &str = "metadata.name";

/// In bytes, roughly.
const MAX_COPIED: usize = 64 << 20;

pub(crate) struct Replacements {
    all: Vec<Replacement>,
}

go_struct! { Config as "ReplacementTransformerPlugin" {
    replacements: List<Replacement> = "replacements",
}}

impl Replacements {
    pub(crate) fn read(config: &[u8], loader: &Loader<'_>) -> Result<Self> {
        let config: Config = decode_yaml(config)?;
        Self::new(&config.replacements, loader)
    }

    pub(crate) fn new(list: &[Replacement], loader: &Loader<'_>) -> Result<Self> {
        let mut all = Vec::new();
        for replacement in list {
            if replacement.path.is_empty() {
                all.push(replacement.clone());
                continue;
            }
            if replacement.source.is_some() || !replacement.targets.is_empty() {
                return Err(Error::new(
                    "cannot specify both path and inline replacement",
                ));
            }
            let text = loader.load(&replacement.path)?;
            let value = yaml::to_json(&text)?;
            match value {
                json::Value::Array(_) => {
                    all.extend(decode_yaml::<List<Replacement>>(&text)?.iter().cloned());
                }
                json::Value::Object(_) => all.push(decode_yaml(&text)?),
                other => {
                    return Err(Error::new(format!(
                        "unsupported replacement type encountered within replacement path: {}",
                        match other {
                            json::Value::Null => "invalid",
                            json::Value::Bool(_) => "bool",
                            json::Value::Number(_) => "float64",
                            _ => "string",
                        }
                    )));
                }
            }
        }
        Ok(Self { all })
    }
}

impl Transformer for Replacements {
    fn transform(&mut self, map: &mut ResMap, _: &Schema) -> Result<()> {
        let mut left = MAX_COPIED;
        for replacement in &self.all {
            let from = replacement.source_value.is_some() || replacement.source.is_some();
            if !from || !replacement.targets.given {
                return Err(Error::new(
                    "replacements must specify a source and at least one target",
                ));
            }
            let mut source = source_value(map, replacement)?;
            for target in &replacement.targets {
                apply(map.list_mut(), &mut source, target, &mut left)?;
                map.settle();
            }
        }
        Ok(())
    }
}

/// What is copied.
struct Source {
    value: Node,
    /// The resource and the path that it is read from each time: what a target changes there counts for the next one.
    /// None if it is no part of a resource, or not any more.
    read_from: Option<(usize, Vec<String>)>,
}

impl Source {
    fn fixed(value: Node) -> Self {
        Self {
            value,
            read_from: None,
        }
    }

    /// Reads it again, if this is the resource that it is in.
    fn refresh(&mut self, at: usize, node: &Node) {
        if let Some((own, path)) = &self.read_from
            && *own == at
        {
            match node.lookup(path) {
                Ok(Some(found)) => self.value = found.detached(),
                _ => self.read_from = None,
            }
        }
    }

    fn is_in(&self, at: usize) -> bool {
        self.read_from.as_ref().is_some_and(|(own, _)| *own == at)
    }

    /// What took the place of something that it was in has no part of it any more.
    fn leave(&mut self, at: usize, replaced: &[String]) {
        let inside = |path: &Vec<String>| path.len() > replaced.len() && path.starts_with(replaced);
        let gone = |(own, path): &(usize, Vec<String>)| *own == at && inside(path);
        if self.read_from.as_ref().is_some_and(gone) {
            self.read_from = None;
        }
    }
}

fn source_value(map: &ResMap, replacement: &Replacement) -> Result<Source> {
    let source = match (&replacement.source_value, &replacement.source) {
        (Some(_), Some(_)) => {
            return Err(Error::new(
                "value and resource selectors are mutually exclusive",
            ));
        }
        (Some(value), None) => return Ok(Source::fixed(Node::plain(value.as_str()))),
        (None, Some(source)) => source,
        (None, None) => return Err(Error::new("replacements must specify a source")),
    };
    let selector = source.id();
    let mut found: Option<(usize, &Resource)> = None;
    for (at, resource) in map.iter().enumerate() {
        if ids(resource).any(|id| id.is_selected_by(&selector)) {
            if found.is_some() {
                return Err(Error::new(format!(
                    "multiple matches for selector {source}"
                )));
            }
            found = Some((at, resource));
        }
    }
    let Some((at, resource)) = found else {
        return Err(Error::new(format!("nothing selected by {source}")));
    };
    let path = match source.field_path.as_str() {
        "" => DEFAULT_PATH,
        path => path,
    };
    let parts = smarter_split(path, '.');
    let node = resource.node.lookup(&parts);
    let node = node.wrap("error looking up replacement source")?;
    let Some(node) = node.filter(|it| !it.is_empty()) else {
        return Err(Error::new(format!(
            "fieldPath `{path}` is missing for replacement source {selector}"
        )));
    };
    let options = source
        .options
        .as_ref()
        .filter(|it| !it.delimiter.is_empty());
    match options {
        Some(options) => refine(node, options).map(Source::fixed),
        None => Ok(Source {
            value: node.detached(),
            read_from: Some((at, parts)),
        }),
    }
}

/// A part of the value.
fn refine(node: &Node, options: &FieldOptions) -> Result<Node> {
    if node.kind() != Kind::Scalar {
        return Err(Error::new(
            "delimiter option can only be used with scalar nodes",
        ));
    }
    let mut parts = node.value().split(options.delimiter.as_str());
    let part = usize::try_from(options.index)
        .ok()
        .and_then(|at| parts.nth(at));
    let Some(part) = part else {
        return Err(Error::new(format!(
            "options.index {} is out of bounds for value {}",
            options.index,
            node.value()
        )));
    };
    let mut copy = node.detached();
    copy.set_text(part);
    Ok(copy)
}

fn ids(resource: &Resource) -> impl Iterator<Item = ResId> {
    std::iter::once(resource.current_id()).chain(resource.previous_ids())
}

fn apply(
    list: &mut [Resource],
    source: &mut Source,
    target: &Target,
    left: &mut usize,
) -> Result<()> {
    let Some(select) = &target.select else {
        return Err(Error::new("target must specify resources to select"));
    };
    let selected = Chosen::new(select)?;
    let rejected = target.reject.iter().map(Chosen::new);
    let rejected = rejected.collect::<Result<Vec<_>>>()?;
    'all: for (at, resource) in list.iter_mut().enumerate() {
        if !selected.by_meta(&resource.node)? {
            continue;
        }
        for chosen in &rejected {
            let by_meta = !(chosen.labels.is_empty() && chosen.annotations.is_empty());
            if by_meta && chosen.by_meta(&resource.node)? {
                continue 'all;
            }
        }
        let is_rejected = |chosen: &Chosen<'_>| chosen.names_any && chosen.by_id(resource);
        if !rejected.iter().any(is_rejected) && selected.by_id(resource) {
            copy_to(&mut resource.node, at, source, target, left)?;
        }
    }
    Ok(())
}

/// What a selector of a target means.
struct Chosen<'s> {
    regex: SelectorRegex,
    /// Whether there is an id in it at all.
    names_any: bool,
    labels: MetaSelector<'s>,
    annotations: MetaSelector<'s>,
}

impl<'s> Chosen<'s> {
    fn new(selector: &'s Selector) -> Result<Self> {
        Ok(Self {
            regex: SelectorRegex::new(selector).wrap("error creating target selector")?,
            names_any: selector.id() != ResId::default(),
            labels: MetaSelector::labels(selector),
            annotations: MetaSelector::annotations(selector),
        })
    }

    fn by_id(&self, resource: &Resource) -> bool {
        ids(resource).any(|id| {
            self.regex.matches_gvk(&id.gvk)
                && self.regex.matches_name(&id.name)
                && self.regex.matches_namespace(&id.namespace)
        })
    }

    /// Both are read, even if one does not fit.
    fn by_meta(&self, node: &Node) -> Result<bool> {
        let annotations = self.annotations.matches(node)?;
        Ok(self.labels.matches(node)? && annotations)
    }
}

fn copy_to(
    node: &mut Node,
    at: usize,
    source: &mut Source,
    target: &Target,
    left: &mut usize,
) -> Result<()> {
    let default = [DEFAULT_PATH.to_owned()];
    let paths: &[String] = if target.field_paths.is_empty() {
        &default
    } else {
        &target.field_paths
    };
    let options = target.options.as_ref();
    for path in paths {
        source.refresh(at, node);
        let create = options.filter(|it| it.create).map(|_| source.value.kind());
        let parts = smarter_split(path, '.');
        check_depth(parts.len(), &source.value)?;
        if structured::set(node, &source.value, &parts, create) {
            pay(left, &source.value)?;
            continue;
        }
        let missing = || {
            let or_create = if create.is_some() {
                "find or create"
            } else {
                "find"
            };
            format!(
                "unable to {or_create} field {} in replacement target",
                quote(path)
            )
        };
        if create.is_some() && source.is_in(at) {
            // What is made on the way is there before the value is copied, and may be a part of it.
            let made = node.visit_matches(&parts, create, &mut |_| Ok(()));
            made.wrap_with(missing)?;
            source.refresh(at, node);
            check_depth(parts.len(), &source.value)?;
        }
        let value = &source.value;
        let mut problem = None;
        let count = node.visit_matches(&parts, create, &mut |field| {
            let done = pay(left, value).and_then(|()| set(field, value, options));
            done.inspect_err(|error| problem = Some(error.clone()))
        });
        if let Some(problem) = problem {
            return Err(problem);
        }
        if count.wrap_with(missing)? == 0 {
            return Err(Error::new(missing()));
        }
        source.leave(at, &parts);
        // The next target may be in another resource.
        source.refresh(at, node);
    }
    Ok(())
}

/// Values that are copied into themselves double each time.
fn pay(left: &mut usize, copied: &Node) -> Result<()> {
    fn size(node: &Node) -> usize {
        let inside = match &node.data {
            Data::Scalar(text) => text.len(),
            Data::Seq(items) => items.iter().map(size).sum(),
            Data::Map(pairs) => pairs.iter().map(|(k, v)| size(k) + size(v)).sum(),
        };
        inside + size_of::<Node>()
    }
    match left.checked_sub(size(copied)) {
        Some(rest) => {
            *left = rest;
            Ok(())
        }
        None => Err(Error::new(format!(
            "replacements copy more than {MAX_COPIED} bytes"
        ))),
    }
}

fn set(field: &mut Node, value: &Node, options: Option<&FieldOptions>) -> Result<()> {
    let mut text = value.raw().to_string();
    if let Some(options) = options.filter(|it| !it.delimiter.is_empty()) {
        if field.kind() != Kind::Scalar {
            return Err(Error::new(
                "delimiter option can only be used with scalar nodes",
            ));
        }
        let mut parts: Vec<&str> = field.raw().split(options.delimiter.as_str()).collect();
        let new = value.value();
        match usize::try_from(options.index) {
            Err(_) => parts.insert(0, new),
            Ok(at) if at >= parts.len() => parts.push(new),
            Ok(at) => parts[at] = new,
        }
        text = parts.join(&options.delimiter);
    }
    if field.kind() == Kind::Scalar {
        // A map would leave no text; what tag the field had stays.
        field.set_text(&text);
    } else {
        let mut copy = value.clone();
        if copy.kind() == Kind::Scalar {
            copy.set_text(&text);
        }
        *field = copy;
    }
    Ok(())
}

impl Node {
    /// Only the text; tag and style stay.
    pub(crate) fn set_text(&mut self, text: &str) {
        self.data = crate::node::Data::Scalar(text.into());
        self.mark_changed();
    }
}
