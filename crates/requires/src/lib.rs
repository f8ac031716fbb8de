//! `#[requires(etcd)]`: a test that needs something which not every machine has.
//!
//! ```text
//! #[requires(etcd)]
//! #[tokio::test]
//! async fn a_story() { ... }
//! ```
//!
//! The build script (`build/main.rs`, which has the list of names) looks at the machine. What is there leaves the test
//! as it is; what is missing adds `#[ignore = "needs ..."]`, so that `cargo test` counts the test as ignored and prints
//! the reason. The build script runs again when `PATH` or one of its variables changes, or when something is installed.

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// Name, and what to do about it if it is missing.
const FACTS: &[(&str, Option<&str>)] = include!(concat!(env!("OUT_DIR"), "/facts.rs"));

/// Ignores the test, with the reason, where one of the named requirements is missing. Stands above `#[test]`.
#[proc_macro_attribute]
pub fn requires(names: TokenStream, test: TokenStream) -> TokenStream {
    match reasons(names) {
        Err(problem) => error(&problem),
        Ok(_) if !is_test(test.clone()) => {
            error("#[requires(...)] stands above #[test] or #[tokio::test]")
        }
        Ok(reasons) if reasons.is_empty() => test,
        Ok(reasons) => {
            let ignore = format!("#[ignore = {:?}]", reasons.join("; and "));
            let mut all: TokenStream = ignore.parse().expect("an attribute with a string");
            all.extend(test);
            all
        }
    }
}

fn reasons(names: TokenStream) -> Result<Vec<&'static str>, String> {
    let mut missing = Vec::new();
    for token in names {
        let name = match token {
            TokenTree::Ident(name) => name.to_string(),
            TokenTree::Punct(comma) if comma.as_char() == ',' => continue,
            other => return Err(format!("a name was expected, not {other}")),
        };
        // The same stories run on memory and, in programs of this name, on etcd.
        let name = match name.as_str() {
            "test_store" if is_on_etcd() => "etcd",
            "test_store" => continue,
            name => name,
        };
        let Some((_, reason)) = FACTS.iter().find(|(known, _)| *known == name) else {
            let known: Vec<_> = FACTS.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "{name} is not one of test_store, {}",
                known.join(", ")
            ));
        };
        missing.extend(reason);
    }
    Ok(missing)
}

/// As testkit decides for its servers: by the name of the test program.
fn is_on_etcd() -> bool {
    std::env::var("CARGO_CRATE_NAME").is_ok_and(|it| it.starts_with("on_etcd"))
}

/// Whether a `#[test]` or `#[...::test]` follows. If it has been expanded before, `#[ignore]` would come too late.
fn is_test(item: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = item.into_iter().collect();
    tokens.windows(2).any(|pair| {
        let [TokenTree::Punct(hash), TokenTree::Group(group)] = pair else {
            return false;
        };
        let path = group.stream().into_iter();
        let last = path
            .take_while(|it| !matches!(it, TokenTree::Group(_)))
            .last();
        hash.as_char() == '#'
            && group.delimiter() == Delimiter::Bracket
            && matches!(last, Some(TokenTree::Ident(name)) if name.to_string() == "test")
    })
}

fn error(text: &str) -> TokenStream {
    let error = format!("::core::compile_error!({text:?});");
    error.parse().expect("a macro with a string")
}
