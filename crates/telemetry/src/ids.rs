/// Which span something happened in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ids {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
}

impl Ids {
    /// As W3C writes them, in hexadecimal.
    pub fn trace(&self) -> String {
        hex(&self.trace_id)
    }

    pub fn span(&self) -> String {
        hex(&self.span_id)
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15].map(|it| char::from(DIGITS[usize::from(it)])));
    digits.collect()
}

/// Two digits for each byte, in either case.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| match *pair {
        [high, low] => u8::try_from(digit(high)? << 4 | digit(low)?).ok(),
        _ => None,
    });
    bytes.collect()
}
