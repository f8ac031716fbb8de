//! What is in `deploy/`: manifests that a server takes, with flags and probes that the program understands.

use std::path::{Path, PathBuf};
use std::process::Command;

use json::Value;

use super::program::{Program, said};

fn deploy(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    root.join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(deploy(name)).unwrap()
}

#[testkit::requires(kubectl)]
#[test]
fn a_cluster_takes_the_manifests() {
    let server = Program::serve::<&str>(&[]);
    let kubectl = |arguments: &str| {
        let kubectl = std::env::var_os("KUBECTL").unwrap_or_else(|| "kubectl".into());
        let done = Command::new(kubectl)
            .args(arguments.split(' '))
            .current_dir(deploy(""))
            .env("KUBECONFIG", server.data().join("admin.kubeconfig"))
            .env("HOME", server.place())
            .output();
        let (success, text) = said(&done.unwrap());
        assert!(success, "kubectl {arguments}: {text}");
        text
    };
    // The others are in it.
    kubectl("apply --server-side -f kubernetes/namespace.yaml");
    let dry = kubectl("apply --dry-run=server --validate=strict -k kubernetes");
    for object in [
        "namespace/pilothouse",
        "serviceaccount/pilothouse",
        "role.rbac.authorization.k8s.io/pilothouse-operator",
        "rolebinding.rbac.authorization.k8s.io/pilothouse-operator",
        "service/pilothouse",
        "service/pilothouse-pods",
        "statefulset.apps/pilothouse",
    ] {
        assert!(dry.contains(object), "{object} is not in {dry}");
    }
    assert!(
        !dry.contains("Warning: would violate PodSecurity"),
        "the namespace enforces the restricted level: {dry}"
    );
    kubectl("apply --server-side --validate=strict -k kubernetes");
    // Nothing was changed or dropped on the way in.
    assert_eq!(kubectl("diff --server-side -k kubernetes"), "");
    // The pod that a controller would make is allowed, too.
    let spec = "-n pilothouse get statefulset pilothouse -o jsonpath={.spec.template.spec}";
    let volume = r#"{"volumes": [{"name": "data", "emptyDir": {}}], "#;
    let spec = kubectl(spec).replacen('{', volume, 1);
    let spec = json::parse(spec.as_bytes()).unwrap();
    let pod = json::json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pilothouse-0"},
        "spec": spec,
    });
    let created = server
        .admin()
        .post("/api/v1/namespaces/pilothouse/pods", &pod);
    assert_eq!(created.code, 201, "{}", created.body);
}

#[test]
fn the_pods_flags_and_probes_work() {
    let stateful = yaml::to_json(read("kubernetes/statefulset.yaml").as_bytes()).unwrap();
    let containers = ["spec", "template", "spec", "containers"];
    let containers = containers.iter().try_fold(&stateful, |it, key| it.get(key));
    let container = &containers.and_then(Value::as_array).unwrap()[0];
    let arguments = container.get("args").and_then(Value::as_array).unwrap();
    let mut arguments: Vec<&str> = arguments.iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(arguments.remove(0), "serve");
    // Those that the test has its own of.
    for own in ["--data-dir=/data/pilothouse", "--secure-port=6443"] {
        let at = arguments.iter().position(|it| *it == own).expect(own);
        arguments.remove(at);
    }
    let server = Program::serve(&arguments);
    // Clients call it by the name of the Service, and its certificate is for that.
    let name = "tls-server-name: pilothouse.pilothouse.svc\n    server:";
    let kubeconfig = server.kubeconfig().replace("server:", name);
    let client = super::client::Client::new(&kubeconfig).anonymous();
    for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        let path = container.str_at(&[probe, "httpGet", "path"]).expect(probe);
        assert_eq!(
            container.str_at(&[probe, "httpGet", "scheme"]),
            Some("HTTPS")
        );
        let answer = client.get(path);
        assert_eq!((answer.code, answer.body.as_str()), (200, "ok"), "{path}");
    }
}

#[test]
fn the_units_command_line_works() {
    let unit = read("systemd/pilothouse.service");
    let line = unit.lines().find_map(|it| it.strip_prefix("ExecStart="));
    let mut words: Vec<&str> = line.expect("ExecStart").split(' ').collect();
    assert_eq!(words.remove(0), "/usr/local/bin/pilothouse");
    assert_eq!(words.pop(), Some("$PILOTHOUSE_FLAGS"));
    assert_eq!(words[1..], ["--data-dir", "/var/lib/pilothouse"]);
    assert!(unit.contains("StateDirectory=pilothouse\n"), "its place");
    let server = Program::serve(&words[3..]);
    assert_eq!(server.admin().get("/readyz").code, 200);
}
