//! Which modules at the root of its crate a source file names. Read as a sequence of words: comments and strings are
//! none, and nothing is resolved that is not written out.

/// A module by its path from the root of the crate.
pub(super) struct Module(Vec<String>);

/// A module at the root that is named somewhere.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) line: usize,
    pub(super) of: String,
}

impl Module {
    /// Of a file, by its path below `src`.
    pub(super) fn of(path: &str) -> Self {
        let path = path.strip_suffix(".rs").unwrap_or(path);
        Self(path.split('/').map(str::to_owned).collect())
    }

    pub(super) fn room(&self) -> &str {
        &self.0[0]
    }

    /// In the order of the text.
    pub(super) fn uses(&self, text: &str) -> Vec<Use> {
        let words = words(text);
        let mut found = Vec::new();
        // The depths of braces that modules within the file begin at.
        let (mut depth, mut inline) = (0_usize, Vec::new());
        for (at, (line, word)) in words.iter().enumerate() {
            let next = |offset: usize| words.get(at + offset).map(|(_, it)| it.as_str());
            match word.as_str() {
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    inline.retain(|it| *it <= depth);
                }
                "mod" if next(2) == Some("{") => inline.push(depth + 1),
                "crate" => names_behind(&words[at + 1..], *line, &mut found),
                "super" if at == 0 || words[at - 1].1 != "::" => {
                    let chain = words[at..].chunks(2);
                    let chain = chain
                        .take_while(|it| it.len() == 2 && it[0].1 == "super" && it[1].1 == "::");
                    let count = chain.count();
                    if count >= self.0.len() + inline.len() {
                        names_behind(&words[at + 2 * count - 1..], *line, &mut found);
                    }
                }
                _ => {}
            }
        }
        found
    }
}

/// The modules of another crate that a file names, in the order of the text.
pub(super) fn modules_of(of: &str, text: &str) -> Vec<Use> {
    let words = words(text);
    let mut found = Vec::new();
    for (at, (line, word)) in words.iter().enumerate() {
        if word == of && (at == 0 || words[at - 1].1 != "::") {
            names_behind(&words[at + 1..], *line, &mut found);
        }
    }
    found
}

/// Paths of two names, `std::fs`, also where the second stands in braces; with their lines.
pub(super) fn paths(text: &str) -> Vec<(usize, String, String)> {
    let words = words(text);
    let mut found = Vec::new();
    for (at, (line, word)) in words.iter().enumerate() {
        let mut behind = Vec::new();
        names_behind(&words[at + 1..], *line, &mut behind);
        found.extend(behind.into_iter().map(|it| (it.line, word.clone(), it.of)));
    }
    found
}

/// The lines at which a method of this name is called, on whatever value.
pub(super) fn calls(text: &str, method: &str) -> Vec<usize> {
    let words = words(text);
    let found = words.windows(3).filter(|it| {
        let [first, second, third] = [&*it[0].1, &*it[1].1, &*it[2].1];
        first == "." && second == method && third == "("
    });
    found.map(|it| it[1].0).collect()
}

/// The lines at which methods of a type begin; those of traits are none.
pub(super) fn methods(text: &str, of: &str) -> Vec<usize> {
    let words = words(text);
    let begins = words.windows(3).filter(|it| {
        let [first, second, third] = [&*it[0].1, &*it[1].1, &*it[2].1];
        first == "impl" && second == of && third == "{"
    });
    begins.map(|it| it[0].0).collect()
}

/// What stands behind a path to the root: one name, or several in braces.
fn names_behind(words: &[(usize, String)], line: usize, found: &mut Vec<Use>) {
    let mut words = words.iter();
    if words.next().is_none_or(|(_, it)| it != "::") {
        return;
    }
    let mut depth = 0_usize;
    let mut is_first = true;
    for (at, word) in words {
        match word.as_str() {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "," if depth == 1 => {
                is_first = true;
                continue;
            }
            name if is_first => {
                is_first = false;
                found.push(Use {
                    line: if depth == 0 { line } else { *at },
                    of: name.to_owned(),
                });
            }
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}

/// Strings of a file without those of raw strings, as they are written, each with its line.
pub(super) fn strings(text: &str) -> Vec<(usize, String)> {
    read(text).1
}

/// Names and signs, each with its line.
fn words(text: &str) -> Vec<(usize, String)> {
    read(text).0
}

/// A line, and what is written there.
type Token = (usize, String);

/// Words and strings.
fn read(text: &str) -> (Vec<Token>, Vec<Token>) {
    let mut words: Vec<Token> = Vec::new();
    let mut strings: Vec<Token> = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment(rest)
        } else if let Some(length) = raw_string(rest) {
            length
        } else if first == '"' {
            let length = quoted(rest, '"');
            strings.push((line, rest[..length].trim_matches('"').to_owned()));
            length
        } else if first == '\'' {
            character(rest)
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_');
            let length = end.unwrap_or(rest.len());
            words.push((line, rest[..length].to_owned()));
            length
        } else {
            let length = if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            if !first.is_whitespace() {
                words.push((line, rest[..length].to_owned()));
            }
            length
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    (words, strings)
}

/// Comments in comments count.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// `r"..."`, `br#"..."#` and the like. None for a name that begins so.
fn raw_string(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('b').unwrap_or(text).strip_prefix('r')?;
    let hashes = inner.len() - inner.trim_start_matches('#').len();
    let body = inner[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let begin = text.len() - body.len();
    Some(
        body.find(&end)
            .map_or(text.len(), |it| begin + it + end.len()),
    )
}

/// To the end of a string, or of a character.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, it) in text.char_indices().skip(1) {
        match it {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            it if it == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A character, or only the sign of a lifetime.
fn character(text: &str) -> usize {
    let mut behind = text[1..].chars();
    match (behind.next(), behind.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => quoted(text, '\''),
        _ => 1,
    }
}
