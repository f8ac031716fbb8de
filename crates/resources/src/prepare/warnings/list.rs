//! Warnings of one object, bounded: only some kilobytes of them fit into the headers of a response.

const MAX: usize = 1_000;
const MAX_BYTES: usize = 1 << 16;

/// Keeps the first warnings.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    list: Vec<String>,
    bytes: usize,
}

impl Warnings {
    /// No more are kept. What looks for more may end.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= MAX || self.bytes >= MAX_BYTES
    }

    pub(crate) fn push(&mut self, warning: String) {
        if !self.is_full() {
            self.bytes += warning.len();
            self.list.push(warning);
        }
    }

    pub(crate) fn extend(&mut self, warnings: impl IntoIterator<Item = String>) {
        for warning in warnings {
            if self.is_full() {
                return;
            }
            self.push(warning);
        }
    }

    pub(crate) fn into_vec(self) -> Vec<String> {
        self.list
    }
}
