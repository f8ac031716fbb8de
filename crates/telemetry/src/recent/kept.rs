//! One trace as it is kept: the bytes of its spans as they came, and the summary that lists show.

use std::sync::Arc;

use crate::otlp::{Field, Glance, Spans, attributes, each};

/// What a trace takes beside its bytes: its places in the map, the lists and the index of names, none of them full.
const EACH_TRACE: usize = 640;
const EACH_PIECE: usize = 160;
/// Its id.
const EACH_SPAN: usize = 16;
/// Of names and the like.
const LONGEST: usize = 256;

/// Spans of one trace that came together.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// The fields of a `ResourceSpans` that are not spans; many pieces share them.
    pub(super) head: Arc<[u8]>,
    /// Its `scope_spans`.
    pub(super) scope_spans: Arc<[u8]>,
    /// Sorted.
    ids: Vec<u64>,
    top: Top,
    start: u64,
    end: u64,
    errors: u32,
}

/// The span that a trace is known by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Top {
    /// The span without a parent; else the first span.
    pub(super) is_root: bool,
    pub(super) start: u64,
    pub(super) name: Box<str>,
    pub(super) service: Box<str>,
    pub(super) audit_id: Box<str>,
    pub(super) status: Option<u16>,
}

impl Top {
    fn new(span: &Glance<'_>, head: &[u8]) -> Self {
        let mut top = Self {
            is_root: span.parent == 0,
            start: span.start,
            name: cut(span.name),
            ..Self::default()
        };
        span.attributes(|key, value| {
            match key {
                b"audit-id" => top.audit_id = cut(&text(value)),
                b"http.response.status_code" => {
                    top.status = number(value).and_then(|it| it.try_into().ok());
                }
                _ => {}
            }
            false
        });
        top.service = cut(&service(head));
        top
    }

    fn beats(&self, other: &Self) -> bool {
        (self.is_root, other.start) > (other.is_root, self.start)
    }
}

impl Piece {
    pub(super) fn new<'a>(
        head: Arc<[u8]>,
        scope_spans: Arc<[u8]>,
        spans: impl Iterator<Item = &'a Glance<'a>> + Clone,
    ) -> Self {
        let top = spans.clone().max_by(|one, two| {
            let rank = |it: &Glance<'_>| (it.parent == 0, std::cmp::Reverse(it.start));
            rank(one).cmp(&rank(two))
        });
        let mut ids: Vec<u64> = spans.clone().map(|it| it.span_id).collect();
        ids.sort_unstable();
        ids.dedup();
        Self {
            top: top.map_or_else(Top::default, |it| Top::new(it, &head)),
            start: spans.clone().map(|it| it.start).min().unwrap_or_default(),
            end: spans.clone().map(|it| it.end).max().unwrap_or_default(),
            errors: u32::try_from(spans.filter(|it| it.is_error).count()).unwrap_or(u32::MAX),
            head,
            scope_spans,
            ids,
        }
    }

    /// Without the spans that are there already: senders repeat a request without an answer. `None` if that leaves none.
    fn without(self, known: &[u64]) -> Option<Self> {
        let is_new = |id: &u64| known.binary_search(id).is_err();
        if self.ids.iter().all(is_new) {
            return Some(self);
        }
        let spans = Spans::read(&self.scope_spans).ok()?;
        let new: Vec<_> = spans
            .all
            .iter()
            .filter(|(_, span)| is_new(&span.span_id))
            .collect();
        if new.is_empty() {
            return None;
        }
        let written = spans.write(new.iter().copied());
        let glances = new.iter().map(|(_, span)| span);
        Some(Self::new(self.head.clone(), written.into(), glances))
    }

    fn size(&self) -> usize {
        // The name is in two indexes, too.
        let texts = 3 * self.top.name.len() + self.top.service.len() + self.top.audit_id.len();
        self.head.len() + self.scope_spans.len() + self.ids.len() * EACH_SPAN + texts + EACH_PIECE
    }
}

/// A trace, as far as it has come.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) id: [u8; 16],
    pub(super) pieces: Vec<Piece>,
    /// Of all spans, sorted.
    ids: Vec<u64>,
    pub(super) top: Top,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) errors: u32,
    pub(super) size: usize,
}

impl Kept {
    pub(super) fn new(id: [u8; 16], mut piece: Piece) -> Self {
        Self {
            id,
            size: EACH_TRACE + piece.size(),
            ids: std::mem::take(&mut piece.ids),
            top: std::mem::take(&mut piece.top),
            start: piece.start,
            end: piece.end,
            errors: piece.errors,
            pieces: vec![piece],
        }
    }

    /// More spans of it. False if there would be more of it than `most` bytes.
    pub(super) fn join(&mut self, piece: Piece, most: usize) -> bool {
        let Some(mut piece) = piece.without(&self.ids) else {
            return true;
        };
        let size = self.size + piece.size();
        if size > most {
            return false;
        }
        self.size = size;
        let ids = std::mem::take(&mut piece.ids);
        self.ids.extend(ids);
        #[expect(
            clippy::stable_sort_primitive,
            reason = "it knows sorted runs: there are two"
        )]
        self.ids.sort();
        let top = std::mem::take(&mut piece.top);
        if top.beats(&self.top) {
            self.top = top;
        }
        self.start = self.start.min(piece.start);
        self.end = self.end.max(piece.end);
        self.errors = self.errors.saturating_add(piece.errors);
        self.pieces.push(piece);
        true
    }

    pub(super) fn spans(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn duration(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// The attribute `service.name` of the resource in a head.
fn service(head: &[u8]) -> String {
    let mut found = String::new();
    let _ = each(head, |number, field| {
        if let (1, Field::Bytes(resource)) = (number, field) {
            attributes(resource, 1, |key, value| {
                let is_it = key == b"service.name";
                if is_it {
                    found = text(value);
                }
                is_it
            });
        }
        Ok(())
    });
    found
}

/// A value as a text: what it is, or how a number is written. Empty for what has parts.
pub(super) fn text(any_value: &[u8]) -> String {
    let mut found = String::new();
    let _ = each(any_value, |number, field| {
        match number {
            1 => found = String::from_utf8_lossy(field.bytes()).into_owned(),
            2 => found = (field.number() != 0).to_string(),
            3 => found = field.number().cast_signed().to_string(),
            4 => found = f64::from_bits(field.number()).to_string(),
            _ => {}
        }
        Ok(())
    });
    found
}

fn number(any_value: &[u8]) -> Option<i64> {
    let mut found = None;
    let _ = each(any_value, |number, field| {
        if number == 3 {
            found = Some(field.number().cast_signed());
        }
        Ok(())
    });
    found
}

fn cut(text: &str) -> Box<str> {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].into()
}
