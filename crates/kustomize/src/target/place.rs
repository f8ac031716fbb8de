//! Where something was asked for, for errors and explanations: a file, its line, and the field of a kustomization.

use std::collections::HashMap;
use std::rc::Rc;

use super::Target;
use crate::error::Error;
use crate::explain::Cause;
use crate::loader::Loader;
use crate::node::{parse_document, split_documents, unix_lines};
use crate::plugin::Asked;
use crate::resmap::ResMap;
use crate::resource::Resource;

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
    let message = error.to_string();
    let unknown = message.split_once("unknown field \"");
    let unknown = unknown.and_then(|(_, rest)| rest.split('"').next());
    let line = unknown.and_then(|field| line_of_key(text, field));
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
    let text = loader.load_text(path).unwrap_or_default();
    let mut lines = HashMap::new();
    let mut before = 0;
    let text = unix_lines(&text);
    for document in split_documents(&text).unwrap_or_default() {
        if let Ok(Some(node)) = parse_document(document) {
            lines.insert(Resource::new(node).current_id(), before);
        }
        // And the separator.
        before += u32::try_from(document.matches('\n').count()).unwrap_or(0) + 1;
    }
    let cause = Rc::new(Cause::file(loader.shown(path)));
    for resource in map.raw_list_mut() {
        let before = lines.get(&resource.current_id()).copied().unwrap_or(0);
        resource.record(&cause, before);
    }
}
