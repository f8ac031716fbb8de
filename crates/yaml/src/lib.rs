//! YAML as a tree with comments and style, read as go-yaml v3 reads it and written back byte for byte as it writes
//! (which is what kyaml and so kustomize stand on); and to and from `json` as `sigs.k8s.io/yaml` converts, which stands
//! on go-yaml v2 and so on the booleans of YAML 1.1.
//!
//! **Invariant:** knows no Kubernetes. Time grows with the text, nesting is bounded where go-yaml bounds it, and nothing
//! recurses on what was read.

mod anchors;
mod chars;
mod common;
mod decode;
mod error;
mod node;
mod read;
mod resolve;
mod write;

pub use anchors::Anchors;
pub use common::{Builder, Pairs, Place, parse_common};
pub use decode::{
    float_text, is_non_string, scalar_to_json, tag_of_plain, to_json, to_json_strict,
};
pub use error::Error;
pub use node::{Content, Kind, Node, Style};
pub use write::{
    Options, SequenceStyle, Shape, Tree, scalar_shape, sequence_style_of, to_string,
    value_to_string, write, write_tree, write_value,
};

/// All documents of a stream.
pub fn parse(text: &[u8]) -> Result<Vec<Node>, Error> {
    let mut composer = read::Composer::new(text, read::Dialect::V3);
    let mut documents = Vec::new();
    while let Some(document) = composer.next()? {
        documents.push(document);
    }
    Ok(documents)
}

/// The first document, if there is one; what follows it is not read.
pub fn parse_first(text: &[u8]) -> Result<Option<Node>, Error> {
    read::Composer::new(text, read::Dialect::V3).next()
}

/// The texts between lines that start with `---`, as Kubernetes' clients cut a stream before they read each part.
pub fn split_documents(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    const SEPARATOR: &[u8] = b"\n---";
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.filter(|text| !text.is_empty())?;
        let found = text.windows(SEPARATOR.len()).position(|it| it == SEPARATOR);
        let Some(found) = found else {
            return rest.take();
        };
        let after = &text[found + SEPARATOR.len()..];
        let line_end = after.iter().position(|it| *it == b'\n');
        rest = line_end.map(|end| &after[end + 1..]);
        match rest {
            // Without a line break, what follows the dashes is part of the text.
            None if !after.is_empty() => Some(text),
            _ => Some(&text[..found]),
        }
    })
}
