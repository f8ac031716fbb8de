/// What upstream's generated names are made of: no vowels, so no words; nothing that looks like another.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH: usize = 5;
/// A longer `generateName` is cut, so that all names are labels.
pub const MAX_GENERATED_NAME_PREFIX: usize = 63 - SUFFIX_LENGTH;

/// A name from a `generateName`. The suffix is the random number's.
pub fn generate_name(prefix: &str, mut random: u64) -> String {
    let mut end = prefix.len().min(MAX_GENERATED_NAME_PREFIX);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    let mut name = prefix[..end].to_owned();
    for _ in 0..SUFFIX_LENGTH {
        let index = usize::try_from(random % 27).expect("less than 27");
        name.push(char::from(ALPHABET[index]));
        random /= 27;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;

    #[test]
    fn names_are_labels() {
        let table = [
            ("web-", 0, "web-bbbbb"),
            ("web-", 1, "web-cbbbb"),
            ("web-", 27, "web-bcbbb"),
            ("web-", 26, "web-9bbbb"),
        ];
        for (prefix, random, want) in table {
            assert_eq!(generate_name(prefix, random), want);
        }
        let long = generate_name(&"a".repeat(100), u64::MAX);
        assert_eq!(long.len(), 63);
        assert!(names::dns1123_label(&long).is_empty());
        assert_eq!(generate_name(&"é".repeat(40), 0).chars().count(), 29 + 5);
        assert_eq!(
            generate_name(&format!("a{}", "é".repeat(40)), 0).len(),
            57 + 5
        );
    }
}
