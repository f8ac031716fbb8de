//! The tree: what go-yaml v3 calls a Node.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Has one child.
    Document,
    #[default]
    Scalar,
    Sequence,
    /// Keys and values take turns.
    Mapping,
    /// Its value is the name of an anchor.
    Alias,
}

/// How a node is written. A collection is `Plain` (a block) or `Flow`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    #[default]
    Plain,
    DoubleQuoted,
    SingleQuoted,
    Literal,
    Folded,
    Flow,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub kind: Kind,
    pub style: Style,
    /// Whether the tag is written out.
    pub tagged: bool,
    /// In short form, as `!!str`; if the text had none, the one it resolves to.
    pub tag: Cow<'static, str>,
    pub value: String,
    pub content: Content,
    /// From 1; 0 in nodes that were not read.
    pub line: u32,
    pub column: u32,
    rare: Option<Box<Rare>>,
}

/// What few nodes have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rare {
    anchor: String,
    head_comment: String,
    line_comment: String,
    foot_comment: String,
}

macro_rules! rare {
    ($($field:ident $set:ident $take:ident)*) => {$(
        pub fn $field(&self) -> &str {
            self.rare.as_ref().map_or("", |rare| &rare.$field)
        }

        pub fn $set(&mut self, text: impl Into<String>) {
            let text = text.into();
            if !text.is_empty() || self.rare.is_some() {
                self.rare.get_or_insert_default().$field = text;
            }
        }

        /// Leaves an empty one behind.
        #[must_use]
        pub fn $take(&mut self) -> String {
            self.rare.as_mut().map_or_else(String::new, |rare| std::mem::take(&mut rare.$field))
        }
    )*};
}

impl Node {
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }

    /// A scalar with a tag in short form, as kyaml makes them.
    pub fn scalar(tag: &'static str, value: impl Into<String>) -> Self {
        Self {
            tag: Cow::Borrowed(tag),
            value: value.into(),
            ..Self::default()
        }
    }

    /// A string, in literal style if it has lines; quoted on the way out if it reads as something else.
    pub fn string(value: impl Into<String>) -> Self {
        let mut node = Self::scalar("!!str", value);
        if node.value.contains('\n') {
            node.style = Style::Literal;
        }
        node
    }

    pub fn mapping(pairs: impl IntoIterator<Item = (Node, Node)>) -> Self {
        let mut node = Self::new(Kind::Mapping);
        node.tag = Cow::Borrowed("!!map");
        node.content = pairs.into_iter().flat_map(|(k, v)| [k, v]).collect();
        node
    }

    pub fn sequence(items: impl IntoIterator<Item = Node>) -> Self {
        let mut node = Self::new(Kind::Sequence);
        node.tag = Cow::Borrowed("!!seq");
        node.content = items.into_iter().collect();
        node
    }

    /// The value of a key, if this is a mapping that has it (or a document with one).
    pub fn get(&self, key: &str) -> Option<&Node> {
        match self.kind {
            Kind::Document => self.content.first()?.get(key),
            Kind::Mapping => {
                let mut pairs = self.content.chunks_exact(2);
                let pair = pairs.find(|pair| pair[0].kind == Kind::Scalar && pair[0].value == key);
                pair.map(|pair| &pair[1])
            }
            _ => None,
        }
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match self.kind {
            Kind::Document => self.content.first_mut()?.get_mut(key),
            Kind::Mapping => {
                let mut pairs = self.content.chunks_exact_mut(2);
                let pair = pairs.find(|pair| pair[0].kind == Kind::Scalar && pair[0].value == key);
                pair.map(|pair| &mut pair[1])
            }
            _ => None,
        }
    }

    /// Keys with their values.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (&Node, &Node)> {
        let pairs = match self.kind {
            Kind::Mapping => self.content.as_slice(),
            _ => &[],
        };
        pairs.chunks_exact(2).map(|pair| (&pair[0], &pair[1]))
    }

    rare! {
        anchor set_anchor take_anchor
        head_comment set_head_comment take_head_comment
        line_comment set_line_comment take_line_comment
        foot_comment set_foot_comment take_foot_comment
    }

    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.style, Style::Plain | Style::Flow)
    }

    /// Everything but the children.
    fn shell(&self) -> Self {
        Self {
            content: Content::default(),
            tag: self.tag.clone(),
            value: self.value.clone(),
            rare: self.rare.clone(),
            ..*self
        }
    }
}

/// The children of a node. Text can nest deeper than a stack can recurse, so dropping, cloning and comparing do not.
#[derive(Debug, Default)]
pub struct Content(Vec<Node>);

impl Deref for Content {
    type Target = Vec<Node>;

    fn deref(&self) -> &Vec<Node> {
        &self.0
    }
}

impl DerefMut for Content {
    fn deref_mut(&mut self) -> &mut Vec<Node> {
        &mut self.0
    }
}

impl Content {
    pub fn into_vec(mut self) -> Vec<Node> {
        std::mem::take(&mut self.0)
    }
}

impl From<Vec<Node>> for Content {
    fn from(nodes: Vec<Node>) -> Self {
        Self(nodes)
    }
}

impl FromIterator<Node> for Content {
    fn from_iter<I: IntoIterator<Item = Node>>(nodes: I) -> Self {
        Self(nodes.into_iter().collect())
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        let mut left: Vec<Vec<Node>> = Vec::new();
        let mut nodes = std::mem::take(&mut self.0);
        loop {
            for node in &mut nodes {
                if !node.content.0.is_empty() {
                    left.push(std::mem::take(&mut node.content.0));
                }
            }
            match left.pop() {
                Some(next) => nodes = next,
                None => return,
            }
        }
    }
}

impl Clone for Content {
    fn clone(&self) -> Self {
        let mut done = Vec::with_capacity(self.len());
        // Open copies, each with the children of its original that are left.
        let mut open: Vec<(Node, std::slice::Iter<'_, Node>)> = Vec::new();
        let mut nodes = self.0.iter();
        loop {
            if let Some(node) = nodes.next() {
                let copy = node.shell();
                if node.content.is_empty() {
                    match open.last_mut() {
                        Some((parent, _)) => parent.content.push(copy),
                        None => done.push(copy),
                    }
                } else {
                    let children = node.content.0.iter();
                    open.push((copy, std::mem::replace(&mut nodes, children)));
                }
            } else if let Some((copy, rest)) = open.pop() {
                nodes = rest;
                match open.last_mut() {
                    Some((parent, _)) => parent.content.push(copy),
                    None => done.push(copy),
                }
            } else {
                return Self(done);
            }
        }
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        let mut left = vec![(&self.0, &other.0)];
        while let Some((a, b)) = left.pop() {
            if a.len() != b.len() {
                return false;
            }
            for (a, b) in a.iter().zip(b) {
                let same = (a.kind, a.style, a.tagged) == (b.kind, b.style, b.tagged)
                    && (&a.tag, &a.value) == (&b.tag, &b.value)
                    && (a.line, a.column) == (b.line, b.column)
                    && a.rare == b.rare;
                if !same {
                    return false;
                }
                if !a.content.is_empty() || !b.content.is_empty() {
                    left.push((&a.content.0, &b.content.0));
                }
            }
        }
        true
    }
}

impl Eq for Content {}
