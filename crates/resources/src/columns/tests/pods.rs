//! The states of pods. A container's status is written in words: `ready run x3 @10s` is ready, runs, was restarted three
//! times, last ten seconds ago; `wait:Reason`, `end:Reason:code`, `started`, and `=name` for a name.

use json::{Object, Value, json};

use crate::columns::row;

struct Pod {
    phase: &'static str,
    /// How many containers, and the init containers: `-` or `sidecar=name`.
    containers: usize,
    init: &'static [&'static str],
    init_statuses: &'static [&'static str],
    statuses: &'static [&'static str],
    /// More of the status, as `reason:x`, `true:Type`, `gated`, `deleted`.
    more: &'static [&'static str],
    /// Ready, status, restarts.
    cells: [&'static str; 3],
}

const EMPTY: Pod = Pod {
    phase: "podPhase",
    containers: 1,
    init: &[],
    init_statuses: &[],
    statuses: &[],
    more: &[],
    cells: [""; 3],
};

const SIDECARS: &[&str] = &["sidecar=a", "sidecar=b"];

const CASES: &[Pod] = &[
    Pod {
        containers: 2,
        statuses: &["ready run x3", "x3"],
        cells: ["1/2", "podPhase", "6"],
        ..EMPTY
    },
    Pod {
        containers: 2,
        statuses: &["ready run x3", "wait:W x3"],
        cells: ["1/2", "W", "6"],
        ..EMPTY
    },
    Pod {
        containers: 2,
        statuses: &["wait:W x3", "end:T:0 x3"],
        cells: ["0/2", "W", "6"],
        ..EMPTY
    },
    Pod {
        containers: 2,
        statuses: &["ready run x3", "ready x3"],
        cells: ["1/2", "podPhase", "6"],
        ..EMPTY
    },
    Pod {
        containers: 2,
        statuses: &["ready run x3", "ready x3"],
        more: &["reason:podReason"],
        cells: ["1/2", "podReason", "6"],
        ..EMPTY
    },
    Pod {
        phase: "Running",
        containers: 2,
        statuses: &["ready end:Completed:0 x3", "ready run x3"],
        cells: ["1/2", "NotReady", "6"],
        ..EMPTY
    },
    Pod {
        phase: "Running",
        containers: 2,
        statuses: &["ready end:Completed:0 x3", "ready run x3"],
        more: &["true:Ready"],
        cells: ["1/2", "Running", "6"],
        ..EMPTY
    },
    Pod {
        init: &["-"],
        init_statuses: &["run x3 @10"],
        statuses: &["wait:"],
        cells: ["0/1", "Init:0/1", "3 (10s ago)"],
        ..EMPTY
    },
    Pod {
        init: &["-", "-"],
        init_statuses: &["run x3 @10", "wait:"],
        statuses: &["wait:"],
        cells: ["0/1", "Init:0/2", "3 (10s ago)"],
        ..EMPTY
    },
    Pod {
        init: &["-", "-"],
        init_statuses: &["end::0", "run x3 @10"],
        statuses: &["wait:"],
        cells: ["0/1", "Init:1/2", "3 (10s ago)"],
        ..EMPTY
    },
    Pod {
        init: &["-", "-"],
        init_statuses: &["end::0 x2 @120", "run x3 @10"],
        statuses: &["wait:"],
        cells: ["0/1", "Init:1/2", "5 (10s ago)"],
        ..EMPTY
    },
    Pod {
        init: &["-", "-"],
        init_statuses: &["end:Bad:1", "wait:"],
        cells: ["0/1", "Init:Bad", "0"],
        ..EMPTY
    },
    Pod {
        init: &["-"],
        init_statuses: &["end::3"],
        cells: ["0/1", "Init:ExitCode:3", "0"],
        ..EMPTY
    },
    Pod {
        init: &["-"],
        init_statuses: &["wait:Pull"],
        cells: ["0/1", "Init:Pull", "0"],
        ..EMPTY
    },
    Pod {
        init: &["-"],
        init_statuses: &["wait:PodInitializing"],
        cells: ["0/1", "Init:0/1", "0"],
        ..EMPTY
    },
    Pod {
        phase: "Running",
        init: &["-"],
        init_statuses: &["end::0 x2 @120"],
        statuses: &["run x4 @20"],
        cells: ["0/1", "Running", "4 (20s ago)"],
        ..EMPTY
    },
    Pod {
        phase: "Running",
        statuses: &["ready run x3 @432000"],
        cells: ["1/1", "Running", "3 (5d ago)"],
        ..EMPTY
    },
    Pod {
        phase: "Running",
        containers: 2,
        statuses: &["ready run x6 @432000", "ready run x3 @1728000"],
        cells: ["2/2", "Running", "9 (5d ago)"],
        ..EMPTY
    },
    Pod {
        containers: 2,
        more: &["gated"],
        cells: ["0/2", "SchedulingGated", "0"],
        ..EMPTY
    },
    Pod {
        phase: "Succeeded",
        statuses: &["end:Completed:0"],
        cells: ["0/1", "Completed", "0"],
        ..EMPTY
    },
    Pod {
        phase: "Failed",
        statuses: &["end:Error:1"],
        cells: ["0/1", "Error", "0"],
        ..EMPTY
    },
    Pod {
        phase: "Succeeded",
        statuses: &["end:Completed:0"],
        more: &["deleted"],
        cells: ["0/1", "Completed", "0"],
        ..EMPTY
    },
    Pod {
        phase: "Running",
        statuses: &["run"],
        more: &["deleted"],
        cells: ["0/1", "Terminating", "0"],
        ..EMPTY
    },
    Pod {
        phase: "Pending",
        more: &["deleted"],
        cells: ["0/1", "Terminating", "0"],
        ..EMPTY
    },
    Pod {
        phase: "Running",
        more: &["deleted", "reason:NodeLost"],
        cells: ["0/1", "Unknown", "0"],
        ..EMPTY
    },
    Pod {
        phase: "Failed",
        containers: 2,
        statuses: &["end:podCrash:1", "ready run"],
        cells: ["1/2", "podCrash", "0"],
        ..EMPTY
    },
    Pod {
        phase: "Failed",
        containers: 3,
        statuses: &["ready run", "ready end:podCrash:1", "ready end::0"],
        cells: ["1/3", "podCrash", "0"],
        ..EMPTY
    },
    Pod {
        phase: "Failed",
        containers: 3,
        statuses: &["end:Completed:0", "end:podCrash:1", "run"],
        cells: ["0/3", "podCrash", "0"],
        ..EMPTY
    },
    // Sidecars.
    Pod {
        phase: "Pending",
        init: SIDECARS,
        init_statuses: &["=a run x3 @10", "=b wait:"],
        statuses: &["wait:"],
        cells: ["0/3", "Init:0/2", "3 (10s ago)"],
        ..EMPTY
    },
    Pod {
        phase: "Pending",
        init: SIDECARS,
        init_statuses: &["=a run started x3 @10", "=b run"],
        statuses: &["wait:"],
        cells: ["0/3", "Init:1/2", "3 (10s ago)"],
        ..EMPTY
    },
    Pod {
        phase: "Running",
        init: SIDECARS,
        init_statuses: &["=a run started ready x3 @10", "=b run started"],
        statuses: &["ready run x4 @20"],
        more: &["true:Initialized"],
        cells: ["2/3", "Running", "7 (10s ago)"],
        ..EMPTY
    },
    Pod {
        phase: "Succeeded",
        init: SIDECARS,
        init_statuses: &["=a end:Error:137 x3 @10", "=b end:Error:137"],
        statuses: &["end:Completed:0 x4 @20"],
        more: &["true:Initialized"],
        cells: ["0/3", "Completed", "7 (10s ago)"],
        ..EMPTY
    },
    Pod {
        phase: "Running",
        init: &["-", "sidecar=s"],
        init_statuses: &["=invalid", "=s"],
        statuses: &["=invalid", "=c"],
        cells: ["0/2", "Init:0/2", "0"],
        ..EMPTY
    },
];

