//! Who it is that sends.

use bytes::Bytes;
use encoding::percent;

use super::message::Message;
use crate::protobuf;

/// What is said of the sender in every message, encoded once.
#[derive(Clone, Debug)]
pub struct Resource(Vec<u8>);

impl Resource {
    /// As upstream: `service.name` and `service.instance.id`, and below them what `OTEL_RESOURCE_ATTRIBUTES` says.
    pub fn new(service: &str, instance: &str, attributes: Option<&str>) -> Self {
        let own = [("service.name", service), ("service.instance.id", instance)];
        let mut field = protobuf::Message::default();
        field.message(1, |resource| {
            for (key, value) in own {
                protobuf::attribute(resource, 1, key, value);
            }
            for (key, value) in pairs(attributes.unwrap_or_default()) {
                if own.iter().all(|(own, _)| *own != key) {
                    protobuf::attribute(resource, 1, &key, &value);
                }
            }
        });
        Self(field.0)
    }

    /// As the resource stands in a `Resource…`.
    pub fn field(&self) -> &[u8] {
        &self.0
    }

    /// An export request of any signal: one `Resource…`, with the resource and what was encoded for it.
    pub(super) fn message(&self, pieces: Vec<Bytes>) -> Message {
        let Self(resource) = self;
        let size = pieces.iter().map(Bytes::len).sum::<usize>();
        let mut head = protobuf::Message::default();
        head.length(1, resource.len() + size);
        head.0.extend_from_slice(resource);
        Message::new(head.0, pieces)
    }
}

/// `key=value,key=value`, percent-encoded, as OpenTelemetry's variables have it. What is no pair is passed over.
pub(crate) fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    text.split(',').filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        let key = key.trim();
        (!key.is_empty()).then(|| (decode(key), decode(value.trim())))
    })
}

/// What is no percent-encoding stays as it is.
pub(super) fn decode(text: &str) -> String {
    let decoded = percent::decode_lenient(text.as_bytes());
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protobuf::{self, Field};

    #[test]
    fn the_environment_adds_and_does_not_replace() {
        let resource = Resource::new("apiserver", "one", Some("a=b%2C,service.name=x,=y,c"));
        let resource = protobuf::bytes_at(resource.field(), 1).unwrap();
        let texts: Vec<String> = protobuf::fields(resource)
            .filter_map(|(_, field)| match field {
                Field::Bytes(pair) => {
                    let key = protobuf::bytes_at(pair, 1)?;
                    let value = protobuf::bytes_at(protobuf::bytes_at(pair, 2)?, 1)?;
                    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
                    Some(format!("{}={}", text(key), text(value)))
                }
                _ => None,
            })
            .collect();
        assert_eq!(
            texts,
            ["service.name=apiserver", "service.instance.id=one", "a=b,"]
        );
    }

    #[test]
    fn what_is_made_stands_behind_the_resource() {
        let resource = Resource::new("apiserver", "one", None);
        for sizes in [&[][..], &[0], &[1], &[100, 7], &[20_000, 1, 300]] {
            let pieces: Vec<_> = sizes.iter().map(|it| Bytes::from(vec![7; *it])).collect();
            let mut want = protobuf::Message::default();
            want.parts(1, &[resource.field(), &pieces.concat()]);
            let message = resource.message(pieces);
            assert!(message.concat() == want.0, "{sizes:?}");
            assert_eq!(message.len(), want.0.len());
        }
    }

    #[test]
    fn percent_encoding() {
        for (text, want) in [
            ("a%20b", "a b"),
            ("100%", "100%"),
            ("%zz%4", "%zz%4"),
            ("%+1", "%+1"),
        ] {
            assert_eq!(decode(text), want);
        }
    }
}
