//! How long a client that was turned away is asked to wait: twice as long while many come back too soon, less and less
//! when they do not.

const MOST: i64 = 32;

/// Of one priority level.
#[derive(Clone, Debug)]
pub struct RetryAfter {
    /// In seconds.
    value: i64,
    raised: i64,
    /// Seconds since 1970, and how many were turned away then; the newest last.
    history: Vec<(i64, i64)>,
    current: (i64, i64),
}

impl Default for RetryAfter {
    fn default() -> Self {
        Self {
            value: 1,
            raised: 0,
            history: Vec::new(),
            current: (0, 0),
        }
    }
}

impl RetryAfter {
    /// Another one is turned away in this second.
    pub fn record(&mut self, second: i64) {
        if self.current.0 == second {
            self.current.1 += 1;
            return;
        }
        let (last, _) = self.current;
        self.history.push(self.current);
        self.current = (second, 1);
        let oldest = (2 * self.value).min(MOST);
        self.history.retain(|(at, _)| last - at <= oldest);
        self.update(second);
    }

    /// What to tell clients, in seconds.
    pub fn seconds(&self) -> i64 {
        self.value
    }

    fn update(&mut self, second: i64) {
        let recent = |at: i64| at < second && second - at <= self.value;
        let dropped = self.history.iter().filter(|(at, _)| recent(*at));
        let dropped: i64 = dropped.map(|(_, count)| count).sum();
        if second - self.raised >= self.value && dropped >= 3 * self.value {
            self.value = (2 * self.value).min(MOST);
            self.raised = second;
        } else if dropped < self.value && self.value > 1 {
            self.value -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Upstream's steps: the second, how many are turned away in it, and what they are told.
    #[test]
    fn it_grows_and_shrinks_as_upstreams() {
        let mut tracker = RetryAfter::default();
        let start = 1_700_000_000;
        let steps = [
            (0, 5, 1),
            (1, 11, 2),
            (2, 1, 2),
            (3, 11, 4),
            (4, 1, 4),
            (7, 1, 8),
            (11, 1, 8),
            (15, 1, 7),
            (17, 1, 6),
            (21, 14, 5),
            (22, 1, 10),
        ];
        for (second, dropped, told) in steps {
            for _ in 0..dropped {
                tracker.record(start + second);
            }
            assert_eq!(tracker.seconds(), told, "second {second}");
        }
    }

    #[test]
    fn one_a_second_changes_nothing() {
        let mut tracker = RetryAfter::default();
        for second in 1_700_000_000..1_700_000_100 {
            tracker.record(second);
            assert_eq!(tracker.seconds(), 1);
        }
    }
}
