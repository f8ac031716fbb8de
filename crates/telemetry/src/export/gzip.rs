//! A body packed as collectors take it.

use std::sync::OnceLock;

const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];
/// The fastest: telemetry repeats itself so much that more gains little.
const LEVEL: u8 = 1;

pub(super) fn pack(data: &[u8]) -> Vec<u8> {
    let mut out = HEADER.to_vec();
    out.extend(miniz_oxide::deflate::compress_to_vec(data, LEVEL));
    out.extend_from_slice(&crc(data).to_le_bytes());
    // Its size modulo 2^32, as gzip has it.
    let size = data.len() as u64 & u64::from(u32::MAX);
    out.extend_from_slice(&size.to_le_bytes()[..4]);
    out
}

fn crc(data: &[u8]) -> u32 {
    static TABLE: OnceLock<[u32; 256]> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        std::array::from_fn(|index| {
            let step = |crc: u32, _| {
                let odd = if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
                odd ^ crc >> 1
            };
            (0..8).fold(u32::try_from(index).unwrap_or_default(), step)
        })
    });
    let sum = data.iter().fold(!0, |crc: u32, byte| {
        table[usize::from(crc.to_le_bytes()[0] ^ byte)] ^ crc >> 8
    });
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_gzips_and_the_data_comes_back() {
        assert_eq!(crc(b"123456789"), 0xcbf4_3926);
        let data = b"spans ".repeat(1000);
        let packed = pack(&data);
        assert!(packed.len() < data.len() / 10);
        let body = &packed[10..packed.len() - 8];
        assert_eq!(miniz_oxide::inflate::decompress_to_vec(body).unwrap(), data);
        assert_eq!(packed[packed.len() - 4..], 6000_u32.to_le_bytes());
    }
}
