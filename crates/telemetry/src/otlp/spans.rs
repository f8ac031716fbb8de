//! Spans as they were sent, with a look at what matters to keep them: nothing of them is copied.

use super::Error;
use super::json::check;
use super::read::{Field, each, each_whole};
use crate::protobuf::Message;

const RESOURCE_SPANS: u32 = 1;
const SCOPE_SPANS: u32 = 2;
const SPAN: u32 = 2;
const STATUS_ERROR: u64 = 2;
/// Spans in one `ResourceSpans`, and scopes. Each may take no more than two bytes on the wire, but a hundred here.
const MOST: usize = 1 << 16;

/// What is seen of a span without looking into its attributes and events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Glance<'a> {
    /// All zeros if it has none that counts.
    pub(crate) trace_id: [u8; 16],
    pub(crate) span_id: u64,
    /// Zero for a root.
    pub(crate) parent: u64,
    pub(crate) name: &'a str,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) is_error: bool,
    /// The message itself.
    pub(crate) bytes: &'a [u8],
}

impl<'a> Glance<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut glance = Self {
            bytes,
            ..Self::default()
        };
        each(bytes, |number, field| {
            match number {
                1 => glance.trace_id = field.bytes().try_into().unwrap_or_default(),
                2 => glance.span_id = id(field),
                4 => glance.parent = id(field),
                5 => glance.name = text(field)?,
                7 => glance.start = field.number(),
                8 => glance.end = field.number(),
                15 => each(field.bytes(), |number, field| {
                    if number == 3 {
                        glance.is_error = field.number() == STATUS_ERROR;
                    }
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(glance)
    }

    /// Calls for each attribute, with its name and the bytes of its `AnyValue`, until it is told that it is enough.
    pub(crate) fn attributes(&self, found: impl FnMut(&'a [u8], &'a [u8]) -> bool) {
        attributes(self.bytes, 9, found);
    }
}

/// The attributes in a message, which are its field `wanted`.
pub(crate) fn attributes<'a>(
    message: &'a [u8],
    wanted: u64,
    mut found: impl FnMut(&'a [u8], &'a [u8]) -> bool,
) {
    // What is kept was read before: nothing in it is wrong.
    let _ = each(message, |number, field| {
        if number != wanted {
            return Ok(());
        }
        let (mut key, mut value): (&[u8], &[u8]) = (&[], &[]);
        each(field.bytes(), |number, field| {
            match number {
                1 => key = field.bytes(),
                2 => value = field.bytes(),
                _ => {}
            }
            Ok(())
        })?;
        // An error ends the search.
        if found(key, value) {
            return Err(Error::Short);
        }
        Ok(())
    });
}

/// All spans of a `ResourceSpans`.
#[derive(Debug, Default)]
pub(crate) struct Spans<'a> {
    /// All of it that is not spans: whose they are.
    pub(crate) head: Vec<u8>,
    /// Of each scope all that is not spans.
    scopes: Vec<Vec<u8>>,
    /// With the number of their scope.
    pub(crate) all: Vec<(usize, Glance<'a>)>,
}

impl<'a> Spans<'a> {
    pub(crate) fn read(resource_spans: &'a [u8]) -> Result<Self, Error> {
        let mut spans = Self::default();
        each_whole(resource_spans, |number, field, whole| {
            let (2, Field::Bytes(group)) = (number, field) else {
                spans.head.extend_from_slice(whole);
                return Ok(());
            };
            let scope = spans.scopes.len();
            let mut head = Vec::new();
            each_whole(group, |number, field, whole| {
                match (number, field) {
                    (2, Field::Bytes(_)) if spans.all.len() > MOST => {
                        return Err(Error::Many(MOST));
                    }
                    (2, Field::Bytes(span)) => spans.all.push((scope, Glance::new(span)?)),
                    _ => head.extend_from_slice(whole),
                }
                Ok(())
            })?;
            spans.scopes.push(head);
            if spans.scopes.len() > MOST {
                return Err(Error::Many(MOST));
            }
            Ok(())
        })?;
        Ok(spans)
    }

    /// The `scope_spans` of some of them, with their tags and lengths.
    pub(crate) fn write<'b>(
        &self,
        wanted: impl IntoIterator<Item = &'b (usize, Glance<'a>)>,
    ) -> Vec<u8>
    where
        'a: 'b,
    {
        let mut out = Message::default();
        let mut group = Message::default();
        let mut current = None;
        for (scope, span) in wanted {
            if current != Some(*scope) {
                if current.is_some() {
                    out.bytes(SCOPE_SPANS, &group.0);
                }
                current = Some(*scope);
                group.0.clear();
                group.0.extend_from_slice(&self.scopes[*scope]);
            }
            group.bytes(SPAN, span.bytes);
        }
        if current.is_some() {
            out.bytes(SCOPE_SPANS, &group.0);
        }
        out.0
    }
}

/// The `ResourceSpans` of a request that somebody sent, once all of it is known to be readable.
pub(crate) fn received(request: &[u8]) -> Result<Vec<&[u8]>, Error> {
    check(request)?;
    let mut all = Vec::new();
    each(request, |number, field| {
        if let (1, Field::Bytes(bytes)) = (number, field) {
            all.push(bytes);
        }
        Ok(())
    })?;
    Ok(all)
}

/// Appends a `ResourceSpans` to a request.
pub(crate) fn append(request: &mut Vec<u8>, head: &[u8], scope_spans: &[u8]) {
    let mut out = Message(std::mem::take(request));
    out.parts(RESOURCE_SPANS, &[head, scope_spans]);
    *request = out.0;
}

fn text(field: Field<'_>) -> Result<&str, Error> {
    std::str::from_utf8(field.bytes()).map_err(|_| Error::Text)
}

fn id(field: Field<'_>) -> u64 {
    let bytes: Result<[u8; 8], _> = field.bytes().try_into();
    bytes.map_or(0, u64::from_be_bytes)
}
