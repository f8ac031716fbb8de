use super::{Format, MAX_DIGITS, MAX_EXPONENT, NANO, Quantity, QuantityError, divide_up};

/// The most that a binary suffix gives; more is cut down to it.
const MAX_BINARY: i128 = i64::MAX as i128;

/// What a quantity is written as.
struct Parts<'a> {
    negative: bool,
    /// Without leading zeros, unless it is zero.
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
    /// A small number may have no digits at all, and is zero; a big one may not.
    has_digits: bool,
}

impl Quantity {
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        let parts = split(text)?;
        let (format, exponent) = interpret(parts.suffix)?;
        if let Some(small) = small(&parts, format, exponent) {
            let text = (text == "0" || stays(&small, &parts, exponent)).then(|| text.into());
            return Ok(Self { text, ..small });
        }
        big(&parts, format, exponent)
    }
}

fn split(text: &str) -> Result<Parts<'_>, QuantityError> {
    let negative = text.starts_with('-');
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, rest) = digits(rest.trim_start_matches('0'));
    let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), digits);
    let unit = suffix.trim_start_matches(|it| "eEinumkKMGTP".contains(it));
    let unit = unit.strip_prefix(['-', '+']).unwrap_or(unit);
    if !digits(unit).1.is_empty() {
        return Err(QuantityError::Format);
    }
    Ok(Parts {
        negative,
        whole: if whole.is_empty() { "0" } else { whole },
        fraction,
        suffix,
        has_digits: text[..text.len() - suffix.len()].contains(|it: char| it.is_ascii_digit()),
    })
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|it: char| !it.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

/// The exponent is of 2 for a binary suffix, of 10 for others.
fn interpret(suffix: &str) -> Result<(Format, i32), QuantityError> {
    let (format, exponent) = match suffix {
        "n" => (Format::DecimalSI, -9),
        "u" => (Format::DecimalSI, -6),
        "m" => (Format::DecimalSI, -3),
        "" => (Format::DecimalSI, 0),
        "k" => (Format::DecimalSI, 3),
        "M" => (Format::DecimalSI, 6),
        "G" => (Format::DecimalSI, 9),
        "T" => (Format::DecimalSI, 12),
        "P" => (Format::DecimalSI, 15),
        "E" => (Format::DecimalSI, 18),
        "Ki" => (Format::BinarySI, 10),
        "Mi" => (Format::BinarySI, 20),
        "Gi" => (Format::BinarySI, 30),
        "Ti" => (Format::BinarySI, 40),
        "Pi" => (Format::BinarySI, 50),
        "Ei" => (Format::BinarySI, 60),
        _ => {
            let exponent = suffix
                .strip_prefix(['e', 'E'])
                .and_then(|it| it.parse().ok());
            let exponent = exponent.filter(|it: &i32| it.abs() <= MAX_EXPONENT);
            let exponent = exponent.ok_or(QuantityError::Suffix)?;
            (Format::DecimalExponent, exponent)
        }
    };
    Ok((format, exponent))
}

/// What upstream reads into an int64: by an estimate of digits that decides what can be seen later.
fn small(parts: &Parts, format: Format, exponent: i32) -> Option<Quantity> {
    let length = |text: &str| i32::try_from(text.len()).unwrap_or(i32::MAX / 4);
    let (room, scale, factor) = match format {
        Format::BinarySI if parts.fraction.is_empty() => (
            14 - length(parts.whole) - exponent * 3 / 10,
            0,
            1_i64 << exponent,
        ),
        Format::BinarySI => return None,
        _ => (
            18 - length(parts.whole) - length(parts.fraction),
            exponent,
            1,
        ),
    };
    let scale = scale - length(parts.fraction);
    if room < 0 || scale < NANO {
        return None;
    }
    let value: i64 = format!("{}{}", parts.whole, parts.fraction).parse().ok()?;
    let value = value.checked_mul(factor)?;
    let value = if parts.negative { -value } else { value };
    Some(Quantity::scaled(value, scale, format))
}

/// Whether the text is taken for canonical, which not all such texts are: `1.500` stays, and so does `+5`.
fn stays(small: &Quantity, parts: &Parts, exponent: i32) -> bool {
    if let Format::BinarySI = small.format {
        return (small.value >> exponent) & 7 != 0;
    }
    let zeros = format!("{}{}", parts.whole, parts.fraction).ends_with("000");
    small.exponent % 3 == 0 && !zeros && !parts.whole.starts_with('0')
}

fn big(parts: &Parts, mut format: Format, exponent: i32) -> Result<Quantity, QuantityError> {
    if !parts.has_digits {
        return Err(QuantityError::Numeric);
    }
    if format == Format::BinarySI && whole(parts) > MAX_BINARY >> exponent {
        return Ok(finish(parts, MAX_BINARY, 0, format));
    }
    let (value, scale) = number(parts).ok_or(QuantityError::Numeric)?;
    let (mut value, mut scale) = match format {
        Format::BinarySI => {
            let value = value.checked_mul(1_i128 << exponent);
            (value.ok_or(QuantityError::Numeric)?, scale)
        }
        _ => (value, scale + exponent),
    };
    if scale < NANO && value != 0 {
        value = divide_up(value, (NANO - scale).unsigned_abs());
        scale = NANO;
    }
    if let Format::BinarySI = format {
        let one = 10_i128.pow(scale.unsigned_abs().min(9));
        if (1..one).contains(&value) {
            format = Format::DecimalSI;
        }
    }
    Ok(finish(parts, value, scale, format))
}

fn whole(parts: &Parts) -> i128 {
    parts.whole.parse().unwrap_or(i128::MAX)
}

/// The digits as a number and its exponent; none if the whole part alone has too many. Digits of the fraction that
/// have no room are rounded up.
fn number(parts: &Parts) -> Option<(i128, i32)> {
    let room = MAX_DIGITS.checked_sub(parts.whole.len())?;
    let whole_is_zero = parts.whole == "0";
    let fraction = parts.fraction.trim_end_matches('0');
    // Zeros at the front of a fraction need no room.
    let leading = fraction.len() - fraction.trim_start_matches('0').len();
    let room = if whole_is_zero { leading + room } else { room };
    let (kept, cut) = fraction.split_at(room.min(fraction.len()));
    let value: i128 = format!("{}{kept}", parts.whole).parse().ok()?;
    let value = value + i128::from(!cut.is_empty());
    let scale = i32::try_from(kept.len()).ok()?;
    Some((value, -scale))
}

fn finish(parts: &Parts, value: i128, exponent: i32, format: Format) -> Quantity {
    Quantity {
        value: if parts.negative { -value } else { value },
        exponent,
        format,
        big: true,
        text: None,
    }
}
