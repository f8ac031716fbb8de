//! Addresses and networks, read as Go's `net/netip` reads them.

use std::net::IpAddr;

use crate::error::Error;
use encoding::go::quote;

/// A network: an address and how many bits of it count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Cidr {
    pub address: IpAddr,
    pub bits: u8,
}

pub(crate) fn parse_ip(text: &str) -> Result<IpAddr, Error> {
    let address = parse_addr(text).map_err(|why| {
        Error::new(format!(
            "IP Address {} parse error during conversion from string: ParseAddr({}): {why}",
            quote(text),
            quote(text)
        ))
    })?;
    let Some(address) = address else {
        return Err(Error::new(format!(
            "IP address {} with zone value is not allowed",
            quote(text)
        )));
    };
    if is_mapped(address) {
        return Err(mapped(text));
    }
    Ok(address)
}

fn mapped(text: &str) -> Error {
    Error::new(format!(
        "IPv4-mapped IPv6 address {} is not allowed",
        quote(text)
    ))
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(it) if it.to_ipv4_mapped().is_some())
}

/// The inner and the outer error both say what was attempted.
pub(crate) fn parse_cidr(text: &str) -> Result<Cidr, Error> {
    const CONTEXT: &str = "network address parse error during conversion from string: ";
    match parse_prefix(text) {
        Ok(it) if is_mapped(it.address) => Err(Error::new(format!("{CONTEXT}{}", mapped(text)))),
        Ok(it) => Ok(it),
        Err(why) => Err(Error::new(format!(
            "{CONTEXT}{CONTEXT}netip.ParsePrefix({}): {why}",
            quote(text)
        ))),
    }
}

fn parse_prefix(text: &str) -> Result<Cidr, String> {
    let Some((address, bits)) = text.rsplit_once('/') else {
        return Err("no '/'".to_owned());
    };
    let address = match parse_addr(address) {
        Ok(Some(it)) => it,
        Ok(None) => return Err("IPv6 zones cannot be present in a prefix".to_owned()),
        Err(why) => return Err(format!("ParseAddr({}): {why}", quote(address))),
    };
    let is_number = !bits.is_empty() && bits.bytes().all(|it| it.is_ascii_digit());
    if !is_number || (bits.len() > 1 && bits.starts_with('0')) {
        return Err(format!("bad bits after slash: {}", quote(bits)));
    }
    let max = if address.is_ipv4() { 32 } else { 128 };
    match bits.parse::<u8>() {
        Ok(bits) if bits <= max => Ok(Cidr { address, bits }),
        _ => Err("prefix length out of range".to_owned()),
    }
}

/// Nothing if it has a zone.
fn parse_addr(text: &str) -> Result<Option<IpAddr>, String> {
    for it in text.bytes() {
        match it {
            b'.' => return parse_v4(text).map(|it| Some(IpAddr::from(it))),
            b':' => return parse_v6(text),
            b'%' => return Err("missing IPv6 address".to_owned()),
            _ => {}
        }
    }
    Err("unable to parse IP".to_owned())
}

fn parse_v4(text: &str) -> Result<[u8; 4], String> {
    let mut fields = [0; 4];
    let (mut value, mut position, mut digits) = (0_u32, 0, 0);
    let bytes = text.as_bytes();
    for (at, it) in bytes.iter().enumerate() {
        match it {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return Err("IPv4 field has octet with leading zero".to_owned());
                }
                value = value * 10 + u32::from(it - b'0');
                digits += 1;
                if value > 255 {
                    return Err("IPv4 field has value >255".to_owned());
                }
            }
            b'.' => {
                if at == 0 || at + 1 == bytes.len() || bytes[at - 1] == b'.' {
                    return Err(format!(
                        "IPv4 field must have at least one digit (at {})",
                        quote(&text[at..])
                    ));
                }
                if position == 3 {
                    return Err("IPv4 address too long".to_owned());
                }
                fields[position] = u8::try_from(value).unwrap_or(0);
                position += 1;
                (value, digits) = (0, 0);
            }
            _ => return Err(format!("unexpected character (at {})", quote(&text[at..]))),
        }
    }
    if position < 3 {
        return Err("IPv4 address too short".to_owned());
    }
    fields[3] = u8::try_from(value).unwrap_or(0);
    Ok(fields)
}

