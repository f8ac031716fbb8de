//! Strings with a format, as go-openapi's `strfmt` reads them.

use crate::value::Timestamp;
use crate::value::time::parse_duration;

const SECOND: i64 = 1_000_000_000;

/// `1h30m` as Go writes it, or `2 weeks` and the like.
pub(crate) fn duration(text: &str) -> Option<i64> {
    if let Some(nanos) = parse_duration(text) {
        return Some(nanos);
    }
    let text = text.trim().to_lowercase();
    let digits = text.find(|it: char| !it.is_ascii_digit())?;
    let number: i64 = text[..digits].parse().ok()?;
    let unit = text[digits..].trim();
    let nanos = match unit {
        "ns" | "nano" | "nanos" => 1,
        "us" | "µs" | "micro" | "micros" => 1_000,
        "ms" | "milli" | "millis" => 1_000_000,
        "s" | "sec" | "secs" | "second" | "seconds" => SECOND,
        "m" | "min" | "mins" | "minute" | "minutes" => 60 * SECOND,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600 * SECOND,
        "d" | "day" | "days" => 86_400 * SECOND,
        "w" | "wk" | "wks" | "week" | "weeks" => 604_800 * SECOND,
        _ => return None,
    };
    number.checked_mul(nanos)
}

/// RFC 3339, with or without fractions; an offset may be written without a colon.
pub(crate) fn date_time(text: &str) -> Result<Timestamp, String> {
    let wrong = || {
        format!(
            "parsing time {text:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {text:?} as \"2006\""
        )
    };
    let upper = text.to_ascii_uppercase();
    match Timestamp::parse(&upper) {
        Some(Ok(it)) => Ok(it),
        Some(Err(why)) => Err(why.to_string()),
        None => Err(wrong()),
    }
}

/// Standard base64 with padding. Line breaks are skipped.
pub(crate) fn base64(text: &str) -> Result<Vec<u8>, String> {
    decode(text.as_bytes()).map_err(|at| format!("illegal base64 data at input byte {at}"))
}

fn sextet(it: u8) -> Option<u32> {
    Some(match it {
        b'A'..=b'Z' => u32::from(it - b'A'),
        b'a'..=b'z' => u32::from(it - b'a') + 26,
        b'0'..=b'9' => u32::from(it - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

fn decode(bytes: &[u8]) -> Result<Vec<u8>, usize> {
    let clean: Vec<(usize, u8)> = bytes
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, it)| !matches!(it, b'\n' | b'\r'))
        .collect();
    let mut out = Vec::with_capacity(clean.len() / 4 * 3);
    for (index, four) in clean.chunks(4).enumerate() {
        let is_last = (index + 1) * 4 >= clean.len();
        let padding = four.iter().rev().take_while(|it| it.1 == b'=').count();
        if four.len() < 4 || padding > 2 || (padding > 0 && !is_last) {
            let bad = four.iter().find(|it| sextet(it.1).is_none());
            return Err(bad.map_or(bytes.len(), |it| it.0));
        }
        let mut bits = 0;
        for (at, it) in &four[..4 - padding] {
            bits = bits << 6 | sextet(*it).ok_or(*at)?;
        }
        bits <<= 6 * padding;
        let all = bits.to_be_bytes();
        out.extend_from_slice(&all[1..4 - padding]);
    }
    Ok(out)
}

pub(crate) fn encode_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let mut block = [0; 3];
        block[..three.len()].copy_from_slice(three);
        let bits = u32::from_be_bytes([0, block[0], block[1], block[2]]);
        for place in 0..4 {
            if place <= three.len() {
                let digit = bits >> (18 - 6 * place) & 63;
                out.push(char::from(DIGITS[digit as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}
