//! Rules of webhooks that nothing comes of.

use json::Value;

use super::Warnings;
use crate::read::Read;

/// Reviews that no webhook is asked about: it could lock all out.
const UNSEEN: [(&str, &str); 6] = [
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
];

pub(crate) fn unseen(object: &Value, all: &mut Warnings) {
    for (i, hook) in object.list("webhooks").iter().enumerate() {
        for (j, rule) in hook.list("rules").iter().enumerate() {
            all.extend(named(rule).map(|(group, resource)| {
                format!(
                    "webhooks[{i}].rules[{j}]: {resource}.{group} is excluded from admission webhooks; this rule will \
                     have no effect"
                )
            }));
        }
    }
}

/// Who says "all" may mean something else. Each pair that comes out is one that is told: groups are not combined with
/// resources that they do not have.
fn named(rule: &Value) -> impl Iterator<Item = (&str, &str)> {
    let texts = |key| rule.list(key).iter().filter_map(Value::as_str);
    let (groups, resources) = (texts("apiGroups"), texts("resources"));
    let all = groups.clone().chain(resources.clone()).any(|it| it == "*");
    let of = |group: &str| -> Vec<&str> {
        let resources = resources.clone();
        resources
            .filter(|it| UNSEEN.contains(&(group, it)))
            .collect()
    };
    let known = ["authentication.k8s.io", "authorization.k8s.io"].map(|it| (it, of(it)));
    groups.filter(move |_| !all).flat_map(move |group| {
        let found = known.iter().find(|(it, _)| *it == group);
        let found = found.map(|(_, it)| it.clone()).unwrap_or_default();
        found.into_iter().map(move |it| (group, it))
    })
}
