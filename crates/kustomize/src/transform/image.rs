//! Names, tags and digests of images.

use std::cell::LazyCell;

use regex::Regex;

use crate::error::Result;
use crate::fieldspec::Specs;
use crate::node::{Data, Kind, Node};
use crate::regexp;
use crate::resmap::ResMap;
use crate::schema::Schema;
use crate::transform::Transformer;
use crate::types::{FieldSpec, Image};

pub(crate) struct ImageTag {
    image: Image,
    name: Name,
    specs: Specs,
}

/// The name in a kustomization, which upstream puts into a regular expression.
struct Name {
    /// Whether dots, which stand for anything, are all that is special in it.
    simple: Option<String>,
    /// Made when needed; nothing if the name is no pattern, then no image has it.
    regex: LazyCell<Option<Regex>, Box<dyn FnOnce() -> Option<Regex>>>,
}

impl Name {
    fn new(name: &str) -> Self {
        const REST: &str = "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$";
        let simple = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'/' | b'.');
        let pattern = format!("^{name}{REST}");
        Self {
            simple: name.bytes().all(simple).then(|| name.to_owned()),
            regex: LazyCell::new(Box::new(move || regexp::compile(&pattern).ok())),
        }
    }

    fn is_of(&self, image: &str) -> bool {
        if let Some(name) = &self.simple
            && image.is_ascii()
        {
            let same = |(own, other): (u8, u8)| own == other || own == b'.' && other != b'\n';
            return image.len() >= name.len()
                && name.bytes().zip(image.bytes()).all(same)
                && is_rest(&image[name.len()..]);
        }
        self.regex.as_ref().is_some_and(|it| it.is_match(image))
    }
}

/// What the end of the regular expression says.
fn is_rest(text: &str) -> bool {
    let skip = |text: &'_ str| -> usize {
        let own = |it: &u8| it.is_ascii_alphanumeric() || b"_.{}-".contains(it);
        text.bytes().take_while(own).count()
    };
    let mut rest = text;
    for mark in [":", "@sha256:"] {
        if let Some(after) = rest.strip_prefix(mark) {
            rest = &after[skip(after)..];
        }
    }
    rest.is_empty()
}

impl ImageTag {
    pub(crate) fn new(image: &Image, specs: &[FieldSpec]) -> Self {
        Self {
            image: image.clone(),
            name: Name::new(&image.name),
            specs: specs.iter().collect(),
        }
    }

    fn set(&self, node: &mut Node) -> Result<()> {
        node.expect(Kind::Scalar)?;
        let value = node.raw();
        if !self.name.is_of(value) {
            return Ok(());
        }
        let (mut name, mut tag, mut digest) = split(value);
        let image = &self.image;
        if !image.new_name.is_empty() {
            name.clone_from(&image.new_name);
        }
        let new_tag = (!image.new_tag.is_empty()).then_some(&image.new_tag);
        let new_digest = (!image.digest.is_empty()).then_some(&image.digest);
        match (new_tag, new_digest) {
            (None, None) => {
                if !image.tag_suffix.is_empty() {
                    tag.push_str(&image.tag_suffix);
                    digest.clear();
                }
            }
            (new_tag, new_digest) => {
                tag = new_tag.cloned().unwrap_or_default();
                digest = new_digest.cloned().unwrap_or_default();
            }
        }
        if !tag.is_empty() {
            name = format!("{name}:{tag}");
        }
        if !digest.is_empty() {
            name = format!("{name}@{digest}");
        }
        node.set_scalar(Node::plain(name))
    }

    /// All lists called `containers` or `initContainers`, wherever they are.
    fn set_containers(&self, node: &mut Node) -> Result<()> {
        match &mut node.data {
            Data::Map(pairs) => {
                for (key, value) in pairs {
                    self.set_containers(value)?;
                    if matches!(key.raw().as_str(), "containers" | "initContainers") {
                        for item in value.items_mut() {
                            if item.field("image")?.is_some()
                                && let Some(image) = item.get_mut("image")
                            {
                                self.set(image)?;
                            }
                        }
                    }
                }
                Ok(())
            }
            Data::Seq(items) => items.iter_mut().try_for_each(|it| self.set_containers(it)),
            Data::Scalar(_) => Ok(()),
        }
    }
}

impl Transformer for ImageTag {
    fn transform(&mut self, map: &mut ResMap, _: &Schema) -> Result<()> {
        let not_crd = |node: &Node| *node.object_kind() != *"CustomResourceDefinition";
        for resource in map.list_mut() {
            if not_crd(&resource.node) {
                self.set_containers(&mut resource.node)?;
            }
        }
        for resource in map.list_mut() {
            if not_crd(&resource.node) {
                let node = &mut resource.node;
                for spec in self.specs.of(&crate::id::Gvk::of(node)).iter() {
                    spec.apply(node, None, &mut |node| self.set(node))?;
                }
            }
        }
        Ok(())
    }
}

/// Name, tag and digest.
pub(crate) fn split(image: &str) -> (String, String, String) {
    let slash = image.find('/').unwrap_or(0);
    let rest = &image[slash..];
    let at = rest.find('@').map(|at| at + slash);
    let colon = rest.find(':').map(|at| at + slash);
    let own = |text: &str| text.to_owned();
    match (colon, at) {
        (None, None) => (own(image), String::new(), String::new()),
        (Some(colon), Some(at)) if colon < at => (
            own(&image[..colon]),
            own(&image[colon + 1..at]),
            own(&image[at + 1..]),
        ),
        (_, Some(at)) => (own(&image[..at]), String::new(), own(&image[at + 1..])),
        (Some(colon), None) => (
            own(&image[..colon]),
            own(&image[colon + 1..]),
            String::new(),
        ),
    }
}
