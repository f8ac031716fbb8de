//! Protobuf's wire format: tags, varints and lengths. What the fields of a message mean, its callers know.

mod reader;
mod writer;

pub use reader::{Error, Field, Reader, bytes_at, fields, number_at};
pub use writer::{
    Message, put_bytes, put_length, put_length_at, put_message, put_tag, put_varint, varint_width,
};

/// How a field's value is laid out.
pub const VARINT: u8 = 0;
pub const FIXED64: u8 = 1;
pub const LENGTH: u8 = 2;
pub const FIXED32: u8 = 5;

#[cfg(test)]
mod tests;
