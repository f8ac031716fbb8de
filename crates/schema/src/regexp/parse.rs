//! From text to a tree, as Go's `regexp/syntax` reads it with its Perl flags.

use super::MAX_TEXT;
use super::class::{Class, Item, perl, posix, unicode};

#[derive(Clone, Debug)]
pub(super) enum Node {
    Empty,
    Char(char, bool),
    /// `.`; with or without the end of a line.
    Any(bool),
    Class(Class, bool),
    Look(Look),
    Cat(Vec<Node>),
    Alternate(Vec<Node>),
    Repeat(Box<Node>, usize, Option<usize>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    BeginText,
    EndText,
    BeginLine,
    EndLine,
    Word,
    NotWord,
}

/// Go takes a thousand of each; deeper groups than ours nobody writes.
const MAX_REPEAT: usize = 1000;
const MAX_DEPTH: usize = 200;

pub(super) fn error(code: &str, part: &str) -> String {
    format!("error parsing regexp: {code}: `{part}`")
}

pub(super) fn parse(text: &str) -> Result<Node, String> {
    if text.len() > MAX_TEXT {
        let mut end = 64;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        return Err(error("expression too large", &text[..end]));
    }
    let mut parser = Parser {
        text,
        at: 0,
        flags: Flags::default(),
        depth: 0,
    };
    let node = parser.alternate()?;
    if parser.at < text.len() {
        return Err(error("unexpected )", text));
    }
    Ok(node)
}

/// `(?im-s)`
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    fold: bool,
    lines: bool,
    dot_is_all: bool,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    flags: Flags,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn take(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    /// Up to a closing parenthesis or the end.
    fn alternate(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(error("expression nests too deeply", self.text));
        }
        let mut all = vec![self.concatenate()?];
        while self.take("|") {
            all.push(self.concatenate()?);
        }
        self.depth -= 1;
        Ok(match all.len() {
            1 => all.pop().unwrap_or(Node::Empty),
            _ => Node::Alternate(all),
        })
    }

    fn concatenate(&mut self) -> Result<Node, String> {
        let mut all: Vec<Node> = Vec::new();
        // Where the last repetition began: another may not follow it.
        let mut repeated: Option<usize> = None;
        while let Some(next) = self.peek() {
            let start = self.at;
            match next {
                '|' | ')' => break,
                '*' | '+' | '?' => {
                    self.next();
                    let (min, max) = match next {
                        '*' => (0, None),
                        '+' => (1, None),
                        _ => (0, Some(1)),
                    };
                    self.repeat(&mut all, (min, max), start, repeated)?;
                    repeated = Some(repeated.unwrap_or(start));
                    continue;
                }
                '{' => {
                    if let Some((min, max)) = self.counts()? {
                        self.repeat(&mut all, (min, max), start, repeated)?;
                        repeated = Some(repeated.unwrap_or(start));
                        continue;
                    }
                    self.next();
                    all.push(Node::Char('{', self.flags.fold));
                }
                '(' => all.extend(self.group()?),
                '[' => {
                    let class = self.class()?;
                    all.push(Node::Class(class, self.flags.fold));
                }
                '.' => {
                    self.next();
                    all.push(Node::Any(self.flags.dot_is_all));
                }
                '^' => {
                    self.next();
                    all.push(Node::Look(if self.flags.lines {
                        Look::BeginLine
                    } else {
                        Look::BeginText
                    }));
                }
                '$' => {
                    self.next();
                    all.push(Node::Look(if self.flags.lines {
                        Look::EndLine
                    } else {
                        Look::EndText
                    }));
                }
                '\\' => self.escape(&mut all)?,
                _ => {
                    self.next();
                    all.push(Node::Char(next, self.flags.fold));
                }
            }
            repeated = None;
        }
        Ok(match all.len() {
            0 => Node::Empty,
            1 => all.pop().unwrap_or(Node::Empty),
            _ => Node::Cat(all),
        })
    }

    fn repeat(
        &mut self,
        all: &mut Vec<Node>,
        (min, max): (usize, Option<usize>),
        start: usize,
        repeated: Option<usize>,
    ) -> Result<(), String> {
        // Whether as much or as little as possible is taken makes no difference to whether there is a match.
        self.take("?");
        if let Some(before) = repeated {
            let code = "invalid nested repetition operator";
            return Err(error(code, &self.text[before..self.at]));
        }
        let Some(node) = all.pop() else {
            let code = "missing argument to repetition operator";
            return Err(error(code, &self.text[start..self.at]));
        };
        let most = max.unwrap_or(min).max(min);
        if most > MAX_REPEAT || !may_repeat(&node, MAX_REPEAT / most.max(1)) {
            let code = "invalid repeat count";
            return Err(error(code, &self.text[start..self.at]));
        }
        all.push(Node::Repeat(Box::new(node), min, max));
        Ok(())
    }

