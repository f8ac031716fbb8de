//! The emitter: events to text, a state machine following go-yaml's. Hot path.

use super::analyze::{Analysis, analyze};
use super::{Options, SequenceStyle};
use crate::chars::is_alpha;
use crate::{Error, Style};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    DocumentStart,
    DocumentEnd,
    Alias,
    Scalar,
    /// With whether it has no items.
    SequenceStart(bool),
    SequenceEnd,
    MappingStart(bool),
    MappingEnd,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a, 'c> {
    pub(super) kind: Kind,
    pub(super) style: Style,
    pub(super) anchor: &'a str,
    /// In short form; empty where the reader will find it out.
    pub(super) tag: &'a str,
    pub(super) value: &'a str,
    /// Kept until their place comes; all else is written at once.
    pub(super) comments: Comments<'c>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Comments<'a> {
    pub(super) head: &'a str,
    pub(super) line: &'a str,
    pub(super) foot: &'a str,
    /// The foot of the entry before.
    pub(super) tail: &'a str,
}

impl Event<'_, '_> {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            style: Style::Plain,
            anchor: "",
            tag: "",
            value: "",
            comments: Comments::default(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    FirstDocumentStart,
    DocumentStart,
    DocumentContent,
    DocumentEnd,
    FlowSequence(Turn),
    FlowMappingKey(Turn),
    FlowMappingValue { simple: bool },
    BlockSequence { first: bool },
    BlockMappingKey { first: bool },
    BlockMappingValue { simple: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    First,
    /// The comma stands already, before a comment.
    Trail,
    Next,
}

/// Where a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    Root,
    Sequence,
    Mapping,
    SimpleKey,
}

pub(super) type Result = std::result::Result<(), Error>;

#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of the line being written"
)]
pub(super) struct Emitter<'a, 'o> {
    pub(super) out: &'o mut Vec<u8>,
    pub(super) best_indent: i64,
    pub(super) best_width: i64,
    compact: bool,
    /// Writes as go-yaml v2 does.
    pub(super) legacy: bool,
    state: State,
    states: Vec<State>,
    pub(super) indent: i64,
    indents: Vec<i64>,
    flow_level: usize,
    pub(super) column: i64,
    /// The last character was white space.
    pub(super) whitespace: bool,
    /// Only indentation stands on this line.
    pub(super) indention: bool,
    /// An empty line goes before what comes next at this indentation.
    pub(super) foot_indent: i64,
    pub(super) comments: Comments<'a>,
    key_line_comment: &'a str,
    pub(super) context: Context,
    analysis: Analysis,
}

impl<'a, 'o> Emitter<'a, 'o> {
    pub(super) fn new(out: &'o mut Vec<u8>, options: Options, legacy: bool) -> Self {
        Self {
            out,
            best_indent: if (2..=9).contains(&options.indent) {
                options.indent.into()
            } else {
                2
            },
            best_width: options.width.map_or(i64::MAX, i64::from),
            compact: options.sequences == SequenceStyle::Compact,
            legacy,
            state: State::FirstDocumentStart,
            states: Vec::new(),
            indent: -1,
            indents: Vec::new(),
            flow_level: 0,
            column: 0,
            whitespace: true,
            indention: true,
            foot_indent: -1,
            comments: Comments::default(),
            key_line_comment: "",
            context: Context::Root,
            analysis: Analysis::default(),
        }
    }

    pub(super) fn emit(&mut self, event: &Event<'_, 'a>) -> Result {
        self.analyze(event)?;
        match self.state {
            State::FirstDocumentStart => self.document_start(true),
            State::DocumentStart => self.document_start(false),
            State::DocumentContent => {
                self.states.push(State::DocumentEnd);
                self.head_comment();
                self.node(event, Context::Root);
                self.line_comment();
                self.foot_comment();
            }
            State::DocumentEnd => {
                self.foot_indent = 0;
                self.foot_comment();
                self.foot_indent = -1;
                self.write_indent();
                self.state = State::DocumentStart;
            }
            State::FlowSequence(turn) => self.flow_sequence(event, turn),
            State::FlowMappingKey(turn) => self.flow_mapping_key(event, turn),
            State::FlowMappingValue { simple } => self.flow_mapping_value(event, simple),
            State::BlockSequence { first } => self.block_sequence(event, first),
            State::BlockMappingKey { first } => self.block_mapping_key(event, first),
            State::BlockMappingValue { simple } => self.block_mapping_value(event, simple),
        }
        Ok(())
    }

