//! Fields out of bytes that anybody may have sent.

use super::{FIXED32, FIXED64, LENGTH, VARINT};

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("the message ends within a field")]
    Truncated,
    #[error("a number has more than ten bytes")]
    Overflow,
    #[error("field {number} has wire type {wire}")]
    IllegalTag { number: u64, wire: u8 },
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    Number(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    /// Of whatever width, as the bits it has; 0 of bytes.
    pub fn number(self) -> u64 {
        match self {
            Self::Number(it) | Self::Fixed64(it) => it,
            Self::Fixed32(it) => it.into(),
            Self::Bytes(_) => 0,
        }
    }

    /// None of a number.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(it) => it,
            _ => &[],
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Number and wire type of the next field.
    pub fn tag(&mut self) -> Result<Option<(u32, u8)>, Error> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let (number, wire) = (tag >> 3, (tag & 7) as u8);
        match u32::try_from(number) {
            Ok(small) if small > 0 && wire != 4 => Ok(Some((small, wire))),
            _ => Err(Error::IllegalTag { number, wire }),
        }
    }

    /// The next field. Groups are as old as they are rare: they are refused.
    pub fn field(&mut self) -> Result<Option<(u32, Field<'a>)>, Error> {
        let Some((number, wire)) = self.tag()? else {
            return Ok(None);
        };
        let field = match wire {
            VARINT => Field::Number(self.varint()?),
            FIXED64 => Field::Fixed64(self.fixed64()?),
            LENGTH => Field::Bytes(self.bytes()?),
            FIXED32 => Field::Fixed32(self.fixed32()?),
            _ => {
                let number = number.into();
                return Err(Error::IllegalTag { number, wire });
            }
        };
        Ok(Some((number, field)))
    }

    pub fn varint(&mut self) -> Result<u64, Error> {
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

    pub fn fixed64(&mut self) -> Result<u64, Error> {
        self.chunk().map(u64::from_le_bytes)
    }

    pub fn fixed32(&mut self) -> Result<u32, Error> {
        self.chunk().map(u32::from_le_bytes)
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(Error::Truncated)?;
        self.rest = rest;
        Ok(*bytes)
    }

    pub fn bytes(&mut self) -> Result<&'a [u8], Error> {
        let length = usize::try_from(self.varint()?).map_err(|_| Error::Truncated)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Error::Truncated)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// Passes over the value of a field.
    pub fn skip(&mut self, wire: u8) -> Result<(), Error> {
        match wire {
            VARINT => self.varint().map(drop),
            FIXED64 => self.fixed64().map(drop),
            LENGTH => self.bytes().map(drop),
            FIXED32 => self.fixed32().map(drop),
            _ => Err(Error::IllegalTag { number: 0, wire }),
        }
    }
}

/// The fields of a message, up to what is not protobuf.
pub fn fields(message: &[u8]) -> impl Iterator<Item = (u32, Field<'_>)> {
    let mut reader = Reader::new(message);
    std::iter::from_fn(move || reader.field().ok().flatten())
}

/// The last field of a number, as protobuf has it.
pub fn bytes_at(message: &[u8], number: u32) -> Option<&[u8]> {
    let found = fields(message).filter_map(|(at, field)| match field {
        Field::Bytes(it) if at == number => Some(it),
        _ => None,
    });
    found.last()
}

/// The last number of a field; 0 if there is none.
pub fn number_at(message: &[u8], number: u32) -> u64 {
    let found = fields(message).filter_map(|(at, field)| match field {
        Field::Number(it) if at == number => Some(it),
        _ => None,
    });
    found.last().unwrap_or(0)
}
