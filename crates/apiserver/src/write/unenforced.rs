//! Kinds that are stored and not enforced, as their strategies say (`resources::strategy`). A client that writes such an
//! object is warned, `serve` lists the kinds at its start, and the admission plugins behind them cannot be enabled
//! (`admission::not_enforced`). Not among them: what other programs enforce with kube-apiserver, too, as network policies.
//!
//! **Nothing fails open in silence.** The field of the strategy goes when its kind is enforced.

use json::Value;
use resources::strategy::{self, Unenforced};

use crate::catalog::Resource;
use crate::catalog::convert;
use crate::state::Api;

fn all() -> impl Iterator<Item = Unenforced> {
    strategy::all().filter_map(|it| it.unenforced)
}

/// The warning for a client that writes this object.
pub(crate) fn warning(resource: &Resource, object: &Value) -> Option<String> {
    let row = resource.strategy.unenforced?;
    (row.applies)(object).then(|| row.effect.to_owned())
}

/// What this server does not enforce, in the words of a list.
pub fn list() -> Vec<&'static str> {
    all().map(|it| it.what).collect()
}

/// Such objects that are there already, for example in the etcd of another server: what they are, and how many.
pub fn stored(api: &Api) -> Vec<(&'static str, usize)> {
    let snapshot = api.store().latest();
    let catalog = api.catalog().load_full();
    let counted = strategy::all().filter_map(|kind| {
        let row = kind.unenforced?;
        let resource = catalog.preferred().find(|it| it.strategy == kind)?;
        let all = snapshot.range(resource.prefix.as_bytes());
        let meant = all.filter(|entry| {
            let object = convert::parse(resource, &entry.value);
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
        let mut plugins: Vec<_> = all().filter_map(|it| it.plugin).collect();
        plugins.dedup();
        plugins.sort_unstable();
        let mut known: Vec<_> = admission::not_enforced().collect();
        // Its kind is not served.
        known.retain(|it| *it != "PodGroupProtection");
        known.sort_unstable();
        assert_eq!(plugins, known);
    }

    #[test]
    fn an_api_service_of_this_server_is_acted_on() {
        let row = strategy::find("apiregistration.k8s.io", "APIService");
        let applies = row.unenforced.unwrap().applies;
        let local = json!({"spec": {"group": "apps", "version": "v1"}});
        let remote = json!({"spec": {"service": {"name": "metrics-server"}}});
        assert!(!applies(&local) && applies(&remote));
    }

    #[test]
    fn every_such_kind_is_served() {
        let catalog = crate::catalog::Catalog::new(
            crate::catalog::builtin(&features::Settings::kubernetes()),
            &[],
        );
        let served = catalog
            .preferred()
            .filter(|it| it.strategy.unenforced.is_some());
        assert_eq!(served.count(), all().count());
    }
}
