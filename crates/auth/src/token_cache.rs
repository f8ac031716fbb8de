//! Remembers verified tokens for a moment, so that a busy client costs one verification and not thousands.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, PoisonError};

use aws_lc_rs::{hmac, rand};

/// Without randomness the keys of the cache could be computed by others: there is no cache then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system's random source failed")]
pub struct NoRandomness;

/// Bounded in number. The time comes in as a parameter, in seconds.
///
/// Keys are a keyed hash of token and audiences: the tokens themselves are not kept.
pub struct TokenCache<T> {
    secret: hmac::Key,
    seconds: i64,
    entries: usize,
    state: Mutex<State<T>>,
}

struct State<T> {
    found: HashMap<[u8; 32], (i64, T)>,
    /// In the order they came, which is the order in which they expire.
    order: VecDeque<(i64, [u8; 32])>,
}

impl<T: Clone> TokenCache<T> {
    /// Upstream keeps successes for ten seconds.
    pub fn new(seconds: i64, entries: usize) -> Result<Self, NoRandomness> {
        Self::with_random(seconds, entries, |secret| {
            rand::fill(secret).map_err(|_| NoRandomness)
        })
    }

    fn with_random(
        seconds: i64,
        entries: usize,
        random: impl FnOnce(&mut [u8]) -> Result<(), NoRandomness>,
    ) -> Result<Self, NoRandomness> {
        let mut secret = [0; 32];
        random(&mut secret)?;
        Ok(Self {
            secret: hmac::Key::new(hmac::HMAC_SHA256, &secret),
            seconds,
            entries,
            state: Mutex::new(State {
                found: HashMap::new(),
                order: VecDeque::new(),
            }),
        })
    }

    pub fn get(&self, token: &str, audiences: Option<&[String]>, now: i64) -> Option<T> {
        let key = self.key(token, audiences);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (expiry, value) = state.found.get(&key)?;
        (now < *expiry).then(|| value.clone())
    }

    pub fn put(&self, token: &str, audiences: Option<&[String]>, value: T, now: i64) {
        if self.entries == 0 {
            return;
        }
        let key = self.key(token, audiences);
        let expiry = now.saturating_add(self.seconds);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        while let Some((first, old)) = state.order.front().copied() {
            if first > now && state.order.len() < self.entries {
                break;
            }
            state.order.pop_front();
            // A newer entry of the same key has its own place in the order.
            if state
                .found
                .get(&old)
                .is_some_and(|(expiry, _)| *expiry == first)
            {
                state.found.remove(&old);
            }
        }
        state.found.insert(key, (expiry, value));
        state.order.push_back((expiry, key));
    }

    fn key(&self, token: &str, audiences: Option<&[String]>) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.secret);
        // Lengths first, so that no two lists read the same.
        let mut add = |text: &str| {
            context.update(&text.len().to_be_bytes());
            context.update(text.as_bytes());
        };
        add(token);
        for audience in audiences.unwrap_or_default() {
            add(audience);
        }
        if audiences.is_some() {
            context.update(b"asked");
        }
        let mut out = [0; 32];
        out.copy_from_slice(context.sign().as_ref());
        out
    }
}

impl<T> fmt::Debug for TokenCache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_for_a_moment() {
        let cache = TokenCache::new(10, 100).unwrap();
        let audiences = ["a".to_owned()];
        cache.put("t", None, 1, 0);
        cache.put("t", Some(&audiences), 2, 0);
        assert_eq!(cache.get("t", None, 9), Some(1));
        assert_eq!(cache.get("t", Some(&audiences), 9), Some(2));
        assert_eq!(cache.get("t", Some(&[]), 9), None);
        assert_eq!(cache.get("u", None, 9), None);
        assert_eq!(cache.get("t", None, 10), None);
    }

    #[test]
    fn there_is_none_without_randomness() {
        let failed = TokenCache::<u8>::with_random(10, 100, |_| Err(NoRandomness));
        assert_eq!(failed.err(), Some(NoRandomness));
        let key = |it: TokenCache<u8>| it.key("t", None);
        let [one, other] = [(); 2].map(|()| TokenCache::new(10, 100).map(key));
        assert_ne!(one, other, "each has a secret of its own");
    }

    #[test]
    fn is_bounded() {
        let cache = TokenCache::new(10, 3).unwrap();
        for at in 0..10 {
            cache.put(&at.to_string(), None, at, 0);
            cache.put(&at.to_string(), None, at, 0);
            let state = cache.state.lock().unwrap();
            assert!(state.found.len() <= 3 && state.order.len() <= 3);
        }
        assert_eq!(cache.get("9", None, 0), Some(9));
        assert_eq!(cache.get("1", None, 0), None);
        cache.put("new", None, 0, 100);
        assert_eq!(
            cache.state.lock().unwrap().found.len(),
            1,
            "expired ones are gone"
        );
    }
}
