//! The rule behind the last known transition: `EST5EDT,M3.2.0,M11.1.0`.

use crate::value::Timestamp;
use encoding::civil::to_days;

/// How many seconds east of UTC a rule says it is.
pub(super) fn offset(rule: &str, seconds: i64) -> Option<i32> {
    let rest = name(rule)?;
    let (standard, rest) = time(rest)?;
    let standard = -standard;
    if rest.is_empty() {
        return i32::try_from(standard).ok();
    }
    let rest = name(rest)?;
    let (summer, rest) = if rest.strip_prefix(',').is_some() {
        (standard + 3600, rest)
    } else {
        let (offset, rest) = time(rest)?;
        (-offset, rest)
    };
    let mut rules = rest.strip_prefix(',')?.split(',');
    let (begin, end) = (rules.next()?, rules.next()?);
    let year = Timestamp::new(seconds + standard, 0).civil(0).date.year;
    // Each rule is about the clock that was valid until then.
    let begin = moment(begin, year)? - standard;
    let end = moment(end, year)? - summer;
    let is_summer = if begin < end {
        (begin..end).contains(&seconds)
    } else {
        !(end..begin).contains(&seconds)
    };
    i32::try_from(if is_summer { summer } else { standard }).ok()
}

/// Behind the name of a zone.
fn name(text: &str) -> Option<&str> {
    if let Some(quoted) = text.strip_prefix('<') {
        return quoted.split_once('>').map(|it| it.1);
    }
    let end = text
        .find(|it: char| !it.is_ascii_alphabetic())
        .unwrap_or(text.len());
    (end > 0).then(|| &text[end..])
}

/// Seconds as `-5`, `5:45` or `5:45:30`, and what stands behind them.
fn time(text: &str) -> Option<(i64, &str)> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = rest
        .find(|it: char| !it.is_ascii_digit() && it != ':')
        .unwrap_or(rest.len());
    let mut unit = 3600;
    let mut total = 0;
    for part in rest[..end].split(':') {
        total += part.parse::<i64>().ok()? * unit;
        unit /= 60;
    }
    Some((sign * total, &rest[end..]))
}

/// When a rule applies in a year, on a clock without an offset.
fn moment(rule: &str, year: i64) -> Option<i64> {
    let (day, at) = match rule.split_once('/') {
        Some((day, at)) => (day, time(at)?.0),
        None => (rule, 7200),
    };
    let first = to_days(year, 1, 1);
    let days = if let Some(month) = day.strip_prefix('M') {
        let mut parts = month.split('.').map(str::parse::<i64>);
        let (month, week, day) = (
            parts.next()?.ok()?,
            parts.next()?.ok()?,
            parts.next()?.ok()?,
        );
        let begin = to_days(year, month, 1);
        let first = begin + (day - (begin + 4).rem_euclid(7)).rem_euclid(7);
        let next = if month == 12 {
            to_days(year + 1, 1, 1)
        } else {
            to_days(year, month + 1, 1)
        };
        let mut found = first + (week - 1) * 7;
        while found >= next {
            found -= 7;
        }
        found
    } else if let Some(number) = day.strip_prefix('J') {
        let number: i64 = number.parse().ok()?;
        let is_leap = to_days(year + 1, 1, 1) - first == 366;
        first + number - 1 + i64::from(is_leap && number > 59)
    } else {
        first + day.parse::<i64>().ok()?
    };
    Some(days * 86_400 + at)
}
