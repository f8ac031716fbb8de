//! The paths that are no resources: discovery, the version, and what token verifiers read.

use super::operation::{Answer, Operation, Path, camel, group_name, tag};
use super::paths::{META, OBJECTS};

/// Paths of documents of their own, with the operation that is there.
pub(super) const PLAIN: &[&str] = &[
    ".well-known/openid-configuration",
    "api",
    "apis",
    "openid/v1/jwks",
    "version",
];

pub(super) fn plain(name: &str) -> Option<Path> {
    const JSON: &[&str] = &["application/json"];
    let meta = |it: &str| Answer::Type(format!("{META}.{it}"));
    let (id, tag, text, consumes, produces, answer) = match name {
        ".well-known/openid-configuration" => (
            "getServiceAccountIssuerOpenIDConfiguration",
            "WellKnown",
            "how tokens of service accounts are verified, as OpenID discovery has it",
            &[][..],
            JSON,
            Answer::Text,
        ),
        "api" => (
            "getCoreAPIVersions",
            "core",
            "get the versions of the core group",
            OBJECTS,
            OBJECTS,
            meta("APIVersions"),
        ),
        "apis" => (
            "getAPIVersions",
            "apis",
            "get the groups and their versions",
            OBJECTS,
            OBJECTS,
            meta("APIGroupList"),
        ),
        "openid/v1/jwks" => (
            "getServiceAccountIssuerOpenIDKeyset",
            "openid",
            "the public keys that tokens of service accounts are verified with",
            &[][..],
            &["application/jwk-set+json"][..],
            Answer::Text,
        ),
        "version" => (
            "getCodeVersion",
            "version",
            "get the version of this server",
            JSON,
            JSON,
            Answer::Type("io.k8s.apimachinery.pkg.version.Info".into()),
        ),
        _ => return None,
    };
    let mut operation = get(id.into(), tag.into(), text, answer);
    operation.consumes = consumes;
    operation.produces = produces;
    Some(path(format!("/{name}/"), operation))
}

/// `/apis/apps/`
pub(super) fn group(group: &str) -> Path {
    let name = camel(group_name(group), true);
    let operation = get(
        format!("get{name}APIGroup"),
        camel(group_name(group), false),
        "get what is known of a group",
        Answer::Type(format!("{META}.APIGroup")),
    );
    path(format!("/apis/{group}/"), operation)
}

/// `/apis/apps/v1/`
pub(super) fn version(group: &str, version: &str) -> Path {
    let name = camel(group_name(group), true) + &camel(version, true);
    let operation = get(
        format!("get{name}APIResources"),
        tag(group, version),
        "get the resources of a version",
        Answer::Type(format!("{META}.APIResourceList")),
    );
    let base = if group.is_empty() {
        format!("/api/{version}/")
    } else {
        format!("/apis/{group}/{version}/")
    };
    path(base, operation)
}

fn get(id: String, tag: String, text: &str, answer: Answer) -> Operation {
    Operation {
        method: "get",
        action: None,
        id,
        tag,
        text: text.into(),
        parameters: Vec::new(),
        body: None,
        consumes: OBJECTS,
        produces: OBJECTS,
        answers: vec![("200", answer)],
        kind: None,
    }
}

fn path(path: String, operation: Operation) -> Path {
    Path {
        path,
        operations: vec![operation],
    }
}
