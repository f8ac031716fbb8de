//! Where nodes were read. The lines of all documents of a build are numbered one after the other, so that the number of a
//! node's line says which document it is from, too. What go-yaml keeps of a document beside the nodes, comments above all,
//! is read again from its text when somebody asks: few builds do.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use json::Text;

use super::{Kind, Node};

/// In place of a column: the line is the number of a [`Detail`].
pub(super) const DETAILED: u16 = u16::MAX - 2;
/// No column that a node holds itself is this large.
pub(super) const MAX_COLUMN: u16 = u16::MAX - 3;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Sources>>> = const { RefCell::new(None) };
}

/// The documents of a build.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    inner: RefCell<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    documents: Vec<Rc<Document>>,
    /// How many lines all of them have.
    lines: u32,
    details: Vec<Detail>,
    /// The file that is being read, and how many of its lines come before the text.
    file: Option<(Rc<str>, u32)>,
}

#[derive(Debug)]
struct Document {
    /// How many lines of others come before.
    before: u32,
    file: Option<Rc<str>>,
    /// How many lines of the file, or of the text that it is in, come before it.
    lines_before: u32,
    /// If there may be something in it that nodes do not hold.
    text: Option<Box<str>>,
    rare: OnceCell<HashMap<(u32, u32, yaml::Kind), Rare>>,
}

/// What few nodes have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rare {
    pub(crate) head: String,
    pub(crate) line: String,
    pub(crate) foot: String,
    /// If it is written out.
    pub(crate) tag: Option<String>,
}

/// What does not fit into a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Detail {
    pub(super) line: u32,
    pub(super) column: u32,
    /// The group of a node that stands in several places.
    pub(super) group: u32,
    /// Whether this copy of it has changed.
    pub(super) changed: bool,
    /// Whether a collection has lost its last member: go-yaml tells that from one that never had any.
    pub(super) emptied: bool,
    /// The text of a null that became a collection.
    pub(super) text: Text,
    /// Whose comments came over this node's own, in the order they came.
    over: Vec<Place>,
}

type Place = (u32, u32, Kind);

impl Sources {
    /// What is read meanwhile is read for these, and what is asked of nodes is answered from them.
    pub(crate) fn during<T>(self: &Rc<Self>, run: impl FnOnce() -> T) -> T {
        let outer = CURRENT.replace(Some(Rc::clone(self)));
        let done = run();
        CURRENT.set(outer);
        done
    }
}

fn with<T>(use_it: impl FnOnce(&mut Inner) -> T) -> Option<T> {
    CURRENT.with_borrow(|sources| {
        let sources = sources.as_ref()?;
        Some(use_it(&mut sources.inner.borrow_mut()))
    })
}

/// What is read meanwhile comes from a file, of which some lines come before.
pub(crate) fn reading<T>(file: &str, lines_before: u32, read: impl FnOnce() -> T) -> T {
    let here = Some((Rc::from(file), lines_before));
    let outer = with(|it| std::mem::replace(&mut it.file, here));
    let done = read();
    if let Some(outer) = outer {
        with(|it| it.file = outer);
    }
    done
}

/// A document that is about to be read, with the number of lines before it in its text. Gives how many lines of others
/// come before its own.
pub(super) fn add(text: &str, lines_before: u32) -> u32 {
    with(|it| it.add(text, lines_before)).unwrap_or(0)
}

/// A line of what is being read, with its file.
pub(super) fn here(line: u32) -> (Option<Rc<str>>, u32) {
    let (file, before) = with(|it| it.file.clone()).flatten().unzip();
    (file, before.unwrap_or(0).saturating_add(line))
}

pub(crate) fn count_lines(text: &str) -> u32 {
    let breaks = text.bytes().filter(|it| *it == b'\n').count();
    u32::try_from(breaks).unwrap_or(u32::MAX)
}

impl Inner {
    fn add(&mut self, text: &str, lines_before: u32) -> u32 {
        let before = self.lines;
        // One more, for what stands behind the last line break.
        let lines = count_lines(text).saturating_add(1);
        let Some(lines) = before.checked_add(lines) else {
            return 0;
        };
        self.lines = lines;
        // One character at a time is found many bytes at a time.
        let has_rare = text.contains('#') || text.contains('!');
        let (file, more) = self.file.clone().unzip();
        self.documents.push(Rc::new(Document {
            before,
            file,
            lines_before: more.unwrap_or(0).saturating_add(lines_before),
            text: has_rare.then(|| text.into()),
            rare: OnceCell::new(),
        }));
        before
    }

    fn document(&self, line: u32) -> Option<&Rc<Document>> {
        let after = self.documents.partition_point(|it| it.before < line);
        self.documents.get(after.checked_sub(1)?)
    }

    fn rare(&self, (line, column, kind): Place) -> Option<Rare> {
        let document = self.document(line)?;
        let kind = match kind {
            Kind::Scalar => yaml::Kind::Scalar,
            Kind::Map => yaml::Kind::Mapping,
            Kind::Seq => yaml::Kind::Sequence,
        };
        let place = (line - document.before, column, kind);
        document.rare().get(&place).cloned()
    }
}

