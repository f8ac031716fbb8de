//! Hot path. Numbers: digits that fit are an int64, all else is a float64.

use super::parser::Parser;
use crate::Number;

/// As many digits always fit an int64.
const SAFE_DIGITS: usize = 18;

impl Parser<'_> {
    pub(super) fn number(&mut self) -> Option<Number> {
        let start = self.at;
        let negative = self.peek() == Some(b'-');
        self.at += usize::from(negative);
        let digits = self.at;
        let mut whole: i64 = 0;
        while let Some(byte @ b'0'..=b'9') = self.peek() {
            whole = whole.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'));
            self.at += 1;
            if self.at == digits + 1 && byte == b'0' {
                break;
            }
        }
        if self.at == digits {
            return self.unexpected_within("in numeric literal");
        }
        let length = self.at - digits;
        let fraction = self.fraction()? | self.exponent()?;
        Some(if !fraction && length <= SAFE_DIGITS {
            Number::Int(if negative { -whole } else { whole })
        } else {
            self.slow(start, fraction)
        })
    }

    fn fraction(&mut self) -> Option<bool> {
        if self.peek() != Some(b'.') {
            return Some(false);
        }
        self.at += 1;
        self.digits("after decimal point in numeric literal")
    }

    fn exponent(&mut self) -> Option<bool> {
        let Some(b'e' | b'E') = self.peek() else {
            return Some(false);
        };
        self.at += 1;
        if let Some(b'+' | b'-') = self.peek() {
            self.at += 1;
        }
        self.digits("in exponent of numeric literal")
    }

    fn digits(&mut self, context: &'static str) -> Option<bool> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if start == self.at {
            return self.unexpected_within(context);
        }
        Some(true)
    }

    #[cold]
    fn slow(&mut self, start: usize, fraction: bool) -> Number {
        let text = &self.text[start..self.at];
        if !fraction && let Ok(number) = text.parse() {
            return Number::Int(number);
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Number::Float(number),
            _ => {
                self.out_of_range.get_or_insert((start, self.at));
                Number::Int(0)
            }
        }
    }
}
