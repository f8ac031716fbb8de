//! Flow schemas and priority levels.

use super::errors::Errors;
use super::field::Field;
use super::object_meta::{self, Named};
use super::seen::Seen;

fn conditions(e: &mut Errors, status: &Field) {
    let all = status.child("conditions");
    let mut seen = Seen::default();
    for it in all.items() {
        let kind = it.child("type");
        if !seen.insert(it.text("type")) {
            e.duplicate(&kind);
        }
        e.required_text(&kind);
    }
}

pub(crate) mod schemas {
    //! `FlowSchema`

    use super::{Errors, Field, Named, conditions, object_meta};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        let spec = it.child("spec");
        let precedence = spec.child("matchingPrecedence");
        let wrong = match precedence.int() {
            ..=0 => "must be a positive value",
            10_001.. => "must not be greater than 10000",
            1 if it.child("metadata").text("name") != "exempt" => {
                "only the schema named 'exempt' may have matchingPrecedence 1"
            }
            _ => "",
        };
        if !wrong.is_empty() {
            e.invalid_value(&precedence, precedence.int(), wrong);
        }
        let method = spec.child("distinguisherMethod");
        let kind = method.child("type");
        let known = ["ByNamespace", "ByUser"];
        if method.is_set() && !known.contains(&kind.str()) {
            e.not_supported(&kind.with(method.value), &known);
        }
        let level = spec.children(&["priorityLevelConfiguration", "name"]);
        if level.is_empty() {
            e.required(&level, "must reference a priority level");
        } else {
            e.dns_subdomain(&level);
        }
        for rule in spec.child("rules").items() {
            self::rule(e, &rule);
        }
        conditions(e, &it.child("status"));
    }

    fn rule(e: &mut Errors, it: &Field) {
        let subjects = it.child("subjects");
        if subjects.is_empty() {
            e.required(&subjects, "subjects must contain at least one value");
        }
        for subject in subjects.items() {
            self::subject(e, &subject);
        }
        let (resources, urls) = (it.child("resourceRules"), it.child("nonResourceRules"));
        if resources.is_empty() && urls.is_empty() {
            let text = "at least one of resourceRules and nonResourceRules has to be non-empty";
            e.required(it, text);
        }
        for rule in resources.items() {
            resource_rule(e, &rule);
        }
        for rule in urls.items() {
            verbs(e, &rule.child("verbs"));
            let urls = rule.child("nonResourceURLs");
            let text = "nonResourceURLs must contain at least one value";
            if !alone(e, &urls, text, "non-resource URLs") {
                for url in urls.items() {
                    self::url(e, &url);
                }
            }
        }
    }

    const SUBJECTS: [(&str, &str); 3] = [
        ("ServiceAccount", "serviceAccount"),
        ("User", "user"),
        ("Group", "group"),
    ];

    fn subject(e: &mut Errors, it: &Field) {
        let kind = it.child("kind");
        let Some((_, own)) = SUBJECTS.iter().find(|(name, _)| *name == kind.str()) else {
            return e.not_supported(&kind, &["Group", "ServiceAccount", "User"]);
        };
        let subject = it.child(own);
        if subject.is_set() {
            let name = subject.child("name");
            if e.required_text(&name) && *own == "serviceAccount" && name.str() != "*" {
                e.dns_subdomain(&name);
            }
            let namespace = subject.child("namespace");
            if *own == "serviceAccount" && namespace.is_empty() {
                e.required(&namespace, "must specify namespace for service account");
            } else if *own == "serviceAccount" {
                e.dns_label(&namespace);
            }
        } else {
            let why = format!("{own} is required when subject kind is '{}'", kind.str());
            e.required(&subject, &why);
        }
        for (name, other) in SUBJECTS.iter().filter(|(_, other)| other != own) {
            if it.has(other) {
                let why = format!("{other} is forbidden when subject kind is not '{name}'");
                e.forbidden(&it.child(other), &why);
            }
        }
    }

    const VERBS: &[&str] = &[
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "proxy",
        "update",
        "watch",
    ];

    /// Says whether there is nothing more to look at.
    fn alone(e: &mut Errors, all: &Field, needed: &str, what: &str) -> bool {
        if all.is_empty() {
            e.required(all, needed);
        }
        let star = all.texts().any(|it| it == "*");
        if star && all.len() > 1 {
            e.invalid(
                all,
                &format!("if '*' is present, must not specify other {what}"),
            );
        }
        star || all.is_empty()
    }

    fn verbs(e: &mut Errors, all: &Field) {
        let text = "verbs must contain at least one value";
        if !alone(e, all, text, "verbs") && !all.texts().all(|it| VERBS.contains(&it)) {
            e.not_supported(all, VERBS);
        }
    }

    fn resource_rule(e: &mut Errors, it: &Field) {
        verbs(e, &it.child("verbs"));
        alone(
            e,
            &it.child("apiGroups"),
            "resource rules must supply at least one api group",
            "api groups",
        );
        alone(
            e,
            &it.child("resources"),
            "resource rules must supply at least one resource",
            "resources",
        );
        let namespaces = it.child("namespaces");
        if namespaces.is_empty() && it.flag("clusterScope") {
            return;
        }
        let text = "resource rules that are not cluster scoped must supply at least one namespace";
        if !alone(e, &namespaces, text, "namespaces") {
            for namespace in namespaces.items() {
                for wrong in meta::names::dns1123_label(namespace.str()) {
                    let why = format!(
                        "each member of this list must be '*' or a DNS-1123 label; {wrong}"
                    );
                    e.invalid(&namespace, &why);
                }
            }
        }
    }

    fn url(e: &mut Errors, it: &Field) {
        let path = it.str();
        let stars = path.matches('*').count();
        let wrong = if path.is_empty() {
            "must not be empty"
        } else if path == "/" {
            return;
        } else if !path.starts_with('/') {
            "must start with slash"
        } else if path.contains(' ') {
            "must not contain white-space"
        } else if path.contains("//") {
            "must not contain double slash"
        } else if stars > 1 || stars == 1 && !path.ends_with("/*") {
            "wildcard can only do suffix matching"
        } else {
            return;
        };
        e.invalid(it, wrong);
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, _: &Field) {
        create(e, new);
    }

    pub(crate) fn update_status(e: &mut Errors, new: &Field, _: &Field) {
        conditions(e, &new.child("status"));
    }
}

