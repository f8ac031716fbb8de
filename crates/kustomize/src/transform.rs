//! Builtin transformers.

mod affix;
mod hash;
mod image;
mod meta_map;
pub(crate) mod namespace;
mod patch;
mod replacement;
mod replica;
mod sort;
mod value_add;

pub(crate) use affix::{Affix, AffixKind};
pub(crate) use hash::Hash;
pub(crate) use image::{ImageTag, split as split_image};
pub(crate) use meta_map::MetaMap;
pub(crate) use namespace::Namespace;
pub(crate) use patch::{JsonPatch, PatchTransformer, StrategicPatches};
pub(crate) use replacement::Replacements;
pub(crate) use replica::ReplicaCount;
pub(crate) use sort::sort;
pub(crate) use value_add::ValueAdd;

use crate::error::Result;
use crate::resmap::ResMap;
use crate::schema::Schema;

pub(crate) trait Transformer {
    fn transform(&mut self, map: &mut ResMap, schema: &Schema) -> Result<()>;
}
