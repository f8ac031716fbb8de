//! Hot path. Trees to text without events in between, in go-yaml v2's block style. Scalars that need a second look are
//! the emitter's.

use super::emit::{Context, Emitter};
use super::order::sort;
use super::values::{Shape, Tree, string};
use crate::resolve::Rules;

/// Why a tree was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unwritten {
    /// A node has no shape, or a key stands twice.
    Odd,
    /// A key is too long to stand before a `:`.
    LongKey,
}

/// Where a node stands: at the root, or in a collection at a column.
#[derive(Clone, Copy)]
enum At {
    Root,
    Key(i64),
    Dash(i64),
}

enum Open<'a, T> {
    Items(std::slice::Iter<'a, T>),
    /// From here on in the stack of pairs.
    Pairs {
        base: usize,
        next: usize,
    },
}

/// A collection that is being written.
struct Level<'a, T> {
    open: Open<'a, T>,
    column: i64,
    /// Whether the next child is written on the line that was begun.
    inline: bool,
}

/// Keys up to this many bytes stand before a `:`.
const LONG: usize = 128;

impl Emitter<'_, '_> {
    pub(super) fn tree<T: Tree>(&mut self, root: &T, context: T::Context) -> Result<(), Unwritten> {
        let mut pairs: Vec<(&str, &T)> = Vec::new();
        let mut levels: Vec<Level<'_, T>> = Vec::new();
        let mut next = Some((root, At::Root));
        loop {
            if let Some((node, at)) = next.take() {
                let base = pairs.len();
                let shape = node.shape(context, levels.is_empty(), &mut pairs);
                let open = match shape.ok_or(Unwritten::Odd)? {
                    Shape::Plain(text) => {
                        self.behind(at, &text);
                        None
                    }
                    Shape::String(text) => {
                        self.string_at(&text, at);
                        None
                    }
                    Shape::Items([]) => {
                        self.behind(at, "[]");
                        None
                    }
                    Shape::Items(items) => Some(Open::Items(items.iter())),
                    Shape::Pairs if pairs.len() == base => {
                        self.behind(at, "{}");
                        None
                    }
                    Shape::Pairs => {
                        if !sort(&mut pairs, base, Rules::V2) {
                            return Err(Unwritten::Odd);
                        }
                        Some(Open::Pairs { base, next: base })
                    }
                };
                if let Some(open) = open {
                    let step = self.best_indent;
                    let column = match (at, &open) {
                        (At::Root, _) => 0,
                        (At::Key(column), Open::Items(_)) => column,
                        (At::Key(column) | At::Dash(column), _) => column + step,
                    };
                    let inline = !matches!(at, At::Key(_));
                    levels.push(Level {
                        open,
                        column,
                        inline,
                    });
                }
            }
            let Some(level) = levels.last_mut() else {
                break;
            };
            let column = level.column;
            match &mut level.open {
                Open::Items(items) => {
                    if let Some(item) = items.next() {
                        self.begin(column, std::mem::take(&mut level.inline));
                        self.out.push(b'-');
                        self.column = column + 1;
                        next = Some((item, At::Dash(column)));
                        continue;
                    }
                }
                Open::Pairs { base, next: at } => {
                    if let Some(&(key, value)) = pairs.get(*at) {
                        *at += 1;
                        self.begin(column, std::mem::take(&mut level.inline));
                        self.key(key, column)?;
                        next = Some((value, At::Key(column)));
                        continue;
                    }
                    pairs.truncate(*base);
                }
            }
            levels.pop();
        }
        self.end_line();
        Ok(())
    }

    /// A literal may have ended its last line itself.
    fn end_line(&mut self) {
        if self.column > 0 {
            self.out.push(b'\n');
        }
    }

    /// Goes to a column, on the line that was begun or on a new one.
    fn begin(&mut self, column: i64, inline: bool) {
        if !inline {
            self.end_line();
            let spaces = usize::try_from(column).unwrap_or(0);
            self.out.resize(self.out.len() + spaces, b' ');
        } else if column > 0 {
            self.out.push(b' ');
        }
    }

    fn behind(&mut self, at: At, text: &str) {
        if !matches!(at, At::Root) {
            self.out.push(b' ');
        }
        self.out.extend_from_slice(text.as_bytes());
        self.column += 1;
    }

    fn key(&mut self, key: &str, column: i64) -> Result<(), Unwritten> {
        if key.len() > LONG || key.contains('\n') {
            return Err(Unwritten::LongKey);
        }
        if plain(key) == Plain::Word {
            self.out.extend_from_slice(key.as_bytes());
            self.column = column + length(key);
        } else {
            self.column = column;
            self.whitespace = true;
            self.indent = column;
            self.scalar(&string(key), Context::SimpleKey);
        }
        self.out.push(b':');
        self.column += 1;
        Ok(())
    }

    fn string_at(&mut self, text: &str, at: At) {
        let (indent, context) = match at {
            At::Root => (-1, Context::Root),
            At::Key(column) => (column, Context::Mapping),
            At::Dash(column) => (column, Context::Sequence),
        };
        let fits = match plain(text) {
            Plain::Word => true,
            Plain::Words => self.column + length(text) < self.best_width,
            Plain::No => false,
        };
        if fits {
            self.behind(at, text);
            return;
        }
        self.whitespace = indent < 0;
        self.indent = indent;
        self.scalar(&string(text), context);
    }
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plain {
    /// Written as it is.
    Word,
    /// The same, but it has spaces at which it can be folded.
    Words,
    /// Needs a second look.
    No,
}

fn plain(text: &str) -> Plain {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return Plain::No;
    };
    // What may be a word that stands for something else is longer than all of those.
    let begins = match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' => text.len() > 5,
        b'a'..=b'z' | b'A'..=b'Z' | b'/' | b'_' | b'$' | b'(' => true,
        _ => false,
    };
    if !begins || matches!(last, b' ' | b':') {
        return Plain::No;
    }
    let mut words = false;
    for (i, byte) in bytes.iter().enumerate() {
        match byte {
            b' ' => words = true,
            b':' if bytes[i + 1] == b' ' => return Plain::No,
            b'#' if bytes[i - 1] == b' ' => return Plain::No,
            b'!'..=b'~' => {}
            _ => return Plain::No,
        }
    }
    if words { Plain::Words } else { Plain::Word }
}
