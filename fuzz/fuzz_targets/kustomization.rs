//! Builds anything: either texts as they come, or trees made of what kustomizations are made of.

#![no_main]

use std::fmt::Write as _;

use fuzz::Dice;
use kustomize::{Alone, Memory, Options, Reorder, build};
use libfuzzer_sys::fuzz_target;

const FILES: [&str; 6] = [
    "/app/kustomization.yaml",
    "/app/a.yaml",
    "/app/patch.yaml",
    "/app/config.yaml",
    "/base/kustomization.yaml",
    "/base/b.yaml",
];

const NAMES: [&str; 4] = ["a", "b", "a-b", "web"];
const KINDS: [(&str, &str); 8] = [
    ("apps/v1", "Deployment"),
    ("v1", "Service"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "ServiceAccount"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("v1", "List"),
    ("example.com/v1", "Thing"),
];
const PATHS: [&str; 12] = [
    "metadata.name",
    "metadata.labels.a",
    "spec.replicas",
    "spec.template.spec.containers.[name=a].image",
    "spec.template.spec.containers.*.env.[name=b].value",
    "spec.template.spec.containers.0.args.1",
    "data.a",
    "data.b",
    "spec.[a=b]",
    "metadata.annotations.[a.b/c]",
    "a.-",
    "spec..x",
];
const VALUES: [&str; 14] = [
    "a",
    "b",
    "1",
    "2.5",
    "true",
    "null",
    "~",
    "\"\"",
    "[a, b]",
    "{a: b}",
    "\"x y\"",
    "|-\n    a\n     b",
    "nginx:1.2@sha256:abc",
    "&x {<<: *x}",
];

fuzz_target!(|bytes: &[u8]| {
    let mut dice = Dice(bytes);
    let files = if dice.byte() & 1 == 0 {
        texts(dice.rest())
    } else {
        tree(&mut dice)
    };
    let options = Options {
        reorder: [Reorder::Legacy, Reorder::None][dice.below(2)],
        ..Options::default()
    };
    let Ok(output) = build(&files, &Alone, "/app", &options) else {
        return;
    };
    let again = build(&files, &Alone, "/app", &options).expect("one answer to one question");
    let text = output.to_yaml();
    assert_eq!(text, again.to_yaml(), "one answer to one question");
    let Ok(text) = text else {
        return;
    };
    for document in yaml::split_documents(text.as_bytes()) {
        yaml::to_json_strict(document).unwrap_or_else(|error| panic!("{error} in {text}"));
    }
    let files = Memory::from_iter([
        ("/app/kustomization.yaml", "resources: [all.yaml]\n"),
        ("/app/all.yaml", text.as_str()),
    ]);
    if let Ok(again) = build(&files, &Alone, "/app", &options)
        && let Ok(again) = again.to_yaml()
        && !text.contains("config.kubernetes.io/")
    {
        assert_eq!(text, again, "what was built builds to itself");
    }
});

/// The files' texts, cut at bytes that no text has.
fn texts(bytes: &[u8]) -> Memory {
    let parts = bytes.split(|it| *it == 0xff);
    FILES.into_iter().zip(parts).collect()
}

fn tree(dice: &mut Dice<'_>) -> Memory {
    let mut base = String::from("resources: [b.yaml]\n");
    let mut app = String::from("resources: [a.yaml, ../base]\n");
    fields(dice, &mut base);
    fields(dice, &mut app);
    let (a, b, patch) = (resources(dice), resources(dice), resource(dice));
    let config = format!(
        "namePrefix: [{{path: {}}}]\nnameReference: [{{kind: ConfigMap, fieldSpecs: [{{path: {}, create: true}}]}}]\n",
        dice.one(&PATHS).replace('.', "/"),
        dice.one(&PATHS).replace('.', "/"),
    );
    FILES
        .into_iter()
        .zip([app, a, patch, config, base, b])
        .collect()
}

fn resources(dice: &mut Dice<'_>) -> String {
    let count = 1 + dice.below(3);
    let all: Vec<String> = (0..count).map(|_| resource(dice)).collect();
    all.join("---\n")
}

fn resource(dice: &mut Dice<'_>) -> String {
    let (version, kind) = dice.one(&KINDS);
    let name = dice.one(&NAMES);
    let mut text = format!("apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\n");
    for part in 0..dice.below(4) {
        let (value, other) = (dice.one(&VALUES), dice.one(&NAMES));
        let more = match dice.below(7) {
            0 => format!("data:\n  {other}: {value}\n"),
            1 => format!(
                "spec:\n  replicas: {value}\n  template:\n    spec:\n      containers:\n      - name: {other}\n        image: {value}\n        env:\n        - name: {other}\n          value: {value}\n      volumes:\n      - name: v\n        configMap: {{name: {other}}}\n"
            ),
            2 => format!("subjects:\n- kind: ServiceAccount\n  name: {other}\n"),
            3 => format!("items:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: {other}}}\n"),
            4 => format!("$patch: {}\n", dice.one(&["delete", "replace", "merge", "x"])),
            5 => format!("  namespace: {other}\n"),
            _ => format!("x{part}: {value}\n"),
        };
        text.push_str(&more);
    }
    text
}

fn fields(dice: &mut Dice<'_>, out: &mut String) {
    for _ in 0..dice.below(6) {
        let (name, value) = (dice.one(&NAMES), dice.one(&VALUES));
        let (path, kind) = (dice.one(&PATHS), dice.one(&KINDS).1);
        let done = match dice.below(16) {
            0 => writeln!(out, "namePrefix: {name}-"),
            1 => writeln!(out, "nameSuffix: -{name}"),
            2 => writeln!(out, "namespace: {name}"),
            3 => writeln!(out, "commonLabels: {{{name}: {value}}}"),
            4 => writeln!(
                out,
                "labels: [{{pairs: {{{name}: {name}}}, includeSelectors: true, fields: [{{path: a/b[]/c, create: true}}]}}]"
            ),
            5 => writeln!(out, "commonAnnotations: {{{name}: {name}}}"),
            6 => writeln!(out, "images: [{{name: nginx, newTag: {name}, newName: {name}}}]"),
            7 => writeln!(out, "replicas: [{{name: {name}, count: 3}}]"),
            8 => writeln!(
                out,
                "replacements: [{{source: {{kind: {kind}, fieldPath: {path:?}, options: {{delimiter: '-', index: 1}}}}, targets: [{{select: {{name: {name}}}, fieldPaths: [{:?}], options: {{create: true}}}}]}}]",
                dice.one(&PATHS)
            ),
            9 => writeln!(out, "patches: [{{path: patch.yaml}}]"),
            10 => writeln!(
                out,
                "patches: [{{target: {{kind: {kind}, name: {name}}}, patch: '[{{\"op\": \"{}\", \"path\": \"/{}\", \"value\": {}}}]'}}]",
                dice.one(&["add", "replace", "remove", "test", "move", "copy"]),
                dice.one(&PATHS).replace('.', "/"),
                dice.one(&["1", "\"a\"", "[]", "{}", "null", "{\"a\": [1]}"])
            ),
            11 => writeln!(
                out,
                "configMapGenerator: [{{name: {name}, behavior: {}, literals: [a=b, c={name}], files: [patch.yaml]}}]",
                dice.one(&["create", "merge", "replace", ""])
            ),
            12 => writeln!(out, "secretGenerator: [{{name: {name}, literals: [a=b]}}]"),
            13 => writeln!(
                out,
                "vars: [{{name: V, objref: {{kind: {kind}, name: {name}, apiVersion: v1}}, fieldref: {{fieldPath: {path:?}}}}}]"
            ),
            14 => writeln!(out, "configurations: [config.yaml]"),
            _ => writeln!(
                out,
                "buildMetadata: [originAnnotations, transformerAnnotations, managedByLabel]\nsortOptions: {{order: {}}}",
                dice.one(&["fifo", "legacy"])
            ),
        };
        done.expect("a String takes all");
    }
}
