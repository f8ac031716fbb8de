//! Nobody becomes who they may not be.

use crate::MAPS;
use crate::client::{Answer, Client, refused, says};

fn as_other(client: &Client, token: &str, headers: &[u8]) -> Answer {
    let head = format!(
        "GET {MAPS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}-token\r\n"
    );
    let request = [head.as_bytes(), headers, b"\r\n\r\n"].concat();
    crate::client::split(&client.raw(&request))
}

fn may_not_list(user: &str) -> String {
    format!(
        "configmaps is forbidden: User \"{user}\" cannot list resource \"configmaps\" in API group \"\" in the namespace \"default\""
    )
}

#[tokio::test]
async fn headers_of_any_bytes_take_the_senders_rights_away() {
    let client = Client::start().await;
    assert_eq!(as_other(&client, "admin", b"X: y").0, 200);
    says(
        &as_other(&client, "admin", b"Impersonate-User: bob"),
        403,
        &may_not_list("bob"),
    );
    // Names are bytes: one that is not ASCII is a name all the same.
    says(
        &as_other(&client, "admin", "Impersonate-User: é".as_bytes()),
        403,
        &may_not_list("é"),
    );
    let (code, _) = as_other(&client, "admin", b"Impersonate-User: \xff");
    assert_eq!(code, 403);
    // Of two, the first.
    says(
        &as_other(
            &client,
            "admin",
            b"Impersonate-User: bob\r\nimpersonate-user: admin\r\nImpersonate-Group: dev",
        ),
        403,
        &may_not_list("bob"),
    );
    for (header, user) in [
        (
            "Impersonate-Group: system:masters",
            "Name:\"\", UID:\"\", Groups:[]string{\"system:masters\"}, Extra:map[string][]string(nil)",
        ),
        (
            "Impersonate-Uid: 1",
            "Name:\"\", UID:\"1\", Groups:[]string(nil), Extra:map[string][]string(nil)",
        ),
    ] {
        says(
            &as_other(&client, "admin", header.as_bytes()),
            400,
            &format!("requested &user.DefaultInfo{{{user}}} without impersonating a user name"),
        );
    }
}

#[tokio::test]
async fn only_who_may_becomes_another() {
    let client = Client::start().await;
    let on = |mode: &str| {
        format!(
            "configmaps is forbidden: User \"alice\" cannot impersonate-on:{mode}:list resource \"configmaps\" in API group \"\" in the namespace \"default\""
        )
    };
    for (headers, mode) in [
        (
            "Impersonate-User: admin\r\nImpersonate-Group: system:masters",
            "user-info",
        ),
        (
            "Impersonate-User: alice\r\nImpersonate-Group: system:masters",
            "user-info",
        ),
        ("Impersonate-User: alice\r\nImpersonate-Uid: 1", "user-info"),
        (
            "Impersonate-User: alice\r\nImpersonate-Extra-a.io%2fb: 1",
            "user-info",
        ),
        (
            "Impersonate-User: system:serviceaccount:kube-system:default",
            "serviceaccount",
        ),
        ("Impersonate-User: system:node:n", "arbitrary-node"),
    ] {
        says(
            &as_other(&client, "alice", headers.as_bytes()),
            403,
            &on(mode),
        );
    }
    client.grant("as-users", &[("", "users", "impersonate")]);
    says(
        &as_other(&client, "alice", b"Impersonate-User: bob"),
        403,
        &may_not_list("bob"),
    );
    // The name of a master does not make one, and no group comes with it.
    says(
        &as_other(&client, "alice", b"Impersonate-User: admin"),
        403,
        &may_not_list("admin"),
    );
    for headers in [
        "Impersonate-Group: system:masters",
        "Impersonate-Uid: 1",
        "Impersonate-Extra-a.io%2fb: 1",
    ] {
        let headers = format!("Impersonate-User: bob\r\n{headers}");
        let (code, _) = as_other(&client, "alice", headers.as_bytes());
        assert_eq!(code, 403, "{headers}");
    }
}

#[tokio::test]
async fn a_node_is_in_its_group_unless_the_old_verb_was_used() {
    let client = Client::start().await;
    let nodes = "configmaps is forbidden: User \"system:node:n\" cannot list resource \"configmaps\" in API group \"\" in the namespace \"default\"";
    // Those of the group are told more, by the authorizer that knows nodes.
    let answer = as_other(&client, "admin", b"Impersonate-User: system:node:n");
    refused(&answer, 403, &format!("{nodes}: "));
    let with = b"Impersonate-User: system:node:n\r\nImpersonate-Group: g";
    says(&as_other(&client, "admin", with), 403, nodes);
    // From then on the old verb is tried first.
    let alone = b"Impersonate-User: system:node:n";
    says(&as_other(&client, "admin", alone), 403, nodes);
}
