//! How long it takes to compile and to evaluate expressions. Prints nanoseconds for each operation, as CPU time of one
//! thread on an idle machine; cel-go's numbers for the same expressions are in the table of docs.

use std::hint::black_box;
use std::time::Instant;

use cel::kubernetes::{self, AdmissionVariables, Mode};
use cel::{Limits, Schema, Value};

fn main() {
    rule();
    pods();
}

fn measure(what: &str, mut run: impl FnMut()) {
    let mut count = 1;
    loop {
        let begin = Instant::now();
        for _ in 0..count {
            run();
        }
        let took = begin.elapsed();
        if took.as_millis() > 200 {
            println!("{what:<40} {:>12.0} ns", took.as_nanos() as f64 / f64::from(count));
            return;
        }
        count *= 4;
    }
}

const LIMITS: Limits = Limits {
    cost: kubernetes::PER_CALL_LIMIT,
    interrupt: None,
};

/// `self.replicas <= self.max`
fn rule() {
    let schema = r#"{"type": "object", "properties": {"replicas": {"type": "integer"}, "max": {"type": "integer"}}}"#;
    let schema = json::parse(schema.as_bytes()).expect("JSON");
    let object = json::parse(br#"{"replicas": 3, "max": 5}"#).expect("JSON");
    measure("(a) compile", || {
        let typed = Schema::from_json(&schema, false);
        let env = kubernetes::environment(37, Mode::Stored);
        let env = kubernetes::schema_environment(env, &typed, false).expect("a type");
        let expression = env.compile("self.replicas <= self.max").expect("it compiles");
        black_box(expression.estimate(&typed));
        black_box(expression.program().expect("a program"));
    });
    let typed = Schema::from_json(&schema, false);
    let env = kubernetes::schema_environment(kubernetes::environment(37, Mode::Stored), &typed, false).expect("a type");
    let program = env.compile("self.replicas <= self.max").expect("it compiles").program().expect("a program");
    measure("(a) evaluate", || {
        let find = |name: &str| match name {
            "self" => Value::typed(&object, &typed).ok(),
            _ => None,
        };
        black_box(program.evaluate(&find, LIMITS).1);
    });
}

/// Expressions of a policy on a pod; those of the cases, if they are there.
fn pods() {
    let Ok(text) = std::fs::read("../../../shared/cases/cel/k8s/vap.jsonl") else {
        println!("(c) needs shared/cases/cel beside the workspace");
        return;
    };
    let has = AdmissionVariables { params: false, authorizer: true, patch_types: false };
    let env = kubernetes::admission_environment(kubernetes::environment(37, Mode::Stored), has);
    let mut object = None;
    let mut texts = Vec::new();
    for line in text.split(|it| *it == b'\n').filter(|it| !it.is_empty()) {
        let case = json::parse(line).expect("JSON");
        if !case.str_at(&["name"]).is_some_and(|it| it.starts_with("pod-")) {
            continue;
        }
        let all = case.at(&["policy", "spec", "validations"]).and_then(json::Value::as_array);
        for it in all.into_iter().flatten() {
            texts.extend(it.str_at(&["expression"]).map(str::to_owned));
        }
        object = object.or_else(|| case.get("object").cloned());
    }
    let object = object.expect("a pod");
    let usable: Vec<String> = texts
        .into_iter()
        .filter(|it| env.compile(it).is_ok_and(|it| it.program().is_ok()))
        .take(100)
        .collect();
    println!("{} expressions", usable.len());
    measure("(c) compile all", || {
        for it in &usable {
            black_box(env.compile(it).expect("it compiles").program().expect("a program"));
        }
    });
    let programs: Vec<_> = usable
        .iter()
        .map(|it| env.compile(it).expect("it compiles").program().expect("a program"))
        .collect();
    measure("(c) evaluate all", || {
        for program in &programs {
            let find = |name: &str| match name {
                "object" => Some(Value::from_json(&object)),
                _ => Some(Value::Null),
            };
            black_box(program.evaluate(&find, LIMITS).1);
        }
    });
}
