//! What holds for every text and every value.

use json::{Number, Object, Value};
use proptest::prelude::*;
use yaml::{Options, parse, to_json, to_json_strict, to_string, value_to_string};

/// All that can be done with a text. It must not panic, and what was written must be readable.
fn exercise(text: &[u8]) {
    _ = to_json(text);
    _ = to_json_strict(text);
    let Ok(documents) = parse(text) else { return };
    for document in &documents {
        _ = document.to_value();
    }
    for options in [Options::default(), Options::wide(), Options::go_yaml()] {
        _ = to_string(&documents, options);
    }
}

/// Pieces that meet in YAML, so that texts made of them get far.
const PIECES: &[&str] = &[
    "a",
    "b: ",
    "c:\n",
    "- ",
    "\n",
    "\n  ",
    "  ",
    " ",
    "# x",
    "# y\n",
    "[",
    "]",
    "{",
    "}",
    ",",
    ": ",
    "? ",
    "&x ",
    "*x",
    "!!str ",
    "!",
    "|\n",
    ">-\n  ",
    "'",
    "\"",
    "\\n",
    "1",
    "yes",
    "~",
    "<<: *x",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "\t",
    "é",
    "\u{1F600}",
    "\r\n",
    "\u{85}",
    "\u{2028}",
    "\u{FEFF}",
    "2001-01-01",
    "0x",
    ".",
];

fn value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(Number::Int),
        any::<f64>()
            .prop_filter("JSON would read an integer", |it| it.is_finite()
                && it.fract() != 0.0)
            .prop_map(Number::Float),
    ];
    let text = prop_oneof![
        "[ -~\n]{0,12}",
        "[a-z ]{70,120}",
        "\\PC{0,8}",
        prop::sample::select(PIECES).prop_map(String::from),
    ];
    // Line breaks of YAML 1.1 do not all come back, nor does a merge key, which go-yaml does not quote.
    let text = text.prop_filter("what go-yaml does not keep", |it| {
        it != "<<" && !it.contains(['\u{85}', '\u{2028}', '\u{2029}'])
    });
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number.prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((text.clone(), inner), 0..4)
                .prop_map(|pairs| Value::Object(Object::from_iter(pairs))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        exercise(&bytes);
    }

    #[test]
    fn pieces_do_not_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..16)) {
        exercise(pieces.concat().as_bytes());
    }

    #[test]
    fn a_value_comes_back(value in value()) {
        let text = value_to_string(&value);
        prop_assert_eq!(to_json_strict(text.as_bytes()), Ok(value), "{}", text);
    }

    #[test]
    fn writing_is_stable(value in value()) {
        let text = value_to_string(&value);
        let Ok(tree) = parse(text.as_bytes()) else {
            return Err(TestCaseError::fail(text));
        };
        let once = to_string(&tree, Options::default());
        let once = once.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let again = parse(once.as_bytes()).and_then(|tree| to_string(&tree, Options::default()));
        prop_assert_eq!(again.as_deref(), Ok(once.as_str()), "{}", text);
    }
}

/// A small fuzzer: real texts with a few bytes changed, the same in every run.
#[test]
fn changed_texts_do_not_panic() {
    let seed = "# head\nkind: &k Pod # line\nmeta:\n  labels: {a: 'b', \"c\": d}\n  # foot\n\n\
        items:\n- *k\n- |+\n  text\n\n- - ? x\n    : !!int 1\n---\n<<: [{a: 1}]\n";
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % n as u64).unwrap_or(0)
    };
    for _ in 0..5000 {
        let mut text = seed.as_bytes().to_vec();
        for _ in 0..=below(4) {
            let at = below(text.len());
            match below(3) {
                0 => _ = text.remove(at),
                1 => text[at] = u8::try_from(below(256)).unwrap_or(0),
                _ => {
                    let piece = PIECES[below(PIECES.len())];
                    text.splice(at..at, piece.bytes());
                }
            }
        }
        exercise(&text);
    }
}
