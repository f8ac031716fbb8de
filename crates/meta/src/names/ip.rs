//! Addresses. Old fields take what Go took before 1.17 (leading zeros, IPv4 in IPv6); new ones want the canonical form.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::field::{Error, Path};
use crate::go::quote;

/// An address as old fields take it. IPv4 in IPv6 is IPv4.
pub fn parse_ip_sloppy(text: &str) -> Option<IpAddr> {
    match text.find(['.', ':']).map(|at| text.as_bytes()[at]) {
        Some(b'.') => parse_v4(text).map(IpAddr::V4),
        Some(_) => parse_v6(text).map(|it| IpAddr::V6(it).to_canonical()),
        None => None,
    }
}

/// The address of a network, which may have bits beyond the prefix, and the length of the prefix.
/// A prefix of IPv4 in IPv6 counts IPv4's bits, if it is all inside.
pub fn parse_cidr_sloppy(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    let length: u8 = without_zeros(length, u8::is_ascii_digit)?.parse().ok()?;
    if let Some(address) = parse_v4(address) {
        return (length <= 32).then_some((address.into(), length));
    }
    let address = parse_v6(address)?;
    match address.to_ipv4_mapped() {
        _ if length > 128 => None,
        Some(v4) if length >= 96 => Some((v4.into(), length - 96)),
        _ => Some((address.into(), length)),
    }
}

fn parse_v4(text: &str) -> Option<Ipv4Addr> {
    let parts: Option<Vec<&str>> = (text.split('.'))
        .map(|it| without_zeros(it, u8::is_ascii_digit))
        .collect();
    parts?.join(".").parse().ok()
}

fn parse_v6(text: &str) -> Option<Ipv6Addr> {
    let group = |it: &str| match it {
        "" => Some(String::new()),
        v4 if v4.contains('.') => parse_v4(v4).map(|it| it.to_string()),
        hex => without_zeros(hex, u8::is_ascii_hexdigit).map(Into::into),
    };
    let groups: Option<Vec<String>> = text.split(':').map(group).collect();
    groups?.join(":").parse().ok()
}

/// Digits, with no more leading zeros than one.
fn without_zeros(text: &str, digit: fn(&u8) -> bool) -> Option<&str> {
    if text.is_empty() || !text.as_bytes().iter().all(digit) {
        return None;
    }
    let rest = text.trim_start_matches('0');
    Some(if rest.is_empty() { "0" } else { rest })
}

fn mask(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(it) => {
            let kept = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            Ipv4Addr::from_bits(it.to_bits() & kept).into()
        }
        IpAddr::V6(it) => {
            let kept = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            Ipv6Addr::from_bits(it.to_bits() & kept).into()
        }
    }
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(it) if it.to_ipv4_mapped().is_some())
}

/// What Go 1.17 and later take.
fn parse_cidr_strict(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = text.rsplit_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let canonical = length == "0" || !length.starts_with(['0', '+']);
    let length: u8 = length.parse().ok().filter(|it| canonical && *it <= most)?;
    Some((address, length))
}

fn check_ip(path: &Path, value: &str, strict: bool) -> Result<IpAddr, Error> {
    let Some(address) = parse_ip_sloppy(value) else {
        let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
        return Err(Error::invalid(path, value, detail));
    };
    match value.parse() {
        Err(_) if strict => Err(Error::invalid(path, value, "must not have leading 0s")),
        Ok(it) if strict && is_mapped(it) => {
            let detail = "must not be an IPv4-mapped IPv6 address";
            Err(Error::invalid(path, value, detail))
        }
        _ => Ok(address),
    }
}

/// A field older than the strict rules; a value that it already had stays valid.
pub fn ip_for_legacy_field(path: &Path, value: &str, strict: bool, had: bool) -> Vec<Error> {
    if had {
        return Vec::new();
    }
    check_ip(path, value, strict).err().into_iter().collect()
}

pub fn ip(path: &Path, value: &str) -> Vec<Error> {
    match check_ip(path, value, true) {
        Err(error) => vec![error],
        Ok(address) => not_canonical(path, value, &address.to_string()),
    }
}

