//! Which server leads a feature: rendezvous hashing, so that all servers that see the same servers choose the same one without talking,
//! and a server that comes or goes moves only its own share.
//!
//! The hash is frozen: servers of different versions must agree. Leadership is a hint; what makes it safe is in [`crate::lifecycle`].

/// A server as others see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    pub id: &'a str,
    /// Its binary has the feature.
    pub knows: bool,
    pub emulation: crate::Version,
}

/// The leader of a feature: of the servers that know it, those with the lowest emulated version count; of these the one with the highest
/// hash. If none knows the feature all count, to keep the books.
pub fn leader<'a>(namespace: &str, feature: &str, servers: &[Candidate<'a>]) -> Option<&'a str> {
    let any_knows = servers.iter().any(|it| it.knows);
    let eligible = || servers.iter().filter(|it| it.knows || !any_knows);
    let lowest = eligible().map(|it| it.emulation).min()?;
    let oldest = eligible().filter(|it| it.emulation == lowest);
    let best = oldest.max_by_key(|it| (weight(namespace, feature, it.id), it.id));
    best.map(|it| it.id)
}

/// The weight of a server for a feature.
fn weight(namespace: &str, feature: &str, server: &str) -> u64 {
    mix(fnv1a(&[namespace, feature, server]))
}

/// In which of 10,000 buckets an instance is for a feature: always the same, so that who is in a small share is in each larger one.
pub fn bucket(feature_uid: &str, instance: &str) -> u64 {
    mix(fnv1a(&[feature_uid, instance])) % 10_000
}

/// FNV-1a over the parts, each followed by a zero byte.
fn fnv1a(parts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in parts.iter().flat_map(|it| it.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

/// The finalizer of `SplitMix64`: FNV alone hardly mixes the last bytes.
fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{Registry, Version};

    fn server(id: &str) -> Candidate<'_> {
        Candidate {
            id,
            knows: true,
            emulation: Version::new(1, 37),
        }
    }

    #[test]
    fn the_hash_is_frozen() {
        let vectors = [
            ("kube-system", "MaxUnavailableStatefulSet", "apiserver-a"),
            ("kube-system", "MaxUnavailableStatefulSet", "apiserver-b"),
            ("shop", "", ""),
        ];
        let found = vectors.map(|(namespace, feature, id)| weight(namespace, feature, id));
        assert_eq!(
            found,
            [
                0x0d05_1607_99d0_4f2c,
                0x64e7_0b1c_ab04_cc88,
                0xe668_3898_41ef_7f14
            ]
        );
        assert_eq!(bucket("0a1b", "node-1"), 1351);
    }

    #[test]
    fn features_are_spread_and_only_those_of_a_lost_server_move() {
        let ids = ["apiserver-a", "apiserver-b", "apiserver-c"];
        let servers = ids.map(server);
        let names = || Registry::kubernetes().gates().iter().map(|it| &*it.name);
        let leads = |name: &str, servers: &[Candidate<'static>]| {
            leader("kube-system", name, servers).expect("there are servers")
        };
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in names() {
            let first = leads(name, &servers);
            *counts.entry(first).or_default() += 1;
            let second = leads(name, &servers[..2]);
            assert!(first == second || first == ids[2], "{name}");
        }
        assert!(
            counts.values().all(|it| (60..=110).contains(it)),
            "{counts:?}"
        );
    }

    #[test]
    fn the_oldest_that_knows_the_feature_leads() {
        let older = Candidate {
            emulation: Version::new(1, 36),
            ..server("older")
        };
        let ignorant = Candidate {
            knows: false,
            emulation: Version::new(1, 35),
            ..server("ignorant")
        };
        let newer = server("newer");
        assert_eq!(leader("ns", "A", &[newer, older, ignorant]), Some("older"));
        assert_eq!(leader("ns", "A", &[ignorant]), Some("ignorant"));
        assert_eq!(leader("ns", "A", &[]), None);
    }
}
