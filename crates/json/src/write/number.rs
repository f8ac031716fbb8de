//! Numbers.

use std::io::Write as _;

pub(super) fn write_int(out: &mut Vec<u8>, number: i64) {
    // The digits come from the right; 20 bytes hold the longest with its sign.
    let mut text = [0; 20];
    let mut at = text.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        text[at] = b'0' + (rest % 10).to_le_bytes()[0];
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        at -= 1;
        text[at] = b'-';
    }
    out.extend_from_slice(&text[at..]);
}

/// JSON has no word for what is not finite, and [`crate::Number`] does not hold it; were it to come, it is null.
pub(super) fn write_float(out: &mut Vec<u8>, number: f64) {
    if !number.is_finite() {
        out.extend_from_slice(b"null");
        return;
    }
    let text = shortest(number.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = mantissa.replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if number.is_sign_negative() {
        out.push(b'-');
    }
    let done = match usize::try_from(exponent) {
        _ if number != 0.0 && !(1e-6..1e21).contains(&number.abs()) => {
            write!(out, "{mantissa}e{exponent:+}")
        }
        Err(_) => {
            // Below one, so there is a zero before the point, and some behind it.
            let zeros = exponent.unsigned_abs() as usize - 1;
            write!(out, "0.{:0<zeros$}{digits}", "")
        }
        Ok(before) if digits.len() <= before + 1 => {
            write!(out, "{digits:0<width$}", width = before + 1)
        }
        Ok(before) => {
            let (whole, fraction) = digits.split_at(before + 1);
            write!(out, "{whole}.{fraction}")
        }
    };
    done.expect("a Vec takes all");
}

/// As few digits as tell the number from others, as `1.25e-7`. Where two such are equally near, Go takes the one with
/// the even digit, which is what rounding to so many places does.
fn shortest(number: f64) -> String {
    let shortest = format!("{number:e}");
    let digits = shortest.bytes().take_while(|byte| *byte != b'e').count();
    let places = digits.saturating_sub(2);
    let rounded = format!("{number:.places$e}");
    if rounded.parse() == Ok(number) {
        rounded
    } else {
        shortest
    }
}
