//! Strings: runs that need no escape are copied at once.

use crate::find;

/// A string with its quotes.
#[inline]
pub fn write_str(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut at = 0;
    loop {
        let end = find::escape(bytes, at);
        out.extend_from_slice(&bytes[at..end]);
        if end == bytes.len() {
            break;
        }
        at = end + escape(out, &bytes[end..]);
    }
    out.push(b'"');
}

/// Writes what begins here, and tells how many bytes that was.
#[cold]
fn escape(out: &mut Vec<u8>, rest: &[u8]) -> usize {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match rest {
        [byte @ (b'"' | b'\\'), ..] => *byte,
        [b'\n', ..] => b'n',
        [b'\r', ..] => b'r',
        [b'\t', ..] => b't',
        [0x08, ..] => b'b',
        [0x0c, ..] => b'f',
        [0xe2, 0x80, last @ (0xa8 | 0xa9), ..] => {
            out.extend_from_slice(b"\\u202");
            out.push(last - 0xa8 + b'8');
            return 3;
        }
        [0xe2, ..] | [] => {
            out.extend_from_slice(rest.get(..1).unwrap_or_default());
            return 1;
        }
        [byte, ..] => {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
            return 1;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
    1
}
