//! Shuffle sharding: each flow gets a hand of queues, so that a flow that floods its queues leaves others some of theirs.

use aws_lc_rs::digest::{Context, SHA256};

/// Bits of a hash that a hand may use up, so that hands are nearly equally likely.
const MAX_HASH_BITS: u32 = 60;
/// With at least two cards, no larger hand fits into the bits.
const MAX_HAND: usize = 15;
const MAX_DECK: usize = 1 << 26;

/// Deals hands out of a deck of queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dealer {
    deck: usize,
    hand: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDealer {
    #[error("deckSize {0} or handSize {1} is not positive")]
    NotPositive(usize, usize),
    #[error("handSize {1} is greater than deckSize {0}")]
    HandTooLarge(usize, usize),
    #[error("deckSize {0} is impractically large")]
    DeckTooLarge(usize),
    #[error(
        "required entropy bits of deckSize {0} and handSize {1} is greater than {MAX_HASH_BITS}"
    )]
    TooManyBits(usize, usize),
}

impl Dealer {
    pub fn new(deck: usize, hand: usize) -> Result<Self, InvalidDealer> {
        if deck == 0 || hand == 0 {
            return Err(InvalidDealer::NotPositive(deck, hand));
        }
        if hand > deck {
            return Err(InvalidDealer::HandTooLarge(deck, hand));
        }
        if deck > MAX_DECK {
            return Err(InvalidDealer::DeckTooLarge(deck));
        }
        if entropy_bits(deck, hand) > f64::from(MAX_HASH_BITS) || hand > MAX_HAND {
            return Err(InvalidDealer::TooManyBits(deck, hand));
        }
        Ok(Self { deck, hand })
    }

    /// The hand that belongs to a hash.
    pub fn deal(self, hash: u64) -> Hand {
        let mut hash = hash;
        let mut cards = [0; MAX_HAND];
        for (dealt, card) in cards[..self.hand].iter_mut().enumerate() {
            let left = (self.deck - dealt) as u64;
            #[expect(clippy::cast_possible_truncation, reason = "less than the deck's size")]
            let one = (hash % left) as usize;
            *card = one;
            hash /= left;
        }
        let remainders = cards;
        for (at, card) in cards[..self.hand].iter_mut().enumerate() {
            for before in remainders[..at].iter().rev() {
                if *card >= *before {
                    *card += 1;
                }
            }
        }
        Hand {
            cards,
            size: self.hand,
        }
    }
}

/// Different numbers below the deck's size.
#[derive(Clone, Copy, Debug)]
pub struct Hand {
    cards: [usize; MAX_HAND],
    size: usize,
}

impl std::ops::Deref for Hand {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.cards[..self.size]
    }
}

#[expect(clippy::cast_precision_loss, reason = "decks are small")]
fn entropy_bits(deck: usize, hand: usize) -> f64 {
    ((deck as f64).log2() * hand as f64).ceil()
}

/// The hash that a flow's hand is dealt by, from the name of its `FlowSchema` and what tells it from other flows.
pub fn flow_hash(schema: &str, distinguisher: &str) -> u64 {
    let mut context = Context::new(&SHA256);
    context.update(schema.as_bytes());
    context.update(&[0]);
    context.update(distinguisher.as_bytes());
    let digest = context.finish();
    let first = digest.as_ref().first_chunk().copied();
    u64::from_le_bytes(first.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        let cases = [
            (0, 8, "deckSize 0 or handSize 8 is not positive"),
            (100, 0, "deckSize 100 or handSize 0 is not positive"),
            (100, 101, "handSize 101 is greater than deckSize 100"),
            (1 << 27, 2, "deckSize 134217728 is impractically large"),
            (
                512,
                8,
                "required entropy bits of deckSize 512 and handSize 8 is greater than 60",
            ),
        ];
        for (deck, hand, text) in cases {
            let refused = Dealer::new(deck, hand).unwrap_err();
            assert_eq!(refused.to_string(), text);
        }
        assert!(Dealer::new(1024, 6).is_ok());
        assert!(Dealer::new(15, 15).is_ok());
    }

    #[test]
    fn no_card_is_dealt_twice() {
        let hash = 0x9e37_79b9_7f4a_7c15_u64;
        for (deck, hand) in [(4, 4), (8, 8), (12, 12), (128, 8), (256, 7), (512, 6)] {
            let dealer = Dealer::new(deck, hand).unwrap();
            for turn in 0..1000 {
                let dealt = dealer.deal(hash.wrapping_mul(turn));
                let different: BTreeSet<_> = dealt.iter().collect();
                assert_eq!(different.len(), hand);
                assert!(dealt.iter().all(|it| *it < deck));
            }
        }
    }

    /// Every hand comes as often as every other, give or take one round.
    #[test]
    fn hands_are_uniform() {
        let falling = |from: u64, count: u64| (0..count).map(|it| from - it).product::<u64>();
        let cases = [
            (16, 3, falling(16, 3).next_power_of_two() << 4),
            (20, 4, falling(20, 4)),
            (128, 2, falling(128, 2)),
        ];
        for (deck, hand, hashes) in cases {
            let dealer = Dealer::new(deck, hand).unwrap();
            let mut seen: BTreeMap<Vec<usize>, u64> = BTreeMap::new();
            for hash in 0..hashes {
                let mut cards = dealer.deal(hash).to_vec();
                cards.sort_unstable();
                *seen.entry(cards).or_default() += 1;
            }
            let rounds = falling(deck as u64, hand as u64);
            let orders = falling(hand as u64, hand as u64);
            let (least, most) = (hashes / rounds * orders, hashes.div_ceil(rounds) * orders);
            assert_eq!(seen.len() as u64, rounds / orders);
            assert!(seen.values().all(|it| (least..=most).contains(it)));
        }
    }

    /// The first eight bytes of SHA-256, little-endian, as upstream has it.
    #[test]
    fn hashes_are_upstreams() {
        assert_eq!(
            flow_hash("", ""),
            u64::from_le_bytes([0x6e, 0x34, 0x0b, 0x9c, 0xff, 0xb3, 0x7a, 0x98])
        );
        assert_ne!(flow_hash("a", "b"), flow_hash("ab", ""));
    }
}
