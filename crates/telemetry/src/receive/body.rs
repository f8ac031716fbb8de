//! Bodies: read, taken out of gRPC's frame, unpacked.

use std::borrow::Cow;

use bytes::{Buf as _, Bytes, BytesMut};
use encoding::gzip;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use super::MAX_BYTES;
use super::answer::{Form, Refusal};

/// All of it; `more` for what is around the message.
pub(super) async fn read(mut body: Incoming, more: usize) -> Result<Bytes, Refusal> {
    let most = MAX_BYTES + more;
    let (mut all, mut seen) = (BytesMut::new(), 0);
    // A sender that is still sending would not see the answer: some more is read, and nothing of it kept.
    while seen <= 4 * most
        && let Some(frame) = body.frame().await
    {
        let early = |error| Refusal::invalid(format!("the body ended early: {error}"));
        let Ok(data) = frame.map_err(early)?.into_data() else {
            continue;
        };
        seen += data.len();
        if seen <= most {
            all.extend_from_slice(&data);
        }
    }
    if seen > most {
        return Err(Refusal::too_large());
    }
    Ok(all.freeze())
}

/// The message in a body.
pub(super) fn unpack<'a>(
    headers: &HeaderMap,
    form: Form,
    body: &'a Bytes,
) -> Result<Cow<'a, [u8]>, Refusal> {
    let encoding = |name| {
        let found = headers
            .get(name)
            .map_or(&b"identity"[..], |it| it.as_bytes());
        match found {
            b"identity" | b"" => Ok(false),
            b"gzip" => Ok(true),
            _ => Err(Refusal::encoding()),
        }
    };
    let (is_packed, message) = if form == Form::Grpc {
        let (is_packed, message) = frame(body)?;
        let is_packed = is_packed && {
            let known = encoding(http::HeaderName::from_static("grpc-encoding"))?;
            known
                || return Err(Refusal::invalid(
                    "a packed message without grpc-encoding".into(),
                ))
        };
        (is_packed, message)
    } else {
        (encoding(CONTENT_ENCODING)?, &body[..])
    };
    if !is_packed {
        return Ok(message.into());
    }
    match gzip::unpack(message, MAX_BYTES) {
        Ok(message) => Ok(message.into()),
        Err(gzip::UnpackError::Large) => Err(Refusal::too_large()),
        Err(gzip::UnpackError::Broken) => Err(Refusal::invalid("the body is not gzip".into())),
    }
}

/// Exactly one message: whether it is packed, and what it is.
fn frame(body: &[u8]) -> Result<(bool, &[u8]), Refusal> {
    let wrong = || Refusal::invalid("the body is not one message of gRPC".into());
    let mut head = body.get(..5).ok_or_else(wrong)?;
    let flag = head.get_u8();
    let length = usize::try_from(head.get_u32()).map_err(|_| wrong())?;
    let message = &body[5..];
    if flag > 1 || message.len() != length {
        return Err(wrong());
    }
    Ok((flag == 1, message))
}
