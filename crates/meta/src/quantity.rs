//! Amounts of resources: `100m`, `1.5Gi`, `12e6`.
//!
//! Upstream computes with decimals of any size; here they have up to 36 digits and exponents up to 1000, and what is
//! beyond is refused. Overflowing an int64 gives its bounds where upstream wraps around.

mod parse;
mod text;

use std::cmp::Ordering;

use json::Value;

/// The family of suffixes that a quantity was written with, and is written in again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `12e6`
    DecimalExponent,
    /// `12Mi`
    BinarySI,
    /// `12M`
    DecimalSI,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    #[error(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Format,
    #[error("unable to parse numeric part of quantity")]
    Numeric,
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// `value * 10^exponent`. Equal are those of equal amount, whatever they look like.
#[derive(Clone, Debug)]
pub struct Quantity {
    value: i128,
    exponent: i32,
    format: Format,
    /// Upstream keeps small numbers as int64 and others as big decimals, and it shows: see [`Quantity::as_i64`].
    big: bool,
    /// The text it was read from, if that is to be written again.
    text: Option<Box<str>>,
}

/// Nothing below a billionth is kept: it is rounded up.
const NANO: i32 = -9;
const MAX_DIGITS: usize = 36;
const MAX_EXPONENT: i32 = 1000;

impl Quantity {
    pub fn new(value: i64, format: Format) -> Self {
        Self::scaled(value, 0, format)
    }

    pub fn milli(value: i64, format: Format) -> Self {
        Self::scaled(value, -3, format)
    }

    fn scaled(value: i64, exponent: i32, format: Format) -> Self {
        Self {
            value: value.into(),
            exponent,
            format,
            big: false,
            text: None,
        }
    }

    /// A string, with space around it, or a number; null is zero.
    pub fn from_value(value: &Value) -> Result<Self, QuantityError> {
        match value {
            Value::Null => Ok(Self::new(0, Format::DecimalExponent)),
            Value::String(text) => Self::parse(text.trim()),
            other => Self::parse(&json::to_string(other)),
        }
    }

    pub fn format(&self) -> Format {
        self.format
    }

    pub fn is_zero(&self) -> bool {
        self.value == 0
    }

    /// -1, 0 or 1.
    pub fn sign(&self) -> i32 {
        match self.value.cmp(&0) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    /// The integer it is, if it was written as one: `1000m` is none, nor is what needed more than an int64 to read.
    pub fn as_i64(&self) -> Option<i64> {
        if self.big || self.exponent < 0 {
            return None;
        }
        if self.is_zero() {
            return Some(0);
        }
        let factor = 10_i128.checked_pow(self.exponent.unsigned_abs())?;
        self.value.checked_mul(factor)?.try_into().ok()
    }

    /// Rounded away from zero, and held within an int64.
    pub fn value(&self) -> i64 {
        self.scaled_value(0)
    }

    pub fn milli_value(&self) -> i64 {
        self.scaled_value(-3)
    }

    /// How many times `10^scale` it is.
    pub fn scaled_value(&self, scale: i32) -> i64 {
        let steps = self.exponent.saturating_sub(scale);
        let exact = if steps < 0 {
            divide_up(self.value, steps.unsigned_abs())
        } else {
            let factor = 10_i128.checked_pow(steps.unsigned_abs());
            let exact = factor.and_then(|it| self.value.checked_mul(it));
            exact.unwrap_or(self.value.signum() * i128::MAX)
        };
        let held = exact.clamp(i64::MIN.into(), i64::MAX.into());
        i64::try_from(held).expect("it is within bounds")
    }

    #[expect(clippy::cast_precision_loss, reason = "as near as a float64 gets")]
    pub fn as_f64(&self) -> f64 {
        self.value as f64 * 10_f64.powi(self.exponent)
    }

    /// None if the sum has too many digits. Zero takes the format of what it is added to.
    #[must_use]
    pub fn checked_add(&self, other: &Self) -> Option<Self> {
        let format = if self.is_zero() {
            other.format
        } else {
            self.format
        };
        let exponent = self.exponent.min(other.exponent);
        let (mut sum, zero) = match (self.is_zero(), other.is_zero()) {
            (true, _) => (other.clone(), true),
            (_, true) => (self.clone(), true),
            _ => (self.clone(), false),
        };
        sum.text = None;
        sum.format = format;
        sum.big = self.big || other.big;
        if zero {
            return Some(sum);
        }
        sum.value = self.at(exponent)?.checked_add(other.at(exponent)?)?;
        sum.exponent = exponent;
        let fits = |it: Option<i128>| it.is_some_and(|it| i64::try_from(it).is_ok());
        sum.big |= !fits(self.at(exponent)) || !fits(other.at(exponent)) || !fits(Some(sum.value));
        (sum.value.unsigned_abs() < 10_u128.pow(36)).then_some(sum)
    }

    #[must_use]
    pub fn checked_sub(&self, other: &Self) -> Option<Self> {
        self.checked_add(&other.neg())
    }

    #[must_use]
    pub fn neg(&self) -> Self {
        Self {
            value: -self.value,
            text: None,
            ..self.clone()
        }
    }

    /// The number that, at a lower exponent, is the same amount.
    fn at(&self, exponent: i32) -> Option<i128> {
        let steps = (self.exponent - exponent).unsigned_abs();
        10_i128.checked_pow(steps)?.checked_mul(self.value)
    }

    /// The exponent of the first digit.
    fn magnitude(&self) -> i32 {
        let digits = self.value.unsigned_abs().checked_ilog10().unwrap_or(0);
        i32::try_from(digits).unwrap_or(i32::MAX) + self.exponent
    }
}

/// Divides by a power of ten, away from zero.
fn divide_up(value: i128, power: u32) -> i128 {
    let Some(divisor) = 10_i128.checked_pow(power) else {
        return value.signum();
    };
    let rest = if value % divisor == 0 {
        0
    } else {
        value.signum()
    };
    value / divisor + rest
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        if by_sign.is_ne() || self.is_zero() {
            return by_sign;
        }
        let by_magnitude = self.magnitude().cmp(&other.magnitude());
        if by_magnitude.is_ne() {
            return if self.value < 0 {
                by_magnitude.reverse()
            } else {
                by_magnitude
            };
        }
        // Of one magnitude, neither gets more digits than the other has.
        let exponent = self.exponent.min(other.exponent);
        self.at(exponent).cmp(&other.at(exponent))
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Quantity {}

#[cfg(test)]
mod tests;
