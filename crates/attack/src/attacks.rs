//! All attacks, in groups that one server can take one after the other.

mod bodies;
mod connections;
mod disk;
mod durability;
mod frames;
mod heads;
mod heavy;
mod identity;
mod mutated;
mod openapi;
mod parsers;
mod readers;
mod reads;
mod watchers;

use std::thread;

use crate::Attack;

/// By what a client misuses.
pub const GROUPS: &[(&str, &[Attack])] = &[
    ("bodies", bodies::ALL),
    ("parsers", parsers::ALL),
    ("heavy", heavy::ALL),
    ("connections", connections::ALL),
    ("heads", heads::ALL),
    ("frames", frames::ALL),
    ("readers", readers::ALL),
    ("watchers", watchers::ALL),
    ("reads", reads::ALL),
    ("identity", identity::ALL),
    ("openapi", openapi::ALL),
    ("mutated", mutated::ALL),
    ("durability", durability::ALL),
    ("disk", disk::ALL),
];

pub fn all() -> impl Iterator<Item = &'static Attack> {
    GROUPS.iter().flat_map(|(_, group)| *group)
}

/// The same at once by so many, and what each came back with.
fn crowd<T: Send>(count: usize, act: impl Fn(usize) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let act = &act;
        let all: Vec<_> = (0..count)
            .map(|number| scope.spawn(move || act(number)))
            .collect();
        all.into_iter()
            .map(|it| it.join().expect("an attacker does not panic"))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<_> = all().map(|it| it.name).collect();
        assert_eq!(names.len(), all().count());
    }
}
