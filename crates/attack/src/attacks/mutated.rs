//! Thousands of requests that were right before some of their bytes were changed: always the same ones.

use std::io;
use std::time::Duration;

use super::crowd;
use crate::client::{Answer, Client, Connection};
use crate::field::{BLOBS, Field, MAPS};
use crate::{Attack, Bounds, USUAL, Who};

pub(super) const ALL: &[Attack] = &[Attack {
    name: "mutated-requests",
    about: "8,000 requests with changed bytes: paths, queries, headers and bodies of every form",
    who: Who::Editor,
    bounds: Bounds {
        memory_mib: 192,
        cpu: Duration::from_secs(60),
        bystander: Duration::from_millis(250),
        ..USUAL
    },
    run: mutated_requests,
}];

const JSON: &str = "application/json";
const MAP: &str = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","labels":{"a":"b"},"annotations":{"c":"d"},"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true}],"finalizers":["e.com/f"]},"data":{"k":"v"},"binaryData":{"b":"AAEC"},"immutable":false}"#;
const POD: &str = r#"{"metadata":{"generateName":"p-"},"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"100m","memory":"1Gi"}},"livenessProbe":{"httpGet":{"path":"/","port":"http"}},"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}],"tolerations":[{"operator":"Exists"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}]}}}}}"#;
const SERVICE: &str = r#"{"metadata":{"generateName":"s-"},"spec":{"type":"NodePort","selector":{"a":"b"},"ports":[{"name":"x","port":80,"targetPort":"http","protocol":"TCP"}],"sessionAffinity":"ClientIP"}}"#;
const YAML: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: &n m\n  labels: {a: *n, <<: {b: c}}\ndata:\n  k: |\n    text\n  l: >-\n    folded\n  m: !!str 1\n";
const BLOB: &str = r#"{"apiVersion":"attack.example.com/v1","kind":"Blob","metadata":{"name":"b"},"spec":{"a":[1,2.5,-3e7,null,true,"\u00e9"],"b":{"c":{"d":{}}}}}"#;

/// Method, path, type and body.
const CORPUS: &[(&str, &str, &str, &str)] = &[
    (
        "GET",
        "/api/v1/namespaces/attack/configmaps?limit=5&labelSelector=a%3Db,c+in+(d,e)",
        JSON,
        "",
    ),
    (
        "GET",
        "/api/v1/namespaces/attack/configmaps?fieldSelector=metadata.name%3Dm&resourceVersion=1&resourceVersionMatch=NotOlderThan",
        JSON,
        "",
    ),
    (
        "GET",
        "/apis/attack.example.com/v1/namespaces/attack/blobs/b?pretty=true",
        JSON,
        "",
    ),
    ("GET", "/openapi/v3/api/v1?hash=x", JSON, ""),
    (
        "POST",
        "/api/v1/namespaces/attack/configmaps?dryRun=All&fieldValidation=Strict&fieldManager=f",
        JSON,
        MAP,
    ),
    (
        "POST",
        "/api/v1/namespaces/attack/configmaps?dryRun=All",
        "application/yaml",
        YAML,
    ),
    (
        "POST",
        "/api/v1/namespaces/attack/pods?dryRun=All",
        JSON,
        POD,
    ),
    (
        "POST",
        "/api/v1/namespaces/attack/services?dryRun=All",
        JSON,
        SERVICE,
    ),
    (
        "POST",
        "/apis/attack.example.com/v1/namespaces/attack/blobs?dryRun=All",
        JSON,
        BLOB,
    ),
    ("PUT", "/api/v1/namespaces/attack/configmaps/m", JSON, MAP),
    (
        "PATCH",
        "/api/v1/namespaces/attack/configmaps/m?fieldManager=f&force=true",
        "application/apply-patch+yaml",
        MAP,
    ),
    (
        "PATCH",
        "/api/v1/namespaces/attack/configmaps/m",
        "application/merge-patch+json",
        r#"{"data":{"k":null,"x":"y"}}"#,
    ),
    (
        "PATCH",
        "/api/v1/namespaces/attack/configmaps/m",
        "application/strategic-merge-patch+json",
        r#"{"metadata":{"$setElementOrder/finalizers":["a"],"$deleteFromPrimitiveList/finalizers":["e.com/f"]}}"#,
    ),
    (
        "PATCH",
        "/api/v1/namespaces/attack/configmaps/m",
        "application/json-patch+json",
        r#"[{"op":"add","path":"/data/z","value":"1"},{"op":"test","path":"/data/k","value":"v"}]"#,
    ),
    (
        "PATCH",
        "/apis/attack.example.com/v1/namespaces/attack/blobs/b?fieldManager=g",
        "application/apply-patch+yaml",
        BLOB,
    ),
    (
        "DELETE",
        "/api/v1/namespaces/attack/configmaps/none?propagationPolicy=Foreground",
        JSON,
        r#"{"kind":"DeleteOptions","gracePeriodSeconds":0,"preconditions":{"uid":"u"}}"#,
    ),
    (
        "POST",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        JSON,
        r#"{"spec":{"resourceAttributes":{"verb":"get","resource":"pods","namespace":"a"}}}"#,
    ),
    (
        "POST",
        "/api/v1/namespaces/attack/serviceaccounts/default/token",
        JSON,
        r#"{"spec":{"audiences":["a"],"expirationSeconds":600}}"#,
    ),
];

