//! A reader of protobuf that copies only what is kept, and looks no deeper than it must.

use encoding::protobuf::{self, FIXED32, FIXED64, LENGTH, Reader, VARINT};

pub(crate) use encoding::protobuf::Field;

use super::{Error, Event, Id, Link, ResourceSpans, Span, Value};

/// Values within values.
pub(super) const DEPTH: usize = 16;

/// All of an `ExportTraceServiceRequest`.
pub fn request(bytes: &[u8]) -> Result<Vec<ResourceSpans>, Error> {
    let mut found = Vec::new();
    each(bytes, |field, value| {
        if let (1, Field::Bytes(resource_spans)) = (field, value) {
            let mut resource = Vec::new();
            each(resource_spans, |field, value| {
                if let (1, Field::Bytes(bytes)) = (field, value) {
                    resource = attributes(bytes, 1)?;
                }
                Ok(())
            })?;
            found.push(ResourceSpans {
                resource,
                spans: scope_spans(resource_spans)?,
            });
        }
        Ok(())
    })?;
    Ok(found)
}

/// All spans of a `ResourceSpans`, or of the part of it that one [`Item`](crate::export::Item) writes.
pub fn scope_spans(bytes: &[u8]) -> Result<Vec<Span>, Error> {
    let mut spans = Vec::new();
    each(bytes, |field, value| {
        let (2, Field::Bytes(group)) = (field, value) else {
            return Ok(());
        };
        let mut scope = String::new();
        each(group, |field, value| {
            if let (1, Field::Bytes(bytes)) = (field, value) {
                each(bytes, |field, value| {
                    if field == 1 {
                        scope = text(value)?;
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        each(group, |field, value| {
            if let (2, Field::Bytes(bytes)) = (field, value) {
                let mut read = span(bytes)?;
                read.scope.clone_from(&scope);
                spans.push(read);
            }
            Ok(())
        })
    })?;
    Ok(spans)
}

fn span(bytes: &[u8]) -> Result<Span, Error> {
    let mut span = Span::default();
    each(bytes, |field, value| {
        match field {
            1 => span.trace_id = id(value),
            2 => span.span_id = id(value),
            3 => span.trace_state = text(value)?,
            4 => span.parent = id(value),
            5 => span.name = text(value)?,
            6 => span.kind = value.number(),
            7 => span.start = value.number(),
            8 => span.end = value.number(),
            9 => span.attributes.extend(pair(value)?),
            11 => span.events.push(event(value.bytes())?),
            13 => span.links.push(link(value.bytes())?),
            15 => each(value.bytes(), |field, value| {
                match field {
                    2 => span.message = text(value)?,
                    3 => span.is_error = value.number() == 2,
                    _ => {}
                }
                Ok(())
            })?,
            16 => span.flags = u32::try_from(value.number()).unwrap_or_default(),
            _ => {}
        }
        Ok(())
    })?;
    Ok(span)
}

fn event(bytes: &[u8]) -> Result<Event, Error> {
    let mut event = Event::default();
    each(bytes, |field, value| {
        match field {
            1 => event.time = value.number(),
            2 => event.name = text(value)?,
            3 => event.attributes.extend(pair(value)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(event)
}

fn link(bytes: &[u8]) -> Result<Link, Error> {
    let mut link = Link::default();
    each(bytes, |field, value| {
        match field {
            1 => link.trace_id = id(value),
            2 => link.span_id = id(value),
            3 => link.trace_state = text(value)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(link)
}

fn attributes(bytes: &[u8], wanted: u64) -> Result<Vec<(String, Value)>, Error> {
    let mut found = Vec::new();
    each(bytes, |field, value| {
        if field == wanted {
            found.extend(pair(value)?);
        }
        Ok(())
    })?;
    Ok(found)
}

fn pair(field: Field<'_>) -> Result<Option<(String, Value)>, Error> {
    pair_at(field.bytes(), DEPTH).map(Some)
}

fn pair_at(bytes: &[u8], depth: usize) -> Result<(String, Value), Error> {
    let (mut key, mut value) = (String::new(), Value::Empty);
    each(bytes, |field, read| {
        match field {
            1 => key = text(read)?,
            2 => value = any(read.bytes(), depth)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok((key, value))
}

fn any(bytes: &[u8], depth: usize) -> Result<Value, Error> {
    let depth = depth.checked_sub(1).ok_or(Error::Deep)?;
    let mut found = Value::Empty;
    each(bytes, |field, value| {
        found = match field {
            1 => Value::Text(text(value)?),
            2 => Value::Bool(value.number() != 0),
            3 => Value::Int(value.number().cast_signed()),
            4 => Value::Double(f64::from_bits(value.number())),
            5 => {
                let mut list = Vec::new();
                each(value.bytes(), |_, value| {
                    list.push(any(value.bytes(), depth)?);
                    Ok(())
                })?;
                Value::List(list)
            }
            6 => {
                let mut map = Vec::new();
                each(value.bytes(), |_, value| {
                    map.push(pair_at(value.bytes(), depth)?);
                    Ok(())
                })?;
                Value::Map(map)
            }
            7 => Value::Bytes(value.bytes().to_vec()),
            _ => return Ok(()),
        };
        Ok(())
    })?;
    Ok(found)
}

fn text(field: Field<'_>) -> Result<String, Error> {
    let text = std::str::from_utf8(field.bytes()).map_err(|_| Error::Text)?;
    Ok(text.to_owned())
}

/// None if it has another length.
fn id<const N: usize>(field: Field<'_>) -> Id<N> {
    Id(field.bytes().try_into().unwrap_or([0; N]))
}

/// Each field of a message, in its order.
pub(crate) fn each<'a>(
    bytes: &'a [u8],
    mut take: impl FnMut(u64, Field<'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    each_whole(bytes, |field, value, _| take(field, value))
}

/// The same with the field as it was sent, its tag and length included.
pub(crate) fn each_whole<'a>(
    bytes: &'a [u8],
    mut take: impl FnMut(u64, Field<'a>, &'a [u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut reader = Reader::new(bytes);
    loop {
        let begun = reader.rest();
        let Some((field, wire)) = reader.tag()? else {
            return Ok(());
        };
        let field = u64::from(field);
        let value = match wire {
            VARINT => Field::Number(reader.varint()?),
            FIXED64 => Field::Fixed64(reader.fixed64()?),
            LENGTH => Field::Bytes(reader.bytes().map_err(|_| Error::Length(field))?),
            FIXED32 => Field::Fixed32(reader.fixed32()?),
            other => return Err(Error::Form(other.into())),
        };
        let whole = &begun[..begun.len() - reader.rest().len()];
        take(field, value, whole)?;
    }
}

impl From<protobuf::Error> for Error {
    fn from(error: protobuf::Error) -> Self {
        match error {
            protobuf::Error::Truncated | protobuf::Error::Overflow => Self::Short,
            protobuf::Error::IllegalTag { wire, .. } => Self::Form(wire.into()),
        }
    }
}
