//! An author of CEL expressions, before anything is sent to a server: the real program.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use json::Value;

const DEFINITION: &str = r"apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gateways.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gateways, singular: gateway, kind: Gateway, listKind: GatewayList}
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
            properties:
              class: {type: string, maxLength: 63}
              hosts: {type: array, maxItems: 20, items: {type: string, maxLength: 253}}
              names: {type: array, items: {type: string}}
              listeners:
                type: array
                maxItems: 64
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string, maxLength: 63}
                    port: {type: integer, default: 80}
";

const OBJECT: &str = r"apiVersion: example.com/v1
kind: Gateway
metadata: {name: web, namespace: default}
spec:
  class: public
  hosts: [www.example.com, api.example.com]
  names: [a, b]
  listeners:
  - {name: http}
  - {name: https, port: 443}
";

const POD: &str = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
"spec": {"containers": [{"name": "app", "image": "nginx:1.29"}]}}"#;

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        let this = Self(tempfile::tempdir().expect("a directory"));
        this.write("crd.yaml", DEFINITION);
        this.write("gateway.yaml", OBJECT);
        this.write("pod.json", POD);
        this
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }

    fn run_with(&self, stdin: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pilothouse"));
        command
            .arg("cel")
            .args(arguments)
            .current_dir(self.0.path());
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut input = child.stdin.take().expect("a pipe");
        // A program that does not read its input closes it.
        let _ = input.write_all(stdin.as_bytes());
        drop(input);
        child.wait_with_output().expect("the program ends")
    }

    /// The exit code and the two outputs.
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = self.run_with("", arguments);
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    fn rule(&self, expression: &str, path: &str) -> (Option<i32>, String) {
        let arguments = ["eval", expression, "--object=gateway.yaml"];
        let more = ["--schema=crd.yaml", "--path", path];
        let (code, out, error) = self.run(&[&arguments[..], &more].concat());
        assert_eq!(error, "");
        (code, out)
    }

    fn unreadable(&self, arguments: &[&str]) -> String {
        let (code, out, error) = self.run(arguments);
        assert_eq!((code, &*out), (Some(2), ""), "{arguments:?}");
        let error = error.strip_prefix("error: ").expect("an error");
        error.trim_end().to_owned()
    }
}

#[test]
fn a_rule_is_evaluated_and_its_parts_are_priced() {
    let expression = "self.hosts.all(h, h.endsWith('.example.com') && h != self.class)";
    let expected = "\
value:    true  at .spec
type:     bool
run time: 23 of at most 1,000,000 units
static:   at most 703 of 10,000,000 units

MAX  RUN  EXPRESSION
703   23  self.hosts.all(h, h.endsWith('.example.com') && h != self.class)
  2    2  ├─ self.hosts
640   14  └─ h.endsWith('.example.com') && h != self.class
 60    6     ├─ h.endsWith('.example.com')
 20    2     │  └─ h
580    8     └─ h != self.class
 20    2        ├─ h
 40    4        └─ self.class
";
    let found = Files::new().rule(expression, ".spec");
    assert_eq!(found, (Some(0), expected.to_owned()));
}

#[test]
fn a_rule_is_evaluated_for_each_item_with_its_old_value() {
    let files = Files::new();
    let (code, out) = files.rule("self.port > 100", ".spec.listeners[*]");
    let expected = "\
value:    false  at .spec.listeners[0]
value:    true  at .spec.listeners[1]
type:     bool
run time: 6 units in 2 evaluations; the limit is 1,000,000 for each and 10,000,000 for an object
static:   at most 3 units x 64 values in an object = 192 of 10,000,000

MAX  RUN  EXPRESSION
  3    6  self.port > 100
  2    4  └─ self.port
";
    assert_eq!((code, &*out), (Some(0), expected));
    files.write(
        "old.yaml",
        &OBJECT
            .replace("  - {name: http}\n", "")
            .replace("443", "8443"),
    );
    let (code, out, _) = files.run(&[
        "eval",
        "self.port == oldSelf.port",
        "--object=gateway.yaml",
        "--old=old.yaml",
        "--schema=crd.yaml",
        "--path=.spec.listeners[*]",
    ]);
    let begin = "\
value:    skipped: the rule uses oldSelf, and there is no old value here  at .spec.listeners[0]
value:    false  at .spec.listeners[1]
type:     bool
run time: 5 of at most 1,000,000 units
";
    assert!(code == Some(0) && out.starts_with(begin), "{out}");
}

