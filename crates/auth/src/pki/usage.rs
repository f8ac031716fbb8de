//! Key usages by the names Kubernetes gives them.

use super::der;

/// Each name, with its bit in keyUsage or its purpose in extKeyUsage (RFC 5280), in Go's order of purposes.
const TABLE: [(&str, Usage); 23] = [
    ("signing", Usage::Bit(0)),
    ("digital signature", Usage::Bit(0)),
    ("content commitment", Usage::Bit(1)),
    ("key encipherment", Usage::Bit(2)),
    ("data encipherment", Usage::Bit(3)),
    ("key agreement", Usage::Bit(4)),
    ("cert sign", Usage::Bit(5)),
    ("crl sign", Usage::Bit(6)),
    ("encipher only", Usage::Bit(7)),
    ("decipher only", Usage::Bit(8)),
    ("any", Usage::Purpose(&[0x55, 0x1d, 0x25, 0])),
    ("server auth", pkix(&[0x2b, 6, 1, 5, 5, 7, 3, 1])),
    ("client auth", pkix(&[0x2b, 6, 1, 5, 5, 7, 3, 2])),
    ("code signing", pkix(&[0x2b, 6, 1, 5, 5, 7, 3, 3])),
    ("email protection", pkix(&[0x2b, 6, 1, 5, 5, 7, 3, 4])),
    ("s/mime", pkix(&[0x2b, 6, 1, 5, 5, 7, 3, 4])),
    ("ipsec end system", pkix(&[0x2b, 6, 1, 5, 5, 7, 3, 5])),
    ("ipsec tunnel", pkix(&[0x2b, 6, 1, 5, 5, 7, 3, 6])),
    ("ipsec user", pkix(&[0x2b, 6, 1, 5, 5, 7, 3, 7])),
    ("timestamping", pkix(&[0x2b, 6, 1, 5, 5, 7, 3, 8])),
    ("ocsp signing", pkix(&[0x2b, 6, 1, 5, 5, 7, 3, 9])),
    // 1.3.6.1.4.1.311.10.3.3
    (
        "microsoft sgc",
        pkix(&[0x2b, 6, 1, 4, 1, 0x82, 0x37, 10, 3, 3]),
    ),
    // 2.16.840.1.113730.4.1
    (
        "netscape sgc",
        pkix(&[0x60, 0x86, 0x48, 1, 0x86, 0xf8, 0x42, 4, 1]),
    ),
];

#[derive(Clone, Copy)]
enum Usage {
    Bit(u8),
    /// The content of its object identifier.
    Purpose(&'static [u8]),
}

const fn pkix(oid: &'static [u8]) -> Usage {
    Usage::Purpose(oid)
}

/// The contents of the keyUsage and extKeyUsage extensions; none for an empty one; the names nobody knows as error.
#[expect(clippy::type_complexity, reason = "two optional contents")]
pub(super) fn extensions<T: AsRef<str>>(
    usages: &[T],
) -> Result<(Option<Vec<u8>>, Option<Vec<u8>>), Vec<String>> {
    let known = |usage: &str| TABLE.iter().position(|(name, _)| *name == usage);
    let unknown = usages
        .iter()
        .map(T::as_ref)
        .filter(|it| known(it).is_none());
    let unknown: Vec<_> = unknown.map(str::to_owned).collect();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let mut rows: Vec<_> = usages.iter().filter_map(|it| known(it.as_ref())).collect();
    rows.sort_unstable();
    let mut mask = 0_u16;
    let mut purposes: Vec<Vec<u8>> = Vec::new();
    for row in rows {
        match TABLE[row].1 {
            Usage::Bit(bit) => mask |= 1 << bit,
            Usage::Purpose(oid) => {
                let oid = der::tlv(der::OID, oid);
                if !purposes.contains(&oid) {
                    purposes.push(oid);
                }
            }
        }
    }
    let key = (mask != 0).then(|| der::flags(mask));
    let extended = (!purposes.is_empty()).then(|| der::tlv(der::SEQUENCE, &purposes.concat()));
    Ok((key, extended))
}
