//! Tags, varints and lengths.

use super::Error;

pub(super) const VARINT: u8 = 0;
pub(super) const FIXED64: u8 = 1;
pub(super) const LENGTH: u8 = 2;

pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Number and wire type of the next field.
    pub(super) fn tag(&mut self) -> Result<Option<(u32, u8)>, Error> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let wire = (tag & 7) as u8;
        match u32::try_from(tag >> 3) {
            Ok(number) if number > 0 && wire != 4 => Ok(Some((number, wire))),
            _ => Err(Error::IllegalTag(tag >> 3, wire)),
        }
    }

    pub(super) fn varint(&mut self) -> Result<u64, Error> {
        let mut value = 0_u64;
        for (index, byte) in self.rest.iter().enumerate() {
            if index > 9 {
                return Err(Error::Overflow);
            }
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[index + 1..];
                return Ok(value);
            }
        }
        Err(if self.rest.len() > 9 {
            Error::Overflow
        } else {
            Error::Truncated
        })
    }

    /// The number of a field that is one.
    pub(super) fn number(&mut self, wire: u8, field: &str) -> Result<i64, Error> {
        if wire != VARINT {
            return Err(Error::WrongWire(wire, field.into()));
        }
        self.varint().map(u64::cast_signed)
    }

    pub(super) fn fixed64(&mut self, wire: u8, field: &str) -> Result<u64, Error> {
        if wire != FIXED64 {
            return Err(Error::WrongWire(wire, field.into()));
        }
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(Error::Truncated)?;
        self.rest = rest;
        Ok(u64::from_le_bytes(*bytes))
    }

    pub(super) fn bytes(&mut self, wire: u8, field: &str) -> Result<&'a [u8], Error> {
        if wire != LENGTH {
            return Err(Error::WrongWire(wire, field.into()));
        }
        let length = usize::try_from(self.varint()?).map_err(|_| Error::Truncated)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Error::Truncated)?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(super) fn string(&mut self, wire: u8, field: &str) -> Result<String, Error> {
        self.bytes(wire, field)
            .map(|it| String::from_utf8_lossy(it).into_owned())
    }

    pub(super) fn skip(&mut self, wire: u8) -> Result<(), Error> {
        let fixed = match wire {
            VARINT => return self.varint().map(drop),
            LENGTH => return self.bytes(wire, "").map(drop),
            FIXED64 => 8,
            5 => 4,
            // Groups are as old as they are rare: none of ours has one.
            _ => return Err(Error::IllegalTag(0, wire)),
        };
        self.rest = self.rest.get(fixed..).ok_or(Error::Truncated)?;
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct Writer {
    pub(super) out: Vec<u8>,
}

impl Writer {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            out: Vec::with_capacity(capacity),
        }
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn tag(&mut self, number: u32, wire: u8) {
        self.varint(u64::from(number) << 3 | u64::from(wire));
    }

    fn varint(&mut self, mut value: u64) {
        loop {
            let low = (value & 0x7f) as u8;
            value >>= 7;
            if value == 0 {
                return self.out.push(low);
            }
            self.out.push(low | 0x80);
        }
    }

    pub(super) fn number(&mut self, number: u32, value: i64) {
        self.tag(number, VARINT);
        self.varint(value.cast_unsigned());
    }

    pub(super) fn double(&mut self, number: u32, value: f64) {
        self.tag(number, FIXED64);
        self.raw(&value.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.length(number, bytes.len());
        self.raw(bytes);
    }

    /// What comes before so many bytes.
    pub(super) fn length(&mut self, number: u32, length: usize) {
        self.tag(number, LENGTH);
        self.varint(length as u64);
    }

    /// A message in this one. Its length is put before it when it is known; most fit the byte that is kept for it.
    pub(super) fn message<E>(
        &mut self,
        number: u32,
        fill: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.tag(number, LENGTH);
        let at = self.out.len();
        self.out.push(0);
        fill(self)?;
        let length = self.out.len() - at - 1;
        if let Ok(small @ ..0x80) = u8::try_from(length) {
            self.out[at] = small;
            return Ok(());
        }
        let mut prefix = Self { out: Vec::new() };
        prefix.varint(length as u64);
        self.out.splice(at..=at, prefix.out);
        Ok(())
    }
}
