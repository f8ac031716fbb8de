//! Conversion webhooks: custom objects at another version, as the one who defined them says.

use std::sync::Arc;
use std::time::Instant;

use json::{Object, Value, json};
use meta::gvk::GroupVersionKind;
use telemetry::trace;

use crate::client::{Target, Targets};
use crate::read::{items, text};
use crate::webhook::decode;
use crate::{Lookup, Random};

const AGENT: &str = "kube-apiserver";
const GROUP: &str = "apiextensions.k8s.io";

/// Why a conversion failed, in upstream's metrics.
const CALL: &str = "conversion_webhook_call_failure";
const MALFORMED: &str = "conversion_webhook_malformed_response_failure";
const PARTIAL: &str = "conversion_webhook_partial_response_failure";
const INVALID: &str = "conversion_webhook_invalid_converted_object_failure";

/// The webhook in a `CustomResourceDefinition`'s `spec.conversion.webhook`.
#[derive(Debug)]
pub struct Converter {
    /// The definition's name.
    definition: String,
    target: Result<Arc<Target>, String>,
    /// Of the review, the first that it takes and we know.
    version: Option<&'static str>,
    random: Random,
}

/// What a webhook is asked.
struct Question<'a> {
    objects: &'a [Value],
    /// Of the first.
    gvk: &'a GroupVersionKind,
    api_version: &'a str,
    /// Of the review.
    version: &'a str,
}

impl Converter {
    pub fn new(definition: &str, webhook: &Value, targets: &Targets, random: Random) -> Self {
        let versions = items(webhook, &["conversionReviewVersions"]).iter();
        let mut versions = versions.filter_map(|it| match it.as_str()? {
            "v1" => Some("v1"),
            "v1beta1" => Some("v1beta1"),
            _ => None,
        });
        let client = webhook.get("clientConfig").unwrap_or(&Value::Null);
        Self {
            definition: definition.to_owned(),
            target: targets.get(client),
            version: versions.next(),
            random,
        }
    }

    /// The objects at the version, in their order. All of them, or why not, in upstream's words.
    pub async fn convert(
        &self,
        objects: Vec<Value>,
        api_version: &str,
        lookup: &dyn Lookup,
    ) -> Result<Vec<Value>, String> {
        let version = self
            .version
            .ok_or("no supported conversion review versions")?;
        let target = self.target.as_ref().map_err(Clone::clone)?;
        let Some(first) = objects.first() else {
            return Ok(objects);
        };
        let gvk = meta::object::gvk(first).unwrap_or_default();
        let begun = Instant::now();
        let question = Question {
            objects: &objects,
            gvk: &gvk,
            api_version,
            version,
        };
        let converted = self.ask(target, &question, lookup).await;
        let failure = converted.as_ref().err().map(|it| it.0);
        let to = api_version.rsplit('/').next().unwrap_or_default();
        let versions = (&*gvk.version, to);
        if let Some(metrics) = target.metrics() {
            metrics.converted(&self.definition, versions, failure, begun.elapsed());
        }
        converted.map_err(|it| it.1)
    }

