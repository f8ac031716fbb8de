//! Kinds that are stored and not enforced: the one table. A client that writes such an object is warned, `serve` lists the
//! kinds at its start, and the admission plugins behind them cannot be enabled (`admission::not_enforced`).
//!
//! **Nothing fails open in silence.** A row goes when its kind is enforced.

use json::Value;

use crate::catalog::Resource;
use crate::catalog::convert;
use crate::state::Api;

/// A kind, or some objects of it.
#[derive(Clone, Copy, Debug)]
pub struct Unenforced {
    pub group: &'static str,
    pub resource: &'static str,
    /// What of it is meant, as the list has it.
    pub what: &'static str,
    /// What that means for its author; the warning.
    pub effect: &'static str,
    /// The admission plugin that would enforce it.
    pub plugin: Option<&'static str>,
    /// Whether this object is meant.
    applies: fn(&Value) -> bool,
}

const fn whole(
    group: &'static str,
    resource: &'static str,
    what: &'static str,
    effect: &'static str,
    plugin: Option<&'static str>,
) -> Unenforced {
    Unenforced {
        group,
        resource,
        what,
        effect,
        plugin,
        applies: |_| true,
    }
}

/// Not here: what other programs enforce with kube-apiserver, too, as network policies.
pub const ALL: &[Unenforced] = &[
    whole(
        "",
        "resourcequotas",
        "ResourceQuota",
        "resource quotas are stored and not enforced by this server: nothing is counted and nothing is refused",
        Some("ResourceQuota"),
    ),
    Unenforced {
        applies: names_service,
        ..whole(
            "apiregistration.k8s.io",
            "apiservices",
            "APIService of another server",
            "API aggregation is not supported by this server: requests for this group and version are not handed on to the Service",
            None,
        )
    },
    Unenforced {
        applies: |object| object.str_at(&["metadata", "name"]) != Some("kubernetes"),
        ..whole(
            "networking.k8s.io",
            "servicecidrs",
            "ServiceCIDR beside the default one",
            "additional ServiceCIDRs are stored and not used by this server: Services get their addresses from --service-cluster-ip-range",
            None,
        )
    },
];

fn names_service(object: &Value) -> bool {
    object
        .at(&["spec", "service"])
        .is_some_and(|it| !it.is_null())
}

/// What whoever writes this object is told.
pub(crate) fn warning(resource: &Resource, object: &Value) -> Option<String> {
    let row = ALL.iter().find(|it| resource.is(it.group, it.resource))?;
    (row.applies)(object).then(|| row.effect.to_owned())
}

/// What this server does not enforce, in the words of a list.
pub fn list() -> Vec<&'static str> {
    ALL.iter().map(|it| it.what).collect()
}

/// Such objects that are there already, for example in the etcd of another server: what they are, and how many.
pub fn stored(api: &Api) -> Vec<(&'static str, usize)> {
    let snapshot = api.store().latest();
    let counted = ALL.iter().filter_map(|row| {
        let resource = api.preferred(row.group, row.resource)?;
        let all = snapshot.range(resource.prefix.as_bytes());
        let meant = all.filter(|entry| {
            let object = convert::parse(&resource, &entry.value);
            object.is_ok_and(|it| (row.applies)(&it))
        });
        let count = meant.count();
        (count > 0).then_some((row.what, count))
    });
    counted.collect()
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn each_plugin_that_is_not_enforced_has_its_kinds_and_the_other_way_round() {
        let mut plugins: Vec<_> = ALL.iter().filter_map(|it| it.plugin).collect();
        plugins.dedup();
        plugins.sort_unstable();
        let mut known: Vec<_> = admission::not_enforced().collect();
        // Its kind is not served.
        known.retain(|it| *it != "PodGroupProtection");
        known.sort_unstable();
        assert_eq!(plugins, known);
    }

    #[test]
    fn only_what_is_not_acted_on_is_meant() {
        let local = json!({"spec": {"group": "apps", "version": "v1"}});
        let remote = json!({"spec": {"service": {"name": "metrics-server"}}});
        assert!(!names_service(&local) && names_service(&remote));
    }

    #[test]
    fn every_row_is_a_kind_that_is_served() {
        let catalog = crate::catalog::Catalog::new(
            crate::catalog::builtin(&features::Settings::kubernetes()),
            &[],
        );
        for row in ALL {
            let mut all = catalog.preferred();
            let found = all.any(|it| it.is(row.group, row.resource));
            assert!(found, "{}", row.resource);
        }
    }
}
