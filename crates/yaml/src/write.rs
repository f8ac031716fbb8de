//! From trees and values to text.

mod analyze;
mod emit;
mod from_value;
mod nodes;
mod order;
mod output;
mod scalars;
mod tree;
mod values;

pub use nodes::{to_string, write};
pub use values::{Shape, Tree, scalar_shape, value_to_string, write_tree, write_value};

/// Where the `-` of a sequence in a mapping stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SequenceStyle {
    /// Below the key.
    #[default]
    Compact,
    /// Indented.
    Wide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Between 2 and 9; anything else stands for 2.
    pub indent: u8,
    pub sequences: SequenceStyle,
    /// The column after which scalars are folded, if any.
    pub width: Option<u32>,
}

/// As kyaml writes: two spaces, compact sequences, no folding.
impl Default for Options {
    fn default() -> Self {
        Self {
            indent: 2,
            sequences: SequenceStyle::Compact,
            width: None,
        }
    }
}

impl Options {
    pub fn wide() -> Self {
        Self {
            sequences: SequenceStyle::Wide,
            ..Self::default()
        }
    }

    /// As `yaml.Marshal` of go-yaml v3 writes.
    pub fn go_yaml() -> Self {
        Self {
            indent: 4,
            sequences: SequenceStyle::Wide,
            width: None,
        }
    }
}

/// The style of the first sequence below a key, as kyaml's `DeriveSeqIndentStyle` finds it.
pub fn sequence_style_of(text: &str) -> SequenceStyle {
    let lines: Vec<&str> = text.split('\n').collect();
    for (i, line) in lines.iter().enumerate() {
        let Some((before, _)) = line.split_once("- ") else {
            continue;
        };
        if !before.trim_matches(' ').is_empty() {
            continue;
        }
        let above = lines[..i].iter().rev();
        let mut above = above.filter(|line| !line.trim_matches(' ').starts_with('#'));
        let Some(key_line) = above.next() else {
            continue;
        };
        let key_line = key_line.split('#').next().unwrap_or_default();
        let key = key_line.trim_matches(' ');
        if key.matches(':').count() != 1 || !key.ends_with(':') {
            continue;
        }
        let indent = key_line.len() - key_line.trim_start_matches(' ').len();
        if before.len() == indent {
            return SequenceStyle::Compact;
        }
        if before.len() == indent + 2 {
            return SequenceStyle::Wide;
        }
    }
    SequenceStyle::Compact
}