#[test]
fn a_rule_that_a_server_would_refuse_is_shown_with_its_words() {
    let files = Files::new();
    let (code, out) = files.rule("self.all(x, self.exists_one(y, x == y))", ".spec.names");
    assert_eq!(code, Some(0));
    let text = "\nA server would refuse the definition with this rule:\n  \
spec.validation.openAPIV3Schema.properties[spec].properties[names].x-kubernetes-validations[0].rule: Forbidden: \
estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, \
maxProperties, and maxLength where arrays, maps, and strings are declared)\n";
    assert!(out.contains(text), "{out}");
    let (_, out) = files.rule("self.class", ".spec");
    assert!(
        out.starts_with("value:    \"public\"  at .spec\ntype:     string\n"),
        "{out}"
    );
    assert!(
        out.contains("cel expression must evaluate to a bool"),
        "{out}"
    );
}

#[test]
fn a_typo_is_marked() {
    let (code, out) = Files::new().rule("self.spec.clas == 'x'", "");
    let expected = "\
ERROR: <input>:1:10: undefined field 'clas'
 | self.spec.clas == 'x'
 | .........^
";
    assert_eq!((code, &*out), (Some(1), expected));
}

#[test]
fn an_admission_expression_is_checked_against_a_kind() {
    let files = Files::new();
    let eval = |expression: &str, more: &[&str]| {
        files.run(&[&["eval", expression, "--object=pod.json"], more].concat())
    };
    let (code, out, _) = eval("object.spec.container.size() > 1", &["--kind=v1/Pod"]);
    assert_eq!(code, Some(1));
    assert!(
        out.starts_with("value:    error: no such key: container\n"),
        "{out}"
    );
    let warning = "\nwarning: /v1, Kind=Pod: ERROR: <input>:1:12: undefined field 'container'\n";
    assert!(out.contains(warning), "{out}");
    let check = "authorizer.group('').resource('pods').check('get').allowed()";
    let (code, out, _) = eval(check, &[]);
    assert_eq!(code, Some(1));
    assert!(
        out.contains("note: there is no authorizer here: give --authorizer="),
        "{out}"
    );
    for (flag, expected) in [
        ("--authorizer=allow", "true"),
        ("--authorizer=deny", "false"),
    ] {
        let (code, out, _) = eval(check, &[flag]);
        assert_eq!(code, Some(0));
        assert!(out.starts_with(&format!("value:    {expected}\n")), "{out}");
    }
    let (code, out, _) = eval("params.max > 1", &[]);
    assert_eq!(code, Some(1));
    assert!(out.contains("undeclared reference to 'params'"), "{out}");
    assert!(
        out.contains("note: params is there only with --params"),
        "{out}"
    );
    files.write("params.yaml", "max: 5");
    let request = "request.operation + '/' + request.resource.resource + '/' + request.name";
    let expression = format!("params.max == 5 ? {request} : ''");
    let (code, out, _) = eval(&expression, &["--params=params.yaml", "--old=pod.json"]);
    assert!(
        code == Some(0) && out.starts_with("value:    \"UPDATE/pods/web\"\n"),
        "{out}"
    );
}

