//! Schedules in crontab's form, with the sentences of the library that upstream uses.

/// What is wrong with it, if anything.
pub(super) fn wrong(schedule: &str) -> Option<String> {
    let mut text = schedule;
    if text.starts_with("TZ=") || text.starts_with("CRON_TZ=") {
        let Some((zone, rest)) = text.split_once(' ') else {
            return Some(
                "invalid schedule format: runtime error: slice bounds out of range [:-1]".into(),
            );
        };
        let zone = zone.split_once('=').map_or("", |(_, zone)| zone);
        if !matches!(zone, "" | "Local") && !super::zones::is_known(zone) {
            return Some(format!(
                "provided bad location {zone}: unknown time zone {zone}"
            ));
        }
        text = rest.trim();
    }
    if text.starts_with('@') {
        return descriptor(text);
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != 5 {
        let all = fields.join(" ");
        return Some(format!(
            "expected exactly 5 fields, found {}: [{all}]",
            fields.len()
        ));
    }
    let bounds = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 6)];
    let names: [&[&str]; 5] = [&[], &[], &[], &MONTHS, &DAYS];
    fields
        .iter()
        .zip(bounds)
        .zip(names)
        .find_map(|((field, bounds), names)| {
            let parts = field.split(',').filter(|it| !it.is_empty());
            parts
                .into_iter()
                .find_map(|part| range(part, bounds, names).err())
        })
}

const MONTHS: [&str; 13] = [
    "", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

fn descriptor(text: &str) -> Option<String> {
    let known = [
        "@yearly",
        "@annually",
        "@monthly",
        "@weekly",
        "@daily",
        "@midnight",
        "@hourly",
    ];
    if known.contains(&text) {
        return None;
    }
    match text.strip_prefix("@every ") {
        Some(duration) if is_duration(duration) => None,
        Some(duration) => {
            let quoted = meta::go::quote(duration);
            Some(format!(
                "failed to parse duration {text}: time: invalid duration {quoted}"
            ))
        }
        None => Some(format!("unrecognized descriptor: {text}")),
    }
}

/// `1h30m` and the like.
fn is_duration(text: &str) -> bool {
    let mut rest = text.trim_start_matches(['-', '+']);
    if rest == "0" {
        return true;
    }
    while !rest.is_empty() {
        let number = rest
            .find(|it: char| !it.is_ascii_digit() && it != '.')
            .unwrap_or(rest.len());
        let (digits, after) = rest.split_at(number);
        let unit = ["ns", "us", "µs", "μs", "ms", "h", "m", "s"]
            .into_iter()
            .find(|it| after.starts_with(it));
        let Some(unit) = unit.filter(|_| digits.bytes().any(|it| it.is_ascii_digit())) else {
            return false;
        };
        rest = &after[unit.len()..];
    }
    !text.is_empty()
}

fn range(part: &str, (low, high): (u64, u64), names: &[&str]) -> Result<(), String> {
    let pieces: Vec<&str> = part.split('/').collect();
    let ends: Vec<&str> = pieces[0].split('-').collect();
    let (start, mut end) = match ends.as_slice() {
        ["*" | "?", ..] | [] => (low, high),
        [one] => {
            let one = named_or_number(one, names)?;
            (one, one)
        }
        [first, last] => (
            named_or_number(first, names)?,
            named_or_number(last, names)?,
        ),
        [first, ..] => {
            named_or_number(first, names)?;
            return Err(format!("too many hyphens: {part}"));
        }
    };
    let step = match pieces.as_slice() {
        [_] => 1,
        [_, step] => {
            if ends.len() == 1 {
                end = high;
            }
            number(step)?
        }
        _ => return Err(format!("too many slashes: {part}")),
    };
    if start < low {
        return Err(format!(
            "beginning of range ({start}) below minimum ({low}): {part}"
        ));
    }
    if end > high {
        return Err(format!(
            "end of range ({end}) above maximum ({high}): {part}"
        ));
    }
    if start > end {
        return Err(format!(
            "beginning of range ({start}) beyond end of range ({end}): {part}"
        ));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {part}"));
    }
    Ok(())
}

fn named_or_number(text: &str, names: &[&str]) -> Result<u64, String> {
    let lower_case = text.to_lowercase();
    let at = names
        .iter()
        .position(|it| !it.is_empty() && *it == lower_case);
    at.map_or_else(|| number(text), |at| Ok(at as u64))
}

fn number(text: &str) -> Result<u64, String> {
    let number = meta::go::atoi(text);
    let number = number.map_err(|error| format!("failed to parse int from {text}: {error}"))?;
    u64::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}"))
}
