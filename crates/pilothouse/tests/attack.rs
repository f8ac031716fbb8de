//! The attack suite in its short form: every hostile client of `cargo xtask attack`, fewer and smaller, against a server
//! of this build. Answers, memory and survival are judged, times are not.

use std::path::Path;

use attack::attacks::GROUPS;
use attack::field::Scale;
use attack::server::Program;
use attack::{Attack, Runner};

fn group(name: &str) -> &'static [Attack] {
    let (_, group) = GROUPS.iter().find(|it| it.0 == name).expect(name);
    group
}

/// Each attack has a server of its own.
#[track_caller]
fn hold(attacks: &[Attack]) {
    let place = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_pilothouse"));
    let runner = Runner {
        program: Program::new(program.to_owned()),
        scale: Scale::Short,
        slack: None,
    };
    let mut broken = Vec::new();
    for attack in attacks {
        let report = runner.run(attack, place.path());
        println!("{report}");
        if !report.held() || report.was_not_tried() {
            broken.push(report.to_string());
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

macro_rules! groups {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                hold(group(stringify!($name)));
            }
        )*

        const TRIED: &[&str] = &[$(stringify!($name)),*];
    };
}

groups!(
    bodies,
    parsers,
    heavy,
    connections,
    heads,
    frames,
    readers,
    watchers,
    reads,
    identity,
    openapi,
    mutated,
    durability,
);

#[testkit::requires(mount)]
#[test]
fn disk() {
    hold(group("disk"));
}

#[test]
fn no_group_is_left_out() {
    let all: Vec<_> = GROUPS.iter().map(|it| it.0).collect();
    assert_eq!(all, [TRIED, &["disk"]].concat());
}
