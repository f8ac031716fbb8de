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

pub(crate) struct Generated<'a> {
    pub(crate) generator: Box<dyn Generator + 'a>,
    pub(crate) origin: Option<Origin>,
}

pub(crate) struct Transforming<'a> {
    pub(crate) transformer: Box<dyn Transformer + 'a>,
    pub(crate) origin: Option<Origin>,
}
