//! Quantities such as `1.5Gi`, exact however large they are.

use std::cmp::Ordering;
use std::fmt;

/// A number: `digits * 10^exponent`, and how it is written.
#[derive(Clone, Debug)]
pub struct Quantity {
    negative: bool,
    /// Decimal digits, the least one first; none for zero.
    digits: Vec<u8>,
    exponent: i32,
    style: Style,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Style {
    Decimal,
    Exponent,
    Binary,
}

const FORMAT: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX: &str = "unable to parse quantity's suffix";

pub(crate) fn parse(text: &str) -> Result<Quantity, &'static str> {
    if text.is_empty() {
        return Err(FORMAT);
    }
    let (negative, rest) = match text.as_bytes()[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let end = rest
        .find(|it: char| !it.is_ascii_digit() && it != '.')
        .unwrap_or(rest.len());
    let (number, suffix) = rest.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return Err(FORMAT);
    }
    let letters = suffix
        .find(|it: char| !"eEinumkKMGTP".contains(it))
        .unwrap_or(suffix.len());
    let tail = &suffix[letters..];
    let tail = tail.strip_prefix(['+', '-']).unwrap_or(tail);
    if !tail.bytes().all(|it| it.is_ascii_digit()) {
        return Err(FORMAT);
    }
    let (scale, binary, style) = scale(suffix).ok_or(SUFFIX)?;
    let mut digits: Vec<u8> = whole
        .bytes()
        .chain(fraction.bytes())
        .map(|it| it - b'0')
        .rev()
        .collect();
    for _ in 0..binary {
        multiply(&mut digits, 1024);
    }
    let exponent = scale - i32::try_from(fraction.len()).unwrap_or(i32::MAX);
    let mut it = Quantity {
        negative,
        digits,
        exponent,
        style,
    };
    it.trim();
    it.round_up();
    Ok(it)
}

/// Powers of ten, powers of 1024, and the style of a suffix.
fn scale(suffix: &str) -> Option<(i32, u32, Style)> {
    let decimal = |it| Some((it, 0, Style::Decimal));
    let binary = |it| Some((0, it, Style::Binary));
    match suffix {
        "" => decimal(0),
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => {
            let number = suffix.strip_prefix(['e', 'E'])?;
            let exponent: i32 = number.parse().ok()?;
            (exponent.abs() <= 4096).then_some((exponent, 0, Style::Exponent))
        }
    }
}

fn multiply(digits: &mut Vec<u8>, by: u32) {
    let mut carry = 0;
    for digit in digits.iter_mut() {
        let value = u32::from(*digit) * by + carry;
        *digit = u8::try_from(value % 10).unwrap_or(0);
        carry = value / 10;
    }
    while carry > 0 {
        digits.push(u8::try_from(carry % 10).unwrap_or(0));
        carry /= 10;
    }
}

fn increment(digits: &mut Vec<u8>) {
    for digit in digits.iter_mut() {
        if *digit < 9 {
            *digit += 1;
            return;
        }
        *digit = 0;
    }
    digits.push(1);
}

impl Quantity {
    pub(crate) fn from_int(value: i64) -> Self {
        let digits = value
            .unsigned_abs()
            .to_string()
            .bytes()
            .map(|it| it - b'0')
            .rev()
            .collect();
        let mut it = Self {
            negative: value < 0,
            digits,
            exponent: 0,
            style: Style::Exponent,
        };
        it.trim();
        it
    }

    fn trim(&mut self) {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        let zeros = self.digits.iter().take_while(|it| **it == 0).count();
        self.digits.drain(..zeros);
        self.exponent += i32::try_from(zeros).unwrap_or(0);
        if self.digits.is_empty() {
            self.negative = false;
            self.exponent = 0;
        }
    }

    /// There is nothing smaller than a billionth: what is, counts as one.
    fn round_up(&mut self) {
        if self.exponent >= -9 || self.digits.is_empty() {
            return;
        }
        let cut = usize::try_from(-9 - self.exponent)
            .unwrap_or(0)
            .min(self.digits.len());
        self.digits.drain(..cut);
        self.exponent = -9;
        increment(&mut self.digits);
        self.trim();
    }

    /// The digits as if the exponent were a smaller one.
    fn aligned(&self, exponent: i32) -> Vec<u8> {
        let zeros = usize::try_from(self.exponent - exponent).unwrap_or(0);
        let mut all = vec![0; if self.digits.is_empty() { 0 } else { zeros }];
        all.extend_from_slice(&self.digits);
        all
    }