pub(crate) mod levels {
    //! `PriorityLevelConfiguration`

    use super::{Errors, Field, Named, conditions, object_meta};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        let spec = it.child("spec");
        let (kind, limited, exempt) = (
            spec.child("type"),
            spec.child("limited"),
            spec.child("exempt"),
        );
        let is_exempt = it.child("metadata").text("name") == "exempt";
        if is_exempt != (kind.str() == "Exempt") {
            e.invalid(&kind, "must be 'Exempt' if and only if `name` is 'exempt'");
        }
        match kind.str() {
            "Exempt" => {
                if limited.is_set() {
                    e.late(|e| e.forbidden(&limited, ""));
                }
                shares(e, &exempt);
            }
            "Limited" => {
                if exempt.is_set() {
                    e.late(|e| e.forbidden(&exempt, ""));
                }
                if limited.is_set() {
                    self::limited(e, &limited);
                } else {
                    e.late(|e| e.required(&limited, ""));
                }
            }
            other => {
                if other.is_empty() {
                    e.late(|e| e.required(&kind, ""));
                } else {
                    e.not_supported(&kind, &["Exempt", "Limited"]);
                }
                // Neither goes with any other type.
                for it in [&limited, &exempt] {
                    if it.is_set() {
                        e.late(|e| e.forbidden(it, ""));
                    }
                }
            }
        }
        conditions(e, &it.child("status"));
    }

    fn shares(e: &mut Errors, it: &Field) {
        let shares = it.child("nominalConcurrencyShares");
        if shares.int() < 0 {
            e.invalid(&shares, "must be a non-negative integer");
        }
        percent(e, it);
    }

    fn percent(e: &mut Errors, it: &Field) {
        let lendable = it.child("lendablePercent");
        if !(0..=100).contains(&lendable.int()) {
            e.invalid(&lendable, "must be between 0 and 100, inclusive");
        }
    }

    fn limited(e: &mut Errors, it: &Field) {
        let shares = it.child("nominalConcurrencyShares");
        if shares.int() < 0 {
            e.invalid(&shares, "must be a non-negative integer");
        }
        let response = it.child("limitResponse");
        let (kind, queuing) = (response.child("type"), response.child("queuing"));
        match kind.str() {
            "Reject" => {
                if queuing.is_set() {
                    e.late(|e| e.forbidden(&queuing, ""));
                }
            }
            "Queue" if !queuing.is_set() => e.late(|e| e.required(&queuing, "")),
            "Queue" => self::queuing(e, &queuing),
            "" => e.late(|e| e.required(&kind, "")),
            _ => e.not_supported(&kind, &["Queue", "Reject"]),
        }
        percent(e, it);
        let borrowing = it.child("borrowingLimitPercent");
        if borrowing.int() < 0 {
            e.invalid(&borrowing, "if specified, must be a non-negative integer");
        }
    }

    fn queuing(e: &mut Errors, it: &Field) {
        let (length, queues, hand) = (
            it.child("queueLengthLimit"),
            it.child("queues"),
            it.child("handSize"),
        );
        for number in [&length, &queues] {
            if number.int() <= 0 {
                e.invalid_value(number, number.int(), "must be positive");
            }
        }
        if queues.int() > 10_000_000 {
            e.invalid(&queues, "must not be greater than 10000000");
        }
        if hand.int() <= 0 {
            e.invalid_value(&hand, hand.int(), "must be positive");
        } else if hand.int() > queues.int() {
            e.invalid(
                &hand,
                &format!("should not be greater than queues ({})", queues.int()),
            );
        } else if entropy_bits(queues.int(), hand.int()) > 60.0 {
            let why = format!(
                "required entropy bits of deckSize {} and handSize {} should not be greater than 60",
                queues.int(),
                hand.int()
            );
            e.invalid(&hand, &why);
        }
    }

    /// What it takes to choose a queue, for each card of a hand.
    #[expect(clippy::cast_precision_loss, reason = "both are below ten million")]
    fn entropy_bits(deck: i64, hand: i64) -> f64 {
        ((deck as f64).log2() * hand as f64).ceil()
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, _: &Field) {
        create(e, new);
    }

    pub(crate) fn update_status(e: &mut Errors, new: &Field, _: &Field) {
        conditions(e, &new.child("status"));
    }
}
