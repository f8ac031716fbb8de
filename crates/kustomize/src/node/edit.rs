//! Changes, as kyaml's filters make them.

use json::Text;

use super::{Data, Kind, Node, Style, to_commented_yaml};
use crate::error::{Error, Result};

impl Node {
    /// Null may stand for anything.
    pub(crate) fn expect(&self, kind: Kind) -> Result<()> {
        if self.is_null() || self.kind() == kind {
            return Ok(());
        }
        let text = format!(
            "wrong node kind: expected {} but got {}: node contents:\n{}",
            kind.name(),
            self.kind().name(),
            to_commented_yaml(self)
        );
        Err(match kind {
            Kind::Scalar => Error::NotScalar(text),
            _ => Error::new(text),
        })
    }

    /// The value of a key of a map; an error if this is no map.
    pub(crate) fn field(&self, name: &str) -> Result<Option<&Node>> {
        if self.is_null() {
            return Ok(None);
        }
        self.expect(Kind::Map)?;
        Ok(self.get(name))
    }

    /// Replaces this scalar, which keeps its style.
    pub(crate) fn set_scalar(&mut self, mut value: Node) -> Result<()> {
        self.expect(Kind::Scalar)?;
        if value.is_null() {
            return Ok(());
        }
        value.style = self.style;
        self.overwrite(value);
        Ok(())
    }

    pub(crate) fn set_field(&mut self, name: &str, value: Node) -> Result<()> {
        self.set_field_with(name, value, Style::Plain, false)
    }

    /// Null removes, unless it is to be kept. A field that is there keeps its style.
    pub(crate) fn set_field_with(
        &mut self,
        name: &str,
        mut value: Node,
        key_style: Style,
        keep_null: bool,
    ) -> Result<()> {
        if value.is_null() && !keep_null {
            self.expect(Kind::Map)?;
            self.remove(name);
            return Ok(());
        }
        value.quote_if_needed();
        if self.is_null() {
            // Upstream appends to the content of a scalar, which is lost.
            return Ok(());
        }
        self.expect(Kind::Map)?;
        if let Some(field) = self.get_mut(name) {
            value.style = field.style;
            field.overwrite(value);
            return Ok(());
        }
        self.push(name, value, key_style);
        Ok(())
    }

    /// What is set as a string, but would read as something else without quotes.
    pub(crate) fn quote_if_needed(&mut self) {
        if self.is_string() && self.style == Style::Plain && is_non_string(self.raw()) {
            self.style = Style::DoubleQuoted;
        }
    }

    pub(crate) fn push(&mut self, name: &str, value: Node, key_style: Style) {
        if let Data::Map(pairs) = &mut self.data {
            let mut key = Node::plain(Text::from(name));
            key.style = key_style;
            pairs.push((key, value));
        }
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<Node> {
        let Data::Map(pairs) = &mut self.data else {
            return None;
        };
        let at = pairs.iter().position(|(key, _)| **key.raw() == *name)?;
        let (_, removed) = pairs.remove(at);
        if pairs.is_empty() {
            self.mark_emptied();
        }
        Some(removed)
    }

    /// The value of a key, made if it is not there.
    pub(crate) fn field_or_create(
        &mut self,
        name: &str,
        new: impl FnOnce() -> Node,
    ) -> Result<&mut Node> {
        if !self.is_null() {
            self.expect(Kind::Map)?;
        }
        if self.get(name).is_none() {
            self.push(name, new(), Style::Plain);
        }
        self.get_mut(name)
            .ok_or_else(|| Error::new(format!("cannot create field {name}")))
    }
}

/// Words that mean something else to a reader of YAML 1.1, in some way of writing them.
const WORDS: [&str; 9] = ["y", "yes", "n", "no", "on", "off", "true", "false", "null"];

/// Whether a text without quotes is something other than a string to a reader of YAML 1.1.
pub(crate) fn is_non_string(text: &str) -> bool {
    let Some(&first) = text.as_bytes().first() else {
        return false;
    };
    let name = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'/' | b'_' | b'-');
    let is_word = || WORDS.iter().any(|it| it.eq_ignore_ascii_case(text));
    if first.is_ascii_alphabetic() && text.bytes().all(name) && !is_word() {
        return false;
    }
    yaml::is_non_string(text)
}
