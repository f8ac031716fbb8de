//! Which styles a scalar can have.

use crate::chars::{at, is_blank, is_blankz, is_break, is_printable, width};

#[expect(clippy::struct_excessive_bools, reason = "independent answers")]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Analysis {
    pub(super) multiline: bool,
    pub(super) flow_plain: bool,
    pub(super) block_plain: bool,
    pub(super) single_quoted: bool,
    pub(super) block: bool,
}

pub(super) fn analyze(value: &str, legacy: bool) -> Analysis {
    let text = value.as_bytes();
    if text.is_empty() {
        return Analysis {
            block_plain: true,
            single_quoted: true,
            ..Analysis::default()
        };
    }
    if text[0] != b'-' && text[0] != b'.' && text.iter().all(|it| is_word(*it)) {
        return Analysis {
            multiline: false,
            flow_plain: true,
            block_plain: true,
            single_quoted: true,
            block: true,
        };
    }
    let marker = text.starts_with(b"---") || text.starts_with(b"...");
    let mut block_indicators = marker;
    let mut flow_indicators = marker;
    let (mut breaks, mut special, mut tabs) = (false, false, false);
    let (mut space_break, mut break_space) = (false, false);
    let (mut after_space, mut after_break, mut after_white) = (false, false, true);
    let mut i = 0;
    let mut last = 0;
    while i < text.len() {
        // Most characters mean nothing, wherever they stand but at the start.
        let run = text[i..].iter().take_while(|it| is_word(**it)).count();
        if run > 0 && i > 0 {
            (after_space, after_break, after_white) = (false, false, false);
            last = i + run - 1;
            i += run;
            continue;
        }
        let byte = text[i];
        let next = i + width(byte).max(1);
        let before_white = next >= text.len() || is_blank(text, next);
        match byte {
            b'#' if i == 0 || after_white => (flow_indicators, block_indicators) = (true, true),
            b',' | b'[' | b']' | b'{' | b'}' | b'?' | b':' => {
                flow_indicators = true;
                let first = i == 0 && !matches!(byte, b'?' | b':');
                if first || (byte == b':' || i == 0) && before_white {
                    block_indicators = true;
                }
            }
            b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"' | b'%' | b'@' | b'`' if i == 0 => {
                (flow_indicators, block_indicators) = (true, true);
            }
            b'-' if i == 0 && before_white => (flow_indicators, block_indicators) = (true, true),
            _ => {}
        }
        if byte == b'\t' && !legacy {
            tabs = true;
        } else if !is_printable(text, i) {
            special = true;
        }
        let is_break = is_break(text, i);
        if byte == b' ' {
            break_space |= after_break;
        } else if is_break {
            breaks = true;
            space_break |= after_space;
        }
        (after_space, after_break) = (byte == b' ', is_break);
        after_white = is_blankz(text, i);
        last = i;
        i = next;
    }
    let leading = at(text, 0) == b' ' || is_break(text, 0);
    let trailing_space = after_space;
    let trailing = trailing_space || is_break(text, last);
    let quoted_only = space_break || tabs || special;
    let plain = !(leading || trailing || break_space || quoted_only || breaks);
    Analysis {
        multiline: breaks,
        flow_plain: plain && !flow_indicators,
        block_plain: plain && !block_indicators,
        single_quoted: !(break_space || quoted_only),
        block: !(trailing_space || space_break || special),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/')
}
