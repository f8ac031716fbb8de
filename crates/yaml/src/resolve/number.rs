//! Numbers, as Go's strconv reads and writes them.

use encoding::go;

use super::{Rules, Scalar};

pub(super) fn parse(text: &str, rules: Rules) -> Option<Scalar> {
    if text.starts_with('.') {
        return float_with_underscores(text);
    }
    let without;
    let plain = if text.contains('_') {
        without = text.replace('_', "");
        &without
    } else {
        text
    };
    let (negative, digits) = match plain.as_bytes().first()? {
        b'-' => (true, &plain[1..]),
        b'+' => (false, &plain[1..]),
        _ => (false, plain),
    };
    let signed = digits.len() < plain.len();
    if let Some(found) = integer(digits, negative, !signed) {
        return Some(found);
    }
    float(plain).or_else(|| odd_prefix(plain, rules))
}

fn integer(digits: &str, negative: bool, unsigned: bool) -> Option<Scalar> {
    let (base, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    in_base(digits, base, negative, unsigned)
}

fn in_base(digits: &str, base: u32, negative: bool, unsigned: bool) -> Option<Scalar> {
    // Rust would take a second sign.
    if !digits.starts_with(|it: char| it.is_ascii_alphanumeric()) {
        return None;
    }
    let value = u64::from_str_radix(digits, base).ok()?;
    if negative {
        return 0i64.checked_sub_unsigned(value).map(Scalar::Int);
    }
    match i64::try_from(value) {
        Ok(it) => Some(Scalar::Int(it)),
        Err(_) => unsigned.then_some(Scalar::Uint(value)),
    }
}

/// go-yaml tries these prefixes again, and so takes a sign behind them.
fn odd_prefix(plain: &str, rules: Rules) -> Option<Scalar> {
    let (base, rest) = if let Some(rest) = plain.strip_prefix("0b") {
        (2, rest)
    } else if let Some(rest) = plain.strip_prefix("0o").filter(|_| rules == Rules::V3) {
        (8, rest)
    } else {
        return None;
    };
    match rest.strip_prefix(['+', '-']) {
        Some(digits) => in_base(digits, base, rest.starts_with('-'), false),
        None => None,
    }
}

/// Go takes underscores between digits here, and only there.
fn float_with_underscores(text: &str) -> Option<Scalar> {
    let bytes = text.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let mut underscores = (0..bytes.len()).filter(|&i| bytes[i] == b'_');
    if !underscores.all(|i| digit(i - 1) && digit(i + 1)) {
        return None;
    }
    float(&text.replace('_', ""))
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, and finite.
fn float(text: &str) -> Option<Scalar> {
    let digits = |text: &mut &[u8]| {
        let len = text.iter().take_while(|it| it.is_ascii_digit()).count();
        *text = &text[len..];
        len
    };
    let mut rest = text.as_bytes();
    if let [b'+' | b'-', more @ ..] = rest {
        rest = more;
    }
    let whole = digits(&mut rest);
    if let [b'.', more @ ..] = rest {
        rest = more;
        let fraction = digits(&mut rest);
        if whole == 0 && fraction == 0 {
            return None;
        }
    } else if whole == 0 {
        return None;
    }
    if let [b'e' | b'E', more @ ..] = rest {
        rest = more;
        if let [b'+' | b'-', more @ ..] = rest {
            rest = more;
        }
        if digits(&mut rest) == 0 {
            return None;
        }
    }
    let value: f64 = text.parse().ok()?;
    (rest.is_empty() && value.is_finite()).then_some(Scalar::Float(value))
}

/// Go's shortest `%g`, with YAML's names for what is not finite.
pub(crate) fn format_float(value: f64) -> String {
    match special(value) {
        Some(text) => text.into(),
        None => go::float(value),
    }
}

/// The same for a float32, which is how sigs.k8s.io/yaml writes keys.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding is what upstream does"
)]
pub(crate) fn format_float32(value: f64) -> String {
    let value = value as f32;
    match special(value.into()) {
        Some(text) => text.into(),
        None => go::float32(value),
    }
}

fn special(value: f64) -> Option<&'static str> {
    match value {
        _ if value.is_nan() => Some(".nan"),
        f64::INFINITY => Some(".inf"),
        f64::NEG_INFINITY => Some("-.inf"),
        _ => None,
    }
}