fn not_canonical(path: &Path, value: &str, canonical: &str) -> Vec<Error> {
    if value == canonical {
        return Vec::new();
    }
    let detail = format!("must be in canonical form ({})", quote(canonical));
    vec![Error::invalid(path, value, detail)]
}

/// For a value that [`ip_for_legacy_field`] took.
pub fn ip_warnings(path: &Path, value: &str) -> Vec<String> {
    let Some(address) = parse_ip_sloppy(value) else {
        return Vec::new();
    };
    match value.parse::<IpAddr>() {
        Ok(strict) if !is_mapped(strict) => {
            let canonical = strict.to_string();
            if strict.is_ipv4() || canonical == value {
                return Vec::new();
            }
            vec![format!(
                "{path}: IPv6 address {} should be in RFC 5952 canonical format ({})",
                quote(value),
                quote(&canonical)
            )]
        }
        _ => vec![format!(
            "{path}: non-standard IP address {} is invalid: use {}",
            quote(value),
            quote(&address.to_string())
        )],
    }
}

fn check_cidr(path: &Path, value: &str, strict: bool) -> Result<String, Error> {
    let Some((address, length)) = parse_cidr_sloppy(value) else {
        let detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
        return Err(Error::invalid(path, value, detail));
    };
    let detail = match parse_cidr_strict(value) {
        _ if !strict => None,
        None => Some("must not have leading 0s in IP or prefix length"),
        Some((it, _)) if is_mapped(it) => Some("must not have an IPv4-mapped IPv6 address"),
        Some((it, length)) if it != mask(it, length) => {
            Some("must not have bits set beyond the prefix length")
        }
        Some(_) => None,
    };
    match detail {
        Some(detail) => Err(Error::invalid(path, value, detail)),
        None => Ok(format!("{}/{length}", mask(address, length))),
    }
}

pub fn cidr_for_legacy_field(path: &Path, value: &str, strict: bool, had: bool) -> Vec<Error> {
    if had {
        return Vec::new();
    }
    check_cidr(path, value, strict).err().into_iter().collect()
}

pub fn cidr(path: &Path, value: &str) -> Vec<Error> {
    match check_cidr(path, value, true) {
        Err(error) => vec![error],
        Ok(canonical) => not_canonical(path, value, &canonical),
    }
}

/// For a value that [`cidr_for_legacy_field`] took.
pub fn cidr_warnings(path: &Path, value: &str) -> Vec<String> {
    let Some((address, length)) = parse_cidr_sloppy(value) else {
        return Vec::new();
    };
    let mut warnings = Vec::new();
    let network = format!("{}/{length}", mask(address, length));
    let given = quote(value);
    if mask(address, length) != address {
        let all = if value.contains(':') { 128 } else { 32 };
        warnings.push(format!(
            "{path}: CIDR value {given} is ambiguous in this context (should be {} or {}?)",
            quote(&network),
            quote(&format!("{}/{all}", address.to_canonical()))
        ));
    }
    match parse_cidr_strict(value).filter(|(it, _)| !is_mapped(*it)) {
        None => warnings.push(format!(
            "{path}: non-standard CIDR value {given} is invalid: use {}",
            quote(&network)
        )),
        Some((it, length)) => {
            let canonical = format!("{it}/{length}");
            if warnings.is_empty() && it.is_ipv6() && canonical != value {
                warnings.push(format!(
                    "{path}: IPv6 CIDR value {given} should be in RFC 5952 canonical format ({})",
                    quote(&canonical)
                ));
            }
        }
    }
    warnings
}

/// An address together with the length of its network's prefix.
pub fn interface_address(path: &Path, value: &str) -> Vec<Error> {
    let Some((address, length)) = parse_cidr_sloppy(value) else {
        let detail = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
        return vec![Error::invalid(path, value, detail)];
    };
    not_canonical(path, value, &format!("{}/{length}", address.to_canonical()))
}

#[cfg(test)]
mod tests;
