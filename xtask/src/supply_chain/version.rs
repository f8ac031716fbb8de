//! Versions and requirements as in Cargo.toml, as far as advisories use them.

use std::cmp::Ordering;

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Version {
    numbers: [u64; 3],
    /// `alpha.1` of `1.0.0-alpha.1`.
    pre: Option<String>,
}

impl Version {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::parse_part(text).map(|(version, _)| version)
    }

    /// Also how many numbers were given: `1.2` means more than `1.2.0`.
    fn parse_part(text: &str) -> Option<(Self, usize)> {
        let text = text.trim().split('+').next()?;
        let (numbers, pre) = match text.split_once('-') {
            Some((numbers, pre)) => (numbers, Some(pre.to_owned())),
            None => (text, None),
        };
        let mut found = [0; 3];
        let mut count = 0;
        for number in numbers.split('.') {
            *found.get_mut(count)? = number.parse().ok()?;
            count += 1;
        }
        let version = Self {
            numbers: found,
            pre,
        };
        Some((version, count))
    }

    /// Whether `>= 1.2, < 2` and the like holds. What cannot be read does not.
    pub(super) fn matches(&self, requirement: &str) -> bool {
        requirement
            .split(',')
            .all(|part| self.matches_one(part.trim()).unwrap_or(false))
    }

    fn matches_one(&self, part: &str) -> Option<bool> {
        if part == "*" {
            return Some(true);
        }
        let operators = [">=", "<=", ">", "<", "=", "^", "~"];
        let operator = operators.into_iter().find(|it| part.starts_with(it));
        let (wanted, count) = Self::parse_part(part.strip_prefix(operator.unwrap_or_default())?)?;
        let order = self.cmp(&wanted);
        Some(match operator.unwrap_or("^") {
            ">=" => order != Ordering::Less,
            "<=" => order != Ordering::Greater,
            ">" => order == Ordering::Greater,
            "<" => order == Ordering::Less,
            "=" => self.numbers[..count] == wanted.numbers[..count] && self.pre == wanted.pre,
            "~" => order != Ordering::Less && self.shares(&wanted, count.min(2)),
            // The first number that is not 0 stays.
            _ => {
                let first = wanted.numbers.iter().position(|it| *it > 0);
                let fixed = first.map_or(count, |at| (at + 1).min(count));
                order != Ordering::Less && self.shares(&wanted, fixed)
            }
        })
    }

    fn shares(&self, other: &Self, count: usize) -> bool {
        self.numbers[..count] == other.numbers[..count]
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_pre = match (&self.pre, &other.pre) {
            (None, None) => Ordering::Equal,
            // A pre-release comes before its release.
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) => a.cmp(b),
        };
        self.numbers.cmp(&other.numbers).then(by_pre)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_mean_what_cargo_says() {
        for (version, requirement, expected) in [
            ("1.2.3", ">= 1.2.3", true),
            ("1.2.3", ">=1.2.4", false),
            ("1.2.3", "> 1.2", true),
            ("1.2.3", ">= 1.0, < 1.2.3", false),
            ("1.2.3", "< 1.2.3, >= 1", false),
            ("1.2.2", "< 1.2.3, >= 1", true),
            ("1.9.0", "^1.2", true),
            ("2.0.0", "1.2", false),
            ("0.2.9", "^0.2.3", true),
            ("0.3.0", "^0.2.3", false),
            ("0.0.4", "^0.0.3", false),
            ("1.2.9", "~1.2.3", true),
            ("1.3.0", "~1.2.3", false),
            ("1.0.0-alpha.1", ">= 1.0.0", false),
            ("1.0.0+build", "=1.0.0", true),
            ("3.0.0", "*", true),
            ("3.0.0", "what", false),
        ] {
            let version = Version::parse(version).expect("a version");
            assert_eq!(
                version.matches(requirement),
                expected,
                "{version:?} {requirement}"
            );
        }
    }
}
