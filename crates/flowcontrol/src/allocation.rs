//! Divides seats among priority levels in proportion to what each could use, within the bounds of each (KEP-1040).

/// One that gets a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// What it could use. At least the lower bound.
    pub target: f64,
    pub lower_bound: f64,
    pub upper_bound: f64,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AllocationError {
    #[error("lower bound {0} is {1} but negative lower bounds are not allowed")]
    NegativeBound(usize, f64),
    #[error("target {0} is {1}, which is below its lower bound of {2}")]
    LowTarget(usize, f64, f64),
    #[error("upper bound {0} is {1} but should not be less than the lower bound {2}")]
    CrossedBounds(usize, f64, f64),
    #[error("lower bounds sum to {0}, which is higher than the required sum of {1}")]
    TooLittle(f64, f64),
    #[error("upper bounds sum to {0}, which is lower than the required sum of {1}")]
    TooMuch(f64, f64),
}

/// Less than this, a target is no measure.
const MIN_TARGET: f64 = 0.001;
const EPSILON: f64 = 1e-7;

/// A part for each class, so that all parts sum up to `sum`, and the proportion of its target that each gets whose
/// bounds allow it.
pub fn allocate(sum: f64, classes: &[Class]) -> Result<(Vec<f64>, f64), AllocationError> {
    check(sum, classes)?;
    let targets: Vec<f64> = classes.iter().map(|it| it.target.max(MIN_TARGET)).collect();
    if sum <= 0.0 {
        return Ok((vec![0.0; classes.len()], 0.0));
    }
    let low: f64 = classes.iter().map(|it| it.lower_bound).sum();
    let high: f64 = classes.iter().map(|it| it.upper_bound).sum();
    let lower = || (classes.iter().zip(&targets)).map(|(it, target)| it.lower_bound / target);
    let upper = || (classes.iter().zip(&targets)).map(|(it, target)| it.upper_bound / target);
    if low - sum > -EPSILON {
        let parts = classes.iter().map(|it| it.lower_bound).collect();
        return Ok((parts, lower().fold(f64::INFINITY, f64::min)));
    }
    if sum - high > -EPSILON {
        let parts = classes.iter().map(|it| it.upper_bound).collect();
        return Ok((parts, upper().fold(0.0, f64::max)));
    }
    let even = sum / targets.iter().sum::<f64>();
    let matters = lower().any(|it| it > even) || upper().any(|it| it < even);
    let proportion = if matters {
        let bounds = lower()
            .zip(upper())
            .zip(&targets)
            .flat_map(|((lower, upper), target)| [(lower, *target), (upper, -target)]);
        within(sum - low, bounds.collect())
    } else {
        even
    };
    let parts = classes.iter().zip(&targets).map(|(it, target)| {
        let part = proportion * target;
        part.min(it.upper_bound).max(it.lower_bound)
    });
    Ok((parts.collect(), proportion))
}

fn check(sum: f64, classes: &[Class]) -> Result<(), AllocationError> {
    for (at, it) in classes.iter().enumerate() {
        if it.lower_bound < 0.0 {
            return Err(AllocationError::NegativeBound(at, it.lower_bound));
        }
        if it.target < it.lower_bound {
            return Err(AllocationError::LowTarget(at, it.target, it.lower_bound));
        }
        if it.upper_bound < it.lower_bound {
            return Err(AllocationError::CrossedBounds(
                at,
                it.upper_bound,
                it.lower_bound,
            ));
        }
    }
    let low: f64 = classes.iter().map(|it| it.lower_bound).sum();
    let high: f64 = classes.iter().map(|it| it.upper_bound).sum();
    if low - sum > EPSILON {
        return Err(AllocationError::TooLittle(low, sum));
    }
    if sum - high > EPSILON {
        return Err(AllocationError::TooMuch(high, sum));
    }
    Ok(())
}

