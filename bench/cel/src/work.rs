//! What both sides do.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use cel::kubernetes::{AdmissionVariables, Mode, PER_CALL_LIMIT, PolicyCompiler};
use cel::{Limits, Type};
use json::{Value, json};
use schema::structural::{self, Budget, Validator};

const HTTP_ROUTE: &str = "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml";
const CASES: &str = "../../../shared/cases/cel/k8s/vap.jsonl";
const LIMITS: Limits = Limits { cost: PER_CALL_LIMIT, interrupt: None };

/// A schema with rules, and an object that keeps them.
struct Rules {
    schema: Value,
    object: Value,
}

pub(crate) struct Work {
    rule: Rules,
    route: Option<Rules>,
    /// Expressions of a policy, and the pod they are about.
    policy: Option<(Vec<String>, Value)>,
}

impl Work {
    pub(crate) fn load(gateway_api: &Path) -> Self {
        let rule = Rules {
            schema: json!({
                "type": "object",
                "properties": {"replicas": {"type": "integer"}, "max": {"type": "integer"}},
                "x-kubernetes-validations": [{"rule": "self.replicas <= self.max"}],
            }),
            object: json!({"replicas": 3, "max": 5}),
        };
        let route = fs::read(gateway_api.join(HTTP_ROUTE)).ok().map(|text| Rules {
            schema: schema_of(&yaml::to_json(&text).expect("YAML"), "v1"),
            object: route(),
        });
        if route.is_none() {
            println!("(b) needs a copy of Gateway API: GATEWAY_API=DIRECTORY");
        }
        let policy = fs::read(CASES).ok().map(|text| policy(&text));
        if policy.is_none() {
            println!("(c) needs shared/cases/cel beside the workspace");
        }
        Self { rule, route, policy }
    }

    /// For the other side.
    pub(crate) fn input(&self) -> Value {
        let rules = |it: &Rules| json!({"schema": (it.schema.clone()), "object": (it.object.clone())});
        let (texts, pod) = self.policy.clone().unwrap_or_default();
        json!({
            "rule": (rules(&self.rule)),
            "route": (self.route.as_ref().map_or(Value::Null, rules)),
            "expressions": (texts.into_iter().map(Value::from).collect::<Vec<_>>()),
            "pod": pod,
        })
    }

    pub(crate) fn measure(&self) -> Vec<(String, f64)> {
        let mut all = Vec::new();
        custom("rule", &self.rule, &mut all);
        if let Some(route) = &self.route {
            custom("route", route, &mut all);
        }
        if let Some((texts, pod)) = &self.policy {
            evaluate_policy(texts, pod, &mut all);
        }
        all
    }
}

fn custom(name: &str, rules: &Rules, all: &mut Vec<(String, f64)>) {
    let compile = || Validator::new(&rules.schema, true).expect("rules");
    measure(all, &format!("{name} compile"), || drop(black_box(compile())));
    let validator = compile();
    let path = meta::field::Path::root();
    let outcome = validator.validate(&path, &rules.object, None, Budget::default());
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let cost = Budget::default().total - outcome.remaining;
    all.push((format!("{name} cost"), cost as f64));
    measure(all, &format!("{name} evaluate"), || {
        black_box(validator.validate(&path, &rules.object, None, Budget::default()));
    });
    let compiled = structural::from_json_schema_props(&rules.schema).expect("a structural schema");
    measure(all, &format!("{name} schema"), || {
        black_box(structural::validate(compiled.place(), &rules.object));
    });
}

