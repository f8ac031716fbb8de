//! The tree that is worked on: what kyaml calls an `RNode`, in 32 bytes a node.
//!
//! Texts, tags and styles stay, because a number keeps the form it was written in until the very end. Comments are not in
//! the tree, as the output has none; where a node stands says which are its own ([`source`]).

mod edit;
mod from_json;
mod load;
mod meta;
mod output;
mod path;
mod pattern;
mod shared;
pub(crate) mod source;
mod to_json;
mod to_yaml;

pub(crate) use edit::is_non_string;
pub(crate) use from_json::from_patched;
pub(crate) use load::{
    check_depth, forget_aliases, parse_document, parse_document_at, split_documents, unix_lines,
};
pub(crate) use meta::StringMap;
pub(crate) use output::write;
pub(crate) use path::{
    index_number, is_field_name, is_list_index, kind_before, smarter_split, split_name_value,
    split_path,
};
pub(crate) use pattern::Create;
pub(crate) use to_json::to_value;
pub(crate) use to_yaml::{to_commented_yaml, to_tree, to_yaml};

pub(crate) use shared::{next_group, settle, take_changed};

use json::Text;
pub(crate) use yaml::Style;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) data: Data,
    pub(crate) line: u32,
    pub(crate) column: u16,
    pub(crate) tag: Tag,
    pub(crate) style: Style,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    Scalar(Text),
    Map(Vec<(Node, Node)>),
    Seq(Vec<Node>),
}

/// What a scalar is. `None` is for nodes made here without one: their text decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    None,
    Null,
    Bool,
    Int,
    Float,
    Str,
    Timestamp,
    Binary,
    Merge,
    Map,
    Seq,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Scalar,
    Map,
    Seq,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Scalar => "ScalarNode",
            Self::Map => "MappingNode",
            Self::Seq => "SequenceNode",
        }
    }
}

impl Node {
    fn of(data: Data, tag: Tag) -> Self {
        Self {
            data,
            line: 0,
            column: 0,
            tag,
            style: Style::Plain,
        }
    }

    /// A scalar whose text decides what it is.
    pub(crate) fn plain(text: impl Into<Text>) -> Self {
        Self::of(Data::Scalar(text.into()), Tag::None)
    }

    pub(crate) fn tagged(tag: Tag, text: impl Into<Text>) -> Self {
        Self::of(Data::Scalar(text.into()), tag)
    }

    pub(crate) fn string(text: impl Into<Text>) -> Self {
        let text: Text = text.into();
        let style = if text.contains('\n') {
            Style::Literal
        } else {
            Style::Plain
        };
        let mut node = Self::of(Data::Scalar(text), Tag::Str);
        node.style = style;
        node
    }

    /// As kyaml makes one: without a tag.
    pub(crate) fn map() -> Self {
        Self::of(Data::Map(Vec::new()), Tag::None)
    }

    /// As kyaml makes one: without a tag.
    pub(crate) fn seq(items: Vec<Node>) -> Self {
        Self::of(Data::Seq(items), Tag::None)
    }

    pub(crate) fn kind(&self) -> Kind {
        match self.data {
            Data::Scalar(_) => Kind::Scalar,
            Data::Map(_) => Kind::Map,
            Data::Seq(_) => Kind::Seq,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.tag == Tag::Null
    }

    /// Null, or a collection without members.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_null()
            || match &self.data {
                Data::Scalar(_) => false,
                Data::Map(pairs) => pairs.is_empty(),
                Data::Seq(items) => items.is_empty(),
            }
    }

    pub(crate) fn is_empty_map(&self) -> bool {
        self.is_null() || matches!(&self.data, Data::Map(pairs) if pairs.is_empty())
    }

    /// A scalar that is a string, or was not told to be anything else.
    pub(crate) fn is_string(&self) -> bool {
        self.kind() == Kind::Scalar && matches!(self.tag, Tag::Str | Tag::None)
    }

    /// The text of a scalar; empty for collections, as go-yaml has it.
    pub(crate) fn raw(&self) -> &Text {
        static EMPTY: Text = Text::new();
        match &self.data {
            Data::Scalar(text) => text,
            _ => &EMPTY,
        }
    }

    /// The text, empty for null.
    pub(crate) fn value(&self) -> &str {
        if self.is_null() { "" } else { self.raw() }
    }

    pub(crate) fn pairs(&self) -> &[(Node, Node)] {
        match &self.data {
            Data::Map(pairs) => pairs,
            _ => &[],
        }
    }

    pub(crate) fn items(&self) -> &[Node] {
        match &self.data {
            Data::Seq(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn items_mut(&mut self) -> &mut [Node] {
        match &mut self.data {
            Data::Seq(items) => items,
            _ => &mut [],
        }
    }

    /// The value of a key, if this is a map that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        let found = self.pairs().iter().find(|(it, _)| **it.raw() == *key);
        found.map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.data {
            Data::Map(pairs) => {
                let found = pairs.iter_mut().find(|(it, _)| **it.raw() == *key);
                found.map(|(_, value)| value)
            }
            _ => None,
        }
    }
}
