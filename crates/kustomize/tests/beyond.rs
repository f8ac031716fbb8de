//! What kustomize does not have: patterns, explanations, places of errors, what a build depends on.

use kustomize::{Alone, Error, Memory, Options, Output, Recorded, build};

fn files() -> Memory {
    Memory::from_iter([
        (
            "/prod/kustomization.yaml",
            "namePrefix: prod-\nnamespace: live\nresources:\n- ../base\npatches:\n- path: patch.yaml\n- patch: |-\n    - {op: add, path: /spec/paused, value: true}\n  target: {kind: Deployment}\nimages:\n- {name: nginx, newTag: v2}\nconfigMapGenerator:\n- {name: settings, literals: [a=b]}\n",
        ),
        (
            "/prod/patch.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 5\n",
        ),
        ("/base/kustomization.yaml", "resources:\n- all.yaml\n"),
        (
            "/base/all.yaml",
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 2\n  template:\n    spec:\n      containers:\n      - name: web\n        image: nginx:v1\n        envFrom:\n        - configMapRef: {name: settings}\n",
        ),
    ])
}

fn explained() -> Output {
    let options = Options {
        explain: true,
        ..Options::default()
    };
    build(&files(), &Alone, "/prod", &options).expect("it builds")
}

fn answer(question: &str) -> String {
    let answer = explained().explain(question);
    answer.map_or_else(|error| error.to_string(), |it| it.to_string())
}

#[test]
fn a_field_is_explained() {
    assert_eq!(
        answer("Deployment/prod-web:spec.replicas"),
        "Deployment/prod-web:spec.replicas\n  5  patch.yaml:6, by kustomization.yaml:6: patches[0]\n  2  ../base/all.yaml:11\n"
    );
    assert_eq!(
        answer("deployment.apps/live/web:spec.paused"),
        "Deployment/prod-web:spec.paused\n  true  kustomization.yaml:7: patches[1]\n"
    );
    assert_eq!(
        answer("Deployment/web:spec.template.spec.containers[name=web].image"),
        "Deployment/prod-web:spec.template.spec.containers[name=web].image\n  nginx:v2  kustomization.yaml:11: images[0]\n  nginx:v1  ../base/all.yaml:16\n"
    );
    for field in ["metadata.labels.a\\.b/c", "metadata.labels[a.b/c]"] {
        assert_eq!(
            answer(&format!("Deployment/web:{field}")),
            "Deployment/prod-web:metadata.labels[a.b/c] is not set, and never was"
        );
    }
    let name = answer("Deployment/web:metadata.name");
    assert!(
        name.contains("prod-web  kustomization.yaml:1: namePrefix\n"),
        "{name}"
    );
    let reference =
        answer("Deployment/web:spec.template.spec.containers[0].envFrom[0].configMapRef.name");
    let lines: Vec<&str> = reference.lines().collect();
    assert!(
        lines[1].ends_with("  new name of what it refers to"),
        "{reference}"
    );
    let hashed = answer("ConfigMap/settings:metadata.name");
    assert!(hashed.contains("  name suffix hash\n"), "{hashed}");
    assert!(hashed.contains("settings"), "{hashed}");
    assert!(
        hashed.ends_with("kustomization.yaml:13: configMapGenerator[0]\n"),
        "{hashed}"
    );
}

#[test]
fn a_whole_resource_is_explained() {
    let text = answer("Service/web");
    assert_eq!(
        text.lines().map(str::trim).collect::<Vec<_>>(),
        [
            "Service/prod-web",
            "apiVersion: v1            ../base/all.yaml:1",
            "kind: Service             ../base/all.yaml:2",
            "metadata.name: prod-web   kustomization.yaml:1: namePrefix",
            "metadata.namespace: live  kustomization.yaml:2: namespace",
        ]
    );
}

#[test]
fn questions_without_an_answer() {
    assert_eq!(answer("Pod/a"), "the output has no Pod/a");
    assert_eq!(
        answer("Service/web:spec.x"),
        "Service/prod-web:spec.x is not set, and never was"
    );
    assert!(answer("web").contains("is not of the form"));
    let unasked = build(&files(), &Alone, "/prod", &Options::default()).expect("it builds");
    let error = unasked
        .explain("Service/prod-web")
        .expect_err("nobody wrote it down");
    assert!(error.to_string().contains("kept no record"), "{error}");
}

