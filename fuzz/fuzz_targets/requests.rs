//! What comes in a request's head: paths, queries, tokens, continue tokens, quantities. None panics; nobody gets in.

#![no_main]

use std::sync::LazyLock;

use apiserver::continue_token::Continue;
use apiserver::request::{Query, RequestInfo};
use auth::serviceaccount::{SigningKey, Verifier};
use fuzz::Dice;
use libfuzzer_sys::fuzz_target;
use meta::options;
use meta::quantity::Quantity;

static VERIFIER: LazyLock<Verifier> = LazyLock::new(|| {
    let pem = SigningKey::generate_pem().expect("a key");
    let key = SigningKey::from_pem(pem.as_bytes()).expect("a key");
    Verifier {
        issuers: vec!["i".into()],
        keys: vec![key.public().clone()],
        api_audiences: vec!["a".into()],
    }
});

fuzz_target!(|bytes: &[u8]| {
    let mut dice = Dice(bytes);
    let what = dice.below(5);
    let method = dice.one(&["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
    let Ok(text) = std::str::from_utf8(dice.rest()) else {
        return;
    };
    match what {
        0 => path(method, text),
        1 => token(text),
        2 => quantity(text),
        3 => page(text),
        _ => _ = auth::token_file::StaticTokens::parse(text),
    }
});

fn path(method: &str, text: &str) {
    let (path, query) = text
        .split_once('?')
        .map_or((text, None), |(path, query)| (path, Some(query)));
    let query = Query::parse(query);
    let pairs = options::Query(query.pairs());
    let _ = options::ListOptions::from_query(&pairs, true);
    let _ = options::CreateOptions::from_query(&pairs);
    let _ = options::CreateOptions::from_update_query(&pairs);
    let _ = options::PatchOptions::from_query(&pairs, true);
    let _ = options::DeleteOptions::from_query(&pairs);
    let method = method.parse().expect("a method");
    let Ok(info) = RequestInfo::new(&method, path, &query) else {
        return;
    };
    if let Some(resource) = info.resource {
        assert!(!resource.verb.as_str().is_empty() || method == http::Method::OPTIONS);
    }
}

fn token(text: &str) {
    let _ = auth::bearer::token(text);
    let _ = auth::bearer::websocket_token([text].into_iter());
    let _ = auth::bootstrap_token::split(text);
    let nobody = |_: &str, _: &str, _: &str| None;
    let found = VERIFIER.authenticate(text, None, 1_800_000_000, &nobody);
    assert!(!matches!(found, Some(Ok(_))), "nobody signed {text:?}");
}

fn quantity(text: &str) {
    let Ok(quantity) = Quantity::parse(text) else {
        return;
    };
    let printed = quantity.to_string();
    let again = Quantity::parse(&printed);
    let again = again.unwrap_or_else(|error| panic!("{error}: {printed:?} of {text:?}"));
    assert_eq!(again, quantity, "{printed:?} of {text:?}");
    assert_eq!(again.to_string(), printed);
    let _ = (
        quantity.value(),
        quantity.milli_value(),
        quantity.as_f64(),
        quantity.as_i64(),
    );
    if let Some(sum) = quantity.checked_add(&quantity) {
        assert!(sum.sign() == quantity.sign());
        let difference = sum.checked_sub(&quantity);
        assert!(difference.is_none_or(|it| it == quantity), "{text:?}");
    }
}

fn page(text: &str) {
    const RANGE: &str = "/registry/configmaps/default/";
    if let Ok(page) = Continue::parse(text, RANGE) {
        assert!(
            page.after
                .starts_with(RANGE.trim_end_matches('/').as_bytes())
        );
    }
    // As text inside of a token that is well made.
    let token = Continue::write(1, RANGE.as_bytes(), format!("{RANGE}{text}").as_bytes());
    if let Ok(page) = Continue::parse(&token, RANGE) {
        assert_eq!(page.after, format!("{RANGE}{text}").into_bytes());
    }
}