    fn analyze(&mut self, event: &Event<'_, 'a>) -> Result {
        let take = |old: &mut &'a str, new: &'a str| {
            if !new.is_empty() {
                *old = new;
            }
        };
        take(&mut self.comments.head, event.comments.head);
        take(&mut self.comments.line, event.comments.line);
        take(&mut self.comments.foot, event.comments.foot);
        take(&mut self.comments.tail, event.comments.tail);
        let alias = event.kind == Kind::Alias;
        if alias && event.anchor.is_empty() {
            return Err(Error::Write("alias value must not be empty"));
        }
        if !event.anchor.bytes().all(is_alpha) {
            return Err(Error::Write(if alias {
                "alias value must contain alphanumerical characters only"
            } else {
                "anchor value must contain alphanumerical characters only"
            }));
        }
        if event.kind == Kind::Scalar {
            self.analysis = analyze(event.value, self.legacy);
        }
        Ok(())
    }

    fn document_start(&mut self, first: bool) {
        if !first {
            self.write_indent();
            self.write_indicator("---", true, false, false);
            self.write_indent();
        }
        if !self.comments.head.is_empty() {
            self.head_comment();
            self.put_break();
        }
        self.state = State::DocumentContent;
    }

    fn pop_state(&mut self) {
        self.state = self.states.pop().unwrap_or(State::DocumentEnd);
    }

    fn increase_indent(&mut self, flow: bool, compact: bool) {
        self.indents.push(self.indent);
        let best = self.best_indent;
        if self.indent < 0 {
            self.indent = if flow { best } else { 0 };
        } else if self.legacy {
            self.indent += best;
        } else if self.states.last() == Some(&State::BlockSequence { first: false }) {
            // Past the "- ".
            self.indent += 2;
        } else {
            self.indent = best * ((self.indent + best) / best) - if compact { 2 } else { 0 };
        }
    }

    fn pop_indent(&mut self) {
        self.indent = self.indents.pop().unwrap_or(-1);
    }

    /// A comment that must stand behind the comma.
    fn has_trailing_comment(&self) -> bool {
        let Comments {
            line, foot, tail, ..
        } = self.comments;
        !(line.is_empty() && foot.is_empty() && tail.is_empty())
    }

    fn comma(&mut self) {
        self.write_indicator(",", false, false, false);
    }

    fn enter_flow(&mut self, indicator: &str) {
        self.write_indicator(indicator, true, true, false);
        self.increase_indent(true, false);
        self.flow_level += 1;
    }

    fn leave_flow(&mut self) {
        self.flow_level -= 1;
        self.pop_indent();
    }

    /// What goes before each flow item.
    fn before_flow_item(&mut self, turn: Turn) {
        if turn == Turn::Next {
            self.comma();
        }
        self.head_comment();
        if self.column == 0 {
            self.write_indent();
        }
        if self.column > self.best_width {
            self.write_indent();
        }
    }

    fn after_flow_item(&mut self) {
        if self.has_trailing_comment() {
            self.comma();
        }
        self.line_comment();
        self.foot_comment();
    }

    fn turn_after_item(&self) -> Turn {
        if self.has_trailing_comment() {
            Turn::Trail
        } else {
            Turn::Next
        }
    }

