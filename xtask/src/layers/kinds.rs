//! `apiserver` names few kinds: what a kind does is in its strategy, in `resources`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::rooms;
use super::scan::strings;

const TABLE: &str = "crates/resources/tables/kinds.txt";

/// The rooms that name kinds because their work is about these kinds alone: subresources that act, and reviews.
const ROOMS: &[&str] = &["subresources", "cost"];

/// Files of other rooms, and the names in them.
const NAMED: &[(&str, &[&str])] = &[
    // A column of a debug page, and an authorization mode.
    ("flow/debug.rs", &["Namespace"]),
    ("observe/metrics/decisions.rs", &["Node"]),
    // Parts of paths.
    ("request.rs", &["namespaces"]),
    ("pipeline/host.rs", &["namespaces"]),
    // The work of a request, as kube-apiserver estimates it.
    ("flow/estimate.rs", &["serviceaccounts"]),
    ("flow/watched.rs", &["pods"]),
    // Bodies and traces of subresources.
    ("handler/decode.rs", &["Eviction"]),
    ("observe/traced/alike.rs", &["bindings", "pods"]),
    // What the server itself follows: permissions, definitions, the pods of nodes.
    (
        "state/informers.rs",
        &[
            "ClusterRole",
            "ClusterRoleBinding",
            "Role",
            "RoleBinding",
            "clusterrolebindings",
            "clusterroles",
            "customresourcedefinitions",
            "rolebindings",
            "roles",
        ],
    ),
    ("state/informers/nodes.rs", &["pods"]),
    ("state/gauges.rs", &["apiservices"]),
    // The format of a key in etcd.
    ("state/master_leases.rs", &["Endpoints"]),
    // Addresses are objects of kinds of their own.
    (
        "write/allocate.rs",
        &["IPAddress", "ServiceCIDR", "ipaddresses", "services"],
    ),
    ("write/allocate/ports.rs", &["services"]),
    // The resource of a permission.
    ("write/escalation/claims.rs", &["resourceclaims"]),
];

pub(super) fn check(problems: &mut Vec<String>) -> Result<(), String> {
    let table = super::read(TABLE)?;
    let names = names(&table);
    let source = PathBuf::from("crates/apiserver/src");
    let mut files = BTreeMap::new();
    rooms::read(&source, &source, &mut files)?;
    for (path, text) in &files {
        let allowed = NAMED.iter().find(|(file, _)| file == path);
        problems.extend(wrong(path, text, &names, allowed.map_or(&[], |it| it.1)));
    }
    for (path, allowed) in NAMED {
        let found: BTreeSet<String> = files
            .get(*path)
            .map(|text| named(text, &names).into_iter().map(|it| it.1).collect())
            .unwrap_or_default();
        for name in allowed.iter().filter(|it| !found.contains(**it)) {
            problems.push(format!(
                "crates/apiserver/src/{path} does not name {name:?} any more (xtask/src/layers/kinds.rs)"
            ));
        }
    }
    Ok(())
}

/// Plurals and kinds of the table.
fn names(table: &str) -> BTreeSet<&str> {
    let rows = table.lines().filter(|it| !it.starts_with([':', '/']));
    rows.flat_map(|it| it.split(' ').take(2)).collect()
}

fn named(text: &str, names: &BTreeSet<&str>) -> Vec<(usize, String)> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = strings(code);
    found.retain(|(_, it)| names.contains(&**it));
    found
}

fn wrong(path: &str, text: &str, names: &BTreeSet<&str>, allowed: &[&str]) -> Vec<String> {
    let room = path.split(['/', '.']).next().unwrap_or_default();
    let is_test = path.ends_with("tests.rs") || path.contains("/tests/");
    if ROOMS.contains(&room) || is_test {
        return Vec::new();
    }
    let found = named(text, names).into_iter();
    let found = found.filter(|(_, it)| !allowed.contains(&&**it));
    let problem = found.map(|(line, name)| {
        format!(
            "crates/apiserver/src/{path}:{line}: {name:?} names a kind; a field of its strategy (crates/resources/src/strategy.rs) should say what it is about"
        )
    });
    problem.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_named_in_the_rooms_of_subresources_only() {
        let names = names(":version /v1\npods Pod pod verbs=*\n/status Pod verbs=get\n");
        assert_eq!(names, BTreeSet::from(["Pod", "pods"]));
        let text = "// \"Pod\"\nfn f() { g(\"Pod\", \"other\") }\n#[cfg(test)]\nmod tests { const A: &str = \"pods\"; }\n";
        let found = |path: &str, allowed: &[&str]| wrong(path, text, &names, allowed);
        let problems = found("write/create.rs", &[]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("crates/apiserver/src/write/create.rs:2: \"Pod\""));
        assert_eq!(found("write/create.rs", &["Pod"]), Vec::<String>::new());
        assert_eq!(found("subresources/token.rs", &[]), Vec::<String>::new());
    }
}