impl Document {
    fn rare(&self) -> &HashMap<(u32, u32, yaml::Kind), Rare> {
        self.rare.get_or_init(|| {
            let text = self.text.as_deref().unwrap_or_default();
            let mut found = HashMap::new();
            let mut left = Vec::new();
            left.extend(yaml::parse_first(text.as_bytes()).ok().flatten());
            while let Some(mut node) = left.pop() {
                left.append(&mut node.content);
                let rare = Rare {
                    head: node.take_head_comment(),
                    line: node.take_line_comment(),
                    foot: node.take_foot_comment(),
                    tag: node.tagged.then(|| node.tag.into_owned()),
                };
                if node.kind != yaml::Kind::Alias && rare != Rare::default() {
                    found.insert((node.line, node.column, node.kind), rare);
                }
            }
            found
        })
    }
}

impl Node {
    pub(super) fn at(mut self, line: u32, column: u32) -> Self {
        self.set_place(line, column);
        self
    }

    fn set_place(&mut self, line: u32, column: u32) {
        match u16::try_from(column) {
            Ok(column) if column <= MAX_COLUMN => (self.line, self.column) = (line, column),
            _ => self.set_detail(Detail {
                line,
                column,
                ..Detail::default()
            }),
        }
    }

    /// What a node has beside its data, in full.
    pub(super) fn detail(&self) -> Detail {
        if self.column == DETAILED {
            let at = self.line as usize;
            return with(|it| it.details.get(at).cloned())
                .flatten()
                .unwrap_or_default();
        }
        let mut detail = Detail::default();
        if self.column > DETAILED {
            detail.group = self.line;
            detail.changed = self.column == super::shared::CHANGED;
        } else {
            (detail.line, detail.column) = (self.line, self.column.into());
        }
        detail
    }

    pub(super) fn set_detail(&mut self, detail: Detail) {
        let at = with(|it| {
            it.details.push(detail);
            u32::try_from(it.details.len() - 1).ok()
        });
        // Outside of a build nobody asks.
        let place = at.flatten().map_or((0, 0), |at| (at, DETAILED));
        (self.line, self.column) = place;
    }

    /// As go-yaml has it: line and column in the document, none for nodes that were made.
    pub(crate) fn position(&self) -> (u32, u32) {
        let Detail { line, column, .. } = self.detail();
        let before = with(|it| it.document(line).map(|it| it.before)).flatten();
        (line - before.unwrap_or(0), column)
    }

    /// The file it was read from, and the line in it.
    pub(crate) fn file_and_line(&self) -> Option<(Rc<str>, u32)> {
        let (file, line) = self.source_line()?;
        Some((file?, line))
    }

    /// The line in the file or text that it was read from. Nothing for nodes that were made.
    pub(crate) fn source_line(&self) -> Option<(Option<Rc<str>>, u32)> {
        let line = self.detail().line;
        let found = with(|it| {
            let document = it.document(line)?;
            let inside = document.lines_before + line - document.before;
            Some((document.file.clone(), inside))
        });
        found.flatten()
    }

    /// Comments, and a tag that is written out.
    pub(crate) fn rare(&self) -> Option<Rare> {
        let detail = self.detail();
        if detail.line == 0 && detail.over.is_empty() {
            return None;
        }
        with(|it| {
            let own = it.rare((detail.line, detail.column, self.kind()));
            if detail.over.is_empty() {
                return own;
            }
            let mut all = own.unwrap_or_default();
            for other in detail.over.iter().filter_map(|place| it.rare(*place)) {
                for (text, new) in [
                    (&mut all.head, other.head),
                    (&mut all.line, other.line),
                    (&mut all.foot, other.foot),
                ] {
                    if !new.is_empty() {
                        *text = new;
                    }
                }
            }
            Some(all)
        })
        .flatten()
    }

    /// Comments of another node come over this one's own, as far as it has any.
    pub(crate) fn take_comments_of(&mut self, other: &Node) {
        let from = other.detail();
        let may_have = |line: u32| {
            with(|it| it.document(line).is_some_and(|it| it.text.is_some())).unwrap_or(false)
        };
        if from.over.is_empty() && (from.line == 0 || !may_have(from.line)) {
            return;
        }
        let mut detail = self.detail();
        if from.line != 0 {
            detail.over.push((from.line, from.column, other.kind()));
        }
        detail.over.extend(from.over);
        self.set_detail(detail);
    }

    /// Remembers that it has lost its last member.
    pub(crate) fn mark_emptied(&mut self) {
        let mut detail = self.detail();
        if !detail.emptied {
            detail.emptied = true;
            self.set_detail(detail);
        }
    }

    /// Remembers the text of a null that becomes a collection.
    pub(crate) fn mark_was_null(&mut self, text: Text) {
        if !text.is_empty() {
            let mut detail = self.detail();
            detail.text = text;
            self.set_detail(detail);
        }
    }

    /// Whether it is empty, but was not always; and the text that go-yaml still has.
    pub(crate) fn remains(&self) -> (bool, Text) {
        if self.column != DETAILED {
            return (false, Text::new());
        }
        let detail = self.detail();
        (detail.emptied, detail.text)
    }
}
