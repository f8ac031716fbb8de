//! When to try again: as OpenTelemetry asks of exporters.

use std::time::Duration;

/// Why an attempt came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub text: String,
    pub again: Again,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// The same would be refused again.
    Never,
    /// When it suits us.
    Sometime,
    /// The collector said when.
    After(Duration),
}

impl Again {
    pub(super) fn pause(self, pauses: &mut Pauses) -> Option<Duration> {
        match self {
            Self::Never => None,
            Self::Sometime => Some(pauses.next()),
            // At once, again and again, would keep busy who is busy.
            Self::After(pause) => Some(pause.max(FIRST)),
        }
    }
}

impl Failure {
    pub(super) fn lost(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            again: Again::Sometime,
        }
    }

    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            again: Again::Never,
        }
    }
}

/// Pauses that grow, with chance in them so that many senders do not come back at once.
#[derive(Debug)]
pub(super) struct Pauses {
    next: Duration,
    chance: u32,
}

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(15);

impl Pauses {
    pub(super) fn new(chance: u32) -> Self {
        Self {
            next: FIRST,
            chance,
        }
    }

    pub(super) fn next(&mut self) -> Duration {
        // A few steps of a linear congruential generator: nothing depends on it being unpredictable.
        self.chance = self
            .chance
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        let part = f64::from(self.chance) / f64::from(u32::MAX);
        let pause = self.next.mul_f64(0.5 + part);
        self.next = (self.next * 2).min(LONGEST);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_when_is_heard() {
        let mut pauses = Pauses::new(7);
        let seconds = Duration::from_secs;
        assert_eq!(Again::Never.pause(&mut pauses), None);
        assert_eq!(
            Again::After(seconds(7)).pause(&mut pauses),
            Some(seconds(7))
        );
        let soon = Again::After(Duration::ZERO).pause(&mut pauses);
        assert_eq!(soon, Some(FIRST));
        assert!(Again::Sometime.pause(&mut pauses) < Some(FIRST * 2));
    }

    #[test]
    fn pauses_grow_up_to_a_bound() {
        let mut pauses = Pauses::new(7);
        let mut want = FIRST;
        for _ in 0..20 {
            let pause = pauses.next();
            assert!(
                pause >= want / 2 && pause <= want * 3 / 2,
                "{pause:?} {want:?}"
            );
            want = (want * 2).min(LONGEST);
        }
    }
}
