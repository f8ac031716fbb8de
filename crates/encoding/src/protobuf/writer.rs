//! Hot path. Messages are written where they belong and get their length afterwards.

use super::{FIXED32, FIXED64, LENGTH, VARINT};

#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

#[inline]
pub fn put_tag(out: &mut Vec<u8>, field: u32, wire: u8) {
    put_varint(out, u64::from(field) << 3 | u64::from(wire));
}

/// What comes before a value of so many bytes.
#[inline]
pub fn put_length(out: &mut Vec<u8>, field: u32, length: usize) {
    put_tag(out, field, LENGTH);
    put_varint(out, length as u64);
}

#[inline]
pub fn put_bytes(out: &mut Vec<u8>, field: u32, value: &[u8]) {
    put_length(out, field, value.len());
    out.extend_from_slice(value);
}

/// How many bytes a number takes as a varint.
#[inline]
pub fn varint_width(number: usize) -> usize {
    1 + (number.checked_ilog2().unwrap_or(0) / 7) as usize
}

/// A message whose length takes `expected` bytes (at most 4) as a rule: then nothing of it moves.
#[inline]
pub fn put_message<R>(
    out: &mut Vec<u8>,
    field: u32,
    expected: usize,
    write: impl FnOnce(&mut Vec<u8>) -> R,
) -> R {
    put_tag(out, field, LENGTH);
    let start = out.len();
    // Callers know how many at compile time: no more than a store is left of it.
    out.extend_from_slice(&[0; 4][..expected]);
    let result = write(out);
    put_length_at(out, start, expected);
    result
}

/// Writes the length of what follows `expected` bytes from `start` on.
#[inline]
pub fn put_length_at(out: &mut Vec<u8>, start: usize, expected: usize) {
    let mut size = out.len() - start - expected;
    let width = varint_width(size);
    if width != expected {
        shift(out, start, expected, width);
    }
    let length = &mut out[start..start + width];
    for place in &mut length[..width - 1] {
        *place = size.to_le_bytes()[0] | 0x80;
        size >>= 7;
    }
    length[width - 1] = size.to_le_bytes()[0];
}

#[cold]
fn shift(out: &mut Vec<u8>, start: usize, expected: usize, width: usize) {
    let (from, end) = (start + expected, out.len());
    if width > expected {
        out.resize(end + width - expected, 0);
    }
    out.copy_within(from..end, start + width);
    out.truncate(end + width - expected);
}

/// A message in the making.
#[derive(Debug, Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    pub fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }

    /// Bytes that already are fields.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub fn number(&mut self, field: u32, value: u64) {
        put_tag(&mut self.0, field, VARINT);
        put_varint(&mut self.0, value);
    }

    pub fn int(&mut self, field: u32, value: i64) {
        self.number(field, value.cast_unsigned());
    }

    pub fn fixed64(&mut self, field: u32, value: u64) {
        put_tag(&mut self.0, field, FIXED64);
        self.raw(&value.to_le_bytes());
    }

    pub fn double(&mut self, field: u32, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    pub fn fixed32(&mut self, field: u32, value: u32) {
        put_tag(&mut self.0, field, FIXED32);
        self.raw(&value.to_le_bytes());
    }

    pub fn bytes(&mut self, field: u32, value: &[u8]) {
        put_bytes(&mut self.0, field, value);
    }

    pub fn text(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    /// What comes before a value of so many bytes.
    pub fn length(&mut self, field: u32, length: usize) {
        put_length(&mut self.0, field, length);
    }

    /// One value that is in several pieces.
    pub fn parts(&mut self, field: u32, parts: &[&[u8]]) {
        self.length(field, parts.iter().map(|it| it.len()).sum());
        for part in parts {
            self.raw(part);
        }
    }

    /// A message in this one. Most are so short that one byte is enough for their length.
    pub fn message<R>(&mut self, field: u32, write: impl FnOnce(&mut Self) -> R) -> R {
        put_tag(&mut self.0, field, LENGTH);
        let start = self.0.len();
        self.0.push(0);
        let result = write(self);
        put_length_at(&mut self.0, start, 1);
        result
    }

    /// All values in one field, eight bytes each.
    pub fn packed(&mut self, field: u32, values: impl ExactSizeIterator<Item = u64>) {
        self.length(field, values.len() * 8);
        for value in values {
            self.raw(&value.to_le_bytes());
        }
    }
}
