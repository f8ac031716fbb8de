//! A queue of a set: its requests that wait, oldest first, and sums over those that wait and that execute.

use super::request::{NONE, Requests, Ticket};
use crate::SeatSeconds;

#[derive(Debug)]
pub(super) struct Queue {
    /// R at which the next request is dispatched in the virtual world.
    pub(super) next_r: SeatSeconds,
    pub(super) waiting: u32,
    pub(super) executing: u32,
    pub(super) seats_in_use: u32,
    /// Of those that wait.
    pub(super) initial_seats: u32,
    pub(super) max_seats: u32,
    pub(super) work_waiting: SeatSeconds,
    first: u32,
    last: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            next_r: SeatSeconds::ZERO,
            waiting: 0,
            executing: 0,
            seats_in_use: 0,
            initial_seats: 0,
            max_seats: 0,
            work_waiting: SeatSeconds::ZERO,
            first: NONE,
            last: NONE,
        }
    }
}

impl Queue {
    pub(super) fn is_active(&self) -> bool {
        self.waiting > 0 || self.executing > 0
    }

    /// Not even a request that ended keeps its seats.
    pub(super) fn is_unused(&self) -> bool {
        !self.is_active() && self.seats_in_use == 0
    }

    pub(super) fn first<W>(&self, requests: &Requests<W>) -> Option<Ticket> {
        requests.ticket(self.first)
    }

    pub(super) fn push<W>(&mut self, at: u32, requests: &mut Requests<W>) {
        requests.link(self.last, at);
        if self.first == NONE {
            self.first = at;
        }
        self.last = at;
    }

    pub(super) fn unlink<W>(&mut self, at: u32, requests: &mut Requests<W>) {
        let (before, after) = requests.unlink(at);
        if self.first == at {
            self.first = after;
        }
        if self.last == at {
            self.last = before;
        }
    }

    pub(super) fn add(&mut self, initial_seats: u32, max_seats: u32, work: SeatSeconds) {
        self.waiting += 1;
        self.initial_seats += initial_seats;
        self.max_seats += max_seats;
        self.work_waiting = self.work_waiting.plus(work);
    }

    pub(super) fn subtract(&mut self, initial_seats: u32, max_seats: u32, work: SeatSeconds) {
        self.waiting -= 1;
        self.initial_seats -= initial_seats;
        self.max_seats -= max_seats;
        self.work_waiting = self.work_waiting.minus(work);
    }

    /// The requests that wait, oldest first.
    pub(super) fn iter<'a, W>(
        &self,
        requests: &'a Requests<W>,
    ) -> impl Iterator<Item = Ticket> + 'a {
        let first = requests.ticket(self.first);
        std::iter::successors(first, |it| requests.after(*it))
    }
}

/// Queues where a request waits, as bits.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    words: Vec<u64>,
}

const BITS: usize = u64::BITS as usize;

impl Waiting {
    pub(super) fn resize(&mut self, queues: usize) {
        self.words.resize(queues.div_ceil(BITS), 0);
    }

    pub(super) fn insert(&mut self, at: usize) {
        self.words[at / BITS] |= 1 << (at % BITS);
    }

    pub(super) fn remove(&mut self, at: usize) {
        self.words[at / BITS] &= !(1 << (at % BITS));
    }

    pub(super) fn rebuild(&mut self, queues: &[Queue]) {
        self.words.clear();
        self.resize(queues.len());
        for (at, queue) in queues.iter().enumerate() {
            if queue.waiting > 0 {
                self.insert(at);
            }
        }
    }

    /// All of them, from the one behind `at` on and around.
    pub(super) fn after(&self, at: usize) -> impl Iterator<Item = usize> {
        let start = at + 1;
        let (word, high) = (start / BITS, u64::MAX << (start % BITS));
        let count = self.words.len();
        let behind = (word.min(count)..count).flat_map(move |index| {
            let all = self.words[index];
            bits(index, if index == word { all & high } else { all })
        });
        let before = (0..(word + 1).min(count)).flat_map(move |index| {
            let all = self.words[index];
            bits(index, if index == word { all & !high } else { all })
        });
        behind.chain(before)
    }
}

fn bits(index: usize, word: u64) -> impl Iterator<Item = usize> {
    let mut left = word;
    std::iter::from_fn(move || {
        let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(index * BITS + bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_in_a_circle() {
        let mut waiting = Waiting::default();
        waiting.resize(130);
        let all = [0, 3, 63, 64, 100, 129];
        for at in all {
            waiting.insert(at);
        }
        for robin in 0..130 {
            let got: Vec<_> = waiting.after(robin).collect();
            let mut expected = all;
            expected.sort_by_key(|it| (*it <= robin, *it));
            assert_eq!(got, expected, "after {robin}");
        }
        waiting.remove(64);
        assert_eq!(waiting.after(63).next(), Some(100));
        assert_eq!(Waiting::default().after(5).next(), None);
    }
}
