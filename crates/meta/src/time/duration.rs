//! Durations in two or three figures, as tables show ages.

use super::Time;

const SECOND: i128 = 1_000_000_000;

/// The age of something at a time; `<unknown>` if nobody knows when it began.
pub fn age(since: Option<Time>, now: Time) -> String {
    match since {
        Some(since) => human_duration(now.unix_nanos() - since.unix_nanos()),
        None => "<unknown>".into(),
    }
}

/// `5s`, `3m20s`, `2d3h`. Clocks that differ by less than two seconds are taken for equal.
pub fn human_duration(nanoseconds: i128) -> String {
    let seconds = nanoseconds / SECOND;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        ..=-2 => "<invalid>".into(),
        -1 => "0s".into(),
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        _ if days < 365 * 2 => format!("{days}d"),
        _ if days < 365 * 8 => two(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

fn two(large: i128, unit: &str, small: i128, small_unit: &str) -> String {
    if small == 0 {
        return format!("{large}{unit}");
    }
    format!("{large}{unit}{small}{small_unit}")
}

/// The same in one figure.
pub fn short_human_duration(nanoseconds: i128) -> String {
    let seconds = nanoseconds / SECOND;
    match seconds {
        ..=-2 => "<invalid>".into(),
        -1 => "0s".into(),
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        86_400..31_536_000 => format!("{}d", seconds / 86_400),
        _ => format!("{}y", seconds / 31_536_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i128 = 1_000_000;
    const S: i128 = 1000 * MS;
    const M: i128 = 60 * S;
    const H: i128 = 60 * M;
    const D: i128 = 24 * H;
    const Y: i128 = 365 * D;

    #[test]
    fn human() {
        let table = [
            (S, "1s"),
            (70 * S, "70s"),
            (190 * S, "3m10s"),
            (70 * M, "70m"),
            (47 * H, "47h"),
            (49 * H, "2d1h"),
            (367 * D, "367d"),
            (Y * 2 + 25 * H, "2y1d"),
            (-2 * S, "<invalid>"),
            (-2 * S + 1, "0s"),
            (0, "0s"),
            (S - MS, "0s"),
            (2 * M - MS, "119s"),
            (2 * M, "2m"),
            (2 * M + S, "2m1s"),
            (10 * M - MS, "9m59s"),
            (10 * M + S, "10m"),
            (3 * H - MS, "179m"),
            (3 * H, "3h"),
            (3 * H + M, "3h1m"),
            (8 * H - MS, "7h59m"),
            (8 * H + 59 * M, "8h"),
            (2 * D - MS, "47h"),
            (2 * D, "2d"),
            (8 * D - MS, "7d23h"),
            (8 * D + 23 * H, "8d"),
            (2 * Y - MS, "729d"),
            (2 * Y + 23 * H, "2y"),
            (2 * Y + 24 * H, "2y1d"),
            (8 * Y - MS, "7y364d"),
            (8 * Y + 364 * D, "8y"),
            (9 * Y, "9y"),
        ];
        for (duration, want) in table {
            assert_eq!(human_duration(duration), want);
        }
    }

    #[test]
    fn short() {
        let table = [
            (-2 * S, "<invalid>"),
            (-S, "0s"),
            (M - MS, "59s"),
            (M, "1m"),
            (H - MS, "59m"),
            (D - MS, "23h"),
            (D, "1d"),
            (Y - MS, "364d"),
            (2 * Y, "2y"),
        ];
        for (duration, want) in table {
            assert_eq!(short_human_duration(duration), want);
        }
    }

    #[test]
    fn ages() {
        let now = Time::from_unix(1000, 0);
        assert_eq!(age(None, now), "<unknown>");
        assert_eq!(age(Some(Time::from_unix(800, 0)), now), "3m20s");
    }
}
