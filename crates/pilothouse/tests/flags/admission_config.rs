//! `--admission-control-config-file`: policies from files.

use std::fs;
use std::path::Path;

use json::{Value, json};

use super::program::{Program, run, until};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const NAME: &str = "small.static.k8s.io";

fn policy(expression: &str) -> String {
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": NAME},
        "spec": {
            "matchConstraints": {"resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"],
            }]},
            "validations": [{"expression": expression, "message": "too large"}],
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": NAME}, "spec": {"policyName": NAME, "validationActions": ["Deny"]},
    });
    format!("{policy}\n---\n{binding}\n")
}

/// A configuration that names a directory of manifests.
fn configuration(place: &Path, plugin: &str, own: Value) -> String {
    let file = place.join("admission.yaml");
    let config = json!({
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration",
        "plugins": [{"name": plugin, "configuration": own}],
    });
    fs::write(&file, config.to_string()).expect("writable");
    format!("--admission-control-config-file={}", file.display())
}

fn of_directory(place: &Path) -> Value {
    json!({
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "ValidatingAdmissionPolicyConfiguration",
        "staticManifestsDir": (place.join("manifests").display().to_string()),
    })
}

#[test]
fn policies_from_files_are_in_force_from_the_start_and_follow_their_files() {
    let place = tempfile::tempdir().expect("a directory");
    let manifests = place.path().join("manifests");
    fs::create_dir(&manifests).expect("writable");
    let file = manifests.join("policy.yaml");
    fs::write(&file, policy("object.data.size() < 2")).expect("writable");
    let flag = configuration(
        place.path(),
        "ValidatingAdmissionPolicy",
        of_directory(place.path()),
    );
    let server = Program::serve(&[flag]);
    let admin = server.admin();
    let map = |name: &str| json!({"metadata": {"name": name}, "data": {"a": "b", "c": "d"}});
    let refused = admin.post(MAPS, &map("a")).expect(422);
    let text = "ValidatingAdmissionPolicy 'small.static.k8s.io' with binding 'small.static.k8s.io' denied request: too large";
    assert!(refused.body.contains(text), "{}", refused.body);
    fs::write(&file, policy("object.data.size() < 3")).expect("writable");
    let mut number = 0;
    until("the new policy is in force", || {
        number += 1;
        admin.post(MAPS, &map(&format!("m{number}"))).code == 201
    });
}

#[test]
fn what_cannot_be_used_is_refused_at_the_start() {
    let place = tempfile::tempdir().expect("a directory");
    let manifests = place.path().join("manifests");
    fs::create_dir(&manifests).expect("writable");
    let serve = |flag: &str| run(&["serve", "--ephemeral", flag]);
    let flag = configuration(place.path(), "PodSecurity", json!({}));
    let (ok, said) = serve(&flag);
    let text = "configuration of admission plugin \"PodSecurity\" is not supported by this server";
    assert!(!ok && said.contains(text), "{said}");
    let own = json!({
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "ValidatingAdmissionPolicyConfiguration",
        "staticManifestsDir": "manifests",
    });
    let (ok, said) = serve(&configuration(
        place.path(),
        "ValidatingAdmissionPolicy",
        own,
    ));
    let text = "staticManifestsDir: Invalid value: \"manifests\": must be an absolute file path";
    assert!(!ok && said.contains(text), "{said}");
    fs::write(manifests.join("a.yaml"), policy("object.")).expect("writable");
    let own = of_directory(place.path());
    let (ok, said) = serve(&configuration(
        place.path(),
        "ValidatingAdmissionPolicy",
        own,
    ));
    let text = "ValidatingAdmissionPolicy \"small.static.k8s.io\": spec.validations[0].expression: Invalid value: \"object.\": \
                compilation failed: ";
    assert!(!ok && said.contains(text), "{said}");
}