#[test]
fn programs_read_json() {
    let files = Files::new();
    let output = files.run_with(
        POD,
        &["eval", "has(object.spec.nodeName)", "--object=-", "-o=json"],
    );
    assert!(output.status.success());
    let report = json::parse(&output.stdout).expect("JSON");
    assert_eq!(report.str_at(&["mode"]), Some("admission"));
    assert_eq!(report.str_at(&["type"]), Some("bool"));
    let results = report.get("results").expect("results").to_string();
    assert_eq!(results, r#"[{"value":false,"cost":2}]"#);
    let parts = report
        .get("parts")
        .and_then(Value::as_array)
        .expect("parts");
    assert_eq!(parts[0].get("cost").and_then(Value::as_i64), Some(2));
    assert_eq!(
        parts[0].str_at(&["text"]),
        Some("has(object.spec.nodeName)")
    );
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let files = Files::new();
    files.write("empty.yaml", "# nothing\n---\n");
    files.write("broken.yaml", "a: [1");
    files.write("list.yaml", "- 1\n");
    let object = |name: &str| files.unreadable(&["eval", "true", "--object", name]);
    assert_eq!(
        object("no.yaml"),
        "cannot read no.yaml: No such file or directory (os error 2)"
    );
    assert_eq!(object("empty.yaml"), "empty.yaml is empty");
    assert!(object("broken.yaml").starts_with("cannot parse broken.yaml: "));
    assert_eq!(
        object("list.yaml"),
        "list.yaml is not an object but an array"
    );
    let with = |more: &[&str]| {
        let arguments = ["eval", "true", "--object=gateway.yaml"];
        files.unreadable(&[&arguments[..], more].concat())
    };
    assert_eq!(
        with(&["--schema=pod.json"]),
        "pod.json is no CustomResourceDefinition of apiextensions.k8s.io/v1 but Pod"
    );
    assert_eq!(
        with(&["--schema=crd.yaml", "--schema-version=v2"]),
        "cannot choose a version of crd.yaml: there is no v2, only v1"
    );
    assert_eq!(
        with(&["--schema=crd.yaml", "--path=.spec.host"]),
        "the schema has nothing at .spec.host: the fields are class, hosts, listeners, names"
    );
    assert_eq!(
        with(&["--kind=v1/Pods"]),
        "--kind=v1/Pods: there is no such built-in kind; for a custom resource give --schema"
    );
    assert_eq!(
        files.unreadable(&["eval", "true", "--object=-", "--old=-"]),
        "stdin is empty"
    );
}

const POLICY: &str = r"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations:
  - expression: object.spec.replica < 5
  - expression: |
      object.spec.replicas <
    message: few
";

const BROKEN: &str = r"# Other kinds are counted.
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
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
            - {rule: self.min <= self.max}
            - rule: self.low > 0
              message: low
            properties:
              min: {type: integer}
              max: {type: integer}
";

#[test]
fn files_are_checked_with_places_and_the_servers_words() {
    let files = Files::new();
    files.write("all/policy.yaml", POLICY);
    files.write("all/deep/crd.yaml", BROKEN);
    files.write("all/notes.txt", "not: looked at");
    let (code, out, error) = files.run(&["check", "-R", "-f", "all"]);
    assert_eq!((code, &*error), (Some(1), ""));
    let expected = "\
all/deep/crd.yaml:25:21: spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[1].rule: Invalid value: \
{\"Rule\":\"self.low \\u003e 0\",\"Message\":\"low\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: \
compilation failed: ERROR: <input>:1:5: undefined field 'low'
 | self.low > 0
 | ....^
";
    assert!(out.contains(expected), "{out}");
    let warning = "\
all/policy.yaml:9:17: warning: spec.validations[0].expression: apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined \
field 'replica'
 | object.spec.replica < 5
 | ...........^
";
    assert!(out.contains(warning), "{out}");
    let syntax = "all/policy.yaml:11:7: spec.validations[1].expression: Invalid value: ";
    assert!(out.contains(syntax), "{out}");
    let end = "\n4 expressions in 2 objects of 2 files: 2 errors, 2 warnings; skipped 1 object of other kinds\n";
    assert!(out.ends_with(end), "{out}");
    let (_, out, _) = files.run(&["check", "-f", "all"]);
    assert!(out.contains("of 1 file: "), "{out}");
}

#[test]
fn good_files_are_good_and_costs_are_a_part_of_the_limit() {
    let files = Files::new();
    let good = BROKEN.replace("self.low > 0", "self.min > 0");
    files.write("good.yaml", &good);
    let (code, out, error) = files.run(&["check", "-v", "-f", "good.yaml", "crd.yaml"]);
    let at = "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations";
    let expected = format!(
        "\
good.yaml:24:22: {at}[0].rule: at most 5 of 10,000,000 units (0.0 %)
good.yaml:25:21: {at}[1].rule: at most 3 of 10,000,000 units (0.0 %)
2 expressions in 2 objects of 2 files: 0 errors; skipped 1 object of other kinds
"
    );
    assert_eq!((code, &*out, &*error), (Some(0), &*expected, ""));
    let output = files.run_with(&good, &["check", "-f", "-"]);
    assert!(output.status.success());
}

#[test]
fn files_that_cannot_be_read_do_not_hide_the_others() {
    let files = Files::new();
    files.write("empty.yaml", "");
    files.write("broken.yaml", "a: [1");
    files.write("crd2.yaml", BROKEN);
    let list = ["no.yaml", "empty.yaml", "broken.yaml", "crd2.yaml"];
    let (code, out, error) = files.run(&[&["check", "-f"], &list[..]].concat());
    assert_eq!(code, Some(2));
    assert!(out.contains("undefined field 'low'"), "{out}");
    assert!(out.ends_with("; could not read 3 files\n"), "{out}");
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(
        lines[0],
        "error: cannot read no.yaml: No such file or directory (os error 2)"
    );
    assert_eq!(lines[1], "error: empty.yaml is empty");
    assert!(
        lines[2].starts_with("error: cannot parse broken.yaml, document from line 1: "),
        "{error}"
    );
}
