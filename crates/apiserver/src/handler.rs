//! What every handler uses: the context of its request, the body that it decodes, the object that it renders, the
//! response.
//!
//! **Belongs here:** the way between the objects of a resource and the bytes of a client, whatever the verb.
//! **May use:** `catalog`, `flow`, `request`, `runtime`, `transport`.

pub(crate) mod context;
pub(crate) mod decode;
pub(crate) mod document;
pub(crate) mod encoded;
pub(crate) mod render;
pub(crate) mod respond;
pub(crate) mod serialize;
pub(crate) mod strict;
pub(crate) mod table;
pub(crate) mod unseated;
