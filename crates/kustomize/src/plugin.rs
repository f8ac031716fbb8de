//! What makes and what changes resources, with where it is configured.

use crate::error::Result;
use crate::origin::Origin;
use crate::resmap::ResMap;
use crate::transform::Transformer;

pub(crate) trait Generator {
    fn generate(self: Box<Self>) -> Result<ResMap>;
}

impl<F: FnOnce() -> Result<ResMap>> Generator for F {
    fn generate(self: Box<Self>) -> Result<ResMap> {
        self()
    }
}

/// The field of a kustomization that asks for a plugin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) field: &'static str,
    pub(crate) index: Option<usize>,
    /// The file of a patch.
    pub(crate) file: String,
    /// The id of a plugin that is not builtin, or configured elsewhere.
    pub(crate) plugin: String,
}

impl Asked {
    pub(crate) fn by(field: &'static str) -> Self {
        Self {
            field,
            ..Self::default()
        }
    }

    pub(crate) fn at(field: &'static str, index: usize) -> Self {
        Self {
            field,
            index: Some(index),
            ..Self::default()
        }
    }

    pub(crate) fn with_file(mut self, file: &str) -> Self {
        file.clone_into(&mut self.file);
        self
    }

    pub(crate) fn plugin(field: &'static str, plugin: String) -> Self {
        Self {
            field,
            plugin,
            ..Self::default()
        }
    }
}

pub(crate) struct Generated<'a> {
    pub(crate) generator: Box<dyn Generator + 'a>,
    pub(crate) asked: Asked,
    pub(crate) origin: Option<Origin>,
}

pub(crate) struct Transforming<'a> {
    pub(crate) transformer: Box<dyn Transformer + 'a>,
    pub(crate) asked: Asked,
    pub(crate) origin: Option<Origin>,
}
