//! Versions, read as `k8s.io/apimachinery/pkg/util/version` reads them.

use std::fmt;

use meta::go::parse_uint;

use crate::Error;

/// `MAJOR.MINOR`. Feature gates know nothing finer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    pub major: u64,
    pub minor: u64,
}

impl Version {
    pub const fn new(major: u64, minor: u64) -> Self {
        Self { major, minor }
    }

    /// Some minor versions earlier, not below `MAJOR.0`.
    #[must_use]
    pub const fn minus_minor(self, minors: u64) -> Self {
        Self::new(self.major, self.minor.saturating_sub(minors))
    }

    /// Reads exactly `MAJOR.MINOR`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let parsed = text.split_once('.').and_then(|(major, minor)| {
            let digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
            (digits(major) && digits(minor)).then_some(())?;
            Some(Self::new(major.parse().ok()?, minor.parse().ok()?))
        });
        parsed.ok_or_else(|| Error::UnparsableVersion(text.to_owned()))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A version as a user writes it: any number of components, perhaps a pre-release and build metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenVersion {
    components: Vec<u64>,
    /// `-PRERELEASE+METADATA` as given; kept only if the whole is a semantic version.
    suffix: String,
}

impl GivenVersion {
    /// `version.Parse`: a semantic version if it is one, else two or more numbers and any text behind them.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let (numbers, extra) =
            split(text).ok_or_else(|| Error::UnparsableVersion(text.to_owned()))?;
        let numbers: Vec<&str> = numbers.split('.').collect();
        if let Some(semantic) = semantic(&numbers, extra) {
            return Ok(semantic);
        }
        if numbers.len() < 2 {
            return Err(Error::IllegalVersion(text.to_owned()));
        }
        let mut components = Vec::with_capacity(numbers.len());
        for (index, number) in numbers.into_iter().enumerate() {
            if index == 0 && has_leading_zero(number) {
                return Err(Error::ZeroPrefixedVersion {
                    component: number.to_owned(),
                    version: text.to_owned(),
                });
            }
            let number = parse_uint(number).map_err(|error| Error::VersionOutOfRange {
                version: text.to_owned(),
                error,
            })?;
            components.push(number);
        }
        Ok(Self {
            components,
            suffix: String::new(),
        })
    }

    pub(crate) fn patch(&self) -> u64 {
        self.components.get(2).copied().unwrap_or(0)
    }

    pub(crate) fn major_minor(&self) -> Version {
        let at = |index| self.components.get(index).copied().unwrap_or(0);
        Version::new(at(0), at(1))
    }
}

impl fmt::Display for GivenVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, number) in self.components.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            write!(f, "{dot}{number}")?;
        }
        f.write_str(&self.suffix)
    }
}

/// The numbers with dots between them, and what follows: `^\s*v?([0-9]+(?:\.[0-9]+)*)(.*)*$`.
fn split(text: &str) -> Option<(&str, &str)> {
    // `\s` of Go's patterns.
    let text = text.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
    let text = text.strip_prefix('v').unwrap_or(text);
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|it| it.is_ascii_digit()).count()
    };
    let mut end = digits(0);
    while end > 0 && bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    let (numbers, extra) = text.split_at_checked(end)?;
    // `.` matches all but a line feed.
    (!numbers.is_empty() && !extra.contains('\n')).then_some((numbers, extra))
}

fn semantic(numbers: &[&str], extra: &str) -> Option<GivenVersion> {
    if numbers.len() != 3 || numbers.iter().any(|it| has_leading_zero(it)) {
        return None;
    }
    let components: Option<_> = numbers.iter().map(|it| it.parse().ok()).collect();
    let suffix = extra.trim_end_matches(['\t', '\n', '\u{c}', '\r', ' ']);
    let (release, metadata) = match suffix.split_once('+') {
        Some((release, metadata)) => (release, Some(metadata)),
        None => (suffix, None),
    };
    let release = match release.strip_prefix('-') {
        Some(release) => Some(release),
        None if release.is_empty() => None,
        None => return None,
    };
    let all_identifiers = |it: &str| it.split('.').all(is_identifier);
    let is_number =
        |it: &str| it.bytes().all(|it| it.is_ascii_digit()) && it.parse::<u64>().is_ok();
    let is_sound = release.is_none_or(all_identifiers)
        && metadata.is_none_or(all_identifiers)
        && !release.is_some_and(|it| {
            it.split('.')
                .any(|it| is_number(it) && has_leading_zero(it))
        });
    Some(GivenVersion {
        components: components?,
        suffix: is_sound.then(|| suffix.to_owned())?,
    })
}

fn is_identifier(text: &str) -> bool {
    let is_part = |it: u8| it.is_ascii_alphanumeric() || it == b'-';
    !text.is_empty() && text.bytes().all(is_part)
}

fn has_leading_zero(number: &str) -> bool {
    number.starts_with('0') && number != "0"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match GivenVersion::parse(text) {
            Ok(version) => version.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn versions_read_as_upstream_reads_them() {
        assert_eq!(shown(" v1.36"), "1.36");
        assert_eq!(shown("1.36-rc.1"), "1.36");
        assert_eq!(shown("1.36.1-rc.1+build"), "1.36.1-rc.1+build");
        assert_eq!(shown("1.36.1-rc.01"), "1.36.1");
        assert_eq!(shown("1.36.1.4-rc"), "1.36.1.4");
        assert_eq!(shown("1"), "illegal version string \"1\"");
        assert_eq!(shown(".36"), "could not parse \".36\" as version");
        assert_eq!(
            shown("01.36"),
            "illegal zero-prefixed version component \"01\" in \"01.36\""
        );
    }

    #[test]
    fn a_registry_writes_two_numbers() {
        assert_eq!(Version::parse("1.37").ok(), Some(Version::new(1, 37)));
        for wrong in ["", "1", "1.", "1.37.0", "+1.3", "1.x"] {
            assert!(Version::parse(wrong).is_err(), "{wrong}");
        }
    }
}
