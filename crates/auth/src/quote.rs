//! Texts as Go writes them, since upstream's messages are full of it.

pub(crate) use meta::go::quote;

/// `%q` of a slice of strings.
pub(crate) fn quote_all<T: AsRef<str>>(texts: &[T]) -> String {
    let all: Vec<_> = texts.iter().map(|it| quote(it.as_ref())).collect();
    format!("[{}]", all.join(" "))
}

/// Several errors as Go's `Aggregate` writes them: each once, in brackets if there is more than one.
pub(crate) fn aggregate<'a>(errors: impl IntoIterator<Item = &'a String>) -> String {
    let mut unique: Vec<&str> = Vec::new();
    for error in errors {
        if !unique.contains(&error.as_str()) {
            unique.push(error);
        }
    }
    match unique[..] {
        [only] => only.to_owned(),
        _ => format!("[{}]", unique.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_all_as_go_does() {
        assert_eq!(quote_all(&["a", "b"]), r#"["a" "b"]"#);
        assert_eq!(quote_all::<&str>(&[]), "[]");
    }

    #[test]
    fn aggregates() {
        let [a, b] = ["a".to_owned(), "b".to_owned()];
        assert_eq!(aggregate([&a, &a]), "a");
        assert_eq!(aggregate([&a, &b, &a]), "[a, b]");
    }
}