fn evaluate_policy(texts: &[String], pod: &Value, all: &mut Vec<(String, f64)>) {
    let has = AdmissionVariables { params: false, authorizer: true, patch_types: false };
    let compile = || {
        let mut compiler = PolicyCompiler::with_variables();
        let compiled = texts.iter().map(|it| compiler.compile(it, &[Type::Bool], has, Mode::Stored));
        compiled.collect::<Vec<_>>()
    };
    measure(all, "policy compile", || drop(black_box(compile())));
    let programs: Vec<_> = compile().into_iter().map(|it| it.expect("it compiles")).collect();
    let request = json!({
        "kind": {"group": "", "version": "v1", "kind": "Pod"}, "operation": "CREATE",
        "userInfo": {"username": "alice"}, "name": "web-1", "namespace": "demo",
    });
    let namespace = json!({"metadata": {"name": "demo"}});
    let evaluate = || {
        let find = |name: &str| match name {
            "object" => Some(cel::Value::from_struct(pod)),
            "request" => Some(cel::Value::from_struct(&request)),
            "namespaceObject" => Some(cel::Value::from_struct(&namespace)),
            "oldObject" => Some(cel::Value::Null),
            _ => None,
        };
        let held = programs.iter().filter(|it| it.evaluate(&find, LIMITS).0.is_ok_and(|it| it.as_bool() == Some(true)));
        held.count()
    };
    all.push(("policy held".to_owned(), evaluate() as f64));
    measure(all, "policy evaluate", || {
        black_box(evaluate());
    });
}

/// Nanoseconds of CPU time for one run: the best of five rounds. With an argument, only what it names is measured.
fn measure(all: &mut Vec<(String, f64)>, name: &str, mut run: impl FnMut()) {
    if std::env::args().nth(1).is_some_and(|it| it != name) {
        return;
    }
    run();
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let (mut count, begin) = (0, cpu());
        let mut took = 0;
        while took < 200_000_000 {
            for _ in 0..64 {
                run();
            }
            count += 64;
            took = cpu() - begin;
        }
        best = best.min(took as f64 / f64::from(count));
    }
    all.push((name.to_owned(), best));
}

/// CPU time of this thread in nanoseconds.
pub(crate) fn cpu() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    text.split(' ').next().and_then(|it| it.parse().ok()).expect("a number")
}

fn schema_of(definition: &Value, version: &str) -> Value {
    let versions = definition.at(&["spec", "versions"]).and_then(Value::as_array).expect("versions");
    let found = versions.iter().find(|it| it.str_at(&["name"]) == Some(version)).expect("the version");
    found.at(&["schema", "openAPIV3Schema"]).expect("a schema").clone()
}

/// Three rules that send a path to a service and add a header, with all defaults.
fn route() -> Value {
    let parent = |name: &str| json!({"name": name, "group": "gateway.networking.k8s.io", "kind": "Gateway"});
    let rule = |path: &str| {
        json!({
            "matches": [{"path": {"type": "PathPrefix", "value": path}}],
            "filters": [{"type": "RequestHeaderModifier", "requestHeaderModifier": {"add": [{"name": "a", "value": "b"}]}}],
            "backendRefs": [{"name": "s", "port": 80, "group": "", "kind": "Service", "weight": 1}],
        })
    };
    json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "r", "namespace": "n"},
        "spec": {
            "parentRefs": [(parent("a")), (parent("b"))], "hostnames": ["a.example.com"],
            "rules": [(rule("/x0")), (rule("/x1")), (rule("/x2"))],
        },
    })
}

/// The first 100 expressions on a pod that compile, and the pod.
fn policy(text: &[u8]) -> (Vec<String>, Value) {
    let has = AdmissionVariables { params: false, authorizer: true, patch_types: false };
    let (mut texts, mut pod) = (Vec::new(), Value::Null);
    for line in text.split(|it| *it == b'\n').filter(|it| !it.is_empty()) {
        let case = json::parse(line).expect("JSON");
        if !case.str_at(&["name"]).is_some_and(|it| it.starts_with("pod-")) {
            continue;
        }
        pod = case.get("object").expect("a pod").clone();
        let all = case.at(&["policy", "spec", "validations"]).and_then(Value::as_array);
        for it in all.into_iter().flatten().filter_map(|it| it.str_at(&["expression"])) {
            let compiled = PolicyCompiler::with_variables().compile(it, &[Type::Bool], has, Mode::Stored);
            if compiled.is_ok() {
                texts.push(it.to_owned());
            }
        }
    }
    texts.truncate(100);
    // As a server has it: without the empty fields that Go leaves out.
    let kind = schema::builtin().kind("", "v1", "Pod").expect("a kind");
    schema::canonical(kind.place(), &mut pod);
    (texts, pod)
}
