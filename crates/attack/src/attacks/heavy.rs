//! Requests that are right, or nearly, and cost much: they must cost no more than their size, and hold up nobody.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use json::{Value, json};

use super::crowd;
use crate::field::{BLOBS, Field, NAMESPACE, until_allowed};
use crate::{Attack, Bounds, USUAL, Who};

const SERVICES: &str = "/api/v1/namespaces/attack/services";
const PODS: &str = "/api/v1/namespaces/attack/pods";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Six at once, each of some hundred milliseconds.
const HEAVY: Bounds = Bounds {
    memory_mib: 384,
    ..USUAL
};

pub(super) const ALL: &[Attack] = &[
    Attack {
        name: "service-ports",
        about: "Services with 12,000 ports, six at once",
        who: Who::Editor,
        bounds: HEAVY,
        run: service_ports,
    },
    Attack {
        name: "json-patch-inserts",
        about: "10,000 times `add /x/0` on a list of 350,000 items",
        who: Who::Editor,
        bounds: HEAVY,
        run: json_patch_inserts,
    },
    Attack {
        name: "pod-containers",
        about: "Pods with 9,000 containers and volumes",
        who: Who::Editor,
        bounds: HEAVY,
        run: pod_containers,
    },
    Attack {
        name: "definition-patterns",
        about: "CustomResourceDefinition with 3,000 patterns that are large when compiled",
        who: Who::Operator,
        bounds: HEAVY,
        run: definition_patterns,
    },
    Attack {
        name: "heavy-crowd",
        about: "64 clients at once with the heaviest requests that are accepted",
        who: Who::Editor,
        bounds: Bounds {
            memory_mib: 384,
            cpu: Duration::from_secs(60),
            bystander: Duration::from_millis(20),
            ..USUAL
        },
        run: heavy_crowd,
    },
];

fn service(name: &str, ports: usize) -> Value {
    let port = |number: usize| json!({"name": (format!("p{number}")), "port": (i64::try_from(number + 1).unwrap_or(1))});
    json!({"metadata": {"name": name}, "spec": {"clusterIP": "None", "ports": ((0..ports).map(port).collect::<Value>())}})
}

fn pod(name: &str, containers: usize) -> Value {
    let container = |number: usize| {
        let volume = json!({"name": (format!("v{number}")), "mountPath": (format!("/m{number}"))});
        json!({"name": (format!("c{number}")), "image": "i", "volumeMounts": [volume]})
    };
    let volume = |number: usize| json!({"name": (format!("v{number}")), "emptyDir": {}});
    json!({"metadata": {"name": name}, "spec": {
        "automountServiceAccountToken": false,
        "containers": ((0..containers).map(container).collect::<Value>()),
        "volumes": ((0..containers).map(volume).collect::<Value>()),
    }})
}

fn service_ports(field: &mut Field) -> io::Result<()> {
    let alice = field.alice();
    let ports = field.of(12_000, 300);
    let answers = crowd(6, |number| {
        alice.post(SERVICES, &service(&format!("s{number}"), ports))
    });
    for answer in answers {
        field.expect("a Service", answer, &[201, 413, 422]);
    }
    Ok(())
}

fn json_patch_inserts(field: &mut Field) -> io::Result<()> {
    let alice = field.alice();
    let items = vec!["0"; field.of(350_000, 10_000)].join(",");
    let body = format!(
        r#"{{"apiVersion":"attack.example.com/v1","kind":"Blob","metadata":{{"name":"list"}},"x":[{items}]}}"#
    );
    let made = alice.send("POST", BLOBS, "application/json", body.as_bytes());
    field.expect("a list", made, &[201]);
    let count = field.of(10_000, 1000);
    for operation in [
        r#"{"op":"add","path":"/x/0","value":1}"#,
        r#"{"op":"remove","path":"/x/0"}"#,
        r#"{"op":"move","from":"/x/0","path":"/x/1"}"#,
    ] {
        let patch = format!("[{}]", vec![operation; count].join(","));
        let answers = crowd(2, |_| {
            let kind = "application/json-patch+json";
            alice.send(
                "PATCH",
                &format!("{BLOBS}/list?dryRun=All"),
                kind,
                patch.as_bytes(),
            )
        });
        for answer in answers {
            field.expect(operation, answer, &[200, 413, 422]);
        }
    }
    Ok(())
}

fn pod_containers(field: &mut Field) -> io::Result<()> {
    let alice = field.alice();
    // Without it no Pod is admitted.
    until_allowed(
        &alice,
        &format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"),
    )?;
    let count = field.of(9000, 200);
    let answers = crowd(3, |number| {
        alice.post(PODS, &pod(&format!("p{number}"), count))
    });
    for answer in answers {
        field.expect("a Pod", answer, &[201, 413, 422, 500]);
    }
    Ok(())
}

fn definition_patterns(field: &mut Field) -> io::Result<()> {
    let count = field.of(3000, 20);
    let pattern = |number: usize| {
        let schema = json!({"type": "string", "pattern": "[\\p{L}]{40}"});
        (format!("f{number}"), schema)
    };
    let properties: json::Object = (0..count).map(pattern).collect();
    let definition = json!({
        "metadata": {"name": "patterns.attack.example.com"},
        "spec": {
            "group": "attack.example.com", "scope": "Namespaced", "names": {"plural": "patterns", "kind": "Pattern"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "properties": properties}},
            }}}],
        },
    });
    let answer = field.admin().post(DEFINITIONS, &definition);
    field.expect("a definition", answer, &[201, 413, 422]);
    let mut fields = String::new();
    for number in 0..count {
        let comma = if number > 0 { "," } else { "" };
        let _ = write!(fields, "{comma}\"f{number}\":\"{}\"", "é".repeat(40));
    }
    let body = format!(
        r#"{{"apiVersion":"attack.example.com/v1","kind":"Pattern","metadata":{{"name":"p"}},"spec":{{{fields}}}}}"#
    );
    let path = format!("/apis/attack.example.com/v1/namespaces/{NAMESPACE}/patterns");
    let alice = field.alice();
    for answer in crowd(2, |_| {
        alice.send("POST", &path, "application/json", body.as_bytes())
    }) {
        field.expect("an object of it", answer, &[201, 404, 409, 413, 422]);
    }
    Ok(())
}

fn heavy_crowd(field: &mut Field) -> io::Result<()> {
    let alice = field.alice();
    until_allowed(
        &alice,
        &format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"),
    )?;
    let (clients, size) = (field.of(64, 8), field.of(1500, 100));
    let fields: String = (0..size * 20).fold(String::new(), |mut text, number| {
        let _ = write!(text, "\"f{number}\":{number},");
        text
    });
    let answers = crowd(clients, |number| match number % 3 {
        0 => alice.post(SERVICES, &service(&format!("s{number}"), size)),
        1 => alice.post(PODS, &pod(&format!("p{number}"), size)),
        _ => {
            let body = format!(
                r#"{{"apiVersion":"attack.example.com/v1","kind":"Blob","metadata":{{"name":"b{number}"}},"spec":{{{fields}"l":0}}}}"#
            );
            let path = format!("{BLOBS}/b{number}?fieldManager=m");
            alice.send(
                "PATCH",
                &path,
                "application/apply-patch+yaml",
                body.as_bytes(),
            )
        }
    });
    for answer in answers {
        field.expect("one of a crowd", answer, &[201, 413, 422, 429]);
    }
    Ok(())
}
