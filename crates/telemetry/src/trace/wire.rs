//! Hot path. Protobuf, as far as OTLP needs it. Messages are written where they belong and get their length afterwards.

pub(super) const STRING_VALUE: u32 = 1;
pub(super) const BOOL_VALUE: u32 = 2;
pub(super) const INT_VALUE: u32 = 3;

use encoding::protobuf::{LENGTH, VARINT, put_tag, varint_width as width};
/// What comes before a value, values, and messages whose length takes so many bytes as a rule.
pub(super) use encoding::protobuf::{
    put_bytes as bytes, put_length as open, put_length_at as close, put_message as message,
    put_varint as varint,
};

/// A tag with two bytes for a length that [`close`] writes.
pub(super) fn open_later(out: &mut Vec<u8>, field: u32) {
    put_tag(out, field, LENGTH);
    out.extend_from_slice(&[0; 2]);
}

#[inline]
pub(super) fn int(out: &mut Vec<u8>, field: u32, value: i64) {
    put_tag(out, field, VARINT);
    varint(out, value.cast_unsigned());
}

#[inline]
pub(super) fn text(out: &mut Vec<u8>, field: u32, value: &str) {
    bytes(out, field, value.as_bytes());
}

/// The longest key whose attributes are written in one piece.
const SHORT_KEY: usize = 48;

/// A `KeyValue` with a text, as most are. The key is known where it is called: what stands before the value is made in one
/// piece, of a length that the compiler knows.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "only where the key is known is this shorter than a call"
)]
pub(super) fn text_attribute(out: &mut Vec<u8>, field: u32, key: &str, value: &str) {
    // Key and value are preceded by two bytes each, and the value's message as well, if all of it is short.
    let all = 2 + key.len() + 4 + value.len();
    if all >= 0x80 || field >= 0x10 || key.len() > SHORT_KEY {
        return long_text_attribute(out, field, key, value);
    }
    let [form, size, key_size, value_size] = [
        (field << 3 | u32::from(LENGTH)) as usize,
        all,
        key.len(),
        value.len(),
    ]
    .map(|it| it.to_le_bytes()[0]);
    let mut head = [0; SHORT_KEY + 8];
    head[..4].copy_from_slice(&[form, size, 0x0a, key_size]);
    head[4..4 + key.len()].copy_from_slice(key.as_bytes());
    head[4 + key.len()..8 + key.len()].copy_from_slice(&[0x12, value_size + 2, 0x0a, value_size]);
    out.extend_from_slice(&head[..8 + key.len()]);
    out.extend_from_slice(value.as_bytes());
}

#[inline(never)]
fn long_text_attribute(out: &mut Vec<u8>, field: u32, key: &str, value: &str) {
    attribute(out, field, key, |out| text(out, STRING_VALUE, value));
}

/// How many bytes the same takes with a number, if it is short and of a field below 16.
#[inline]
pub(super) fn int_attribute_size(key: &str, value: i64) -> usize {
    let value = usize::try_from(value.cast_unsigned()).unwrap_or(usize::MAX);
    2 + 2 + key.len() + 2 + 1 + width(value)
}

/// The same with a number.
#[inline]
pub(super) fn int_attribute(out: &mut Vec<u8>, field: u32, key: &str, value: i64) {
    let value = value.cast_unsigned();
    let width = width(usize::try_from(value).unwrap_or(usize::MAX));
    let all = 2 + key.len() + 2 + 1 + width;
    if all >= 0x80 || field >= 0x10 {
        return attribute(out, field, key, |out| {
            int(out, INT_VALUE, value.cast_signed());
        });
    }
    let [form, size, key_size, value_size] = [
        (field << 3 | u32::from(LENGTH)) as usize,
        all,
        key.len(),
        1 + width,
    ]
    .map(|it| it.to_le_bytes()[0]);
    out.extend_from_slice(&[form, size, 0x0a, key_size]);
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(&[0x12, value_size, (INT_VALUE << 3).to_le_bytes()[0]]);
    varint(out, value);
}

/// A `KeyValue` whose value is written by `value`.
pub(super) fn attribute(
    out: &mut Vec<u8>,
    field: u32,
    key: &str,
    value: impl FnOnce(&mut Vec<u8>),
) {
    message(out, field, 1, |out| {
        text(out, 1, key);
        message(out, 2, 1, value);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_attributes_are_as_long_ones() {
        for field in [3, 9, 15, 16, 2000] {
            for key in ["key", &"k".repeat(48), &"k".repeat(49), &"k".repeat(200)] {
                for size in [
                    0, 1, 70, 71, 72, 73, 74, 115, 116, 117, 118, 119, 120, 130, 5000,
                ] {
                    let value = "v".repeat(size);
                    let (mut out, mut want) = (Vec::new(), Vec::new());
                    text_attribute(&mut out, field, key, &value);
                    long_text_attribute(&mut want, field, key, &value);
                    assert!(out == want, "{field} {key} {size}");
                }
            }
        }
    }

    #[test]
    fn numbers_are_as_long_as_they_are() {
        for field in [3, 9, 16] {
            for key in ["key", &"k".repeat(112), &"k".repeat(130)] {
                for value in [0, 1, 127, 128, 1 << 20, 1 << 34, i64::MAX, -1, i64::MIN] {
                    let (mut out, mut want) = (Vec::new(), Vec::new());
                    int_attribute(&mut out, field, key, value);
                    attribute(&mut want, field, key, |out| int(out, INT_VALUE, value));
                    assert!(out == want, "{field} {key} {value}");
                    if field < 16 && out.len() < 0x80 {
                        assert_eq!(int_attribute_size(key, value), out.len());
                    }
                }
            }
        }
    }
}
