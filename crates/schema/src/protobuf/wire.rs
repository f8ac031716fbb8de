//! Fields of the wire type that a schema expects.

use encoding::protobuf;
pub(super) use encoding::protobuf::{FIXED64, LENGTH, VARINT};

use super::Error;

pub(super) struct Reader<'a>(protobuf::Reader<'a>);

impl<'a> Reader<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self(protobuf::Reader::new(rest))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number and wire type of the next field.
    pub(super) fn tag(&mut self) -> Result<Option<(u32, u8)>, Error> {
        Ok(self.0.tag()?)
    }

    /// The number of a field that is one.
    pub(super) fn number(&mut self, wire: u8, field: &str) -> Result<i64, Error> {
        expect(VARINT, wire, field)?;
        Ok(self.0.varint()?.cast_signed())
    }

    pub(super) fn fixed64(&mut self, wire: u8, field: &str) -> Result<u64, Error> {
        expect(FIXED64, wire, field)?;
        Ok(self.0.fixed64()?)
    }

    pub(super) fn bytes(&mut self, wire: u8, field: &str) -> Result<&'a [u8], Error> {
        expect(LENGTH, wire, field)?;
        Ok(self.0.bytes()?)
    }

    pub(super) fn string(&mut self, wire: u8, field: &str) -> Result<String, Error> {
        self.bytes(wire, field)
            .map(|it| String::from_utf8_lossy(it).into_owned())
    }

    pub(super) fn skip(&mut self, wire: u8) -> Result<(), Error> {
        Ok(self.0.skip(wire)?)
    }
}

fn expect(wanted: u8, wire: u8, field: &str) -> Result<(), Error> {
    if wire == wanted {
        return Ok(());
    }
    Err(Error::WrongWire(wire, field.into()))
}

impl From<protobuf::Error> for Error {
    fn from(error: protobuf::Error) -> Self {
        match error {
            protobuf::Error::Truncated => Self::Truncated,
            protobuf::Error::Overflow => Self::Overflow,
            protobuf::Error::IllegalTag { number, wire } => Self::IllegalTag(number, wire),
        }
    }
}
