//! Every interleaving of the protocol that a few servers, flips, writes and faults allow, explored with the transition function that
//! servers run. Any server may believe to lead at any time, and may stop between any two of its reads and writes.

#[path = "protocol/dependencies.rs"]
mod dependencies;
#[path = "protocol/world.rs"]
mod world;

use std::collections::HashSet;

use world::{Bounds, Explorer, Rules, World};

/// How many states there are, or the first one in which an invariant does not hold.
fn explore(rules: Rules, bounds: Bounds) -> Result<usize, String> {
    Ok(explore_from(rules, bounds, false)? + explore_from(rules, bounds, true)?)
}

fn explore_from(rules: Rules, bounds: Bounds, adopts: bool) -> Result<usize, String> {
    let mut explorer = Explorer::new(rules, adopts);
    let first = World::new(bounds);
    let mut seen: HashSet<World> = HashSet::from([first.clone()]);
    let mut open = vec![first];
    while let Some(world) = open.pop() {
        explorer.check(&world)?;
        // Whatever has happened: once faults end, the feature reaches its target.
        if seen.len().is_multiple_of(499) {
            explorer.check_recovery(&world)?;
        }
        for next in explorer.successors(&world)? {
            if !seen.contains(&next) {
                open.push(next.clone());
                seen.insert(next);
            }
        }
    }
    Ok(seen.len())
}

const CALM: Bounds = Bounds {
    flips: 3,
    writes: 1,
    faults: 0,
    leaders: 1,
};
const FAULTS: Bounds = Bounds {
    flips: 1,
    writes: 1,
    faults: 2,
    leaders: 1,
};
const STALE_LEADERS: Bounds = Bounds {
    flips: 2,
    writes: 1,
    faults: 0,
    leaders: 2,
};
const STALE_AND_FAULTY: Bounds = Bounds {
    flips: 1,
    writes: 1,
    faults: 1,
    leaders: 2,
};
/// 2.6 million states: only for exploring without a rule, which ends early.
const TWO_WRITES: Bounds = Bounds {
    writes: 2,
    ..STALE_LEADERS
};

#[test]
fn flips_at_every_step() {
    let states = explore(Rules::ALL, CALM).unwrap();
    println!("{states} states");
    assert!(states > 10_000, "only {states} states");
}

#[test]
fn crashes_and_delayed_leases_at_every_step() {
    let states = explore(Rules::ALL, FAULTS).unwrap();
    println!("{states} states");
    assert!(states > 10_000, "only {states} states");
}

#[test]
fn stale_leaders_at_every_step() {
    let states = explore(Rules::ALL, STALE_LEADERS).unwrap();
    println!("{states} states");
    assert!(states > 10_000, "only {states} states");
}

#[test]
fn stale_leaders_and_faults_at_every_step() {
    let states = explore(Rules::ALL, STALE_AND_FAULTY).unwrap();
    println!("{states} states");
    assert!(states > 10_000, "only {states} states");
}

/// Each rule of the protocol is needed: without it the exploration finds a state that must not be.
#[test]
fn without_a_rule_an_invariant_breaks() {
    let rules = |change: fn(&mut Rules)| {
        let mut rules = Rules::ALL;
        change(&mut rules);
        rules
    };
    for (name, rules, bounds) in [
        ("drain", rules(|it| it.drain = false), CALM),
        ("fence", rules(|it| it.fence = false), FAULTS),
        (
            "read before admitting",
            rules(|it| it.read_before_admitting = false),
            FAULTS,
        ),
        (
            "check the epoch",
            rules(|it| it.check_epoch_after_list = false),
            TWO_WRITES,
        ),
        (
            "resource version",
            rules(|it| it.resource_version = false),
            TWO_WRITES,
        ),
    ] {
        let found = explore(rules, bounds);
        assert!(found.is_err(), "without the rule {name} all is well");
    }
}
