//! How values of flags read. An error completes `invalid value '...' for '--flag'`.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

/// A duration as Go writes it: `300ms`, `90s`, `1h30m`, `1.5h`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    if text.starts_with('-') {
        return Err("it must not be negative".to_owned());
    }
    meta::time::parse_duration(text)
        .map_err(|_| format!("{text:?} is not a duration: write it like 90s, 15m or 1h30m"))
}

/// A duration that is some time.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("it must be more than zero".to_owned()),
        some => Ok(some),
    }
}

/// As Go reads a boolean.
pub(crate) fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("it is true or false".to_owned()),
    }
}

/// A host whose port is set by another flag; it may be empty.
pub(crate) fn host_alone(text: &str) -> Result<String, String> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '_');
    if bare.chars().all(is_name) || bare.parse::<IpAddr>().is_ok() {
        return Ok(text.to_owned());
    }
    Err("it is a host alone, without a scheme or a port: its port is a flag of its own".to_owned())
}

/// The name of an object; an empty one may be.
pub(crate) fn object_name(text: &str) -> Result<String, String> {
    let wrong = meta::names::dns1123_subdomain(text);
    match wrong.first() {
        Some(why) if !text.is_empty() => Err(why.clone()),
        _ => Ok(text.to_owned()),
    }
}

/// Ports as `30000-32767`, `30000+100` or one.
pub(crate) fn ports(text: &str) -> Result<(u16, u16), String> {
    let number = |text: &str| {
        text.parse::<u32>()
            .map_err(|_| format!("{text:?} is not a port"))
    };
    let (low, high) = if let Some((low, high)) = text.split_once('-') {
        (number(low)?, number(high)?)
    } else if let Some((low, more)) = text.split_once('+') {
        let (low, more) = (number(low)?, number(more)?);
        (low, low.saturating_add(more))
    } else {
        (number(text)?, number(text)?)
    };
    if high < low {
        return Err("its end is before its start".to_owned());
    }
    match (u16::try_from(low), u16::try_from(high)) {
        (Ok(low), Ok(high)) if low > 0 => Ok((low, high)),
        _ => Err("ports are from 1 to 65535".to_owned()),
    }
}

/// The network that Services get their addresses from.
pub(crate) fn network(text: &str) -> Result<(Ipv4Addr, u8), String> {
    if text.contains(',') {
        return Err("two ranges are not supported yet: give one of IPv4".to_owned());
    }
    let fault = || "it is not a network like 10.96.0.0/16".to_owned();
    let (ip, length) = text.split_once('/').ok_or_else(fault)?;
    let ip = match ip.parse().map_err(|_| fault())? {
        IpAddr::V4(ip) => ip,
        IpAddr::V6(_) => return Err("IPv6 is not supported yet: give a range of IPv4".to_owned()),
    };
    let length = length.parse::<u8>().map_err(|_| fault())?;
    match length {
        8..=29 => {}
        30..=32 => return Err("it must have at least 8 addresses".to_owned()),
        0..8 => return Err("it must be /8 or smaller".to_owned()),
        _ => return Err(fault()),
    }
    // What the host part says does not count, as upstream.
    let mask = u32::MAX << (32 - u32::from(length));
    Ok((Ipv4Addr::from(u32::from(ip) & mask), length))
}

/// A part of all requests, at most one in fifty.
pub(crate) fn chance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(it) if (0.0..=0.02).contains(&it) => Ok(it),
        _ => Err("it must be from 0 to 0.02".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let cases = [
            ("0", Some(0)),
            ("0s", Some(0)),
            ("90s", Some(90_000)),
            ("1h30m", Some(5_400_000)),
            ("1.5h", Some(5_400_000)),
            ("300ms", Some(300)),
            (".5s", Some(500)),
            ("+1s", Some(1000)),
            ("5", None),
            ("-1s", None),
            ("", None),
            ("s", None),
            ("1d", None),
            ("1.2.3s", None),
            ("99999999999h", None),
            ("1h ", None),
        ];
        for (text, expected) in cases {
            let found = duration(text).ok().map(|it| it.as_millis());
            assert_eq!(found, expected, "{text:?}");
        }
        assert!(time("0s").is_err());
    }

    #[test]
    fn port_ranges() {
        let cases = [
            ("30000-32767", Some((30000, 32767))),
            ("30000+10", Some((30000, 30010))),
            ("80", Some((80, 80))),
            ("1-65535", Some((1, 65535))),
            ("0-10", None),
            ("5-3", None),
            ("1-65536", None),
            ("60000+6000", None),
            ("", None),
            ("a-b", None),
            ("1-2-3", None),
        ];
        for (text, expected) in cases {
            assert_eq!(ports(text).ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn hosts_without_a_port() {
        for fine in ["", "a", "a.b-c.svc", "a_b", "127.0.0.1", "::1", "[::1]"] {
            assert!(host_alone(fine).is_ok(), "{fine}");
        }
        for wrong in ["a:1", "http://a", "a/b", "a b", "[::1]:1", "a?b"] {
            assert!(host_alone(wrong).is_err(), "{wrong}");
        }
        assert!(object_name("").is_ok() && object_name("a.b").is_ok());
        assert!(object_name("A").is_err() && object_name("a/b").is_err());
    }

    #[test]
    fn networks() {
        let cases = [
            ("10.96.0.0/16", Some(([10, 96, 0, 0], 16))),
            ("10.1.2.3/24", Some(([10, 1, 2, 0], 24))),
            ("10.0.0.0/29", Some(([10, 0, 0, 0], 29))),
            ("10.0.0.0/8", Some(([10, 0, 0, 0], 8))),
            ("10.0.0.0/30", None),
            ("10.0.0.0/33", None),
            ("0.0.0.0/0", None),
            ("10.0.0.0", None),
            ("fd00::/108", None),
            ("10.0.0.0/16,fd00::/108", None),
            ("x/16", None),
        ];
        for (text, expected) in cases {
            let expected = expected.map(|(ip, length)| (Ipv4Addr::from(ip), length));
            assert_eq!(network(text).ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn chances() {
        assert_eq!(chance("0.02"), Ok(0.02));
        assert!(chance("0.03").is_err() && chance("-1").is_err() && chance("NaN").is_err());
    }
}
