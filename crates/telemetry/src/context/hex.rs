//! Hexadecimal as W3C wants it: lower case only.

const DIGITS: &[u8; 16] = b"0123456789abcdef";
const NONE: u8 = 0xff;

static VALUES: [u8; 256] = {
    let mut table = [NONE; 256];
    let mut value = 0;
    while value < 16 {
        table[DIGITS[value as usize] as usize] = value;
        value += 1;
    }
    table
};

/// At most 16 digits.
pub(super) fn read(text: &[u8]) -> Option<u64> {
    let (mut number, mut seen) = (0u64, 0u8);
    for byte in text {
        let digit = VALUES[usize::from(*byte)];
        seen |= digit;
        number = number << 4 | u64::from(digit & 0x0f);
    }
    (seen < 16).then_some(number)
}

/// Two digits for each byte, as far as there is room.
pub(super) fn write(bytes: &[u8], out: &mut [u8]) {
    for (byte, pair) in bytes.iter().zip(out.chunks_exact_mut(2)) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 0x0f)];
    }
}
