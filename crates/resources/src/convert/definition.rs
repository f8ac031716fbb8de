//! `CustomResourceDefinition` at rest: kube-apiserver still stores v1beta1, where what all versions share stands in the
//! spec itself. Read only; v1 is what we store, and what it reads too.

use json::{Object, Value, json};

const SHARED: [(&str, &str); 4] = [
    ("subresources", "subresources"),
    ("validation", "schema"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
    ("selectableFields", "selectableFields"),
];

pub(super) fn from_v1beta1(fields: &mut Object) {
    let Some(Value::Object(spec)) = fields.get_mut("spec") else {
        return;
    };
    let version = spec.remove("version");
    let none = spec
        .get("versions")
        .and_then(Value::as_array)
        .is_none_or(Vec::is_empty);
    if let (true, Some(name)) = (none, version) {
        let only = json!([{"name": name, "served": true, "storage": true}]);
        spec.insert("versions", only);
    }
    for (field, name) in SHARED {
        let shared = spec.remove(field).filter(|it| !it.is_null());
        let Some(Value::Array(versions)) = spec.get_mut("versions") else {
            continue;
        };
        for version in versions.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(shared) = &shared {
                version.insert(name, shared.clone());
            }
            if let Some(Value::Array(columns)) = version.get_mut(name)
                && name == "additionalPrinterColumns"
            {
                columns.iter_mut().for_each(column);
            }
        }
    }
    if spec.get("preserveUnknownFields").and_then(Value::as_bool) == Some(false) {
        spec.remove("preserveUnknownFields");
    }
    if let Some(Value::Object(conversion)) = spec.get_mut("conversion") {
        webhook(conversion);
    }
}

fn column(column: &mut Value) {
    if let Some(fields) = column.as_object_mut()
        && let Some(path) = fields.remove("JSONPath")
    {
        fields.insert("jsonPath", path);
    }
}

fn webhook(conversion: &mut Object) {
    let client = conversion.remove("webhookClientConfig");
    let versions = conversion.remove("conversionReviewVersions");
    if client.is_none() && versions.is_none() {
        return;
    }
    let mut webhook = Object::new();
    if let Some(client) = client {
        webhook.insert("clientConfig", client);
    }
    if let Some(versions) = versions {
        webhook.insert("conversionReviewVersions", versions);
    }
    conversion.insert("webhook", webhook);
}

#[cfg(test)]
mod tests {
    use json::{Value, json};

    fn converted(spec: Value) -> Value {
        let mut object = json!({"apiVersion": "apiextensions.k8s.io/v1beta1", "spec": spec});
        let target = ("apiextensions.k8s.io", "v1");
        let kind = "CustomResourceDefinition";
        crate::convert::to(target.0, "v1beta1", kind, &mut object, target).unwrap();
        assert_eq!(
            object.str_at(&["apiVersion"]),
            Some("apiextensions.k8s.io/v1")
        );
        object.get("spec").cloned().unwrap()
    }

    #[test]
    fn what_versions_share_goes_to_each() {
        let schema = json!({"openAPIV3Schema": {"type": "object"}});
        let found = converted(json!({
            "group": "example.com",
            "version": "v1",
            "validation": schema,
            "subresources": {"status": {}},
            "additionalPrinterColumns": [{"name": "A", "type": "string", "JSONPath": ".a"}],
            "versions": [
                {"name": "v1", "served": true, "storage": true},
                {"name": "v2", "served": true, "storage": false},
            ],
            "conversion": {"strategy": "Webhook", "webhookClientConfig": {"url": "u"}, "conversionReviewVersions": ["v1"]},
            "preserveUnknownFields": false,
        }));
        let version = |name: &str, storage: bool| {
            json!({
                "name": name, "served": true, "storage": storage,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object"}},
                "additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": ".a"}],
            })
        };
        let webhook = json!({"clientConfig": {"url": "u"}, "conversionReviewVersions": ["v1"]});
        assert_eq!(
            found,
            json!({
                "group": "example.com",
                "versions": [(version("v1", true)), (version("v2", false))],
                "conversion": {"strategy": "Webhook", "webhook": webhook},
            })
        );
    }

    #[test]
    fn what_differs_stays_where_it_is() {
        let columns = json!([{"name": "A", "type": "string", "JSONPath": ".a"}]);
        let found = converted(json!({
            "versions": [{"name": "v1", "schema": {}, "additionalPrinterColumns": columns}, {"name": "v2"}],
        }));
        let columns = json!([{"name": "A", "type": "string", "jsonPath": ".a"}]);
        assert_eq!(
            found,
            json!({"versions": [{"name": "v1", "schema": {}, "additionalPrinterColumns": columns}, {"name": "v2"}]})
        );
        let only = converted(json!({"version": "v1alpha1", "validation": {}}));
        assert_eq!(
            only,
            json!({"versions": [{"name": "v1alpha1", "served": true, "storage": true, "schema": {}}]})
        );
    }
}