    /// The same, or what went wrong in upstream's metrics, and in words.
    async fn ask(
        &self,
        target: &Target,
        question: &Question<'_>,
        lookup: &dyn Lookup,
    ) -> Result<Vec<Value>, (&'static str, String)> {
        let Question {
            objects,
            gvk,
            api_version,
            version,
        } = question;
        let random = u128::from((self.random)()) << 64 | u128::from((self.random)());
        let uid = encoding::uuid::v4(random.to_le_bytes());
        let review = json!({
            "kind": "ConversionReview",
            "apiVersion": (format!("{GROUP}/{version}")),
            "request": {
                "uid": (&uid),
                "desiredAPIVersion": (*api_version),
                "objects": (objects.to_vec()),
            },
            "response": {"uid": "", "convertedObjects": null, "result": {"metadata": {}}},
        });
        let failed = |kind, why: String| {
            let text = format!("conversion webhook for {gvk} failed: {why}");
            (kind, text)
        };
        let span = trace::span("Call conversion webhook");
        span.set("custom-resource-definition", || self.definition.clone());
        span.set("desired-api-version", || (*api_version).to_owned());
        span.set("object-count", || objects.len());
        span.set("UID", || uid.clone());
        let body = json::to_vec(&review).into();
        let answer = target.post(body, None, AGENT, lookup).await;
        if answer.is_ok() {
            trace::event("Request completed");
        }
        let review = answer.and_then(|it| decode(&it));
        let review = review.map_err(|why| failed(CALL, why))?;
        let converted = verify(&review, version, &uid).map_err(|why| failed(MALFORMED, why))?;
        let (got, want) = (converted.len(), objects.len());
        if got != want {
            let text =
                format!("conversion webhook for {gvk} returned {got} objects, expected {want}");
            return Err((PARTIAL, text));
        }
        let pairs = objects.iter().zip(converted).enumerate();
        pairs
            .map(|(index, (original, converted))| {
                accept(original, converted, api_version).map_err(|why| {
                    let what = match why {
                        Wrong::Object(why) => format!("object at index {index}: {why}"),
                        Wrong::Metadata(why) => format!("metadata: {why}"),
                    };
                    let text = format!("conversion webhook for {gvk} returned invalid {what}");
                    (INVALID, text)
                })
            })
            .collect()
    }
}

fn verify(review: &Value, version: &str, uid: &str) -> Result<Vec<Value>, String> {
    if version == "v1" {
        let got = meta::object::gvk(review).unwrap_or_default();
        let want = GroupVersionKind::new(GROUP, "v1", "ConversionReview");
        if got != want {
            return Err(format!("expected webhook response of {want}, got {got}"));
        }
    }
    let Some(response) = review.get("response").filter(|it| !it.is_null()) else {
        return Err("no response provided".into());
    };
    let said = text(response, &["uid"]);
    if version == "v1" && said != uid {
        let (uid, said) = (meta::go::quote(uid), meta::go::quote(said));
        return Err(format!("expected response.uid={uid}, got {said}"));
    }
    let status = text(response, &["result", "status"]);
    if status != "Success" {
        let message = text(response, &["result", "message"]);
        if message.is_empty() {
            return Err(format!(
                "response.result.status was '{status}', not 'Success'"
            ));
        }
        return Err(message.to_owned());
    }
    Ok(items(response, &["convertedObjects"]).to_vec())
}

enum Wrong {
    Object(String),
    Metadata(String),
}

/// The converted object, with the metadata of the original but for labels and annotations.
fn accept(original: &Value, mut converted: Value, api_version: &str) -> Result<Value, Wrong> {
    let object = |why: String| Err(Wrong::Object(why));
    let got = meta::object::api_version(&converted);
    if got != api_version {
        return object(format!(
            "invalid groupVersion (expected {api_version}, received {got})"
        ));
    }
    let (want, got) = (meta::object::kind(original), meta::object::kind(&converted));
    if want != got {
        return object(format!("invalid kind (expected {want}, received {got})"));
    }
    for (word, key) in [("name", "name"), ("namespace", "namespace"), ("UID", "uid")] {
        let path = &["metadata", key];
        let (want, got) = (text(original, path), text(&converted, path));
        if want != got {
            return object(format!("must have the same {word}: {want} != {got}"));
        }
    }
    let mut metadata = original.get("metadata").cloned().unwrap_or_default();
    let fields = metadata.as_object_mut();
    let (Some(fields), Some(given)) = (fields, meta::object::metadata(&converted)) else {
        return Err(Wrong::Metadata(
            "missing metadata in converted object".into(),
        ));
    };
    for name in ["labels", "annotations"] {
        match given.get(name).filter(|it| !it.is_null()) {
            None => _ = fields.remove(name),
            Some(Value::Object(map)) => {
                check_texts(name, map)?;
                fields.insert(name, map.clone());
            }
            Some(_) => {
                let why = format!("invalid metadata.{name} in converted object");
                return Err(Wrong::Metadata(why));
            }
        }
    }
    if let Some(object) = converted.as_object_mut() {
        object.insert("metadata", metadata);
    }
    Ok(converted)
}

