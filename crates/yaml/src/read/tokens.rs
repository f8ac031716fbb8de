//! What the scanner hands to the parser.

use crate::Style;

/// A place in the text. All count characters, and lines and columns from zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) index: i64,
    pub(super) line: i64,
    pub(super) column: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    StreamStart,
    StreamEnd,
    VersionDirective,
    TagDirective,
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias,
    Anchor,
    Tag,
    Scalar,
}

#[derive(Debug)]
pub(super) enum Data {
    None,
    /// The name of an anchor or alias.
    Name(String),
    Version(u8, u8),
    /// Handle and suffix of a tag, or handle and prefix of a directive.
    Tag(String, String),
    Scalar(String, Style),
}

#[derive(Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: Mark,
    pub(super) end: Mark,
    pub(super) data: Data,
}

/// A run of comment lines, before the parser gives them to a node. Exactly one of the texts is there.
#[derive(Debug, Default)]
pub(super) struct Comment {
    /// Where the search for this comment began.
    pub(super) scan: Mark,
    /// The token it belongs to starts here or before.
    pub(super) token: Mark,
    pub(super) start: Mark,
    pub(super) end: Mark,
    pub(super) head: String,
    pub(super) line: String,
    pub(super) foot: String,
}

/// A token that becomes a key if a `:` follows in time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SimpleKey {
    pub(super) possible: bool,
    pub(super) required: bool,
    pub(super) number: usize,
    pub(super) mark: Mark,
}
