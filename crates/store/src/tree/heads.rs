//! Hot path. Finding a key among a node's keys while touching little memory: what they have in common is compared
//! once, the eight bytes after it lie side by side, and a key itself is looked at only where those are equal.

use bytes::Bytes;

#[derive(Clone, Debug, Default)]
pub(super) struct Heads {
    prefix: Bytes,
    heads: Vec<u64>,
}

impl Heads {
    /// `keys` ascend.
    pub(super) fn of<'a>(keys: impl DoubleEndedIterator<Item = &'a Bytes> + Clone) -> Self {
        let mut ends = keys.clone();
        let Some(first) = ends.next() else {
            return Self::default();
        };
        // In ascending keys, what the first and the last share all share.
        let last = ends.next_back().unwrap_or(first);
        let shared = first
            .iter()
            .zip(last.iter())
            .take_while(|(a, b)| a == b)
            .count();
        let heads = keys.map(|key| head(key, shared)).collect();
        Self {
            prefix: first.slice(..shared),
            heads,
        }
    }

    /// As `binary_search`; `key_at` gives the full key at an index.
    pub(super) fn search<'a>(
        &self,
        key: &[u8],
        key_at: impl Fn(usize) -> &'a Bytes,
    ) -> Result<usize, usize> {
        let skip = self.prefix.len();
        match key[..skip.min(key.len())].cmp(&self.prefix) {
            std::cmp::Ordering::Less => return Err(0),
            std::cmp::Ordering::Greater => return Err(self.heads.len()),
            std::cmp::Ordering::Equal => {}
        }
        let wanted = head(key, skip);
        let mut low = self.heads.partition_point(|head| *head < wanted);
        let mut high = low + self.heads[low..].partition_point(|head| *head == wanted);
        while low < high {
            let middle = low.midpoint(high);
            match key_at(middle)[..].cmp(key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    /// Takes in a new key; `false` if it does not share what the others have in common.
    pub(super) fn insert(&mut self, index: usize, key: &[u8]) -> bool {
        let fits = key.starts_with(&self.prefix);
        if fits {
            self.heads.insert(index, head(key, self.prefix.len()));
        }
        fits
    }

    pub(super) fn remove(&mut self, index: usize) {
        self.heads.remove(index);
    }
}

/// The eight bytes after the first `skip`, as a number that sorts as they do. Missing bytes count as zero: equal heads
/// say nothing, different ones decide.
fn head(key: &[u8], skip: usize) -> u64 {
    let rest = key.get(skip..).unwrap_or_default();
    if let Some(bytes) = rest.first_chunk() {
        return u64::from_be_bytes(*bytes);
    }
    let mut bytes = [0; 8];
    bytes[..rest.len()].copy_from_slice(rest);
    u64::from_be_bytes(bytes)
}
