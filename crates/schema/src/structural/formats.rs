//! The formats of strings that are checked, and how strictly upstream does it.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use encoding::{base64, percent, uuid};
use json::Text;
use meta::time::Time;
use regex::Regex;

/// Formats of strings beyond these say nothing.
const SUPPORTED: &[&str] = &[
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

pub(super) fn is_supported(types: &[Text], format: &str) -> bool {
    match types {
        [only] => is_known_format(only, format),
        _ => is_known_format("", format),
    }
}

/// Whether a format of values of a type is checked at all. Hyphens do not matter: `date-time` is `datetime`.
pub fn is_known_format(kind: &str, format: &str) -> bool {
    match kind {
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        "" | "string" => SUPPORTED.contains(&&*format.replace('-', "")),
        _ => false,
    }
}

pub(super) fn matches(format: &str, text: &str) -> bool {
    match &*format.replace('-', "") {
        "bsonobjectid" => text.len() == 24 && text.bytes().all(|it| it.is_ascii_hexdigit()),
        "uri" => is_uri(text),
        "email" => is_email(text),
        "hostname" => is_hostname(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "mac" => is_mac(text),
        "uuid" => is_uuid(text, None),
        "uuid3" => is_uuid(text, Some(b'3')),
        "uuid4" => is_uuid(text, Some(b'4')),
        "uuid5" => is_uuid(text, Some(b'5')),
        "isbn" => is_isbn10(text) || is_isbn13(text),
        "isbn10" => is_isbn10(text),
        "isbn13" => is_isbn13(text),
        "creditcard" => is_credit_card(text),
        "ssn" => is_ssn(text),
        "hexcolor" => is_hex_color(text),
        "rgbcolor" => is_rgb_color(text),
        "byte" => !text.is_empty() && base64::decode(text).is_ok(),
        "date" => text.len() == 10 && Time::parse(&format!("{text}T00:00:00Z")).is_ok(),
        "duration" => is_duration(text),
        "datetime" => Time::parse(&text.to_ascii_uppercase()).is_ok(),
        "k8sshortname" => is_short_name(text),
        "k8slongname" => text.len() <= 253 && text.split('.').all(is_label),
        _ => true,
    }
}

/// What Go's `url.ParseRequestURI` takes: a path, or a scheme with something after it.
fn is_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|it| it <= b' ' || it == 0x7f) {
        return false;
    }
    if percent::decode(text.as_bytes()).is_err() {
        return false;
    }
    if text.starts_with('/') {
        return true;
    }
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let mut bytes = scheme.bytes();
    bytes.next().is_some_and(|it| it.is_ascii_alphabetic())
        && bytes.all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it))
        && rest.starts_with('/')
}

fn is_email(text: &str) -> bool {
    let address = match (text.rfind('<'), text.ends_with('>')) {
        (Some(at), true) => &text[at + 1..text.len() - 1],
        _ => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else {
        return false;
    };
    let is_atom = |it: char| it.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(it);
    let is_dotted = |it: &str| !it.is_empty() && it.split('.').all(|part| !part.is_empty());
    let quoted = local.len() > 1 && local.starts_with('"') && local.ends_with('"');
    (quoted || is_dotted(local) && local.chars().all(is_atom))
        && is_dotted(domain)
        && domain.chars().all(is_atom)
}

/// One label, or several of which the last is of letters alone.
fn is_hostname(text: &str) -> bool {
    static HOST: LazyLock<Regex> = LazyLock::new(|| {
        let inner = r"[a-zA-Z0-9\p{S}\p{L}]";
        let pattern = format!(
            r"^({inner}(-?{inner}{{0,62}})?|({inner}([a-zA-Z0-9\-\p{{S}}\p{{L}}]{{0,61}}{inner})?\.)+[a-zA-Z\p{{L}}]{{2,63}})$"
        );
        Regex::new(&pattern).expect("a constant, held by a test")
    });
    text.len() <= 255 && HOST.is_match(text)
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    if bits.len() > 1 && bits.starts_with('0') || !bits.bytes().all(|it| it.is_ascii_digit()) {
        return false;
    }
    let most = match (address.parse::<Ipv4Addr>(), address.parse::<Ipv6Addr>()) {
        (Ok(_), _) => 32,
        (_, Ok(_)) => 128,
        _ => return false,
    };
    bits.parse::<u8>().is_ok_and(|it| it <= most)
}

fn is_mac(text: &str) -> bool {
    let parts = |separator: char, width: usize| {
        let all: Vec<&str> = text.split(separator).collect();
        let bytes = all.len() * width / 2;
        [6, 8, 20].contains(&bytes)
            && all
                .iter()
                .all(|it| it.len() == width && it.bytes().all(|it| it.is_ascii_hexdigit()))
    };
    parts(':', 2) || parts('-', 2) || parts('.', 4)
}

fn is_uuid(text: &str, version: Option<u8>) -> bool {
    let Some(digits) = uuid::digits(text) else {
        return false;
    };
    let variant = version == Some(b'3') || matches!(digits[16], b'8' | b'9' | b'a' | b'b');
    version.is_none_or(|it| digits[12] == it && variant)
}

fn digits_of(text: &str) -> Option<Vec<u32>> {
    let kept = text.chars().filter(|it| !matches!(it, ' ' | '-'));
    kept.map(|it| it.to_digit(10)).collect()
}

fn is_isbn10(text: &str) -> bool {
    let kept: Vec<char> = text.chars().filter(|it| !matches!(it, ' ' | '-')).collect();
    if kept.len() != 10 {
        return false;
    }
    let mut sum = 0;
    for (place, digit) in (1..).zip(&kept) {
        sum += place
            * match digit {
                'X' if place == 10 => 10,
                _ => match digit.to_digit(10) {
                    Some(digit) => digit,
                    None => return false,
                },
            };
    }
    sum % 11 == 0
}

fn is_isbn13(text: &str) -> bool {
    digits_of(text).is_some_and(|digits| {
        let weighted = digits
            .iter()
            .enumerate()
            .map(|(at, it)| if at % 2 == 0 { *it } else { it * 3 });
        digits.len() == 13 && weighted.sum::<u32>() % 10 == 0
    })
}

/// The lengths that cards have, and the sum of Luhn.
fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|it| it.to_digit(10)).collect();
    let sum: u32 = (digits.iter().rev().enumerate())
        .map(|(at, it)| {
            if at % 2 == 1 {
                it * 2 / 10 + it * 2 % 10
            } else {
                *it
            }
        })
        .sum();
    (13..=16).contains(&digits.len()) && sum.is_multiple_of(10)
}

