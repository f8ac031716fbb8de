//! Reads anything; what it writes, it reads again as the same, and writes again the same.

#![no_main]

use json::Value;
use libfuzzer_sys::fuzz_target;
use yaml::{Kind, Node, Style};

fuzz_target!(|text: &[u8]| {
    yaml::split_documents(text).for_each(drop);
    if let Ok(text) = std::str::from_utf8(text) {
        let _ = yaml::is_non_string(text);
        let _ = yaml::sequence_style_of(text);
    }
    let strict = yaml::to_json_strict(text);
    let value = yaml::to_json(text);
    if let Ok(strict) = &strict {
        assert_eq!(
            Ok(strict),
            value.as_ref(),
            "a strict reader takes less, and nothing else"
        );
    }
    if let Ok(value) = &value {
        let written = yaml::value_to_string(value);
        let again = yaml::to_json(written.as_bytes());
        // As text: a whole number that is too large for an integer is written as Go does, and is one when it is read.
        let again = again.map(|it| json::to_string(&it));
        assert_eq!(again, Ok(json::to_string(value)), "{written:?}");
    }
    let Ok(documents) = yaml::parse(text) else {
        return;
    };
    for document in &documents {
        let Ok(before) = document.to_value() else {
            continue;
        };
        let Ok(written) = yaml::to_string(std::slice::from_ref(document), yaml::Options::default())
        else {
            continue;
        };
        let again = yaml::parse_first(written.as_bytes());
        let again = again.unwrap_or_else(|error| panic!("{error} in {written:?}"));
        if is_lossy(document) {
            continue;
        }
        let after = again.map_or(Ok(Value::Null), |it| it.to_value());
        assert_eq!(after.as_ref(), Ok(&before), "{written:?}");
    }
});

/// What go-yaml does not write as it read it, and so neither do we: a null without a text is `''` where a plain text
/// cannot be empty, and a folded text gets one line break too many before a line that begins with a blank.
fn is_lossy(node: &Node) -> bool {
    let mut left = vec![node];
    while let Some(node) = left.pop() {
        let text = &node.value;
        let lossy = match node.style {
            Style::Plain => node.kind == Kind::Scalar && text.is_empty(),
            Style::Folded => text.contains("\n ") || text.contains("\n\t"),
            _ => false,
        };
        if lossy {
            return true;
        }
        left.extend(node.content.iter());
    }
    false
}
