//! Classes of characters, as libyaml draws them. Past the end of the text stands NUL, which no input may contain.

pub(crate) fn at(text: &[u8], i: usize) -> u8 {
    text.get(i).copied().unwrap_or(0)
}

pub(crate) fn is_blank(text: &[u8], i: usize) -> bool {
    matches!(at(text, i), b' ' | b'\t')
}

/// CR, LF, NEL, LS or PS.
pub(crate) fn is_break(text: &[u8], i: usize) -> bool {
    break_len(text, i) > 0
}

/// How many bytes the line break here has (CR LF counts as one of CR).
pub(crate) fn break_len(text: &[u8], i: usize) -> usize {
    match at(text, i) {
        b'\r' | b'\n' => 1,
        0xC2 if at(text, i + 1) == 0x85 => 2,
        0xE2 if at(text, i + 1) == 0x80 && matches!(at(text, i + 2), 0xA8 | 0xA9) => 3,
        _ => 0,
    }
}

pub(crate) fn is_breakz(text: &[u8], i: usize) -> bool {
    at(text, i) == 0 || is_break(text, i)
}

pub(crate) fn is_blankz(text: &[u8], i: usize) -> bool {
    is_blank(text, i) || is_breakz(text, i)
}

/// What names of anchors and tag handles are made of.
pub(crate) fn is_alpha(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// How many bytes the character has that starts with this one.
pub(crate) fn width(first: u8) -> usize {
    match first {
        0x00..=0x7F => 1,
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => 0,
    }
}

/// Whether a character may stand unescaped in output. go-yaml escapes all beyond the basic plane.
pub(crate) fn is_printable(text: &[u8], i: usize) -> bool {
    match at(text, i) {
        b'\n' | 0x20..=0x7E | 0xC3..=0xEC | 0xEE => true,
        0xC2 => at(text, i + 1) >= 0xA0,
        0xED => at(text, i + 1) < 0xA0,
        0xEF => !matches!(
            (at(text, i + 1), at(text, i + 2)),
            (0xBB, 0xBF) | (0xBF, 0xBE | 0xBF)
        ),
        _ => false,
    }
}