#[test]
fn to_be_asked_changes_nothing() {
    let plain = build(&files(), &Alone, "/prod", &Options::default()).expect("it builds");
    assert_eq!(explained().to_yaml(), plain.to_yaml());
}

fn error_of(files: &[(&str, &str)]) -> Error {
    let files: Memory = files.iter().copied().collect();
    let built = build(&files, &Alone, "/app", &Options::default());
    built.map(|_| ()).expect_err("it cannot be built")
}

#[test]
fn errors_know_their_place() {
    let base = (
        "/base/kustomization.yaml",
        "resources: []\n\nnamePrefx: a\n",
    );
    let error = error_of(&[("/app/kustomization.yaml", "resources: [../base]\n"), base]);
    assert!(
        error.to_string().ends_with("unknown field \"namePrefx\""),
        "{error}"
    );
    assert_eq!(error.place(), Some("../base/kustomization.yaml:3"));

    let patched = "resources: [a.yaml]\npatches:\n- {patch: '{kind: A, metadata: {name: b}}'}\n";
    let a = ("/app/a.yaml", "kind: A\nmetadata: {name: a}\n");
    let error = error_of(&[("/app/kustomization.yaml", patched), a]);
    assert!(error.to_string().contains("no matches for Id"), "{error}");
    assert_eq!(error.place(), Some("kustomization.yaml:3: patches[0]"));

    let generated = "configMapGenerator:\n- name: a\n- name: b\n  files: [none]\n";
    let error = error_of(&[("/app/kustomization.yaml", generated)]);
    assert_eq!(
        error.place(),
        Some("kustomization.yaml:3: configMapGenerator[1]")
    );
}

#[test]
fn patterns_name_many_files() {
    let service =
        |name: &str| format!("apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\n");
    let mut files = Memory::new();
    for path in ["b", "a", "x1", "x2", "deep/er/c", "deep/d", ".hidden"] {
        let name = path.replace(['/', '.'], "");
        files.insert(&format!("/app/{path}.yaml"), service(&name));
    }
    files.insert("/app/one/kustomization.yaml", "resources: [s.yaml]\n");
    files.insert("/app/one/s.yaml", service("one"));
    let mut names = |pattern: &str| -> Result<String, String> {
        let text = format!("resources: ['{pattern}']\n");
        files.insert("/app/kustomization.yaml", text);
        let options = Options {
            enable_globs: true,
            ..Options::default()
        };
        let output = build(&files, &Alone, "/app", &options).and_then(|it| it.to_yaml());
        let output = output.map_err(|error| error.to_string())?;
        let names = output.lines().filter_map(|it| it.strip_prefix("  name: "));
        Ok(names.collect::<Vec<_>>().join(" "))
    };
    assert_eq!(names("*.yaml").as_deref(), Ok("a b x1 x2"));
    assert_eq!(names("x[2-9].yaml").as_deref(), Ok("x2"));
    assert_eq!(names("x[!2].yaml").as_deref(), Ok("x1"));
    assert_eq!(names("?.yaml").as_deref(), Ok("a b"));
    assert_eq!(names("deep/**/*.yaml").as_deref(), Ok("deepd deeperc"));
    assert_eq!(names("on*").as_deref(), Ok("one"));
    let error = names("none*.yaml").expect_err("there is none");
    assert!(
        error.contains("nothing in '/app' matches 'none*.yaml'"),
        "{error}"
    );
    let error = names("../app/../*").expect_err("it would contain itself");
    assert!(error.contains("cycle detected"), "{error}");

    files.insert("/app/kustomization.yaml", "resources: ['*.yaml']\n");
    let plain = build(&files, &Alone, "/app", &Options::default());
    let error = plain.map(|_| ()).expect_err("kustomize has no patterns");
    assert!(
        error
            .to_string()
            .contains("accumulating resources from '*.yaml'"),
        "{error}"
    );
}

#[test]
fn it_is_known_what_was_read() {
    let files = Recorded::new(files());
    build(&files, &Alone, "/prod", &Options::default()).expect("it builds");
    let paths = files.take();
    for path in [
        "/prod/kustomization.yaml",
        "/prod/patch.yaml",
        "/base/all.yaml",
    ] {
        assert!(paths.contains(path), "{path} is not in {paths:?}");
    }
    assert!(files.take().is_empty());
}
