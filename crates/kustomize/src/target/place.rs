//! Where something was asked for, for errors and explanations: a file, its line, and the field of a kustomization.

use std::rc::Rc;

use super::Target;
use crate::error::{Error, Known};
use crate::explain::Cause;
use crate::loader::Loader;
use crate::plugin::Asked;
use crate::resmap::ResMap;

impl Target<'_> {
    /// As `overlay/kustomization.yaml:12: patches[0] (patch.yaml)`.
    pub(super) fn place(&self, asked: &Asked) -> String {
        let text = self.loader.load(self.file_name).unwrap_or_default();
        let line = line_of_field(&text, asked.field, asked.index);
        let index = asked.index.map_or_else(String::new, |it| format!("[{it}]"));
        let mut details = [&asked.file, &asked.plugin].into_iter();
        let detail = details.find(|it| !it.is_empty());
        let detail = detail.map_or_else(String::new, |it| format!(" ({it})"));
        let name = self.loader.shown(self.file_name);
        format!("{}: {}{index}{detail}", with_line(name, line), asked.field)
    }

    /// The same, if a line of the patch is known: of its file, or of the kustomization that it stands in.
    pub(super) fn place_at(&self, asked: &Asked, known: Known) -> String {
        let within = Asked {
            file: String::new(),
            ..asked.clone()
        };
        let line = match known {
            Known::Nothing => return self.place(asked),
            Known::File => return self.place(&within),
            Known::Line(line) if !asked.file.is_empty() => {
                let file = self.loader.shown(&asked.file);
                return format!("{file}:{line}, by {}", self.place(&within));
            }
            Known::Line(line) => line,
        };
        let text = self.loader.load(self.file_name).unwrap_or_default();
        let Some(first) = line_of_inline(&text, asked) else {
            return self.place(asked);
        };
        let index = asked.index.map_or_else(String::new, |it| format!("[{it}]"));
        let name = self.loader.shown(self.file_name);
        format!(
            "{}: {}{index}",
            with_line(name, Some(first + line)),
            asked.field
        )
    }

    /// Where a path is listed.
    pub(super) fn place_of_path(&self, field: &'static str, path: &str) -> String {
        let listed = match field {
            "components" => &self.kustomization.components,
            _ => &self.kustomization.resources,
        };
        let index = listed.iter().position(|it| it == path);
        let text = self.loader.load(self.file_name).unwrap_or_default();
        let lines = index.map(|index| {
            let own = line_of_item(&text, field, index);
            let others = count_items(&text, field);
            // Bases come behind resources, whatever the order of the fields is.
            own.or_else(|| line_of_item(&text, "bases", index.checked_sub(others)?))
        });
        match lines.flatten() {
            Some(line) => {
                let name = self.loader.shown(self.file_name);
                format!("{}: {path}", with_line(name, Some(line)))
            }
            None => self.place(&Asked::by(field)),
        }
    }

    pub(super) fn cause(&self, asked: &Asked) -> Cause {
        if asked.file.is_empty() {
            return Cause::of(self.place(asked));
        }
        let within = Asked {
            file: String::new(),
            ..asked.clone()
        };
        Cause {
            place: self.place(&within),
            file: Some(self.loader.shown(&asked.file)),
        }
    }
}

/// Says which kustomization it is, and which line if a field is not known.
pub(super) fn in_kustomization(
    error: Error,
    text: &[u8],
    loader: &Loader<'_>,
    file_name: &str,
) -> Error {
    let line = match error.cause() {
        Error::UnknownField { field, .. } => line_of_key(text, field),
        _ => None,
    };
    error.at(|| with_line(loader.shown(file_name), line))
}

fn with_line(file: String, line: Option<u32>) -> String {
    match line {
        Some(line) => format!("{file}:{line}"),
        None => file,
    }
}

fn line_of_field(text: &[u8], field: &str, index: Option<usize>) -> Option<u32> {
    let document = yaml::parse_first(text).ok()??;
    let root = document.content.first()?;
    let (key, value) = root.pairs().find(|(key, _)| key.value == field)?;
    let item = index.and_then(|index| value.content.get(index));
    Some(item.unwrap_or(key).line)
}

fn items_of(text: &[u8], field: &str) -> Option<Vec<yaml::Node>> {
    let document = yaml::parse_first(text).ok()??;
    let value = document.get(field)?;
    Some(value.content.to_vec())
}

fn count_items(text: &[u8], field: &str) -> usize {
    items_of(text, field).map_or(0, |it| it.len())
}

fn line_of_item(text: &[u8], field: &str, index: usize) -> Option<u32> {
    items_of(text, field)?.get(index).map(|it| it.line)
}

/// How many lines of a kustomization come before the first one of a patch that stands in it. Nothing if its lines are not
/// those of the kustomization.
fn line_of_inline(text: &[u8], asked: &Asked) -> Option<u32> {
    let items = items_of(text, asked.field)?;
    let patch = items.get(asked.index?)?.get("patch")?;
    if patch.style != yaml::Style::Literal {
        return None;
    }
    // Empty lines at the start are not part of the patch.
    let skipped = patch.value.chars().take_while(|it| it.is_whitespace());
    let skipped = skipped.filter(|it| *it == '\n').count();
    Some(patch.line + u32::try_from(skipped).ok()?)
}

/// Where a key stands first, wherever it is.
fn line_of_key(text: &[u8], wanted: &str) -> Option<u32> {
    let document = yaml::parse_first(text).ok()??;
    let mut left = vec![&document];
    let mut first: Option<u32> = None;
    while let Some(node) = left.pop() {
        left.extend(node.content.iter());
        for (key, _) in node.pairs() {
            if key.value == wanted && first.is_none_or(|line| key.line < line) {
                first = Some(key.line);
            }
        }
    }
    first
}

/// Resources that were just read from a file.
pub(super) fn record_file(map: &mut ResMap, loader: &Loader<'_>, path: &str) {
    let cause = Rc::new(Cause::file(loader.shown(path)));
    for resource in map.raw_list_mut() {
        resource.record(&cause);
    }
}