    /// `{2}`, `{2,}` or `{2,3}`; what looks different is text.
    fn counts(&mut self) -> Result<Option<(usize, Option<usize>)>, String> {
        let Some(end) = self.rest().find('}') else {
            return Ok(None);
        };
        let inner = &self.rest()[1..end];
        let number = |text: &str| {
            let plain = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
            let leading = text.len() > 1 && text.starts_with('0');
            // A number that is too long is too large.
            (plain && !leading).then(|| text.parse().unwrap_or(usize::MAX))
        };
        let found = match inner.split_once(',') {
            None => number(inner).map(|it| (it, Some(it))),
            Some((min, "")) => number(min).map(|it| (it, None)),
            Some((min, max)) => number(min).zip(number(max)).map(|(a, b)| (a, Some(b))),
        };
        let Some((min, max)) = found else {
            return Ok(None);
        };
        let start = self.at;
        self.at += end + 1;
        if min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT || max < min) {
            let part = &self.text[start..self.at];
            return Err(error("invalid repeat count", part));
        }
        Ok(Some((min, max)))
    }

    fn group(&mut self) -> Result<Option<Node>, String> {
        let start = self.at;
        self.at += 1;
        let before = self.flags;
        if self.take("?") {
            if self.take("P<") || self.take("<") {
                self.name(start)?;
            } else if !self.group_flags(start)? {
                // The flags are for the rest of the group around.
                return Ok(None);
            }
        }
        let node = self.alternate()?;
        if !self.take(")") {
            return Err(error("missing closing )", self.text));
        }
        self.flags = before;
        // A group is one thing, also if it is empty.
        Ok(Some(match node {
            Node::Empty => Node::Cat(Vec::new()),
            node => node,
        }))
    }

    fn name(&mut self, start: usize) -> Result<(), String> {
        let end = self.rest().find('>');
        let name = end.map_or(self.rest(), |end| &self.rest()[..end]);
        let word = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
        if end.is_none() || name.is_empty() || !name.bytes().all(word) {
            let end = end.map_or(self.text.len(), |end| self.at + end + 1);
            let part = &self.text[start..end];
            return Err(error("invalid named capture", part));
        }
        self.at += name.len() + 1;
        Ok(())
    }

    /// Whether a group follows.
    fn group_flags(&mut self, start: usize) -> Result<bool, String> {
        let mut flags = self.flags;
        let (mut on, mut some) = (true, false);
        loop {
            let next = self.next();
            match next {
                Some('i') => flags.fold = on,
                Some('m') => flags.lines = on,
                Some('s') => flags.dot_is_all = on,
                Some('U') => {}
                Some('-') if on => {
                    (on, some) = (false, false);
                    continue;
                }
                Some(':' | ')') if on || some => {
                    self.flags = flags;
                    return Ok(next == Some(':'));
                }
                None => return Err(error("missing closing )", self.text)),
                Some(_) => {
                    let part = &self.text[start..self.at];
                    return Err(error("invalid or unsupported Perl syntax", part));
                }
            }
            some = true;
        }
    }

    fn escape(&mut self, all: &mut Vec<Node>) -> Result<(), String> {
        let start = self.at;
        let rest = &self.rest()[1..];
        if let Some(quoted) = rest.strip_prefix('Q') {
            let end = quoted.find("\\E").unwrap_or(quoted.len());
            let fold = self.flags.fold;
            all.extend(quoted[..end].chars().map(|it| Node::Char(it, fold)));
            self.at += 2 + end;
            self.take("\\E");
            return Ok(());
        }
        let look = match rest.chars().next() {
            Some('A') => Some(Look::BeginText),
            Some('z') => Some(Look::EndText),
            Some('b') => Some(Look::Word),
            Some('B') => Some(Look::NotWord),
            _ => None,
        };
        if let Some(look) = look {
            self.at += 2;
            all.push(Node::Look(look));
            return Ok(());
        }
        if let Some(item) = self.named()? {
            let class = Class {
                negated: false,
                items: vec![item],
            };
            all.push(Node::Class(class, self.flags.fold));
            return Ok(());
        }
        let it = self.escaped(start)?;
        all.push(Node::Char(it, self.flags.fold));
        Ok(())
    }

    /// `\d` and `\p{L}`.
    fn named(&mut self) -> Result<Option<Item>, String> {
        let start = self.at;
        let mut rest = self.rest().chars().skip(1);
        match rest.next() {
            Some(letter @ ('d' | 'D' | 's' | 'S' | 'w' | 'W')) => {
                self.at += 2;
                Ok(perl(letter))
            }
            Some(letter @ ('p' | 'P')) => {
                self.at += 2;
                let code = "invalid character class range";
                let name = match self.next() {
                    Some('{') => {
                        let Some(end) = self.rest().find('}') else {
                            return Err(error(code, &self.text[start..]));
                        };
                        let name = &self.rest()[..end];
                        self.at += end + 1;
                        name
                    }
                    Some(one) => &self.text[self.at - one.len_utf8()..self.at],
                    None => return Err(error(code, &self.text[start..])),
                };
                match unicode(name, letter == 'P') {
                    Some(item) => Ok(Some(item)),
                    None => Err(error(code, &self.text[start..self.at])),
                }
            }
            _ => Ok(None),
        }
    }

    /// One character behind a backslash.
    fn escaped(&mut self, start: usize) -> Result<char, String> {
        self.next();
        let Some(next) = self.next() else {
            return Err(error("trailing backslash at end of expression", ""));
        };
        let number = |text: &str, radix| u32::from_str_radix(text, radix).ok();
        let found = match next {
            'a' => Some('\u{7}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\u{b}'),
            '0'..='7' => {
                // One digit but zero would be what an earlier group has matched.
                let more = self.rest().bytes().take(2);
                let more = more.take_while(|it| (b'0'..=b'7').contains(it)).count();
                let digits = &self.text[self.at - 1..self.at + more];
                self.at += more;
                let allowed = next == '0' || more > 0;
                number(digits, 8)
                    .filter(|_| allowed)
                    .and_then(char::from_u32)
            }
            'x' => {
                let (digits, length) = match self.rest().strip_prefix('{') {
                    Some(rest) => {
                        let end = rest.find('}').unwrap_or(rest.len());
                        (&rest[..end], end + 2)
                    }
                    None => (self.rest().get(..2).unwrap_or_default(), 2),
                };
                self.at = (self.at + length).min(self.text.len());
                while !self.text.is_char_boundary(self.at) {
                    self.at += 1;
                }
                let plain = digits.bytes().all(|it| it.is_ascii_hexdigit());
                number(digits, 16)
                    .filter(|_| plain)
                    .and_then(char::from_u32)
            }
            it if it.is_ascii_punctuation() => Some(it),
            _ => None,
        };
        found.ok_or_else(|| error("invalid escape sequence", &self.text[start..self.at]))
    }

    fn class(&mut self) -> Result<Class, String> {
        let start = self.at;
        self.at += 1;
        let mut class = Class {
            negated: self.take("^"),
            items: Vec::new(),
        };
        let mut first = true;
        loop {
            let missing = || error("missing closing ]", &self.text[start..]);
            let Some(next) = self.peek() else {
                return Err(missing());
            };
            if next == ']' && !first {
                self.at += 1;
                return Ok(class);
            }
            first = false;
            if self.rest().starts_with("[:")
                && let Some(end) = self.rest()[2..].find(":]")
            {
                let name = &self.rest()[2..2 + end];
                let part = &self.rest()[..end + 4];
                let item = posix(name);
                self.at += end + 4;
                class
                    .items
                    .push(item.ok_or_else(|| error("invalid character class range", part))?);
                continue;
            }
            let at = self.at;
            if next == '\\'
                && let Some(item) = self.named()?
            {
                class.items.push(item);
                continue;
            }
            let from = self.class_char(start)?;
            let mut to = from;
            let ranges = self.rest().starts_with('-')
                && self.rest().len() > 1
                && !self.rest().starts_with("-]");
            if ranges {
                self.at += 1;
                to = self.class_char(start)?;
            }
            if to < from {
                let part = &self.text[at..self.at];
                return Err(error("invalid character class range", part));
            }
            class.items.push(Item::Range(from, to));
        }
    }

    fn class_char(&mut self, start: usize) -> Result<char, String> {
        match self.peek() {
            None => Err(error("missing closing ]", &self.text[start..])),
            Some('\\') => self.escaped(self.at),
            Some(it) => {
                self.next();
                Ok(it)
            }
        }
    }
}

/// Whether counts within counts stay below what is left of a thousand.
fn may_repeat(node: &Node, left: usize) -> bool {
    match node {
        Node::Repeat(inner, min, max) => {
            let most = max.unwrap_or(*min).max(*min).max(1);
            most <= left && may_repeat(inner, left / most)
        }
        Node::Cat(all) | Node::Alternate(all) => all.iter().all(|it| may_repeat(it, left)),
        _ => true,
    }
}
