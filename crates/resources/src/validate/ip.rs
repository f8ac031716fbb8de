//! What only some fields ask of addresses.

use std::net::IpAddr;

use meta::names::parse_ip_sloppy;

/// Whether the network holds the address.
pub(super) fn contains((network, length): (IpAddr, u8), address: IpAddr) -> bool {
    network.is_ipv4() == address.is_ipv4() && prefix(network, length) == prefix(address, length)
}

fn prefix(address: IpAddr, length: u8) -> u128 {
    let (value, width) = match address {
        IpAddr::V4(it) => (u128::from(u32::from(it)), 32),
        IpAddr::V6(it) => (u128::from(it), 128),
    };
    let rest = u32::from(width - length.min(width));
    value.checked_shr(rest).unwrap_or_default()
}

/// Addresses that no endpoint may have.
pub(super) fn wrong_endpoint(text: &str) -> Vec<String> {
    let Some(it) = parse_ip_sloppy(text) else {
        return vec!["must be a valid IP address".into()];
    };
    let mut all = Vec::new();
    if it.is_unspecified() {
        all.push(format!("may not be unspecified ({text})"));
    }
    if it.is_loopback() {
        all.push("may not be in the loopback range (127.0.0.0/8, ::1/128)".into());
    }
    let (local, multicast) = match it {
        IpAddr::V4(it) => (it.is_link_local(), it.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(it) => (
            it.is_unicast_link_local(),
            it.segments()[0] & 0xff0f == 0xff02,
        ),
    };
    if local {
        all.push("may not be in the link-local range (169.254.0.0/16, fe80::/10)".into());
    }
    if multicast {
        all.push("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)".into());
    }
    all
}

/// One of each family. Networks count by their address.
pub(super) fn is_dual_stack<'a>(all: impl Iterator<Item = &'a str>) -> bool {
    let (mut four, mut six) = (false, false);
    for it in all.filter_map(|text| parse_ip_sloppy(text.split('/').next()?)) {
        four |= it.is_ipv4();
        six |= it.is_ipv6();
    }
    four && six
}

pub(super) fn is_ipv6(text: &str) -> bool {
    parse_ip_sloppy(text).is_some_and(|it| it.is_ipv6())
}