fn is_ssn(text: &str) -> bool {
    let kept: String = text.chars().filter(|it| !matches!(it, ' ' | '-')).collect();
    let dashes = text.len() - kept.len();
    dashes <= 2 && kept.len() == 9 && kept.bytes().all(|it| it.is_ascii_digit())
}

fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|it| it.is_ascii_hexdigit())
}

fn is_rgb_color(text: &str) -> bool {
    let inner = text
        .strip_prefix("rgb(")
        .and_then(|it| it.strip_suffix(')'));
    inner.is_some_and(|inner| {
        let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
        parts.len() == 3 && parts.iter().all(|it| it.parse::<u8>().is_ok())
    })
}

/// What Go's `time.ParseDuration` takes, or a number and a unit in words.
fn is_duration(text: &str) -> bool {
    static GO: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[+-]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$")
            .expect("a constant, held by a test")
    });
    static WORDS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"^(-?[0-9]+)\s*(ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)$",
        )
        .expect("a constant, held by a test")
    });
    GO.is_match(text) || WORDS.is_match(&text.to_lowercase())
}

fn is_short_name(text: &str) -> bool {
    text.len() <= 63 && is_label(text)
}

fn is_label(text: &str) -> bool {
    let is_inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|it| is_inner(*it))
        && bytes.last().is_some_and(|it| is_inner(*it))
        && bytes.iter().all(|it| is_inner(*it) || *it == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        for (format, good, bad) in [
            ("uri", "http://a/b", "a b"),
            ("uri", "/a", "nope"),
            ("email", "a.b@c.d", "a@"),
            ("hostname", "a-b.com", "1.2.3.4"),
            ("ipv4", "1.2.3.4", "1.2.3"),
            ("ipv6", "::1", "1.2.3.4"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("mac", "01:02:03:04:05:06", "01:02"),
            ("uuid", "a8098c1a-f86e-11da-bd1a-00112444be1e", "a8098c1a"),
            (
                "uuid4",
                "025b0d74-00a2-4048-bf57-227c5111bb34",
                "a8098c1a-f86e-11da-bd1a-00112444be1e",
            ),
            ("isbn", "0321751043", "0321751044"),
            ("isbn13", "978-0321751041", "978-0321751042"),
            ("creditcard", "4111-1111-1111-1111", "4111-1111-1111-1112"),
            ("ssn", "111-11-1111", "111-11-111"),
            ("hexcolor", "#FFF", "#FFFF"),
            ("rgbcolor", "rgb(1, 2,3)", "rgb(1,2,256)"),
            ("byte", "Zm9v", "Zm9"),
            ("date", "2024-02-29", "2023-02-29"),
            ("date-time", "2024-02-29T00:00:00.5Z", "2024-02-29"),
            ("duration", "1h3.5m", "1x"),
            ("duration", "22 ns", "22 xs"),
            ("k8s-short-name", "a-b", "A"),
            ("k8s-long-name", "a.b-c", "a..b"),
            ("bsonobjectid", "507f1f77bcf86cd799439011", "507f"),
        ] {
            assert!(is_supported(&[], format), "{format}");
            assert!(matches(format, good), "{format} {good}");
            assert!(!matches(format, bad), "{format} {bad}");
        }
        assert!(!is_supported(&["string".into()], "int32"));
    }
}
