//! The parameters that operations take: a table of facts, with a word on each.

use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub name: &'static str,
    pub in_path: bool,
    pub ty: &'static str,
    pub text: Cow<'static, str>,
}

const CONTAINER: &str = "Which container of the pod; it may be left out if there is one only.";

/// Name, type and meaning of all that stand in a query.
const QUERY: &[(&str, &str, &str)] = &[
    (
        "allowWatchBookmarks",
        "boolean",
        "Whether a watch gets BOOKMARK events, which carry nothing but a resource version.",
    ),
    (
        "command",
        "string",
        "The command and its arguments, not run by a shell.",
    ),
    ("container", "string", CONTAINER),
    (
        "continue",
        "string",
        "Where to go on: the token that came with the last part of a list.",
    ),
    (
        "dryRun",
        "string",
        "`All`: do everything but keep the change.",
    ),
    (
        "fieldManager",
        "string",
        "In whose name the fields are set that this request sets.",
    ),
    (
        "fieldSelector",
        "string",
        "Only objects whose fields fit this selector.",
    ),
    (
        "fieldValidation",
        "string",
        "What becomes of unknown and duplicate fields: Ignore, Warn or Strict.",
    ),
    (
        "follow",
        "boolean",
        "Whether the log is followed as it grows.",
    ),
    (
        "force",
        "boolean",
        "Whether an apply takes over fields that others own.",
    ),
    (
        "gracePeriodSeconds",
        "integer",
        "How long the object has before it is deleted; zero means at once.",
    ),
    (
        "ignoreStoreReadErrorWithClusterBreakingPotential",
        "boolean",
        "Whether an object that cannot be read is removed all the same. Dangerous.",
    ),
    (
        "insecureSkipTLSVerifyBackend",
        "boolean",
        "Whether the certificate of the node's agent is taken as it is.",
    ),
    (
        "labelSelector",
        "string",
        "Only objects whose labels fit this selector.",
    ),
    ("limit", "integer", "How many objects come at most at once."),
    (
        "limitBytes",
        "integer",
        "How many bytes of the log are sent at most.",
    ),
    (
        "orphanDependents",
        "boolean",
        "Superseded by propagationPolicy: whether dependents stay.",
    ),
    (
        "path",
        "string",
        "The path, and what follows it, of the request that is passed on.",
    ),
    ("ports", "integer", "The ports to forward."),
    (
        "pretty",
        "string",
        "Whether the answer is indented for people to read.",
    ),
    (
        "previous",
        "boolean",
        "Whether it is the log of the container that ran before.",
    ),
    (
        "propagationPolicy",
        "string",
        "What becomes of dependents: Orphan, Background or Foreground.",
    ),
    (
        "resourceVersion",
        "string",
        "Which state the answer is about.",
    ),
    (
        "resourceVersionMatch",
        "string",
        "How resourceVersion is meant: Exact or NotOlderThan.",
    ),
    (
        "sendInitialEvents",
        "boolean",
        "Whether a watch begins with the objects that there are.",
    ),
    (
        "shardSelector",
        "string",
        "Only objects of this shard, as an expression. Alpha.",
    ),
    (
        "sinceSeconds",
        "integer",
        "How far back the log begins, in seconds.",
    ),
    (
        "stderr",
        "boolean",
        "Whether standard error is passed along.",
    ),
    (
        "stdin",
        "boolean",
        "Whether standard input is passed along.",
    ),
    (
        "stdout",
        "boolean",
        "Whether standard output is passed along.",
    ),
    ("stream", "string", "Which log: All, Stdout or Stderr."),
    (
        "tailLines",
        "integer",
        "How many lines of the end of the log are sent.",
    ),
    ("timeoutSeconds", "integer", "How long the call may last."),
    (
        "timestamps",
        "boolean",
        "Whether each line of the log begins with its time.",
    ),
    ("tty", "boolean", "Whether there is a terminal."),
    (
        "watch",
        "boolean",
        "Whether changes are sent as they happen.",
    ),
];

pub(super) const LIST: &[&str] = &[
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
    "watch",
];
pub(super) const CREATE: &[&str] = &["dryRun", "fieldManager", "fieldValidation"];
pub(super) const PATCH: &[&str] = &["dryRun", "fieldManager", "fieldValidation", "force"];
pub(super) const DELETE: &[&str] = &[
    "dryRun",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "orphanDependents",
    "propagationPolicy",
];
/// Those of a list but `allowWatchBookmarks` and `watch`, and those of a deletion.
pub(super) const DELETE_COLLECTION: &[&str] = &[
    "continue",
    "dryRun",
    "fieldSelector",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "labelSelector",
    "limit",
    "orphanDependents",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
];
pub(super) const LOG: &[&str] = &[
    "container",
    "follow",
    "insecureSkipTLSVerifyBackend",
    "limitBytes",
    "previous",
    "sinceSeconds",
    "stream",
    "tailLines",
    "timestamps",
];
/// Of subresources that connect.
pub(super) const CONNECT: &[(&str, &[&str])] = &[
    ("attach", &["container", "stderr", "stdin", "stdout", "tty"]),
    (
        "exec",
        &["command", "container", "stderr", "stdin", "stdout", "tty"],
    ),
    ("portforward", &["ports"]),
    ("proxy", &["path"]),
];

/// The parameters of these names, and those that the path itself has.
pub(super) fn of(path: &str, kind: &str, names: &[&str], pretty: bool) -> Vec<Parameter> {
    let mut all = Vec::new();
    for (part, name, text) in [
        ("/{name}", "name", Cow::Owned(format!("name of the {kind}"))),
        (
            "/{namespace}/",
            "namespace",
            "The namespace that the object is in.".into(),
        ),
        (
            "/{path}",
            "path",
            "The rest of the path of the request that is passed on.".into(),
        ),
    ] {
        if path.contains(part) {
            all.push(Parameter {
                name,
                in_path: true,
                ty: "string",
                text,
            });
        }
    }
    let asked = |name: &str| names.contains(&name) || pretty && name == "pretty";
    let query = QUERY.iter().filter(|(name, ..)| asked(name));
    all.extend(query.map(|(name, ty, text)| Parameter {
        name,
        in_path: false,
        ty,
        text: (*text).into(),
    }));
    all.sort_by_key(|it| (it.name, !it.in_path));
    all
}