    pub(crate) fn sign(&self) -> i64 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        }
    }

    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        self.sign().cmp(&other.sign()).then_with(|| {
            let exponent = self.exponent.min(other.exponent);
            let order = magnitude(&self.aligned(exponent), &other.aligned(exponent));
            if self.negative {
                order.reverse()
            } else {
                order
            }
        })
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let (a, b) = (self.aligned(exponent), other.aligned(exponent));
        let style = if self.digits.is_empty() {
            other.style
        } else {
            self.style
        };
        let (negative, digits) = if self.negative == other.negative {
            (self.negative, sum(&a, &b))
        } else if magnitude(&a, &b).is_ge() {
            (self.negative, difference(&a, &b))
        } else {
            (other.negative, difference(&b, &a))
        };
        let mut it = Self {
            negative,
            digits,
            exponent,
            style,
        };
        it.trim();
        it
    }

    pub(crate) fn sub(&self, other: &Self) -> Self {
        let mut negated = other.clone();
        negated.negative = !negated.negative;
        self.add(&negated)
    }

    /// The value if it is a whole number that fits.
    pub(crate) fn as_int(&self) -> Option<i64> {
        if self.digits.is_empty() {
            return Some(0);
        }
        if self.exponent < 0 || self.exponent > 20 {
            return None;
        }
        let text: String = self
            .aligned(0)
            .iter()
            .rev()
            .map(|it| char::from(b'0' + it))
            .collect();
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{text}").parse().ok()
    }

    pub(crate) fn as_double(&self) -> f64 {
        let text: String = self
            .digits
            .iter()
            .rev()
            .map(|it| char::from(b'0' + it))
            .collect();
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{text}e{}", self.exponent)
            .parse()
            .unwrap_or(0.0)
    }
}

fn magnitude(a: &[u8], b: &[u8]) -> Ordering {
    let trimmed = |it: &[u8]| it.iter().rposition(|it| *it > 0).map_or(0, |it| it + 1);
    let (a, b) = (&a[..trimmed(a)], &b[..trimmed(b)]);
    a.len()
        .cmp(&b.len())
        .then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

fn sum(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(a.len().max(b.len()) + 1);
    let mut carry = 0;
    for at in 0..a.len().max(b.len()) {
        let value = a.get(at).unwrap_or(&0) + b.get(at).unwrap_or(&0) + carry;
        out.push(value % 10);
        carry = value / 10;
    }
    if carry > 0 {
        out.push(carry);
    }
    out
}

fn difference(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(a.len());
    let mut borrow = 0;
    for (at, digit) in a.iter().enumerate() {
        let take = b.get(at).unwrap_or(&0) + borrow;
        borrow = u8::from(*digit < take);
        out.push(digit + 10 * borrow - take);
    }
    out
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

/// In the shortest form that its style allows.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.digits.is_empty() {
            return f.write_str("0");
        }
        let sign = if self.negative { "-" } else { "" };
        if self.style == Style::Binary
            && let Some(value) = self.as_int().filter(|it| it.unsigned_abs() >= 1024)
        {
            let (mut value, mut power) = (value.unsigned_abs(), 0);
            while value.is_multiple_of(1024) && power < 6 {
                value /= 1024;
                power += 1;
            }
            let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][power];
            return write!(f, "{sign}{value}{suffix}");
        }
        // The exponent is a multiple of three.
        let exponent = self.exponent.div_euclid(3) * 3;
        let digits: String = self
            .aligned(exponent)
            .iter()
            .rev()
            .map(|it| char::from(b'0' + it))
            .collect();
        let suffix = match (self.style, exponent) {
            (_, 0) => String::new(),
            (Style::Exponent, it) => format!("e{it}"),
            (_, -9) => "n".to_owned(),
            (_, -6) => "u".to_owned(),
            (_, -3) => "m".to_owned(),
            (_, 3) => "k".to_owned(),
            (_, 6) => "M".to_owned(),
            (_, 9) => "G".to_owned(),
            (_, 12) => "T".to_owned(),
            (_, 15) => "P".to_owned(),
            (_, 18) => "E".to_owned(),
            (_, it) => format!("e{it}"),
        };
        write!(f, "{sign}{digits}{suffix}")
    }
}
