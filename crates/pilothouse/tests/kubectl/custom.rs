//! Kinds that users bring.

use testkit::server::Server;

use crate::says;

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1}
              colour: {type: string, default: red, enum: [red, blue]}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
";

const WIDGET: &str =
    "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 3}\n";

#[testkit::requires(kubectl)]
#[tokio::test]
async fn serves_custom_kinds() {
    let server = Server::start().await;
    server.apply(DEFINITION);
    server.ok("wait crd/widgets.example.com --for=condition=Established --timeout=10s");
    assert_eq!(server.apply(WIDGET), "widget.example.com/w created\n");
    says(&server.ok("get wd"), &["NAME", "SIZE", "w", "3"]);
    assert_eq!(server.ok("get widget w -o jsonpath={.spec.colour}"), "red");
    says(&server.ok("get all"), &["widget.example.com/w"]);
    says(
        &server.ok("describe widget w"),
        &["Kind:", "Widget", "Colour:", "red", "Size:", "3"],
    );
    server.ok(r#"patch widget w --type=merge -p '{"spec":{"size":4}}'"#);
    says(
        &server.ok("api-resources --api-group=example.com"),
        &["widgets", "wd", "example.com/v1", "true", "Widget"],
    );
    server.ok("delete crd widgets.example.com");
    // kubectl may remember the kind; the server does not.
    server.err("get widgets");
    says(
        &server.err("get --raw /apis/example.com/v1/widgets"),
        &["the server could not find the requested resource"],
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn judges_custom_objects() {
    let server = Server::start().await;
    server.apply(DEFINITION);
    server.ok("wait crd/widgets.example.com --for=condition=Established --timeout=10s");
    let apply = |manifest: &str| {
        server
            .kubectl_with(&["create", "--validate=ignore", "-f", "-"], manifest)
            .err()
    };
    assert_eq!(
        apply(&WIDGET.replace("size: 3", "size: 0")),
        "The Widget \"w\" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1\n"
    );
    assert_eq!(
        apply(&WIDGET.replace("size: 3", "size: 3, colour: green")),
        "The Widget \"w\" is invalid: spec.colour: Unsupported value: \"green\": supported values: \"red\", \"blue\"\n"
    );
    assert_eq!(
        apply(&WIDGET.replace("size: 3", "colour: red")),
        "The Widget \"w\" is invalid: spec.size: Required value\n"
    );
    let said = server
        .kubectl_with(
            &["create", "-f", "-"],
            &WIDGET.replace("size: 3", "size: 3, bogus: 1"),
        )
        .err();
    says(
        &said,
        &["strict decoding error: unknown field \"spec.bogus\""],
    );
}

#[testkit::requires(kubectl)]
#[tokio::test]
async fn judges_definitions() {
    let server = Server::start().await;
    let create = |manifest: &str| server.kubectl_with(&["create", "-f", "-"], manifest).err();
    says(
        &create(&DEFINITION.replace("default: red", "default: green")),
        &[
            "properties[colour].default: Unsupported value: \"green\": supported values: \"red\", \"blue\"",
        ],
    );
    says(
        &create(&DEFINITION.replace("name: widgets.example.com", "name: other.example.com")),
        &[
            "metadata.name: Invalid value: \"other.example.com\": must be spec.names.plural+\".\"+spec.group",
        ],
    );
    says(
        &create(&DEFINITION.replace("size: {type: integer", "size: {type: number of things")),
        &[
            "Unsupported value: \"number of things\": supported values: \"array\", \"boolean\", \"integer\"",
        ],
    );
}

const ROUTES: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: routes.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: routes, singular: route, kind: Route}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - rule: self.hosts.all(it, it.endsWith(self.domain))
              message: hosts must be within the domain
            - rule: self.domain == oldSelf.domain
              message: the domain cannot change
              fieldPath: .domain
            properties:
              domain: {type: string, maxLength: 63}
              hosts: {type: array, maxItems: 10, items: {type: string, maxLength: 63}}
              weight: {type: integer}
";

const ROUTE: &str = "apiVersion: example.com/v1
kind: Route
metadata: {name: r}
spec: {domain: example.com, hosts: [a.example.com], weight: 100}
";

/// A definition with rules: an object that breaks them, one that breaks a stricter rule by standing still, and a change
/// that a rule forbids.
#[testkit::requires(kubectl)]
#[tokio::test]
async fn rules_in_cel() {
    let server = Server::start().await;
    let create = |manifest: &str| server.kubectl_with(&["create", "-f", "-"], manifest);
    let unbounded = ROUTES
        .replace(", maxItems: 10", "")
        .replace(", maxLength: 63", "");
    says(
        &create(&unbounded).err(),
        &[
            "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
        ],
    );
    says(
        &create(&ROUTES.replace("self.hosts.all", "self.host.all")).err(),
        &["ERROR: <input>:1:5: undefined field 'host'"],
    );
    create(ROUTES).ok();
    server.ok("wait crd/routes.example.com --for=condition=Established --timeout=10s");
    assert_eq!(
        create(&ROUTE.replace("a.example.com", "a.example.org")).err(),
        "The Route \"r\" is invalid: spec: Invalid value: hosts must be within the domain\n"
    );
    create(ROUTE).ok();
    assert_eq!(
        server.err("patch route r --type=merge -p {\"spec\":{\"domain\":\"com\"}}"),
        "The Route \"r\" is invalid: spec.domain: Invalid value: the domain cannot change\n"
    );

    let stricter = ROUTES.replace(
        "weight: {type: integer}",
        "weight: {type: integer, x-kubernetes-validations: [{rule: self <= 10}]}",
    );
    server.kubectl_with(&["replace", "-f", "-"], &stricter).ok();
    let patch = "patch route r --type=merge -p {\"spec\":{\"hosts\":[\"b.example.com\"]}}";
    let warning = "Warning: spec.weight: Invalid value: 100: failed rule: self <= 10";
    server.until(patch, |answer| answer.stderr.contains(warning));
    assert_eq!(
        server.ok("get route r -o jsonpath={.spec.hosts}"),
        "[\"b.example.com\"]"
    );
    assert_eq!(
        server.err("patch route r --type=merge -p {\"spec\":{\"weight\":50}}"),
        "The Route \"r\" is invalid: spec.weight: Invalid value: 50: failed rule: self <= 10\n"
    );
    server.ok("patch route r --type=merge -p {\"spec\":{\"weight\":5}}");
}