    fn flow_sequence(&mut self, event: &Event<'_, 'a>, turn: Turn) {
        if turn == Turn::First {
            self.enter_flow("[");
        }
        if event.kind == Kind::SequenceEnd {
            self.leave_flow();
            if self.column == 0 {
                self.write_indent();
            }
            self.write_indicator("]", false, false, false);
            self.line_comment();
            self.foot_comment();
            self.pop_state();
            return;
        }
        self.before_flow_item(turn);
        self.states
            .push(State::FlowSequence(self.turn_after_item()));
        self.node(event, Context::Sequence);
        self.after_flow_item();
    }

    fn flow_mapping_key(&mut self, event: &Event<'_, 'a>, turn: Turn) {
        if turn == Turn::First {
            self.enter_flow("{");
        }
        if event.kind == Kind::MappingEnd {
            let Comments {
                head, foot, tail, ..
            } = self.comments;
            let commented = !(head.is_empty() && foot.is_empty() && tail.is_empty());
            if commented && turn == Turn::Next {
                self.comma();
            }
            self.head_comment();
            self.leave_flow();
            self.write_indicator("}", false, false, false);
            self.line_comment();
            self.foot_comment();
            self.pop_state();
            return;
        }
        self.before_flow_item(turn);
        let simple = self.is_simple_key(event);
        self.states.push(State::FlowMappingValue { simple });
        if simple {
            self.node(event, Context::SimpleKey);
        } else {
            self.write_indicator("?", true, false, false);
            self.node(event, Context::Mapping);
        }
    }

    fn flow_mapping_value(&mut self, event: &Event<'_, 'a>, simple: bool) {
        if simple {
            self.write_indicator(":", false, false, false);
        } else {
            if self.column > self.best_width {
                self.write_indent();
            }
            self.write_indicator(":", true, false, false);
        }
        self.states
            .push(State::FlowMappingKey(self.turn_after_item()));
        self.node(event, Context::Mapping);
        self.after_flow_item();
    }

    fn block_sequence(&mut self, event: &Event<'_, 'a>, first: bool) {
        if first {
            let in_mapping = matches!(self.context, Context::Mapping | Context::SimpleKey);
            if self.legacy && in_mapping && !self.indention {
                self.indents.push(self.indent);
            } else {
                let seq = in_mapping && (self.column == 0 || !self.indention) && self.compact;
                self.increase_indent(false, seq);
            }
        }
        if event.kind == Kind::SequenceEnd {
            self.pop_indent();
            self.pop_state();
            return;
        }
        self.head_comment();
        self.write_indent();
        self.write_indicator("-", true, false, true);
        self.states.push(State::BlockSequence { first: false });
        self.node(event, Context::Sequence);
        self.line_comment();
        self.foot_comment();
    }

    fn block_mapping_key(&mut self, event: &Event<'_, 'a>, first: bool) {
        if first {
            self.increase_indent(false, false);
        }
        self.head_comment();
        if event.kind == Kind::MappingEnd {
            self.pop_indent();
            self.pop_state();
            return;
        }
        self.write_indent();
        if !self.comments.line.is_empty() {
            // Written behind the ':'.
            self.key_line_comment = std::mem::take(&mut self.comments.line);
        }
        let simple = self.is_simple_key(event);
        self.states.push(State::BlockMappingValue { simple });
        if simple {
            self.node(event, Context::SimpleKey);
        } else {
            self.write_indicator("?", true, false, true);
            self.node(event, Context::Mapping);
        }
    }

    fn block_mapping_value(&mut self, event: &Event<'_, 'a>, simple: bool) {
        if simple {
            self.write_indicator(":", false, false, false);
        } else {
            self.write_indent();
            self.write_indicator(":", true, false, true);
        }
        if !self.key_line_comment.is_empty() {
            let starts = matches!(event.kind, Kind::SequenceStart(_) | Kind::MappingStart(_));
            if event.kind == Kind::Scalar {
                if self.comments.line.is_empty() {
                    self.comments.line = std::mem::take(&mut self.key_line_comment);
                }
            } else if starts && event.style != Style::Flow {
                let own = std::mem::replace(&mut self.comments.line, self.key_line_comment);
                self.line_comment();
                self.comments.line = own;
                self.key_line_comment = "";
            }
        }
        self.states.push(State::BlockMappingKey { first: false });
        self.node(event, Context::Mapping);
        self.line_comment();
        self.foot_comment();
    }

