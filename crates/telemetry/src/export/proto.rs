//! As much of protobuf as OTLP's outermost messages need: fields in, fields out.

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

pub fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// A text or a message.
pub fn bytes(out: &mut Vec<u8>, number: u32, value: &[u8]) {
    varint(out, u64::from(number) << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

pub fn number(out: &mut Vec<u8>, number: u32, value: u64) {
    varint(out, u64::from(number) << 3);
    varint(out, value);
}

/// `KeyValue` with a text.
pub fn attribute(out: &mut Vec<u8>, field: u32, key: &str, value: &str) {
    let mut any = Vec::with_capacity(value.len() + 4);
    bytes(&mut any, 1, value.as_bytes());
    let mut pair = Vec::with_capacity(key.len() + any.len() + 8);
    bytes(&mut pair, 1, key.as_bytes());
    bytes(&mut pair, 2, &any);
    bytes(out, field, &pair);
}

/// The fields of a message. Ends at what is not protobuf.
pub fn fields(message: &[u8]) -> impl Iterator<Item = (u32, Field<'_>)> {
    let mut rest = message;
    std::iter::from_fn(move || {
        loop {
            let key = take_varint(&mut rest)?;
            let number = u32::try_from(key >> 3).ok()?;
            match key & 7 {
                0 => return Some((number, Field::Number(take_varint(&mut rest)?))),
                1 => take(&mut rest, 8)?,
                2 => {
                    let length = usize::try_from(take_varint(&mut rest)?).ok()?;
                    return Some((number, Field::Bytes(take(&mut rest, length)?)));
                }
                5 => take(&mut rest, 4)?,
                _ => return None,
            };
        }
    })
}

/// The last field of a number, as protobuf has it.
pub fn bytes_at(message: &[u8], number: u32) -> Option<&[u8]> {
    let found = fields(message).filter_map(|(at, field)| match field {
        Field::Bytes(it) if at == number => Some(it),
        _ => None,
    });
    found.last()
}

pub fn number_at(message: &[u8], number: u32) -> u64 {
    let found = fields(message).filter_map(|(at, field)| match field {
        Field::Number(it) if at == number => Some(it),
        _ => None,
    });
    found.last().unwrap_or(0)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    Some(head)
}

fn take_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = take(rest, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut out = Vec::new();
        number(&mut out, 1, 300);
        bytes(&mut out, 2, b"abc");
        // Of types that are passed over.
        out.extend_from_slice(&[3 << 3 | 1, 1, 2, 3, 4, 5, 6, 7, 8, 4 << 3 | 5, 1, 2, 3, 4]);
        number(&mut out, 5, u64::MAX);
        let all: Vec<_> = fields(&out).collect();
        let want = [
            (1, Field::Number(300)),
            (2, Field::Bytes(b"abc")),
            (5, Field::Number(u64::MAX)),
        ];
        assert_eq!(all, want);
        assert_eq!(bytes_at(&out, 2), Some(&b"abc"[..]));
        assert_eq!((number_at(&out, 5), number_at(&out, 9)), (u64::MAX, 0));
        assert_eq!(out[..3], [8, 0xac, 2]);
    }

    #[test]
    fn what_is_cut_off_or_foreign_ends_it() {
        for bad in [
            &[0x80_u8][..],
            &[0x0a, 5, 1],
            &[0x0b],
            &[
                0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
            ],
            &[
                0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
            ],
        ] {
            assert_eq!(fields(bad).count(), 0, "{bad:?}");
        }
    }
}
