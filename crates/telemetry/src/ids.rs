use encoding::hex;

/// Which span something happened in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ids {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
}

impl Ids {
    /// As W3C writes them, in hexadecimal.
    pub fn trace(&self) -> String {
        hex::encode(&self.trace_id)
    }

    pub fn span(&self) -> String {
        hex::encode(&self.span_id)
    }
}
