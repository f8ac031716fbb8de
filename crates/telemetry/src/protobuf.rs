//! As much of protobuf's wire format as OTLP takes: fields in, fields out.

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// A message in the making.
#[derive(Debug, Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }

    fn tag(&mut self, field: u32, wire: u8) {
        self.varint(u64::from(field) << 3 | u64::from(wire));
    }

    pub fn number(&mut self, field: u32, value: u64) {
        self.tag(field, 0);
        self.varint(value);
    }

    pub fn fixed64(&mut self, field: u32, value: u64) {
        self.tag(field, 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn double(&mut self, field: u32, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    pub fn fixed32(&mut self, field: u32, value: u32) {
        self.tag(field, 5);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn bytes(&mut self, field: u32, value: &[u8]) {
        self.parts(field, &[value]);
    }

    /// What comes before a value of so many bytes.
    pub fn open(&mut self, field: u32, length: usize) {
        self.tag(field, 2);
        self.varint(length as u64);
    }

    /// One value that is in several pieces.
    pub fn parts(&mut self, field: u32, parts: &[&[u8]]) {
        self.open(field, parts.iter().map(|it| it.len()).sum());
        for part in parts {
            self.0.extend_from_slice(part);
        }
    }

    pub fn text(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    /// Written where it belongs; it gets its length afterwards.
    pub fn message(&mut self, field: u32, write: impl FnOnce(&mut Self)) {
        self.tag(field, 2);
        let start = self.0.len();
        self.0.push(0);
        write(self);
        let size = self.0.len() - start - 1;
        match u8::try_from(size) {
            Ok(size) if size < 0x80 => self.0[start] = size,
            _ => {
                let mut length = Self::default();
                length.varint(size as u64);
                self.0.splice(start..=start, length.0);
            }
        }
    }

    /// All values in one field, eight bytes each.
    pub fn packed(&mut self, field: u32, values: impl ExactSizeIterator<Item = u64>) {
        self.tag(field, 2);
        self.varint(values.len() as u64 * 8);
        for value in values {
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// OTLP's `KeyValue` with a text.
    pub fn attribute(&mut self, field: u32, key: &str, value: &str) {
        self.message(field, |pair| {
            pair.text(1, key);
            pair.message(2, |any| any.text(1, value));
        });
    }
}

/// The fields of a message; those of eight and four bytes are passed over. Ends at what is not protobuf.
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
        let mut out = Message::default();
        out.number(1, 300);
        out.bytes(2, b"abc");
        // Of types that are passed over.
        out.double(3, 0.5);
        out.fixed32(4, 7);
        out.number(5, u64::MAX);
        let Message(out) = out;
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
    fn messages_have_their_length_before_them_whatever_it_is() {
        for size in [0, 1, 127, 128, 20_000] {
            let value = vec![7; size];
            let (mut nested, mut inner, mut plain) =
                (Message::default(), Message::default(), Message::default());
            nested.message(3, |out| out.message(1, |out| out.bytes(2, &value)));
            inner.message(1, |out| out.bytes(2, &value));
            plain.bytes(3, &inner.0);
            assert_eq!(nested.0, plain.0);
            let inner = bytes_at(&nested.0, 3).and_then(|it| bytes_at(it, 1));
            assert_eq!(inner.and_then(|it| bytes_at(it, 2)), Some(&*value));
        }
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
