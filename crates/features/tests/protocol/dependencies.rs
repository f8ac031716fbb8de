//! Two features of which one needs the other, turned on and off by servers that read both in turn and stop anywhere.

use std::collections::HashSet;

use features::Source;
use features::lifecycle::{
    Admission, FeatureStatus, Inputs, OnDangling, Outcome, Plan, State, Target, TaskOutcome, name,
    step,
};

/// The first needs the second.
const DEPENDENT: usize = 0;
const DEPENDENCY: usize = 1;

#[derive(Clone, PartialEq, Eq, Hash)]
struct World {
    stored: [Option<FeatureStatus>; 2],
    targets: [bool; 2],
    leaders: [Work; 2],
    flips: u8,
}

/// What the leader of a feature has read: its status, then, perhaps long after, whether the other one is in the way.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Work {
    None,
    Read(Option<FeatureStatus>, bool),
    ReadBoth(Option<FeatureStatus>, bool, bool),
}

#[test]
fn a_feature_is_on_only_while_its_dependency_can_be_used() {
    let states = explore(true).expect("the invariant holds");
    println!("{states} states");
    assert!(states > 1_000);
}

/// To look at the other feature only before a transition begins is not enough.
#[test]
fn without_looking_again_a_feature_is_on_without_its_dependency() {
    assert!(explore(false).is_err());
}

/// How many states there are, or the first one in which the invariant does not hold.
fn explore(looks_again: bool) -> Result<usize, String> {
    let first = World {
        stored: [None, None],
        targets: [true, true],
        leaders: [Work::None, Work::None],
        flips: 3,
    };
    let mut seen = HashSet::from([first.clone()]);
    let mut open = vec![first];
    let mut both_on = false;
    while let Some(world) = open.pop() {
        let [dependent, dependency] = &world.stored;
        let is_on =
            |it: &Option<FeatureStatus>| it.as_ref().is_some_and(|it| it.state == State::On);
        let can_be_used = dependency
            .as_ref()
            .is_some_and(|it| it.state != State::Off && it.admission == Admission::Open);
        if is_on(dependent) && !can_be_used {
            return Err(format!("{:?}", world.stored));
        }
        both_on |= is_on(dependent) && is_on(dependency);
        for next in successors(&world, looks_again) {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    assert!(both_on, "the exploration reaches nothing");
    Ok(seen.len())
}

fn successors(world: &World, looks_again: bool) -> Vec<World> {
    let mut all = Vec::new();
    for feature in [DEPENDENT, DEPENDENCY] {
        if world.flips > 0 {
            let mut next = world.clone();
            next.flips -= 1;
            next.targets[feature] = !next.targets[feature];
            all.push(next);
        }
        let mut next = world.clone();
        next.leaders[feature] = match &world.leaders[feature] {
            Work::None => Work::Read(world.stored[feature].clone(), world.targets[feature]),
            Work::Read(status, target) => {
                let in_the_way = match (feature, &world.stored[1 - feature]) {
                    (DEPENDENT, other) => other.as_ref().is_none_or(|it| it.state != State::On),
                    (_, other) => other.as_ref().is_some_and(|it| it.state != State::Off),
                };
                Work::ReadBoth(status.clone(), *target, in_the_way)
            }
            Work::ReadBoth(status, target, in_the_way) => {
                if world.stored[feature] == *status {
                    next.stored[feature] = Some(decide(
                        feature,
                        status.as_ref(),
                        *target,
                        (*in_the_way, looks_again),
                    ));
                }
                Work::None
            }
        };
        all.push(next);
    }
    all
}

fn decide(
    feature: usize,
    status: Option<&FeatureStatus>,
    enabled: bool,
    (in_the_way, looks_again): (bool, bool),
) -> FeatureStatus {
    let task = status.and_then(FeatureStatus::current_task);
    let outcome = task.map(|task| {
        let waits = match feature {
            DEPENDENT => task.name == name::WAIT_DEPENDENCIES,
            _ => task.name == name::WAIT_DEPENDENTS,
        };
        TaskOutcome {
            epoch: status.map_or(0, |it| it.epoch),
            task: task.name.clone(),
            outcome: if waits && in_the_way && looks_again {
                Outcome::Blocked(vec!["the other feature".to_owned()].into())
            } else {
                Outcome::Done
            },
        }
    });
    let other: &[String] = if in_the_way {
        &["Other".to_owned()]
    } else {
        &[]
    };
    let inputs = Inputs {
        now: 0,
        known: true,
        target: Some(Target {
            enabled,
            source: Source::Dynamic,
            immediate: true,
        }),
        on_dangling: OnDangling::Hold,
        unmet_dependencies: if feature == DEPENDENT { other } else { &[] },
        active_dependents: if feature == DEPENDENCY { other } else { &[] },
        plan: &Plan::default(),
        outcome: outcome.as_ref(),
        scanned: None,
        adopts: feature == DEPENDENCY,
    };
    step(status, &inputs).expect("the feature is known").status
}
