//! What every handler uses: the context of its request, the body that it decodes, the object that it renders, the
//! response.
//!
//! **Room.** Belongs here: the way between a resource's objects and a client's bytes, whatever the verb. **May use:**
//! `flow`, `catalog`, `request`, `transport`, `runtime`.

pub(crate) mod context;
pub(crate) mod decode;
pub(crate) mod document;
pub(crate) mod encoded;
pub(crate) mod render;
pub(crate) mod respond;
pub(crate) mod serialize;
pub(crate) mod table;
pub(crate) mod unseated;
