//! What can go wrong, in go-yaml's words.

use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is not YAML. Line 0 stands for an unknown line, as go-yaml leaves out the first one.
    #[error("yaml: {}{what}", line_prefix(*line))]
    Syntax { line: u32, what: Cow<'static, str> },
    #[error("yaml: unknown anchor '{0}' referenced")]
    UnknownAnchor(String),
    #[error("yaml: anchor '{0}' value contains itself")]
    ContainsItself(String),
    /// Small text, large tree: the expansion of aliases is bounded.
    #[error("yaml: document contains excessive aliasing")]
    ExcessiveAliasing,
    #[error("yaml: exceeded max depth of {0}")]
    TooDeep(usize),
    #[error("yaml: cannot decode {found} `{value}` as a {wanted}")]
    WrongTag {
        found: &'static str,
        value: String,
        wanted: &'static str,
    },
    #[error("yaml: !!binary value contains invalid base64 data")]
    InvalidBase64,
    #[error("yaml: map merge requires map or sequence of maps as the value")]
    MergeValue,
    #[error("yaml: invalid map key: {0}")]
    InvalidMapKey(String),
    /// Duplicate keys and the like, each with its line.
    #[error("yaml: unmarshal errors:\n  {}", .0.join("\n  "))]
    Unmarshal(Vec<String>),
    /// JSON has string keys only; numbers and booleans become strings, the rest cannot.
    #[error("unsupported map key of type: {kind}, key: {key}, value: {value}")]
    UnsupportedMapKey {
        kind: &'static str,
        key: String,
        value: String,
    },
    #[error("json: unsupported type: map[interface {{}}]interface {{}}")]
    NotJson,
    #[error("json: unsupported value: {0}")]
    UnsupportedValue(&'static str),
    #[error("yaml: {0}")]
    Write(&'static str),
}

fn line_prefix(line: u32) -> String {
    if line == 0 {
        String::new()
    } else {
        format!("line {line}: ")
    }
}
