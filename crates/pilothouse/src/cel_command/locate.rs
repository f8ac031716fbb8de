//! Where a field is in a YAML file.

use std::cell::RefCell;
use std::collections::HashMap;

use anyhow::Context as _;
use json::Value;
use yaml::{Anchors, Kind, Node, Style};

use super::files::shown;

/// An object, and the text that it was read from.
#[derive(Debug)]
pub(super) struct Document {
    value: Value,
    root: Option<Node>,
    /// The lines of the document, to find where a block of text begins.
    lines: Vec<String>,
    /// How many lines of the file are before it.
    before: usize,
}

/// The objects of a file, also those of a `List`.
pub(super) fn documents(path: &str, text: &[u8]) -> anyhow::Result<Vec<Document>> {
    let mut all = Vec::new();
    let (mut counted, mut before) = (0, 0);
    for part in yaml::split_documents(text) {
        let offset = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let offset = offset.clamp(counted, text.len());
        before += text[counted..offset].split(|it| *it == b'\n').count() - 1;
        counted = offset;
        let value = yaml::to_json(part).with_context(|| {
            let first = before + 1;
            format!("cannot parse {}, document from line {first}", shown(path))
        })?;
        if value.is_null() {
            continue;
        }
        let lines = String::from_utf8_lossy(part);
        all.push(Document {
            value,
            root: yaml::parse_first(part).ok().flatten(),
            lines: lines.lines().map(str::to_owned).collect(),
            before,
        });
    }
    Ok(all)
}

impl Document {
    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    pub(super) fn locator(&self) -> Locator<'_> {
        Locator {
            document: self,
            anchors: self.root.as_ref().map(Anchors::of).unwrap_or_default(),
            known: RefCell::default(),
        }
    }

    /// Where the text of a block begins, whose mark is on this line.
    fn block(&self, mark: usize) -> Option<(usize, usize)> {
        let mut below = self.lines.iter().enumerate().skip(mark);
        let (index, line) = below.find(|(_, line)| !line.trim().is_empty())?;
        let indent = line.chars().take_while(|it| *it == ' ').count();
        Some((index + 1, indent + 1))
    }
}

/// Finds the fields of a document.
#[derive(Debug)]
pub(super) struct Locator<'d> {
    document: &'d Document,
    anchors: Anchors<'d>,
    /// The fields of mappings that were looked into.
    known: RefCell<HashMap<*const Node, HashMap<&'d str, &'d Node>>>,
}

impl<'d> Locator<'d> {
    /// The line and the column, from 1, of a field; of what is around it, if it is not there.
    pub(super) fn position(&self, field: &str) -> (usize, usize) {
        // The server has one schema for all versions, if it is the same.
        let field = field.replacen(
            "spec.validation.openAPIV3Schema",
            "spec.versions[0].schema.openAPIV3Schema",
            1,
        );
        let document = self.document;
        let Some(root) = &document.root else {
            return (document.before + 1, 1);
        };
        let mut node = root;
        if node.kind == Kind::Document {
            node = node.content.first().unwrap_or(node);
        }
        let mut rest = &*field;
        while let Some((next, left)) = self.step(self.anchors.behind(node), rest) {
            (node, rest) = (next, left);
        }
        let (line, column) = (node.line as usize, node.column as usize);
        let (line, column) = match node.style {
            Style::Literal | Style::Folded => document.block(line).unwrap_or((line, column)),
            _ => (line, column),
        };
        (document.before + line.max(1), column.max(1))
    }

    /// One step of a path such as `spec.versions[0].schema`, and what is left of it. Names may have dots, and keys
    /// brackets: the longest that is there counts.
    fn step<'p>(&self, node: &'d Node, path: &'p str) -> Option<(&'d Node, &'p str)> {
        match node.kind {
            Kind::Sequence => {
                let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
                let item = node.content.get(index.parse::<usize>().ok()?)?;
                Some((item, rest))
            }
            Kind::Mapping => {
                let mut known = self.known.borrow_mut();
                let fields = known.entry(std::ptr::from_ref(node)).or_insert_with(|| {
                    let all = node.pairs();
                    all.map(|(key, value)| (&*key.value, value)).collect()
                });
                let is_key = path.starts_with('[');
                let name = path.strip_prefix(['.', '[']).unwrap_or(path);
                let mut ends: Vec<usize> = if is_key {
                    name.match_indices(']').map(|it| it.0).collect()
                } else {
                    name.match_indices(['.', '[']).map(|it| it.0).collect()
                };
                if !is_key {
                    ends.push(name.len());
                }
                ends.into_iter().rev().find_map(|end| {
                    let value = fields.get(&name[..end])?;
                    Some((*value, &name[end + usize::from(is_key)..]))
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_places() {
        let text = b"a: 1\n---\n# second\nspec:\n  versions:\n  - schema: &it\n      openAPIV3Schema:\n        \
            properties:\n          a.b: {rule: \"x\"}\n          c:\n            rule: |\n\n              self.x\n  \
            - schema: *it\n";
        let all = documents("x", text).unwrap();
        assert_eq!(all.len(), 2);
        let cases = [
            (
                "spec.validation.openAPIV3Schema.properties[a.b].rule",
                (9, 23),
            ),
            (
                "spec.versions[1].schema.openAPIV3Schema.properties[a.b].rule",
                (9, 23),
            ),
            (
                "spec.versions[0].schema.openAPIV3Schema.properties[c].rule",
                (13, 15),
            ),
            (
                "spec.versions[0].schema.openAPIV3Schema.properties[c].nothing",
                (11, 13),
            ),
            ("spec.versions[7]", (6, 3)),
            ("metadata.name", (4, 1)),
        ];
        for (field, expected) in cases {
            assert_eq!(all[1].locator().position(field), expected, "{field}");
        }
        assert_eq!(all[0].locator().position("a"), (1, 4));
    }
}
