//! Protobuf, as far as OTLP needs it. Messages are written where they belong and get their length afterwards.

pub(super) const STRING_VALUE: u32 = 1;
pub(super) const BOOL_VALUE: u32 = 2;
pub(super) const INT_VALUE: u32 = 3;

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const DELIMITED: u32 = 2;
const FIXED32: u32 = 5;

pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

fn tag(out: &mut Vec<u8>, field: u32, form: u32) {
    varint(out, u64::from(field << 3 | form));
}

pub(super) fn int(out: &mut Vec<u8>, field: u32, value: i64) {
    tag(out, field, VARINT);
    varint(out, value.cast_unsigned());
}

pub(super) fn fixed64(out: &mut Vec<u8>, field: u32, value: u64) {
    tag(out, field, FIXED64);
    out.extend_from_slice(&value.to_le_bytes());
}

pub(super) fn fixed32(out: &mut Vec<u8>, field: u32, value: u32) {
    tag(out, field, FIXED32);
    out.extend_from_slice(&value.to_le_bytes());
}

pub(super) fn bytes(out: &mut Vec<u8>, field: u32, value: &[u8]) {
    tag(out, field, DELIMITED);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

pub(super) fn text(out: &mut Vec<u8>, field: u32, value: &str) {
    bytes(out, field, value.as_bytes());
}

pub(super) fn message(out: &mut Vec<u8>, field: u32, write: impl FnOnce(&mut Vec<u8>)) {
    tag(out, field, DELIMITED);
    let length = out.len();
    out.push(0);
    write(out);
    let (start, end) = (length + 1, out.len());
    let mut size = end - start;
    // Room for one byte was left; what is longer moves.
    let more = (size.checked_ilog2().unwrap_or(0) / 7) as usize;
    out.resize(end + more, 0);
    out.copy_within(start..end, start + more);
    for place in &mut out[length..length + more] {
        *place = size.to_le_bytes()[0] | 0x80;
        size >>= 7;
    }
    out[length + more] = size.to_le_bytes()[0];
}

/// A `KeyValue` with a text, as most are.
pub(super) fn text_attribute(out: &mut Vec<u8>, field: u32, key: &str, value: &str) {
    // Both are preceded by two bytes, and the value's message as well, if all of it is short.
    let all = 2 + key.len() + 4 + value.len();
    let [size, key_size, value_size] = [all, key.len(), value.len()].map(|it| it.to_le_bytes()[0]);
    if all >= 0x80 || field >= 0x10 {
        return attribute(out, field, key, |out| text(out, STRING_VALUE, value));
    }
    let form = (field << 3 | DELIMITED).to_le_bytes()[0];
    out.reserve(all + 2);
    out.extend_from_slice(&[form, size, 0x0a, key_size]);
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(&[0x12, value_size + 2, 0x0a, value_size]);
    out.extend_from_slice(value.as_bytes());
}

/// A `KeyValue` whose value is written by `value`.
pub(super) fn attribute(
    out: &mut Vec<u8>,
    field: u32,
    key: &str,
    value: impl FnOnce(&mut Vec<u8>),
) {
    message(out, field, |out| {
        text(out, 1, key);
        message(out, 2, value);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_attributes_are_as_long_ones() {
        for field in [3, 9, 15, 16, 2000] {
            for size in [0, 1, 100, 115, 116, 117, 118, 119, 120, 130, 5000] {
                let value = "v".repeat(size);
                let (mut out, mut want) = (Vec::new(), Vec::new());
                text_attribute(&mut out, field, "key", &value);
                attribute(&mut want, field, "key", |out| {
                    text(out, STRING_VALUE, &value);
                });
                assert!(out == want, "{field} {size}");
            }
        }
    }

    #[test]
    fn a_message_has_its_length_before_it() {
        for size in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152] {
            let mut out = b"before".to_vec();
            message(&mut out, 2, |out| out.resize(out.len() + size, 7));
            let mut want = b"before".to_vec();
            tag(&mut want, 2, DELIMITED);
            varint(&mut want, size as u64);
            want.resize(want.len() + size, 7);
            assert!(out == want, "{size}");
        }
    }
}
