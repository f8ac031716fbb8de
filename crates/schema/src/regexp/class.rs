//! Sets of characters.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Ranges of characters, sorted and apart from each other.
pub(super) type Ranges = Arc<[(char, char)]>;

#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    pub(super) negated: bool,
    pub(super) items: Vec<Item>,
}

#[derive(Clone, Debug)]
pub(super) enum Item {
    Range(char, char),
    /// A named set, or all but it.
    Named {
        name: Arc<str>,
        ranges: Ranges,
        negated: bool,
    },
}

impl Class {
    pub(super) fn contains(&self, it: char, fold: bool) -> bool {
        let mut found = self.has(it);
        if fold && !found {
            let (upper, lower) = (upper(it), lower(it));
            found = self.has(upper) || self.has(lower) || self.has(folded(it));
        }
        found != self.negated
    }

    fn has(&self, it: char) -> bool {
        self.items.iter().any(|item| match item {
            Item::Range(from, to) => (*from..=*to).contains(&it),
            Item::Named {
                ranges, negated, ..
            } => within(ranges, it) != *negated,
        })
    }
}

fn within(ranges: &[(char, char)], it: char) -> bool {
    let order = |(from, to): &(char, char)| {
        if it < *from {
            std::cmp::Ordering::Greater
        } else if it > *to {
            std::cmp::Ordering::Less
        } else {
            std::cmp::Ordering::Equal
        }
    };
    ranges.binary_search_by(order).is_ok()
}

fn upper(it: char) -> char {
    let mut all = it.to_uppercase();
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        _ => it,
    }
}

fn lower(it: char) -> char {
    let mut all = it.to_lowercase();
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        _ => it,
    }
}

/// The same for characters that differ in case only.
pub(super) fn folded(it: char) -> char {
    lower(upper(it))
}

const DIGIT: &[(char, char)] = &[('0', '9')];
const SPACE: &[(char, char)] = &[('\t', '\n'), ('\u{c}', '\r'), (' ', ' ')];
const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];

/// `\d` and the like, by the letter.
pub(super) fn perl(letter: char) -> Option<Item> {
    let ranges = match letter.to_ascii_lowercase() {
        'd' => DIGIT,
        's' => SPACE,
        'w' => WORD,
        _ => return None,
    };
    Some(Item::Named {
        name: "".into(),
        ranges: ranges.into(),
        negated: letter.is_ascii_uppercase(),
    })
}

/// `[:alpha:]` and the like, by the name.
pub(super) fn posix(name: &str) -> Option<Item> {
    let (name, negated) = match name.strip_prefix('^') {
        Some(name) => (name, true),
        None => (name, false),
    };
    let ranges: &[(char, char)] = match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\u{7f}')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')],
        "digit" => DIGIT,
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => WORD,
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return None,
    };
    Some(Item::Named {
        name: "".into(),
        ranges: ranges.into(),
        negated,
    })
}

/// `\p{L}` and `\p{Greek}`, by the name. Tables are made once for all expressions; there are some hundred names.
pub(super) fn unicode(name: &str, negated: bool) -> Option<Item> {
    static TABLES: LazyLock<Mutex<HashMap<Arc<str>, Ranges>>> = LazyLock::new(Mutex::default);
    let (name, negated) = match name.strip_prefix('^') {
        Some(name) => (name, !negated),
        None => (name, negated),
    };
    let is_name = name.starts_with(|it: char| it.is_ascii_uppercase())
        && name
            .bytes()
            .all(|it| it.is_ascii_alphabetic() || it == b'_')
        && name.len() <= 32;
    if !is_name {
        return None;
    }
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((name, ranges)) = tables.get_key_value(name) {
        let (name, ranges) = (name.clone(), ranges.clone());
        return Some(Item::Named {
            name,
            ranges,
            negated,
        });
    }
    let hir = regex_syntax::parse(&format!("\\p{{{name}}}")).ok()?;
    let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) = hir.kind()
    else {
        return None;
    };
    let ranges: Ranges = class.iter().map(|it| (it.start(), it.end())).collect();
    let name: Arc<str> = name.into();
    tables.insert(name.clone(), ranges.clone());
    Some(Item::Named {
        name,
        ranges,
        negated,
    })
}
