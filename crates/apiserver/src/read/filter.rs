//! Hot path. The filter of a list or watch: namespace, name and selectors. Without selectors nothing is read from an
//! object.

use std::sync::Arc;

use json::Value;
use meta::Status;
use meta::options::ListOptions;
use meta::selector::{FieldSelector, LabelSelector};
use store::{Entry, Event};

use crate::catalog::Resource;
use crate::catalog::convert;
use crate::catalog::fields;
use crate::handler::context::RequestContext;

#[derive(Debug)]
pub(crate) struct Filter {
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Filter {
    /// What the query selects, and of that the one object that the request names, if it does.
    pub(crate) fn new(ctx: &RequestContext<'_>, options: &ListOptions) -> Result<Self, Status> {
        fields::check(&ctx.resource, &options.field_selector)?;
        let (mut fields, name) = (options.field_selector.clone(), &*ctx.info.name);
        if !name.is_empty() {
            if fields.is_everything() {
                fields = FieldSelector::equal("metadata.name", name);
            } else if fields.exact_match("metadata.name") != Some(name) {
                let text = "fieldSelector metadata.name doesn't match requested name";
                return Err(Status::bad_request(text));
            }
        }
        Ok(Self {
            labels: options.label_selector.clone(),
            fields,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }

    pub(crate) fn takes(&self, resource: &Resource, entry: &Entry) -> bool {
        self.is_empty()
            || self
                .takes_key(resource, &entry.key)
                .unwrap_or_else(|| self.takes_bytes(resource, &entry.value))
    }

    /// What the key alone decides: most field selectors are about a name or a namespace.
    fn takes_key(&self, resource: &Resource, key: &[u8]) -> Option<bool> {
        let place = key.strip_prefix(resource.prefix.as_bytes())?;
        let place = std::str::from_utf8(place).ok()?;
        let (namespace, name) = if resource.namespaced {
            place.split_once('/')?
        } else {
            ("", place)
        };
        let mut decided = self.labels.is_everything();
        for term in self.fields.terms() {
            let value = match &*term.field {
                "metadata.name" => name,
                "metadata.namespace" => namespace,
                _ => {
                    decided = false;
                    continue;
                }
            };
            if !term.matches(value) {
                return Some(false);
            }
        }
        decided.then_some(true)
    }

    fn takes_bytes(&self, resource: &Resource, bytes: &[u8]) -> bool {
        // Fields are those of the version asked for.
        let object = if self.fields.is_everything() || resource.is_stored_version() {
            convert::parse(resource, bytes)
        } else {
            convert::decode(resource, bytes, 0)
        };
        let Ok(object) = object else {
            // An object that cannot be decoded is shown, so that it is noticed.
            return true;
        };
        self.takes_value(resource, &object)
    }

    pub(crate) fn takes_value(&self, resource: &Resource, object: &Value) -> bool {
        let labels = object
            .at(&["metadata", "labels"])
            .and_then(Value::as_object);
        if !self.labels.matches(labels) {
            return false;
        }
        let values: Vec<_> = self
            .fields
            .terms()
            .iter()
            .map(|term| {
                let value = fields::value(resource, object, &term.field);
                (&*term.field, value)
            })
            .collect();
        self.fields.matches_with(|field| {
            let found = values.iter().find(|(it, _)| *it == field);
            found.map_or("", |(_, value)| value)
        })
    }

    /// The event that a change is to a watch with this filter, and the state of the object that it shows.
    pub(crate) fn change<'a>(
        &self,
        resource: &Resource,
        event: &'a Event,
    ) -> Option<(&'static str, &'a Arc<Entry>)> {
        let was = event.previous.as_ref();
        let is = event.current.as_ref();
        let before = was.is_some_and(|entry| self.takes(resource, entry));
        let after = is.is_some_and(|entry| self.takes(resource, entry));
        match (before, after) {
            (false, true) => is.map(|entry| ("ADDED", entry)),
            (true, true) => is.map(|entry| ("MODIFIED", entry)),
            (true, false) => was.map(|entry| ("DELETED", entry)),
            (false, false) => None,
        }
    }
}
