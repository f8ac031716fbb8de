//! YAML, written in one of the many ways there are.

use super::rng::Rng;
use std::fmt::Write as _;

pub(super) enum Yaml {
    /// As it stands.
    Plain(String),
    /// Quoted if it has to be, and sometimes if not.
    Text(String),
    Map(Vec<(String, Yaml)>),
    Seq(Vec<Yaml>),
}

impl Yaml {
    pub(super) fn plain(text: &str) -> Self {
        Self::Plain(text.to_owned())
    }

    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(super) fn map<'k>(pairs: impl IntoIterator<Item = (&'k str, Yaml)>) -> Self {
        let pairs = pairs.into_iter();
        Self::Map(pairs.map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// The paths to all that is inside, as replacements have them.
    pub(super) fn paths(&self, here: &str, into: &mut Vec<String>) {
        let dot = if here.is_empty() { "" } else { "." };
        match self {
            Self::Map(pairs) => {
                for (key, value) in pairs {
                    let path = format!("{here}{dot}{}", key.replace('.', "\\."));
                    value.paths(&path, into);
                    into.push(path);
                }
            }
            Self::Seq(items) => {
                for (at, item) in items.iter().enumerate() {
                    let path = format!("{here}{dot}{at}");
                    item.paths(&path, into);
                    into.push(path);
                }
            }
            _ => {}
        }
    }
}

/// A document. Some have no comments at all.
pub(super) fn text(yaml: &Yaml, rng: &mut Rng) -> String {
    let comments = if rng.chance(50) { 0 } else { 12 };
    let mut writer = Writer {
        out: String::new(),
        comments,
        flow: if rng.chance(70) { 0 } else { 15 },
        wide: rng.chance(30),
        number: 0,
        rng,
    };
    writer.heads(0);
    writer.block(yaml, 0);
    writer.out
}

struct Writer<'r> {
    out: String,
    rng: &'r mut Rng,
    /// Chances in percent.
    comments: usize,
    flow: usize,
    /// Whether items of lists are indented.
    wide: bool,
    number: usize,
}

impl Writer<'_> {
    fn comment(&mut self) -> String {
        self.number += 1;
        format!("# {}", self.number)
    }

    /// Comments and empty lines before an entry.
    fn heads(&mut self, indent: usize) {
        if self.rng.chance(self.comments / 3) {
            self.out.push('\n');
        }
        while self.rng.chance(self.comments) {
            let indent = match self.rng.below(6) {
                0 => indent + 2,
                1 => indent.saturating_sub(2),
                _ => indent,
            };
            let comment = self.comment();
            _ = writeln!(self.out, "{:indent$}{comment}", "");
            if self.rng.chance(20) {
                self.out.push('\n');
            }
        }
    }

    fn end_of_line(&mut self) {
        if self.rng.chance(self.comments) {
            let comment = self.comment();
            _ = write!(self.out, " {comment}");
        }
        self.out.push('\n');
    }

    /// A collection from the start of a line on.
    fn block(&mut self, yaml: &Yaml, indent: usize) {
        match yaml {
            Yaml::Map(pairs) => {
                for (at, (key, value)) in pairs.iter().enumerate() {
                    if at > 0 {
                        self.heads(indent);
                    }
                    _ = write!(self.out, "{:indent$}", "");
                    self.pair(key, value, indent);
                }
            }
            Yaml::Seq(items) => {
                for item in items {
                    self.heads(indent);
                    _ = write!(self.out, "{:indent$}-", "");
                    self.item(item, indent);
                }
            }
            _ => {}
        }
    }

    fn pair(&mut self, key: &str, value: &Yaml, indent: usize) {
        let key = match self.rng.below(30) {
            0 => format!("\"{key}\""),
            1 => format!("'{key}'"),
            _ => key.to_owned(),
        };
        _ = write!(self.out, "{key}:");
        if self.is_inline(value) {
            self.inline(value, indent);
            return;
        }
        self.end_of_line();
        let is_list = matches!(value, Yaml::Seq(_));
        let indent = if is_list && !self.wide {
            indent
        } else {
            indent + 2
        };
        self.block(value, indent);
    }

    fn item(&mut self, item: &Yaml, indent: usize) {
        if self.is_inline(item) {
            self.inline(item, indent);
            return;
        }
        match item {
            Yaml::Map(pairs) => {
                for (at, (key, value)) in pairs.iter().enumerate() {
                    if at == 0 {
                        self.out.push(' ');
                    } else {
                        self.heads(indent + 2);
                        _ = write!(self.out, "{:1$}", "", indent + 2);
                    }
                    self.pair(key, value, indent + 2);
                }
            }
            other => {
                self.end_of_line();
                self.block(other, indent + 2);
            }
        }
    }

    fn is_inline(&mut self, yaml: &Yaml) -> bool {
        match yaml {
            Yaml::Map(pairs) => pairs.is_empty() || self.rng.chance(self.flow),
            Yaml::Seq(items) => items.is_empty() || self.rng.chance(self.flow),
            _ => true,
        }
    }

    /// What stands behind `key:` or `-`, with the end of its line.
    fn inline(&mut self, yaml: &Yaml, indent: usize) {
        if let Yaml::Text(text) = yaml
            && text.contains('\n')
            && !text.starts_with(' ')
            && self.rng.chance(80)
        {
            let sign = self.rng.word(&["|", "|", ">"]);
            let end = if text.ends_with('\n') { "" } else { "-" };
            _ = write!(self.out, " {sign}{end}");
            self.end_of_line();
            for line in text.trim_end_matches('\n').split('\n') {
                _ = write!(
                    self.out,
                    "{:1$}",
                    "",
                    if line.is_empty() { 0 } else { indent + 2 }
                );
                self.out.push_str(line);
                self.out.push('\n');
            }
            return;
        }
        let flow = self.flow_text(yaml, false);
        if !flow.is_empty() {
            self.out.push(' ');
            self.out.push_str(&flow);
        }
        self.end_of_line();
    }

    fn flow_text(&mut self, yaml: &Yaml, inside: bool) -> String {
        match yaml {
            Yaml::Plain(text) if text.is_empty() && inside => "null".into(),
            Yaml::Plain(text) => text.clone(),
            Yaml::Text(text) => self.scalar(text),
            Yaml::Map(pairs) => {
                let mut all = Vec::new();
                for (key, value) in pairs {
                    all.push(format!("{key}: {}", self.flow_text(value, true)));
                }
                format!("{{{}}}", all.join(", "))
            }
            Yaml::Seq(items) => {
                let mut all = Vec::new();
                for item in items {
                    all.push(self.flow_text(item, true));
                }
                format!("[{}]", all.join(", "))
            }
        }
    }

    fn scalar(&mut self, text: &str) -> String {
        const WORDS: [&str; 6] = ["true", "no", "null", "~", "1e3", "1"];
        let plain = |it: u8| it.is_ascii_alphanumeric() || b"./-".contains(&it);
        let needs = text.is_empty() || WORDS.contains(&text) || !text.bytes().all(plain);
        let double = || {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{}\"", text.replace('\n', "\\n"))
        };
        if text.contains('\n') {
            return double();
        }
        match self.rng.below(if needs { 2 } else { 20 }) {
            0 => double(),
            1 => format!("'{}'", text.replace('\'', "''")),
            _ => text.to_owned(),
        }
    }
}