    fn node(&mut self, event: &Event<'_, 'a>, context: Context) {
        self.context = context;
        match event.kind {
            Kind::Alias => {
                self.write_indicator("*", true, false, false);
                self.write_name(event.anchor);
                self.pop_state();
            }
            Kind::Scalar => {
                self.scalar_node(event);
                self.pop_state();
            }
            Kind::SequenceStart(empty) => {
                self.properties(event);
                let flow = self.flow_level > 0 || event.style == Style::Flow || empty;
                self.state = if flow {
                    State::FlowSequence(Turn::First)
                } else {
                    State::BlockSequence { first: true }
                };
            }
            Kind::MappingStart(empty) => {
                self.properties(event);
                let flow = self.flow_level > 0 || event.style == Style::Flow || empty;
                self.state = if flow {
                    State::FlowMappingKey(Turn::First)
                } else {
                    State::BlockMappingKey { first: true }
                };
            }
            // The writers of trees and values do not emit these here.
            Kind::DocumentStart | Kind::DocumentEnd | Kind::SequenceEnd | Kind::MappingEnd => {}
        }
    }

    fn scalar_node(&mut self, event: &Event<'_, 'a>) {
        let style = self.scalar_style(event);
        self.properties(event);
        self.increase_indent(true, false);
        self.write_scalar(event.value, style);
        self.pop_indent();
    }

    /// One scalar, where the emitter stands.
    pub(super) fn scalar(&mut self, event: &Event<'_, 'a>, context: Context) {
        self.analysis = analyze(event.value, self.legacy);
        self.context = context;
        self.indention = false;
        self.scalar_node(event);
    }

    /// Keys up to 128 bytes stand before a ':', longer ones behind a '?'.
    fn is_simple_key(&self, event: &Event<'_, 'a>) -> bool {
        let tag = event.tag.len();
        let length = match event.kind {
            Kind::Alias => event.anchor.len(),
            Kind::Scalar if self.analysis.multiline => return false,
            Kind::Scalar => event.anchor.len() + tag + event.value.len(),
            Kind::SequenceStart(true) | Kind::MappingStart(true) => event.anchor.len() + tag,
            _ => return false,
        };
        length <= 128
    }

    fn scalar_style(&self, event: &Event<'_, 'a>) -> Style {
        let mut style = event.style;
        let simple_key = self.context == Context::SimpleKey;
        let flow = self.flow_level > 0;
        if simple_key && self.analysis.multiline {
            style = Style::DoubleQuoted;
        }
        if matches!(style, Style::Plain | Style::Flow) {
            let allowed = if flow {
                self.analysis.flow_plain
            } else {
                self.analysis.block_plain
            };
            style = Style::Plain;
            if !allowed || event.value.is_empty() && (flow || simple_key) {
                style = Style::SingleQuoted;
            }
        }
        if style == Style::SingleQuoted && !self.analysis.single_quoted {
            style = Style::DoubleQuoted;
        }
        if matches!(style, Style::Literal | Style::Folded)
            && (!self.analysis.block || flow || simple_key)
        {
            style = Style::DoubleQuoted;
        }
        style
    }

    fn properties(&mut self, event: &Event<'_, 'a>) {
        if !event.anchor.is_empty() {
            self.write_indicator("&", true, false, false);
            self.write_name(event.anchor);
        }
        let tag = event.tag;
        if tag.is_empty() {
            return;
        }
        if let Some(rest) = tag.strip_prefix("!!") {
            self.write_tag_handle("!!");
            self.write_tag_content(rest);
        } else if let Some(rest) = tag.strip_prefix('!') {
            self.write_tag_handle("!");
            self.write_tag_content(rest);
        } else {
            self.write_indicator("!<", true, false, false);
            self.write_tag_content(tag);
            self.write_indicator(">", false, false, false);
        }
    }
}