/// What is put in place of something else.
const PIECES: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xc3\x28",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"true",
    b"-1",
    b"1e309",
    b"99999999999999999999",
    b"0.1",
    b"../",
    b"%2f",
    b"%00",
    b"%",
    b"&",
    b"=",
    b"*a",
    b"&a ",
    b"<<: ",
    b"- ",
    b"\t",
    b"\n",
    b"\r",
    b"$patch",
    b"metadata",
    b"name",
    b"x/y",
    b"~1",
    b"~0",
    b"A",
    b" ",
    b"\xe2\x80\xa8",
    b"'",
];

/// Xorshift: nothing depends on what comes, only on that it is always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % bound.max(1)
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len() + 1);
            let to = (at + self.below(12)).min(bytes.len());
            match self.below(5) {
                0 => drop(bytes.splice(at..at, PIECES[self.below(PIECES.len())].iter().copied())),
                1 => drop(bytes.splice(at..to, PIECES[self.below(PIECES.len())].iter().copied())),
                2 => drop(bytes.drain(at..to)),
                3 => {
                    let again = bytes[at..to].repeat(1 + self.below(20));
                    bytes.splice(at..at, again);
                }
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << self.below(8);
                    }
                }
            }
        }
    }
}

fn mutated_requests(field: &mut Field) -> io::Result<()> {
    let alice = field.alice();
    for (path, body) in [(MAPS, MAP), (BLOBS, BLOB)] {
        let made = alice.send("POST", path, JSON, body.as_bytes());
        field.expect("a right one", made, &[201]);
    }
    // All of the corpus is right as it is.
    for (method, path, kind, body) in CORPUS {
        let answer = alice.send(method, path, kind, body.as_bytes());
        field.expect(path, answer, &[200, 201, 301, 404, 409, 422]);
    }
    let (threads, each) = (4, field.of(2000, 60));
    let faults = crowd(threads, |thread| send(&alice, thread, each));
    field.tried(threads * each);
    for fault in faults.into_iter().flatten() {
        field.fault(fault);
    }
    Ok(())
}

/// kube-apiserver, too, calls a patch that does not fit the schema an internal error, in these words.
fn is_as_upstream(answer: &Answer) -> bool {
    let texts = [
        "failed to create typed patch object",
        "unable to find api field in struct",
    ];
    answer.code == 500 && texts.iter().any(|it| answer.text().contains(it))
}

/// What came that must not come.
fn send(alice: &Client, thread: usize, count: usize) -> Vec<String> {
    let seed = u64::try_from(thread).unwrap_or(0);
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (seed << 32 | 1));
    let mut connection = Connection::new(alice.clone());
    let mut faults = Vec::new();
    for _ in 0..count {
        let (method, path, kind, body) = CORPUS[random.below(CORPUS.len())];
        let (mut path, mut body, mut kind) = (
            path.as_bytes().to_vec(),
            body.as_bytes().to_vec(),
            kind.as_bytes().to_vec(),
        );
        match random.below(8) {
            0 | 1 => random.change(&mut path),
            2 => random.change(&mut kind),
            _ => random.change(&mut body),
        }
        // What would end the head belongs to other attacks; a watch would not end by itself.
        path.retain(u8::is_ascii_graphic);
        kind.retain(|it| !it.is_ascii_control());
        if String::from_utf8_lossy(&path).contains("watch") || !path.starts_with(b"/") {
            continue;
        }
        let (path, kind) = (
            String::from_utf8_lossy(&path),
            String::from_utf8_lossy(&kind),
        );
        match connection.send(method, &path, &kind, &body) {
            Ok(answer) if answer.code < 500 || is_as_upstream(&answer) => {}
            Ok(answer) => faults.push(format!(
                "{} for {method} {path} ({kind}) {}: {}",
                answer.code,
                String::from_utf8_lossy(&body),
                answer.text()
            )),
            Err(error) => faults.push(format!("{error} for {method} {path} ({kind})")),
        }
    }
    faults
}
