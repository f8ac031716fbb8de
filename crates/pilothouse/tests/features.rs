//! A user who asks which feature gates there are, and what flags make of them: the real program, no server.

use std::process::{Command, Output};

use json::Value;

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pilothouse"));
    command.arg("features").args(arguments);
    command.output().expect("the program runs")
}

fn stdout(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn listed(arguments: &[&str]) -> Value {
    let text = stdout(&[&["list", "-o", "json"], arguments].concat());
    json::parse(text.as_bytes()).expect("JSON")
}

fn row<'a>(list: &'a Value, name: &str) -> &'a Value {
    let mut rows = list.as_array().expect("an array").iter();
    let found = rows.find(|it| it.str_at(&["name"]) == Some(name));
    found.expect("the gate is listed")
}

fn refused(arguments: &[&str]) -> String {
    let output = run(&[&["list"], arguments].concat());
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    let text = text.strip_prefix("error: ").expect("an error");
    text.trim_end().to_owned()
}

#[test]
fn all_gates_are_listed_with_their_defaults() {
    let list = listed(&[]);
    // AllAlpha and AllBeta are gates too.
    assert_eq!(list.as_array().map(Vec::len), Some(254));
    let expected = r#"{"name":"DRADeviceTaintRules","stage":"GA","default":true,"locked":false,"enabled":true,"source":"Default","dependsOn":["DRADeviceTaints"]}"#;
    assert_eq!(row(&list, "DRADeviceTaintRules").to_string(), expected);
}

#[test]
fn flags_count_as_with_kube_apiserver() {
    let list = listed(&[
        "--feature-gates=kube:NodeLogQuery=true",
        "--feature-gates",
        "kube:AllBeta=false",
        "--emulated-version=1.35",
    ]);
    let (named, beta) = (row(&list, "NodeLogQuery"), row(&list, "APIServerIdentity"));
    for (gate, enabled) in [(named, true), (beta, false)] {
        assert_eq!(gate.get("enabled"), Some(&Value::Bool(enabled)));
        assert_eq!(gate.str_at(&["source"]), Some("CommandLine"));
    }
    let absent = row(&list, "DRAFractionalCapacityRange");
    assert_eq!(absent.str_at(&["stage"]), Some("PRE-ALPHA"));
    let newest = listed(&["--min-compatibility-version=1.37", "--feature-gates="]);
    let compatible = row(&newest, "DRAFractionalCapacityRange");
    assert_eq!(compatible.get("enabled"), Some(&Value::Bool(true)));
}

#[test]
fn a_wrong_flag_is_refused_with_upstreams_text() {
    for (flag, text) in [
        (
            "--feature-gates=NodeSwap=false",
            "cannot set feature gate NodeSwap to false, feature is locked to true",
        ),
        ("--feature-gates=Foo=true", "unrecognized feature gate: Foo"),
        (
            "--emulated-version=1.30",
            "[emulation version 1.30 is not between [1.34, 1.37.0], minCompatibilityVersion version 1.34 is not between [1.34, 1.30]]",
        ),
        (
            "--emulated-version=\"1.36",
            "invalid argument \"\\\"1.36\" for \"--emulated-version\" flag: parse error on line 1, column 6: extraneous or missing \" in quoted-field",
        ),
        (
            "--min-compatibility-version=-1.36",
            "could not parse \"-1.36\" as version",
        ),
    ] {
        assert_eq!(refused(&[flag]), text);
    }
}

#[test]
fn warnings_go_to_stderr() {
    let output = run(&["list", "--feature-gates=KMSv1=true"]);
    assert!(output.status.success());
    let warning = "\"Warning: setting deprecated feature gate. It will be removed in a future release.\" featureGate=\"KMSv1\" value=true\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), warning);
}

#[test]
fn a_list_is_a_table_json_or_yaml() {
    let table = stdout(&["list"]);
    assert!(table.starts_with("NAME "), "{table}");
    assert_eq!(table.lines().count(), 255);
    let row = table.lines().find(|it| it.starts_with("NodeSwap "));
    let words: Vec<&str> = row.unwrap_or_default().split_whitespace().collect();
    assert_eq!(words, ["NodeSwap", "GA", "true", "true", "true", "Default"]);
    let yaml = stdout(&["list", "-o", "yaml"]);
    assert!(
        yaml.starts_with("- default: ") || yaml.starts_with("- name: "),
        "{yaml}"
    );
}

#[test]
fn the_registry_can_be_read_back() {
    let text = stdout(&["registry", "-o", "json"]);
    let value = json::parse(text.as_bytes()).expect("JSON");
    let registry = features::Registry::from_json(&value);
    assert_eq!(registry.as_ref(), Ok(features::Registry::kubernetes()));
    assert_eq!(stdout(&["registry"]), text);
}
