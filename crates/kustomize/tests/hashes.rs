//! The hash in a name of a kind other than `ConfigMap` and Secret is over everything that go-yaml keeps of an object:
//! comments, styles, tags, lines and columns. The names are those that kustomize 5.8.1 gives.

use kustomize::{Alone, Memory, Options, build};

const THING: &str = "# about the thing
apiVersion: example.com/v1
kind: Thing
metadata:
  name: a
  annotations:
    internal.config.kubernetes.io/needsHashSuffix: enabled # so that it gets a hash
spec:
  # the first
  one: 1 # a number
  list:
  - {k: v}
  # at the end
  word: yes
";

const PLAIN: &str = "apiVersion: example.com/v1
kind: Thing
metadata:
  name: a
  annotations:
    internal.config.kubernetes.io/needsHashSuffix: enabled
spec:
  one: 1
  labels: null
  word: yes
";

const WORKLOAD: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: a
  annotations:
    internal.config.kubernetes.io/needsHashSuffix: enabled
spec:
  selector:
    matchLabels:
      app: '1'
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: main # the one
        image: nginx
        args: [a, b]
";

const LIST: &str = r#"apiVersion: example.com/v1
kind: ThingList
items:
- kind: Thing
  apiVersion: example.com/v1
  metadata:
    name: a
    annotations:
      internal.config.kubernetes.io/needsHashSuffix: enabled
  spec: {z: 1, a: "<é>", b: "x"}
"#;

const CONFIG: &str = "commonLabels:\n- path: spec/labels\n  kind: Thing\n  create: true\n";

/// An object, what the kustomization says beside it, and the name.
const CASES: &[(&str, &str, &str)] = &[
    (THING, "", "a-gb7fd9dc6m"), // comments
    (
        PLAIN,
        "labels:
- pairs: {x: why}
",
        "a-b2mct9c9m9",
    ), // labels
    (
        PLAIN,
        "commonAnnotations: {x: why}
",
        "a-8mhd4mh29h",
    ), // annotations
    (
        WORKLOAD,
        r#"commonLabels: {app: "true"}
"#,
        "a-5g24gm4gg7",
    ), // labels_of_a_workload
    (
        THING,
        r#"patches:
- target: {kind: Thing}
  patch: |-
    - {op: add, path: /spec/new, value: {b: "a\nb\n", a10: 1, a9: [x]}}
"#,
        "a-k22bd28g7d",
    ), // json_patch
    (
        THING,
        "buildMetadata: [managedByLabel]
",
        "a-882h8kb658",
    ), // managed_by
    (
        WORKLOAD,
        r#"patches:
- patch: |-
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: a # renamed
    spec: # all of it
      template:
        spec:
          containers:
          # more
          - name: side
            "args": [x]
"#,
        "a-tdbkb7d9bt",
    ), // merge_patch
    (
        THING,
        "patches:
- patch: |-
    apiVersion: example.com/v1
    kind: Thing
    metadata: {name: a}
    spec: {one: null, list: null, word: null}
",
        "a-bc27255bcb",
    ), // emptied
    (
        PLAIN,
        "commonLabels: {x: why}
configurations: [config.yaml]
",
        "a-2bk58h2955",
    ), // null_that_became_a_map
    (
        THING,
        "replacements:
- source: {kind: Thing, fieldPath: spec.list}
  targets:
  - select: {kind: Thing}
    fieldPaths: [spec.copy, spec.word]
    options: {create: true}
",
        "a-9tc4fgdh7h",
    ), // replacement
    (
        THING,
        "namePrefix: p-
namespace: other
",
        "p-a-745f2m6d57",
    ), // prefix_and_namespace
    (LIST, "", "a-bg865d7tdf"),  // list
];

/// The text of a build, or its error.
fn built(object: &str, kustomization: &str) -> String {
    let kustomization = format!("resources: [all.yaml]\n{kustomization}");
    let files = Memory::from_iter([
        ("/app/kustomization.yaml", kustomization.as_str()),
        ("/app/config.yaml", CONFIG),
        ("/app/all.yaml", object),
    ]);
    let output = build(&files, &Alone, "/app", &Options::default());
    output
        .and_then(|it| it.to_yaml())
        .unwrap_or_else(|error| error.to_string())
}

#[test]
fn hashes_are_kustomizes() {
    for (object, kustomization, name) in CASES {
        let text = built(object, kustomization);
        let line = format!("\n  name: {name}\n");
        assert!(text.contains(&line), "{name}\n{kustomization}\n{text}");
    }
}

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  quoted: \"1\"\n  flow: {a: null}\n";

#[test]
fn nothing_in_a_flow_collection_is_an_empty_string() {
    let replacement = |path: &str| {
        built(
            MAP,
            &format!(
                "replacements:\n- sourceValue: \"\"\n  targets:\n  - select: {{kind: ConfigMap}}\n    fieldPaths: [{path}]\n    options: {{create: true}}\n"
            ),
        )
    };
    assert!(replacement("data.flow.a").contains("\n    a: \"\"\n"));
    assert!(replacement("data.flow.b").contains("\n    b: \"\"\n"));
    assert!(replacement("data.new").contains("\n  new: null\n"));
}

#[test]
fn a_number_that_takes_the_place_of_a_string_gets_its_quotes() {
    let patch = "patches:\n- patch: |-\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a}\n    data: {quoted: 2}\n";
    let text = built(MAP, patch);
    assert!(text.contains("\n  quoted: \"2\"\n"), "{text}");
}

#[test]
fn versions_of_a_namespace_go_from_the_last_to_the_first() {
    let namespace =
        |version| format!("apiVersion: {version}\nkind: Namespace\nmetadata:\n  name: a\n");
    let both = format!("{}---\n{}", namespace("Z"), namespace("v1"));
    let text = built(&both, "");
    assert!(text.starts_with("apiVersion: v1\n"), "{text}");
}

/// What a pattern of a replacement is matched with is the text with its comment.
#[test]
fn errors_and_patterns_see_comments() {
    let object = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n- name: x # one\n  v: old\n";
    let replaced = |path: &str| {
        built(
            object,
            &format!(
                "replacements:\n- sourceValue: new\n  targets:\n  - select: {{kind: Thing}}\n    fieldPaths: ['{path}']\n"
            ),
        )
    };
    assert!(replaced("spec.[name=^x].v").contains("v: new"));
    assert_eq!(
        replaced("spec.[name=^x$].v"),
        "unable to find field \"spec.[name=^x$].v\" in replacement target"
    );
    assert_eq!(
        replaced("spec.v"),
        "unable to find field \"spec.v\" in replacement target: wrong node kind: expected MappingNode but got SequenceNode: node contents:\n- name: x # one\n  v: old\n"
    );
}

/// What is copied is read each time, so that what one target changes there counts for the next.
#[test]
fn a_source_that_is_also_a_target_is_read_anew() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: x.y\n  b: z\n";
    let replacement = "replacements:\n- source: {kind: ConfigMap, fieldPath: data.a}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [data.a]\n    options: {delimiter: ., index: 1}\n  - select: {kind: ConfigMap}\n    fieldPaths: [data.b]\n";
    let text = built(map, replacement);
    assert!(text.contains("\n  a: x.x.y\n  b: x.x.y\n"), "{text}");
}