/// Raises the proportion from bound to bound until `missing` is given away. A bound comes with how many more seats each
/// further unit of proportion takes from there on.
fn within(missing: f64, mut bounds: Vec<(f64, f64)>) -> f64 {
    bounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut missing, mut slope) = (missing, 0.0);
    let mut proportion = bounds.first().map_or(0.0, |it| it.0);
    // With each bound the number of classes that still grow changes by one.
    let mut growing = 0_usize;
    for (bound, change) in bounds {
        if growing > 0 {
            let taken = (bound - proportion) * slope;
            if taken >= missing {
                return proportion + missing / slope;
            }
            missing -= taken;
        }
        proportion = bound;
        slope += change;
        growing = if change > 0.0 {
            growing + 1
        } else {
            growing.saturating_sub(1)
        };
    }
    // Rounding took the rest.
    proportion
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(lower_bound: f64, target: f64, upper_bound: f64) -> Class {
        Class {
            target,
            lower_bound,
            upper_bound,
        }
    }

    fn near(a: f64, b: f64) -> bool {
        let most = a.abs().max(b.abs());
        most == 0.0 || (a - b).abs() / most < 1e-9
    }

    #[test]
    fn parts_are_in_proportion_where_bounds_allow_it() {
        let cases = [
            (
                12.0,
                vec![class(0.0, 1.0, 20.0), class(0.0, 2.0, 20.0)],
                vec![4.0, 8.0],
            ),
            (
                12.0,
                vec![class(0.0, 1.0, 3.0), class(0.0, 2.0, 20.0)],
                vec![3.0, 9.0],
            ),
            (
                12.0,
                vec![class(7.0, 7.0, 9.0), class(0.0, 14.0, 20.0)],
                vec![7.0, 5.0],
            ),
            (
                3.0,
                vec![class(1.0, 1.0, 9.0), class(2.0, 5.0, 9.0)],
                vec![1.0, 2.0],
            ),
            (
                18.0,
                vec![class(1.0, 1.0, 9.0), class(2.0, 5.0, 9.0)],
                vec![9.0, 9.0],
            ),
            (0.0, vec![class(0.0, 1.0, 1.0)], vec![0.0]),
        ];
        for (sum, classes, expected) in cases {
            let (parts, _) = allocate(sum, &classes).unwrap();
            let same = parts.iter().zip(&expected).all(|(a, b)| near(*a, *b));
            assert!(same, "{sum} {classes:?}: {parts:?}");
        }
    }

    #[test]
    fn what_cannot_be_done_is_told() {
        let cases = [
            (3.0, class(-1.0, 2.0, 3.0)),
            (3.0, class(1.0, 0.5, 3.0)),
            (3.0, class(2.0, 2.0, 1.0)),
            (1.0, class(2.0, 2.0, 3.0)),
            (4.0, class(2.0, 2.0, 3.0)),
        ];
        for (sum, one) in cases {
            assert!(allocate(sum, &[one]).is_err(), "{sum} {one:?}");
        }
    }

    /// Upstream's property: parts sum up to what is asked for, and each is its target times the proportion, or the
    /// bound that this would cross.
    #[test]
    fn random_problems_are_solved() {
        let mut random = Random(1_234_567_890);
        for _ in 0..10_000 {
            let count = [0, 1, 2, 3, 4, 6, 9][random.below(7)];
            let mut classes: Vec<Class> = (0..count)
                .map(|_| {
                    let low = (random.fraction() * 5.0 - 1.0).max(0.0);
                    let target = low + 2.0 * random.fraction();
                    class(low, target, low + 3.0 * random.fraction())
                })
                .collect();
            while random.fraction() < 0.25 {
                classes.push(class(0.0, 0.0, random.fraction() + 0.00001));
            }
            let low: f64 = classes.iter().map(|it| it.lower_bound).sum();
            let high: f64 = classes.iter().map(|it| it.upper_bound).sum();
            let sum = (low + (high - low) * random.fraction()).round();
            let solved = allocate(sum, &classes);
            if low - sum > EPSILON || sum - high > EPSILON {
                assert!(solved.is_err());
                continue;
            }
            let (parts, proportion) = solved.unwrap();
            assert!(
                (parts.iter().sum::<f64>() - sum).abs() < 1e-6,
                "{sum} {classes:?} {parts:?}"
            );
            for (part, it) in parts.iter().zip(&classes) {
                let even = proportion * it.target.max(MIN_TARGET);
                let expected = even.min(it.upper_bound).max(it.lower_bound);
                assert!(
                    (part - expected).abs() < 1e-6,
                    "{sum} {classes:?} {parts:?}"
                );
            }
        }
    }

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }

        fn below(&mut self, end: u64) -> usize {
            usize::try_from(self.next() % end).unwrap()
        }

        fn fraction(&mut self) -> f64 {
            f64::from(u32::try_from(self.next() >> 32).unwrap()) / f64::from(u32::MAX)
        }
    }
}
