use std::fmt;

use super::{Format, Quantity};

/// The canonical form: no fraction, the largest suffix that allows it; or the text itself where upstream keeps it.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = &self.text {
            return f.write_str(text);
        }
        if self.is_zero() {
            return f.write_str("0");
        }
        match self.whole() {
            Some(value) if self.format == Format::BinarySI && value.unsigned_abs() >= 1024 => {
                binary(f, value)
            }
            _ => self.decimal(f),
        }
    }
}

impl Quantity {
    /// The integer it is.
    fn whole(&self) -> Option<i128> {
        if self.exponent >= 0 {
            return self.at(0);
        }
        let divisor = 10_i128.checked_pow(self.exponent.unsigned_abs())?;
        (self.value % divisor == 0).then_some(self.value / divisor)
    }

    fn decimal(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut value, mut exponent) = (self.value, self.exponent);
        while value % 10 == 0 {
            value /= 10;
            exponent += 1;
        }
        // At most two steps, for which there is room.
        while exponent % 3 != 0 {
            value *= 10;
            exponent -= 1;
        }
        let suffix = match (self.format, exponent) {
            (_, 0) => "",
            (Format::DecimalExponent, _) => return write!(f, "{value}e{exponent}"),
            (_, -9) => "n",
            (_, -6) => "u",
            (_, -3) => "m",
            (_, 3) => "k",
            (_, 6) => "M",
            (_, 9) => "G",
            (_, 12) => "T",
            (_, 15) => "P",
            (_, 18) => "E",
            // Upstream writes no suffix here, which is another amount.
            _ => return write!(f, "{value}e{exponent}"),
        };
        write!(f, "{value}{suffix}")
    }
}

fn binary(f: &mut fmt::Formatter<'_>, mut value: i128) -> fmt::Result {
    let mut suffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].into_iter();
    let mut suffix = suffixes.next().unwrap_or_default();
    while value % 1024 == 0
        && let Some(next) = suffixes.next()
    {
        value /= 1024;
        suffix = next;
    }
    write!(f, "{value}{suffix}")
}
