//! Upstream's tables of addresses and networks.

use super::*;

type FieldCheck = fn(&Path, &str) -> Vec<Error>;

/// Each value with what the canonical, the strict and the sloppy check say, by its beginning.
fn judge_addresses(
    table: &[(&str, [&str; 3])],
    canonical: FieldCheck,
    legacy: fn(&Path, &str, bool, bool) -> Vec<Error>,
) {
    let path = Path::new("f");
    for (value, wants) in table {
        let got = [
            canonical(&path, value),
            legacy(&path, value, true, false),
            legacy(&path, value, false, false),
        ];
        for (got, want) in got.iter().zip(wants) {
            let detail = got.first().map(|it| &*it.detail).unwrap_or_default();
            assert!(
                got.len() <= 1 && detail.starts_with(want),
                "{value}: {detail}"
            );
            assert_eq!(detail.is_empty(), want.is_empty(), "{value}: {detail}");
        }
        assert!(legacy(&path, value, true, true).is_empty());
    }
}

#[test]
fn addresses() {
    let zeros = "must not have leading 0s";
    let mapped = "must not be an IPv4-mapped IPv6 address";
    let bad = ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"; 3];
    let table = [
        ("1.2.3.4", [""; 3]),
        ("0.0.0.0", [""; 3]),
        ("1234::abcd", [""; 3]),
        ("::", [""; 3]),
        ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", [""; 3]),
        (
            "0:0:0:0:0:0:0:0",
            [r#"must be in canonical form ("::")"#, "", ""],
        ),
        (
            "0001:002:03:4::",
            [r#"must be in canonical form ("1:2:3:4::")"#, "", ""],
        ),
        (
            "1234::ABCD",
            [r#"must be in canonical form ("1234::abcd")"#, "", ""],
        ),
        ("1.1.1.01", [zeros, zeros, ""]),
        ("00001::", [zeros, zeros, ""]),
        ("::ffff:1.1.1.1", [mapped, mapped, ""]),
        ("", bad),
        ("aaaaaaa", bad),
        ("myhost.mydomain", bad),
        ("1.2.3.0/24", bad),
        ("1.2.3.400", bad),
        ("-1.0.0.0", bad),
        ("2001:db8::10005", bad),
        ("1.2.3.4:80", bad),
        ("[2001:db8::1]", bad),
        ("1234::abcd%eth0", bad),
        ("169.254.0.0%eth0", bad),
        ("1:2:3:4:5:6:7:8:9", bad),
    ];
    judge_addresses(&table, ip, ip_for_legacy_field);
}

#[test]
fn networks() {
    let zeros = "must not have leading 0s in IP or prefix length";
    let mapped = "must not have an IPv4-mapped IPv6 address";
    let bits = "must not have bits set beyond the prefix length";
    let bad = ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"; 3];
    let table = [
        ("1.0.0.0/8", [""; 3]),
        ("0.0.0.0/0", [""; 3]),
        ("1.1.1.1/32", [""; 3]),
        ("2001:4860:4860::/48", [""; 3]),
        ("::/0", [""; 3]),
        ("::1/128", [""; 3]),
        (
            "2a00:79e0:2:0::/64",
            [r#"must be in canonical form ("2a00:79e0:2::/64")"#, "", ""],
        ),
        (
            "2001:DB8::/64",
            [r#"must be in canonical form ("2001:db8::/64")"#, "", ""],
        ),
        ("1.1.01.0/24", [zeros, zeros, ""]),
        ("192.168.0.0/016", [zeros, zeros, ""]),
        ("::ffff:1.1.1.0/24", [mapped, mapped, ""]),
        ("::ffff:1.1.1.0/120", [mapped, mapped, ""]),
        ("1.2.3.4/24", [bits, bits, ""]),
        ("2001:db8::1/64", [bits, bits, ""]),
        ("", bad),
        ("1.2.3.4", bad),
        ("192.168.0.1/healthz", bad),
        ("192.168.0.1/0/99", bad),
        ("192.168.0.0/-16", bad),
        ("192.168.0.0/+16", bad),
        ("192.168.0.0/33", bad),
        ("::/129", bad),
    ];
    judge_addresses(&table, cidr, cidr_for_legacy_field);
}

#[test]
fn interface_addresses() {
    let path = Path::new("f");
    for good in [
        "1.2.3.4/24",
        "1.1.1.1/32",
        "2001:4860:4860::1/48",
        "::1/128",
    ] {
        assert!(interface_address(&path, good).is_empty(), "{good}");
    }
    let table = [
        (
            "1.2.3.4",
            "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)",
        ),
        ("1.02.3.4/24", r#"must be in canonical form ("1.2.3.4/24")"#),
        (
            "::ffff:1.2.3.4/120",
            r#"must be in canonical form ("1.2.3.4/24")"#,
        ),
    ];
    for (value, want) in table {
        let got = interface_address(&path, value);
        assert_eq!(got.first().map(|it| &*it.detail), Some(want));
    }
}

#[test]
fn warnings() {
    let table: [(&str, &[&str]); 12] = [
        ("192.12.2.2", &[]),
        (
            "192.012.2.2",
            &[r#"f: non-standard IP address "192.012.2.2" is invalid: use "192.12.2.2""#],
        ),
        (
            "::ffff:192.12.2.2",
            &[r#"f: non-standard IP address "::ffff:192.12.2.2" is invalid: use "192.12.2.2""#],
        ),
        (
            "2001:db8:0:0::2",
            &[
                r#"f: IPv6 address "2001:db8:0:0::2" should be in RFC 5952 canonical format ("2001:db8::2")"#,
            ],
        ),
        ("192.12.2.0/24", &[]),
        ("2001:db8::/64", &[]),
        (
            "192.12.2.0/024",
            &[r#"f: non-standard CIDR value "192.12.2.0/024" is invalid: use "192.12.2.0/24""#],
        ),
        (
            "::ffff:192.12.2.0/120",
            &[
                r#"f: non-standard CIDR value "::ffff:192.12.2.0/120" is invalid: use "192.12.2.0/24""#,
            ],
        ),
        (
            "::ffff:0.0.0.0/96",
            &[r#"f: non-standard CIDR value "::ffff:0.0.0.0/96" is invalid: use "0.0.0.0/0""#],
        ),
        (
            "192.12.2.8/24",
            &[
                r#"f: CIDR value "192.12.2.8/24" is ambiguous in this context (should be "192.12.2.0/24" or "192.12.2.8/32"?)"#,
            ],
        ),
        (
            "192.012.2.8/24",
            &[
                r#"f: CIDR value "192.012.2.8/24" is ambiguous in this context (should be "192.12.2.0/24" or "192.12.2.8/32"?)"#,
                r#"f: non-standard CIDR value "192.012.2.8/24" is invalid: use "192.12.2.0/24""#,
            ],
        ),
        (
            "2001:db8:0:0::/64",
            &[
                r#"f: IPv6 CIDR value "2001:db8:0:0::/64" should be in RFC 5952 canonical format ("2001:db8::/64")"#,
            ],
        ),
    ];
    let path = Path::new("f");
    for (value, want) in table {
        let check = if value.contains('/') {
            cidr_warnings
        } else {
            ip_warnings
        };
        assert_eq!(check(&path, value), want);
    }
}
