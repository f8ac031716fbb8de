//! Charts: what the user's `helm` is called with, which is what kustomize 5.8.1 calls it with.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use kustomize::{Disk, HelmOptions, Local, Options, build};

/// Writes down what it is asked, and answers as helm 3 does.
const HELM: &str = r#"#!/bin/sh
echo "$@" >> "$(dirname "$0")/asked"
case "$1" in
version) echo v3.14.0+g123 ;;
pull) mkdir -p "$4/x" ;;
template) printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: from-chart\n' ;;
esac
"#;

const CHART: &str = "helmCharts:
- name: x
  releaseName: rel
  version: 1.2.3
  repo: https://example.com/charts
  namespace: ns
  includeCRDs: true
  skipHooks: true
  skipTests: true
  apiVersions: [a/v1, b/v1]
  kubeVersion: '1.30'
  nameTemplate: foo
  valuesInline: {a: 1}
  additionalValuesFiles: [more.yaml]
  valuesFile: values.yaml
  debug: true
  devel: true
";

fn with_helm(helm: &Path) -> Options {
    Options {
        helm: HelmOptions {
            enabled: true,
            command: helm.to_string_lossy().into_owned(),
            ..HelmOptions::default()
        },
        ..Options::default()
    }
}

/// What helm was asked, one line for each call, without the directories of this run.
fn asked(dir: &Path) -> Vec<String> {
    let text = fs::read_to_string(dir.join("asked")).expect("it was asked something");
    let short = |word: &str| match word.rsplit_once('/') {
        Some((_, name)) if word.starts_with('/') => name.to_owned(),
        _ => word.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(short).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect()
}

#[test]
fn helm_is_asked_as_kustomize_asks() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let dir = dir.path();
    let helm = dir.join("helm");
    fs::write(&helm, HELM).expect("a file");
    fs::set_permissions(&helm, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let app = dir.join("app");
    fs::create_dir(&app).expect("a directory");
    for (name, text) in [
        ("kustomization.yaml", CHART),
        ("more.yaml", "c: 1\n"),
        ("values.yaml", "a: 2\n"),
    ] {
        fs::write(app.join(name), text).expect("a file");
    }
    let options = with_helm(&helm);
    let output = build(&Disk, &Local, &app.to_string_lossy(), &options);
    let text = output.and_then(|it| it.to_yaml());
    assert_eq!(
        text.as_deref(),
        Ok("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: from-chart\n")
    );
    let version = "version --short";
    let template = "template rel x --namespace ns --name-template foo -f x-kustomize-values.yaml -f more.yaml --api-versions a/v1 --api-versions b/v1 --kube-version 1.30 --include-crds --skip-tests --no-hooks --debug --devel";
    assert_eq!(
        asked(dir),
        [
            version,
            "pull --untar --untardir x-1.2.3 --repo https://example.com/charts x --version 1.2.3 --devel",
            template,
        ]
    );
    // What was pulled is there the next time.
    fs::remove_file(dir.join("asked")).expect("it is ours");
    build(&Disk, &Local, &app.to_string_lossy(), &options).expect("it builds again");
    assert_eq!(asked(dir), [version, template]);
}

/// Compared with kustomize 5.8.1 and a real helm.
#[test]
fn what_is_wrong_is_told_as_kustomize_tells() {
    let dir = tempfile::tempdir().expect("a directory of our own");
    let dir = dir.path();
    let helm = dir.join("helm");
    let nameless = HELM.replace("name: from-chart", "x: y");
    fs::write(&helm, nameless).expect("a file");
    fs::set_permissions(&helm, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let app = dir.join("app");
    fs::create_dir_all(app.join("charts/x")).expect("a directory");
    for (values, chart, expected) in [
        (
            "a: 1\n",
            "  valuesInline: []\n",
            "invalid Kustomization: json: cannot unmarshal array into Go struct field \
             HelmChart.helmCharts.valuesInline of type map[string]interface {}",
        ),
        (
            "# nothing\n",
            "  valuesInline: {a: 1}\n",
            "could not parse values file into rnode: EOF",
        ),
        (
            "{\n",
            "  valuesInline: {a: 1}\n",
            "could not parse values file into rnode: yaml: ",
        ),
        (
            "a: 1\n",
            "",
            "could not parse rnode slice into resource map: missing metadata.name",
        ),
    ] {
        let text = format!("helmCharts:\n- name: x\n  valuesFile: values.yaml\n{chart}");
        fs::write(app.join("kustomization.yaml"), text).expect("a file");
        fs::write(app.join("values.yaml"), values).expect("a file");
        let options = with_helm(&helm);
        let built = build(&Disk, &Local, &app.to_string_lossy(), &options);
        let error = built.expect_err("an error").to_string();
        assert!(error.contains(expected), "{error}");
    }
}
