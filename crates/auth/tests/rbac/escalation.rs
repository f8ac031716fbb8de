//! Nobody grants what they do not hold.

use auth::rbac::{
    RoleRef, bind_attributes, escalate_attributes, refuse_escalation, refuse_role_escalation,
};
use json::json;

use crate::support::{binding, index, role, rules, user};

#[test]
fn names_what_is_missing() {
    let rbac = index(&[
        ("Role", role("ns", "edit", &["get,list|''|pods"])),
        (
            "RoleBinding",
            binding("ns", "b", ("Role", "edit"), &["User:joe"]),
        ),
        (
            "RoleBinding",
            binding("ns", "lost", ("Role", "gone"), &["User:joe"]),
        ),
    ]);
    let joe = user("joe", "dev,system:authenticated");
    assert_eq!(
        refuse_escalation(&rbac, &joe, "ns", &rules(&["get|''|pods|x"])),
        None
    );
    let refusal = refuse_escalation(
        &rbac,
        &joe,
        "ns",
        &rules(&[
            "get,watch,list,delete|'',apps|pods",
            "get||||/metrics",
            "delete|''|secrets|x",
        ]),
    );
    assert_eq!(
        refusal.as_deref(),
        Some(concat!(
            "user \"joe\" (groups=[\"dev\" \"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n",
            "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"watch\" \"delete\"]}\n",
            "{APIGroups:[\"\"], Resources:[\"secrets\"], ResourceNames:[\"x\"], Verbs:[\"delete\"]}\n",
            "{APIGroups:[\"apps\"], Resources:[\"pods\"], Verbs:[\"get\" \"watch\" \"list\" \"delete\"]}\n",
            "{NonResourceURLs:[\"/metrics\"], Verbs:[\"get\"]}",
            "; resolution errors: [role.rbac.authorization.k8s.io \"gone\" not found]",
        ))
    );
    assert!(
        refuse_escalation(&rbac, &joe, "", &rules(&["get|''|pods"])).is_some(),
        "held elsewhere"
    );
}

#[test]
fn aggregation_takes_full_authority() {
    let rbac = index(&[
        ("ClusterRole", role("", "resources", &["*|*|*"])),
        ("ClusterRole", role("", "admin", &["*|*|*", "*||||*"])),
        (
            "ClusterRoleBinding",
            binding("", "a", ("ClusterRole", "resources"), &["User:some"]),
        ),
        (
            "ClusterRoleBinding",
            binding("", "b", ("ClusterRole", "admin"), &["User:root"]),
        ),
    ]);
    let aggregated = json!({"aggregationRule": {"clusterRoleSelectors": [{}]}, "rules": []});
    let plain = role("", "x", &["get|''|pods"]);
    let (some, root) = (user("some", ""), user("root", ""));
    let check = |user, new, old| refuse_role_escalation(&rbac, user, "", new, old);
    let refusal = "must have cluster-admin privileges to use the aggregationRule";
    assert_eq!(check(&some, &plain, None), None);
    assert_eq!(check(&some, &aggregated, None).as_deref(), Some(refusal));
    assert_eq!(
        check(&some, &plain, Some(&aggregated)).as_deref(),
        Some(refusal)
    );
    assert_eq!(check(&root, &aggregated, None), None);
}

#[test]
fn questions_of_bind_and_escalate() {
    let rbac = index(&[
        (
            "ClusterRole",
            role(
                "",
                "binder",
                &[
                    "bind|rbac.authorization.k8s.io|clusterroles|admin",
                    "escalate|rbac.authorization.k8s.io|roles",
                ],
            ),
        ),
        (
            "ClusterRoleBinding",
            binding("", "b", ("ClusterRole", "binder"), &["User:joe"]),
        ),
    ]);
    let joe = user("joe", "");
    let reference = |kind: &str, name: &str| RoleRef::of(&binding("ns", "b", (kind, name), &[]));
    let may_bind =
        |role: &RoleRef| bind_attributes(&joe, role, "ns").map(|it| rbac.decide(&it).allowed());
    assert_eq!(may_bind(&reference("ClusterRole", "admin")), Some(true));
    assert_eq!(may_bind(&reference("ClusterRole", "edit")), Some(false));
    assert_eq!(may_bind(&reference("Role", "admin")), Some(false));
    assert_eq!(may_bind(&reference("Other", "admin")), None);
    let may_escalate = |resource| {
        rbac.decide(&escalate_attributes(&joe, resource, "ns", "r"))
            .allowed()
    };
    assert!(may_escalate("roles") && !may_escalate("clusterroles"));
}