fn status(words: &str) -> Value {
    let mut it = Object::new();
    for word in words.split(' ') {
        let (kind, rest) = word.split_once(':').unwrap_or((word, ""));
        match kind {
            "ready" | "started" => drop(it.insert(kind, true)),
            "run" => drop(it.insert("state", json!({"running": {}}))),
            "wait" => drop(it.insert("state", json!({"waiting": {"reason": rest}}))),
            "end" => {
                let (reason, code) = rest.split_once(':').unwrap();
                let code: i64 = code.parse().unwrap();
                it.insert(
                    "state",
                    json!({"terminated": {"reason": reason, "exitCode": code}}),
                );
            }
            _ => {
                let (sign, rest) = word.split_at(1);
                match sign {
                    "x" => drop(it.insert("restartCount", rest.parse::<i64>().unwrap())),
                    "=" => drop(it.insert("name", rest)),
                    "@" => {
                        let ended = json!({"finishedAt": (before(rest.parse().unwrap()))});
                        it.insert("lastState", json!({"terminated": ended}));
                    }
                    _ => panic!("{word}"),
                }
            }
        }
    }
    it.into()
}

/// Some seconds before the new year.
fn before(seconds: i64) -> String {
    let (day, rest) = (
        31 - (seconds - 1) / 86400,
        86400 - 1 - (seconds - 1) % 86400,
    );
    format!(
        "2025-12-{day:02}T{:02}:{:02}:{:02}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

fn build(case: &Pod) -> Value {
    let mut metadata = json!({"name": "p"});
    let mut pod_status = json!({"phase": (case.phase)});
    let mut conditions = Vec::new();
    for more in case.more {
        match more.split_once(':') {
            Some(("reason", it)) => drop(pod_status.as_object_mut().unwrap().insert("reason", it)),
            Some(("true", it)) => conditions.push(json!({"type": it, "status": "True"})),
            None if *more == "gated" => {
                conditions.push(
                    json!({"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}),
                );
            }
            _ => drop(
                metadata
                    .as_object_mut()
                    .unwrap()
                    .insert("deletionTimestamp", before(10)),
            ),
        }
    }
    let fields = pod_status.as_object_mut().unwrap();
    fields.insert("conditions", conditions);
    fields.insert(
        "initContainerStatuses",
        case.init_statuses
            .iter()
            .map(|it| status(it))
            .collect::<Value>(),
    );
    fields.insert(
        "containerStatuses",
        case.statuses.iter().map(|it| status(it)).collect::<Value>(),
    );
    let init = case.init.iter().map(|it| match it.split_once('=') {
        Some((_, name)) => json!({"name": name, "restartPolicy": "Always"}),
        None => json!({}),
    });
    let containers: Value = (0..case.containers).map(|_| json!({})).collect();
    let spec = json!({"initContainers": (init.collect::<Value>()), "containers": containers});
    json!({"metadata": metadata, "spec": spec, "status": pod_status})
}

#[test]
fn states_of_pods() {
    for (index, case) in CASES.iter().enumerate() {
        let cells = row("", "v1", "Pod", &build(case), super::now());
        let found: Vec<_> = cells[1..4].iter().map(|it| it.as_str().unwrap()).collect();
        assert_eq!(
            found, case.cells,
            "case {index}: {:?} {:?}",
            case.init_statuses, case.statuses
        );
    }
}

#[test]
fn wide_cells_of_pods() {
    let pod = json::parse(
        br#"{"metadata":{"name":"p"},"spec":{"nodeName":"n","readinessGates":[{"conditionType":"a"},{"conditionType":"b"}]},
            "status":{"podIPs":[{"ip":"1.1.1.1"},{"ip":"::1"}],"nominatedNodeName":"m","conditions":[{"type":"a","status":"False"},{"type":"b","status":"True"}]}}"#,
    )
    .unwrap();
    let cells = row("", "v1", "Pod", &pod, super::now());
    let found: Vec<_> = cells[5..].iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(found, ["1.1.1.1", "n", "m", "1/2"]);
}
