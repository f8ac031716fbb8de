//! Hot path. Finding a key among a node's keys while touching little memory: what they have in common is compared
//! once, the eight bytes after it lie side by side, and a key itself is looked at only where those are equal. All of it
//! in one piece: at a million keys a lookup costs what it misses in the cache.

use std::cmp::Ordering;

use bytes::Bytes;

use super::MAX;

/// A common beginning counts up to here. Longer ones are seldom, and cost a look at the keys themselves.
const LONGEST: usize = 96;

#[derive(Clone, Debug)]
pub(super) struct Heads {
    skip: u8,
    count: u8,
    prefix: [u8; LONGEST],
    /// One more than a node keeps: it splits after it has taken one too many.
    bytes: [u64; MAX + 1],
}

impl Default for Heads {
    fn default() -> Self {
        Self {
            skip: 0,
            count: 0,
            prefix: [0; LONGEST],
            bytes: [0; MAX + 1],
        }
    }
}

impl Heads {
    /// `keys` ascend, and are no more than a node holds.
    pub(super) fn of<'a>(keys: impl DoubleEndedIterator<Item = &'a Bytes> + Clone) -> Self {
        let mut new = Self::default();
        let mut ends = keys.clone();
        let Some(first) = ends.next() else {
            return new;
        };
        // In ascending keys, what the first and the last share all share.
        let last = ends.next_back().unwrap_or(first);
        let shared = first
            .iter()
            .zip(last.iter())
            .take_while(|(a, b)| a == b)
            .count();
        let skip = shared.min(LONGEST);
        new.prefix[..skip].copy_from_slice(&first[..skip]);
        new.skip = u8::try_from(skip).expect("below 256");
        for (slot, key) in new.bytes.iter_mut().zip(keys) {
            *slot = head(key, skip);
            new.count += 1;
        }
        new
    }

    /// As `binary_search`; `key_at` gives the full key at an index.
    pub(super) fn search<'a>(
        &self,
        key: &[u8],
        key_at: impl Fn(usize) -> &'a Bytes,
    ) -> Result<usize, usize> {
        let (skip, heads) = (
            usize::from(self.skip),
            &self.bytes[..usize::from(self.count)],
        );
        match key[..skip.min(key.len())].cmp(&self.prefix[..skip]) {
            Ordering::Less => return Err(0),
            Ordering::Greater => return Err(heads.len()),
            Ordering::Equal => {}
        }
        let wanted = head(key, skip);
        let mut low = heads.partition_point(|head| *head < wanted);
        let mut high = low + heads[low..].partition_point(|head| *head == wanted);
        while low < high {
            let middle = low.midpoint(high);
            match key_at(middle)[..].cmp(key) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    /// Takes in a new key; `false` if it does not share what the others have in common.
    pub(super) fn insert(&mut self, index: usize, key: &[u8]) -> bool {
        let (skip, count) = (usize::from(self.skip), usize::from(self.count));
        let fits = key.starts_with(&self.prefix[..skip]);
        if fits {
            self.bytes.copy_within(index..count, index + 1);
            self.bytes[index] = head(key, skip);
            self.count += 1;
        }
        fits
    }

    pub(super) fn remove(&mut self, index: usize) {
        self.bytes
            .copy_within(index + 1..usize::from(self.count), index);
        self.count -= 1;
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