fn parse_v6(text: &str) -> Result<Option<IpAddr>, String> {
    let (mut rest, zone) = match text.split_once('%') {
        Some((_, "")) => return Err("zone must be a non-empty string".to_owned()),
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    let mut ip = [0_u8; 16];
    let mut ellipsis = None;
    if let Some(behind) = rest.strip_prefix("::") {
        ellipsis = Some(0);
        rest = behind;
        if rest.is_empty() {
            return Ok(zone.is_none().then(|| IpAddr::from(ip)));
        }
    }
    let mut at = 0;
    while at < 16 {
        let length = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if length > 4 {
            // Four digits may be followed by a point only if they are a part of an IPv4 address.
            return Err(format!(
                "each group must have 4 or less digits (at {})",
                quote(rest)
            ));
        }
        if length == 0 {
            return Err(format!(
                "each colon-separated field must have at least one digit (at {})",
                quote(rest)
            ));
        }
        if rest.as_bytes().get(length) == Some(&b'.') {
            if ellipsis.is_none() && at != 12 {
                return Err(format!(
                    "embedded IPv4 address must replace the final 2 fields of the address (at {})",
                    quote(rest)
                ));
            }
            if at + 4 > 16 {
                return Err(format!(
                    "too many hex fields to fit an embedded IPv4 at the end of the address (at {})",
                    quote(rest)
                ));
            }
            let fields = parse_v4(rest)?;
            ip[at..at + 4].copy_from_slice(&fields);
            at += 4;
            rest = "";
            break;
        }
        let value = u16::from_str_radix(&rest[..length], 16).unwrap_or(0);
        ip[at..at + 2].copy_from_slice(&value.to_be_bytes());
        at += 2;
        rest = &rest[length..];
        if rest.is_empty() {
            break;
        }
        let Some(behind) = rest.strip_prefix(':') else {
            return Err(format!(
                "unexpected character, want colon (at {})",
                quote(rest)
            ));
        };
        if behind.is_empty() {
            return Err(format!(
                "colon must be followed by more characters (at {})",
                quote(rest)
            ));
        }
        rest = behind;
        if let Some(behind) = rest.strip_prefix(':') {
            if ellipsis.is_some() {
                return Err(format!("multiple :: in address (at {})", quote(rest)));
            }
            ellipsis = Some(at);
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
    }
    if !rest.is_empty() {
        return Err(format!(
            "trailing garbage after address (at {})",
            quote(rest)
        ));
    }
    match ellipsis {
        Some(gap) if at < 16 => {
            let moved = 16 - at;
            ip.copy_within(gap..at, gap + moved);
            ip[gap..gap + moved].fill(0);
        }
        Some(_) => return Err("the :: must expand to at least one field of zeros".to_owned()),
        None if at < 16 => return Err("address string too short".to_owned()),
        None => {}
    }
    Ok(zone.is_none().then(|| IpAddr::from(ip)))
}

impl Cidr {
    pub(crate) fn masked(self) -> Self {
        let address = match self.address {
            IpAddr::V4(it) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::from((u32::from(it) & mask).to_be_bytes())
            }
            IpAddr::V6(it) => {
                let mask = u128::MAX
                    .checked_shl(128 - u32::from(self.bits))
                    .unwrap_or(0);
                IpAddr::from((u128::from(it) & mask).to_be_bytes())
            }
        };
        Self { address, ..self }
    }

    pub(crate) fn contains(self, address: IpAddr) -> bool {
        if self.address.is_ipv4() != address.is_ipv4() {
            return false;
        }
        let other = Self { address, ..self };
        self.masked() == other.masked()
    }
}

impl std::fmt::Display for Cidr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

pub(crate) fn is_global_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => {
            !it.is_unspecified()
                && !it.is_broadcast()
                && !it.is_loopback()
                && !it.is_multicast()
                && !it.is_link_local()
        }
        IpAddr::V6(it) => {
            !it.is_unspecified()
                && !it.is_loopback()
                && !it.is_multicast()
                && !it.is_unicast_link_local()
        }
    }
}

pub(crate) fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => it.octets()[..3] == [224, 0, 0],
        IpAddr::V6(it) => it.segments()[0] & 0xff0f == 0xff02,
    }
}

pub(crate) fn is_link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => it.is_link_local(),
        IpAddr::V6(it) => it.is_unicast_link_local(),
    }
}