fn check_texts(name: &str, map: &Object) -> Result<(), Wrong> {
    let wrong = map.iter().find(|(_, value)| value.as_str().is_none());
    if let Some((key, _)) = wrong {
        let why = format!("metadata.{name}[{key}] must be a string in converted object");
        return Err(Wrong::Metadata(why));
    }
    if name == "labels" {
        let path = meta::field::Path::new("metadata");
        let errors = meta::selector::validate_labels(map, &path.child("labels"));
        if !errors.is_empty() {
            return Err(Wrong::Metadata(meta::field::aggregate(&errors)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widget(version: &str, change: Value) -> Value {
        let mut widget = json!({
            "apiVersion": (format!("example.com/{version}")),
            "kind": "Widget",
            "metadata": {"name": "w", "namespace": "ns", "uid": "1", "labels": {"a": "b"}},
        });
        if let (Some(fields), Value::Object(change)) = (widget.as_object_mut(), change) {
            fields.extend(change);
        }
        widget
    }

    #[test]
    fn only_labels_and_annotations_of_metadata_change() {
        let original = widget("v1", Value::Null);
        let metadata = json!({"name": "w", "namespace": "ns", "uid": "1", "generation": 7, "annotations": {"c": "d"}});
        let converted = widget("v2", json!({"metadata": metadata, "spec": 1}));
        let Ok(accepted) = accept(&original, converted, "example.com/v2") else {
            panic!("refused");
        };
        let want = json!({"name": "w", "namespace": "ns", "uid": "1", "annotations": {"c": "d"}});
        assert_eq!(accepted.get("metadata"), Some(&want));
        assert!(accepted.get("spec").is_some());
    }

    #[test]
    fn identity_stays() {
        let original = widget("v1", Value::Null);
        let metadata = |it: Value| json!({"metadata": it});
        let cases = [
            (
                widget("v3", Value::Null),
                "invalid groupVersion (expected example.com/v2, received example.com/v3)",
            ),
            (
                widget("v2", json!({"kind": "Gadget"})),
                "invalid kind (expected Widget, received Gadget)",
            ),
            (
                widget(
                    "v2",
                    metadata(json!({"name": "x", "namespace": "ns", "uid": "1"})),
                ),
                "must have the same name: w != x",
            ),
            (
                widget(
                    "v2",
                    metadata(json!({"name": "w", "namespace": "x", "uid": "1"})),
                ),
                "must have the same namespace: ns != x",
            ),
            (
                widget(
                    "v2",
                    metadata(json!({"name": "w", "namespace": "ns", "uid": "2"})),
                ),
                "must have the same UID: 1 != 2",
            ),
            (
                widget(
                    "v2",
                    metadata(
                        json!({"name": "w", "namespace": "ns", "uid": "1", "labels": {"a": 1}}),
                    ),
                ),
                "metadata.labels[a] must be a string in converted object",
            ),
        ];
        for (converted, want) in cases {
            match accept(&original, converted, "example.com/v2") {
                Err(Wrong::Object(why) | Wrong::Metadata(why)) => assert_eq!(why, want),
                Ok(accepted) => panic!("not refused: {accepted}"),
            }
        }
    }

    #[test]
    fn reviews_are_checked() {
        let review = |response: Value| json!({"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": response});
        let cases = [
            (
                json!({}),
                "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=",
            ),
            (review(Value::Null), "no response provided"),
            (
                review(json!({"uid": "x"})),
                "expected response.uid=\"u\", got \"x\"",
            ),
            (
                review(json!({"uid": "u", "result": {"status": "Failure", "message": "sorry"}})),
                "sorry",
            ),
            (
                review(json!({"uid": "u"})),
                "response.result.status was '', not 'Success'",
            ),
        ];
        for (review, want) in cases {
            assert_eq!(verify(&review, "v1", "u").unwrap_err(), want);
        }
        let old = json!({"response": {"result": {"status": "Success"}, "convertedObjects": [1]}});
        assert_eq!(verify(&old, "v1beta1", "u").map(|it| it.len()), Ok(1));
    }
}
