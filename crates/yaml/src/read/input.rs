//! Bytes to characters: UTF-8 or UTF-16, and none of the control characters that YAML refuses.
//!
//! go-yaml decodes in blocks of 512 bytes and so reports a bad character when it reaches the block, not the
//! character. We keep that, as it decides which of two errors a user sees.

use std::borrow::Cow;

const BLOCK: usize = 512;

pub(super) struct Input<'a> {
    pub(super) text: Cow<'a, [u8]>,
    /// From where on reading is the error below.
    pub(super) limit: usize,
    pub(super) problem: &'static str,
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let whole = |text| Self {
            text,
            limit: usize::MAX,
            problem: "",
        };
        match bytes {
            [0xFF, 0xFE, rest @ ..] => Self::decode(bytes, rest, |raw| utf16(raw, [0, 1])),
            [0xFE, 0xFF, rest @ ..] => Self::decode(bytes, rest, |raw| utf16(raw, [1, 0])),
            _ => {
                let rest = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
                if std::str::from_utf8(rest).is_ok() && all_allowed(rest) {
                    return whole(Cow::Borrowed(rest));
                }
                Self::decode(bytes, rest, utf8)
            }
        }
    }

    fn decode(
        bytes: &[u8],
        rest: &[u8],
        one: impl Fn(&[u8]) -> Result<(u32, usize), &'static str>,
    ) -> Self {
        let mut text = Vec::with_capacity(rest.len());
        let start = bytes.len() - rest.len();
        let (mut at, mut block_end, mut block_text) = (start, BLOCK, 0);
        while at < bytes.len() {
            if at >= block_end {
                (block_end, block_text) = (at + BLOCK, text.len());
            }
            let raw = &bytes[at..block_end.min(bytes.len())];
            let decoded = one(raw).and_then(|(value, width)| match char::from_u32(value) {
                Some(it) if is_allowed(it) => Ok((it, width)),
                Some(_) => Err("control characters are not allowed"),
                None => Err("invalid Unicode character"),
            });
            match decoded {
                Ok((it, width)) => {
                    text.extend_from_slice(it.encode_utf8(&mut [0; 4]).as_bytes());
                    at += width;
                }
                Err(problem) => {
                    // A character cut by the end of its block is read with the next one, if there is one.
                    let cut = problem.starts_with("incomplete");
                    if cut && block_end < bytes.len() {
                        (block_end, block_text) = (at + BLOCK, text.len());
                        continue;
                    }
                    return Self {
                        limit: if cut { text.len() } else { block_text },
                        text: Cow::Owned(text),
                        problem,
                    };
                }
            }
        }
        Self {
            text: Cow::Owned(text),
            limit: usize::MAX,
            problem: "",
        }
    }
}

fn is_allowed(it: char) -> bool {
    matches!(it,
        '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{D7FF}'
        | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..='\u{10FFFF}')
}

/// The same question for a whole valid UTF-8 text.
fn all_allowed(text: &[u8]) -> bool {
    let mut last = [0u8; 2];
    text.iter().all(|&byte| {
        let allowed = match byte {
            0..0x20 => matches!(byte, b'\t' | b'\n' | b'\r'),
            0x7F => false,
            0x80..=0x9F if last[1] == 0xC2 => byte == 0x85,
            0xBE | 0xBF => last != [0xEF, 0xBF],
            _ => true,
        };
        last = [last[1], byte];
        allowed
    })
}

fn utf8(raw: &[u8]) -> Result<(u32, usize), &'static str> {
    let first = raw[0];
    let (width, mut value) = match first {
        0x00..=0x7F => (1, u32::from(first)),
        0xC0..=0xDF => (2, u32::from(first & 0x1F)),
        0xE0..=0xEF => (3, u32::from(first & 0x0F)),
        0xF0..=0xF7 => (4, u32::from(first & 0x07)),
        _ => return Err("invalid leading UTF-8 octet"),
    };
    if raw.len() < width {
        return Err("incomplete UTF-8 octet sequence");
    }
    for octet in &raw[1..width] {
        if octet & 0xC0 != 0x80 {
            return Err("invalid trailing UTF-8 octet");
        }
        value = value << 6 | u32::from(octet & 0x3F);
    }
    let least = [0, 0x80, 0x800, 0x1_0000][width - 1];
    if value < least {
        return Err("invalid length of a UTF-8 sequence");
    }
    Ok((value, width))
}

fn utf16(raw: &[u8], [low, high]: [usize; 2]) -> Result<(u32, usize), &'static str> {
    let unit = |i: usize| u32::from(raw[i + low]) | u32::from(raw[i + high]) << 8;
    if raw.len() < 2 {
        return Err("incomplete UTF-16 character");
    }
    match unit(0) {
        0xDC00..=0xDFFF => Err("unexpected low surrogate area"),
        first @ 0xD800..=0xDBFF => {
            if raw.len() < 4 {
                return Err("incomplete UTF-16 surrogate pair");
            }
            match unit(2) {
                second @ 0xDC00..=0xDFFF => {
                    Ok((0x1_0000 + ((first & 0x3FF) << 10) + (second & 0x3FF), 4))
                }
                _ => Err("expected low surrogate area"),
            }
        }
        value => Ok((value, 2)),
    }
}
