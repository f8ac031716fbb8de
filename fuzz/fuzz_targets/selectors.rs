//! What parses is printed and parses again as the same, and means the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use meta::selector::{FieldSelector, LabelSelector};

fuzz_target!(|text: &str| {
    if let Ok(selector) = LabelSelector::parse(text) {
        let printed = selector.to_string();
        let again = LabelSelector::parse(&printed);
        let again = again.unwrap_or_else(|error| panic!("{error}: {printed:?}"));
        assert_eq!(again.to_string(), printed);
        for labels in [&[][..], &[("a", "b")], &[("a", ""), ("b", "1")]] {
            assert_eq!(
                selector.matches_pairs(labels),
                again.matches_pairs(labels),
                "{printed:?}"
            );
        }
    }
    if let Ok(selector) = FieldSelector::parse(text) {
        let printed = selector.to_string();
        let again = FieldSelector::parse(&printed);
        let again = again.unwrap_or_else(|error| panic!("{error}: {printed:?}"));
        // Terms are sorted as they are written, `==` before `=`: only their order may differ.
        let terms = |it: &FieldSelector| {
            let mut terms: Vec<_> = it.terms().iter().map(|it| format!("{it:?}")).collect();
            terms.sort();
            terms
        };
        assert_eq!(terms(&again), terms(&selector), "{printed:?}");
    }
});
