//! The token of a request.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const WEBSOCKET_PREFIX: &str = "base64url.bearer.authorization.k8s.io.";

/// The token of an `Authorization` header; none for other schemes, as Basic, and for empty tokens.
pub fn token(authorization: &str) -> Option<&str> {
    let mut parts = authorization.trim().splitn(3, ' ');
    let scheme = parts.next()?;
    let token = parts.next()?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Whether the client put a second space before its token, which deserves a warning of the server.
pub fn has_stray_space(authorization: &str) -> bool {
    let parts: Vec<_> = authorization.trim().splitn(3, ' ').collect();
    matches!(parts[..], [scheme, "", _] if scheme.eq_ignore_ascii_case("bearer"))
}

/// The token that a browser sends as a protocol of its websocket, since it can set no header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebsocketToken {
    pub token: String,
    /// The other protocols, with which the request goes on: the token must not be echoed.
    pub protocols: String,
}

/// From the values of `Sec-WebSocket-Protocol` of a request that upgrades to websocket.
pub fn websocket_token<'a>(
    values: impl IntoIterator<Item = &'a str>,
) -> Result<Option<WebsocketToken>, &'static str> {
    let mut found = None;
    let mut others = Vec::new();
    for protocol in values.into_iter().flat_map(|value| value.split(',')) {
        let protocol = protocol.trim();
        let Some(encoded) = protocol.strip_prefix(WEBSOCKET_PREFIX) else {
            others.push(protocol);
            continue;
        };
        if found.is_some() {
            return Err("multiple base64.bearer.authorization tokens specified");
        }
        let decoded = URL_SAFE_NO_PAD
            .decode(encoded)
            .map_err(|_| "invalid base64.bearer.authorization token encoding")?;
        let token =
            String::from_utf8(decoded).map_err(|_| "invalid base64.bearer.authorization token")?;
        found = Some(token);
    }
    let Some(token) = found.filter(|token| !token.is_empty()) else {
        return Ok(None);
    };
    if others.is_empty() {
        return Err("missing additional subprotocol");
    }
    let protocols = others.join(",");
    Ok(Some(WebsocketToken { token, protocols }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorization() {
        let cases = [
            ("Bearer abc", Some("abc"), false),
            ("bearer abc", Some("abc"), false),
            ("  BEARER abc  ", Some("abc"), false),
            ("Bearer abc def", Some("abc"), false),
            ("Bearer", None, false),
            ("Bearer ", None, false),
            ("Bearer  abc", None, true),
            ("Basic abc", None, false),
            ("Basic  abc", None, false),
            ("Token abc", None, false),
            ("", None, false),
        ];
        for (header, expected, stray) in cases {
            assert_eq!(token(header), expected, "{header:?}");
            assert_eq!(has_stray_space(header), stray, "{header:?}");
        }
    }

    #[test]
    fn websocket() {
        let of = |token: &[u8]| format!("{WEBSOCKET_PREFIX}{}", URL_SAFE_NO_PAD.encode(token));
        let abc = of(b"abc");
        let ok = |protocols: &str| {
            let (token, protocols) = ("abc".to_owned(), protocols.to_owned());
            Ok(Some(WebsocketToken { token, protocols }))
        };
        let cases = [
            (vec![], Ok(None)),
            (vec!["v4.channel.k8s.io".to_owned()], Ok(None)),
            (vec![format!("a, {abc},b")], ok("a,b")),
            (vec![abc.clone(), "a".to_owned()], ok("a")),
            (vec![abc.clone()], Err("missing additional subprotocol")),
            (
                vec![abc.clone(), abc],
                Err("multiple base64.bearer.authorization tokens specified"),
            ),
            (
                vec![format!("{WEBSOCKET_PREFIX}?,a")],
                Err("invalid base64.bearer.authorization token encoding"),
            ),
            (
                vec![of(&[0xff]), "a".to_owned()],
                Err("invalid base64.bearer.authorization token"),
            ),
            (vec![of(b""), "a".to_owned()], Ok(None)),
        ];
        for (values, expected) in cases {
            let found = websocket_token(values.iter().map(String::as_str));
            assert_eq!(found, expected, "{values:?}");
        }
    }
}
