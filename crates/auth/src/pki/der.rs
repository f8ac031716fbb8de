//! Just enough DER to write a certificate (X.690).

use encoding::civil::DateTime;

pub(super) const BOOLEAN: u8 = 0x01;
pub(super) const OCTETS: u8 = 0x04;
pub(super) const OID: u8 = 0x06;
pub(super) const UTF8: u8 = 0x0c;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// Tag, length, content.
pub(super) fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len();
    if length < 0x80 {
        out.push(u8::try_from(length).unwrap_or(0x7f));
    } else {
        let bytes = length.to_be_bytes();
        let zeros = bytes.iter().take_while(|it| **it == 0).count();
        let bytes = &bytes[zeros..];
        out.push(0x80 | u8::try_from(bytes.len()).unwrap_or(8));
        out.extend_from_slice(bytes);
    }
    out.extend_from_slice(content);
    out
}

pub(super) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tlv(SEQUENCE, &parts.concat())
}

/// A positive number, from its bytes.
pub(super) fn integer(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|it| **it == 0).count();
    let mut content = bytes[zeros..].to_vec();
    if content.first().is_none_or(|first| first & 0x80 != 0) {
        content.insert(0, 0);
    }
    tlv(0x02, &content)
}

/// Whole bytes of bits.
pub(super) fn bits(content: &[u8]) -> Vec<u8> {
    tlv(0x03, &[&[0], content].concat())
}

/// Flags, the first bit first, without trailing zeros.
pub(super) fn flags(mask: u16) -> Vec<u8> {
    let bytes = mask.reverse_bits().to_be_bytes();
    let used = match bytes {
        [0, 0] => 0,
        [_, 0] => 1,
        _ => 2,
    };
    let unused = bytes[..used].last().map_or(0, |last| last.trailing_zeros());
    let unused = u8::try_from(unused).unwrap_or(0);
    tlv(0x03, &[&[unused], &bytes[..used]].concat())
}

/// Two digits for the year until 2049, four from then on, as RFC 5280 wants it; none outside of what can be written.
pub(super) fn time(seconds: i64) -> Option<Vec<u8>> {
    let time = DateTime::from_unix(seconds);
    let year = time.year;
    let rest = format!(
        "{:02}{:02}{:02}{:02}{:02}Z",
        time.month, time.day, time.hour, time.minute, time.second
    );
    match year {
        1950..2050 => Some(tlv(0x17, format!("{:02}{rest}", year % 100).as_bytes())),
        0..=9999 => Some(tlv(0x18, format!("{year:04}{rest}").as_bytes())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes() {
        assert_eq!(integer(&[0, 0x80]), [2, 2, 0, 0x80]);
        assert_eq!(integer(&[]), [2, 1, 0]);
        assert_eq!(tlv(4, &[0; 127])[..2], [4, 127]);
        assert_eq!(tlv(4, &[0; 128])[..3], [4, 0x81, 128]);
        assert_eq!(tlv(4, &[0; 256])[..4], [4, 0x82, 1, 0]);
        // Digital signature and key encipherment, as every serving certificate of RSA has it.
        assert_eq!(flags(0b101), [3, 2, 5, 0xa0]);
        assert_eq!(flags(1 << 8), [3, 3, 7, 0, 0x80]);
        assert_eq!(flags(0), [3, 1, 0]);
        assert_eq!(time(0).unwrap(), b"\x17\x0d700101000000Z");
        assert_eq!(time(2_524_608_000).unwrap(), b"\x18\x0f20500101000000Z");
    }
}
