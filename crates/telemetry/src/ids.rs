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

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15].map(|it| char::from(DIGITS[usize::from(it)])));
    digits.collect()
}
