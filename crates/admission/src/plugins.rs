//! Which plugins there are, in which order they run, and which do so unless told otherwise: as kube-apiserver 1.37, but
//! for `NodeRestriction`, which belongs to the mode Node, our default.

use std::sync::Arc;

use auth::Authorizer;

use crate::certificates::{
    CertificateApproval, CertificateSigning, CertificateSubjectRestriction,
    ClusterTrustBundleAttest,
};
use crate::client::Targets;
use crate::metrics::Metrics;
use crate::policy::{MutatingAdmissionPolicy, StaticPolicies, ValidatingAdmissionPolicy};
use crate::storage::{
    DefaultStorageClass, PersistentVolumeClaimResize, StorageObjectInUseProtection,
};
use crate::webhook::{Caller, MutatingAdmissionWebhook, ValidatingAdmissionWebhook};
use crate::{
    Chain, DefaultIngressClass, DefaultTolerationSeconds, LimitRanger, NamespaceLifecycle,
    NodeDeclaredFeatureValidator, NodeRestriction, Plugin, PodResizeValidator, PodSecurity,
    PodTopologyLabels, Priority, RuntimeClass, ServiceAccount, TaintNodesByCondition,
};

/// Where chance comes from.
pub type Random = fn() -> u64;

/// What plugins are made with.
#[derive(Clone, Debug)]
pub struct Setup {
    pub authorizer: Arc<dyn Authorizer>,
    pub random: Random,
    /// Where webhooks are, and the connections to them.
    pub targets: Arc<Targets>,
    pub metrics: Arc<Metrics>,
    /// Policies from files.
    pub validating_manifests: Arc<StaticPolicies>,
    pub mutating_manifests: Arc<StaticPolicies>,
}

impl Setup {
    fn caller(&self) -> Caller {
        Caller {
            targets: self.targets.clone(),
            random: self.random,
            authorizer: self.authorizer.clone(),
            metrics: self.metrics.clone(),
        }
    }
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Row {
    /// Runs unless disabled.
    On(fn(&Setup) -> Box<dyn Plugin>),
    /// Runs if enabled.
    Off,
    /// Runs by default in kube-apiserver and not here: what it would enforce is not enforced.
    NotEnforced,
}

use Row::{NotEnforced, Off, On};

const ALL: &[(&str, Row)] = &[
    ("AlwaysAdmit", Off),
    ("NamespaceAutoProvision", Off),
    ("NamespaceLifecycle", On(|_| Box::new(NamespaceLifecycle))),
    ("NamespaceExists", Off),
    ("LimitPodHardAntiAffinityTopology", Off),
    ("LimitRanger", On(|_| Box::new(LimitRanger))),
    (
        "ServiceAccount",
        On(|it| Box::new(ServiceAccount { random: it.random })),
    ),
    (
        "NodeRestriction",
        On(|it| Box::new(NodeRestriction(it.authorizer.clone()))),
    ),
    (
        "TaintNodesByCondition",
        On(|_| Box::new(TaintNodesByCondition)),
    ),
    ("AlwaysPullImages", Off),
    ("ImagePolicyWebhook", Off),
    ("PodSecurity", On(|_| Box::new(PodSecurity))),
    ("PodNodeSelector", Off),
    ("Priority", On(|_| Box::new(Priority))),
    (
        "DefaultTolerationSeconds",
        On(|_| Box::new(DefaultTolerationSeconds::default())),
    ),
    ("PodTolerationRestriction", Off),
    ("EventRateLimit", Off),
    ("ExtendedResourceToleration", Off),
    ("DefaultStorageClass", On(|_| Box::new(DefaultStorageClass))),
    (
        "StorageObjectInUseProtection",
        On(|_| Box::new(StorageObjectInUseProtection)),
    ),
    ("PodGroupProtection", NotEnforced),
    ("OwnerReferencesPermissionEnforcement", Off),
    (
        "PersistentVolumeClaimResize",
        On(|_| Box::new(PersistentVolumeClaimResize)),
    ),
    ("RuntimeClass", On(|_| Box::new(RuntimeClass))),
    (
        "CertificateApproval",
        On(|it| Box::new(CertificateApproval(it.authorizer.clone()))),
    ),
    (
        "CertificateSigning",
        On(|it| Box::new(CertificateSigning(it.authorizer.clone()))),
    ),
    (
        "ClusterTrustBundleAttest",
        On(|it| Box::new(ClusterTrustBundleAttest(it.authorizer.clone()))),
    ),
    (
        "CertificateSubjectRestriction",
        On(|_| Box::new(CertificateSubjectRestriction)),
    ),
    ("DefaultIngressClass", On(|_| Box::new(DefaultIngressClass))),
    ("DenyServiceExternalIPs", Off),
    ("PodTopologyLabels", On(|_| Box::new(PodTopologyLabels))),
    (
        "NodeDeclaredFeatureValidator",
        On(|_| Box::new(NodeDeclaredFeatureValidator)),
    ),
    ("PodResizeValidator", On(|_| Box::new(PodResizeValidator))),
    // Webhooks, quota and the like come last: they see what the others made of the object.
    (
        "MutatingAdmissionPolicy",
        On(|it| {
            let authorizer = it.authorizer.clone();
            Box::new(MutatingAdmissionPolicy::new(
                authorizer,
                it.metrics.clone(),
                it.mutating_manifests.clone(),
            ))
        }),
    ),
    (
        "MutatingAdmissionWebhook",
        On(|it| Box::new(MutatingAdmissionWebhook::new(it.caller()))),
    ),
    (
        "ValidatingAdmissionPolicy",
        On(|it| {
            let authorizer = it.authorizer.clone();
            Box::new(ValidatingAdmissionPolicy::new(
                authorizer,
                it.metrics.clone(),
                it.validating_manifests.clone(),
            ))
        }),
    ),
    (
        "ValidatingAdmissionWebhook",
        On(|it| Box::new(ValidatingAdmissionWebhook::new(it.caller()))),
    ),
    ("ResourceQuota", NotEnforced),
    ("AlwaysDeny", Off),
];

/// Why names on the command line are refused, in upstream's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PluginsError {
    #[error("{flag} plugin {} is unknown", meta::go::quote(.name))]
    Unknown { flag: &'static str, name: String },
    #[error("[{}] in enable-admission-plugins and disable-admission-plugins overlapped", .0.join(" "))]
    Overlap(Vec<String>),
    #[error("enable-admission-plugins plugin {} is not supported by this server", meta::go::quote(.0))]
    Unsupported(String),
    #[error(
        "enable-admission-plugins plugin {} is not enforced by this server, though kube-apiserver runs it by default: leave it out, and \
         know that what it would refuse is admitted",
        meta::go::quote(.0)
    )]
    NotEnforced(String),
}

/// The plugins that kube-apiserver runs by default and this server does not have.
pub fn not_enforced() -> impl Iterator<Item = &'static str> {
    let missing = ALL.iter().filter(|(_, row)| matches!(row, NotEnforced));
    missing.map(|(name, _)| *name)
}

/// Which plugins run: `--enable-admission-plugins` and `--disable-admission-plugins` over the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plugins {
    enabled: Vec<String>,
    disabled: Vec<String>,
}

impl Plugins {
    pub fn new(enable: &[String], disable: &[String]) -> Result<Self, PluginsError> {
        let clean = |names: &[String], flag| {
            let names = names.iter().map(|it| it.trim().to_owned());
            let names: Vec<String> = names.filter(|it| !it.is_empty()).collect();
            let mut all = names.iter();
            match all.find(|name| !ALL.iter().any(|(it, _)| it == name)) {
                Some(name) => Err(PluginsError::Unknown {
                    flag,
                    name: name.clone(),
                }),
                None => Ok(names),
            }
        };
        let enabled = clean(enable, "enable-admission-plugins")?;
        let disabled = clean(disable, "disable-admission-plugins")?;
        let both = enabled.iter().filter(|it| disabled.contains(it));
        let mut both: Vec<String> = both.cloned().collect();
        if !both.is_empty() {
            both.sort_unstable();
            both.dedup();
            return Err(PluginsError::Overlap(both));
        }
        // Asking for what is not there must not pass in silence.
        for name in &enabled {
            let row = ALL.iter().find(|(it, _)| it == name);
            match row.map(|(_, row)| row) {
                Some(Off) => return Err(PluginsError::Unsupported(name.clone())),
                Some(NotEnforced) => return Err(PluginsError::NotEnforced(name.clone())),
                Some(On(_)) | None => {}
            }
        }
        Ok(Self { enabled, disabled })
    }

    pub fn chain(&self, setup: &Setup) -> Chain {
        let wanted = ALL
            .iter()
            .filter(|(name, _)| !self.disabled.iter().any(|it| it == name));
        let plugins = wanted.filter_map(|(_, row)| match row {
            On(make) => Some(make(setup)),
            Off | NotEnforced => None,
        });
        Chain::new(plugins.collect(), setup.metrics.clone())
    }
}

#[cfg(test)]
mod tests {
    use telemetry::metrics::Registry;

    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    fn chain(enable: &str, disable: &str) -> Vec<&'static str> {
        let setup = Setup {
            authorizer: Arc::new(auth::authorizer::AlwaysAllow),
            random: || 0,
            targets: Arc::default(),
            metrics: Arc::new(Metrics::new(&Registry::default())),
            validating_manifests: Arc::default(),
            mutating_manifests: Arc::default(),
        };
        let plugins = Plugins::new(&names(enable), &names(disable)).unwrap();
        plugins.chain(&setup).names().collect()
    }

    #[test]
    fn every_plugin_goes_by_its_name_in_order() {
        let order: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
        let all = chain("", "");
        let places: Vec<_> = all
            .iter()
            .map(|it| {
                order
                    .iter()
                    .position(|name| name == it)
                    .expect("in the table")
            })
            .collect();
        assert!(places.is_sorted(), "{all:?}");
        let on = ALL.iter().filter(|(_, row)| matches!(row, On(_))).count();
        assert_eq!(all.len(), on);
        assert_eq!(ALL.len(), 39);
    }

    #[test]
    fn names_on_the_command_line() {
        let cases = [
            (
                "Foo",
                "",
                "enable-admission-plugins plugin \"Foo\" is unknown",
            ),
            (
                "",
                "Bar",
                "disable-admission-plugins plugin \"Bar\" is unknown",
            ),
            (
                "Priority,LimitRanger",
                "LimitRanger,Priority",
                "[LimitRanger Priority] in enable-admission-plugins and disable-admission-plugins overlapped",
            ),
            (
                "AlwaysPullImages",
                "",
                "enable-admission-plugins plugin \"AlwaysPullImages\" is not supported by this server",
            ),
        ];
        for name in not_enforced() {
            let error = Plugins::new(&names(name), &[]).unwrap_err();
            assert_eq!(error, PluginsError::NotEnforced(name.to_owned()));
            assert!(
                error.to_string().contains("is not enforced by this server"),
                "{error}"
            );
            assert!(Plugins::new(&[], &names(name)).is_ok());
        }
        for (enable, disable, want) in cases {
            let error = Plugins::new(&names(enable), &names(disable)).unwrap_err();
            assert_eq!(error.to_string(), want);
        }
        assert!(!chain("", "LimitRanger, Priority").contains(&"Priority"));
        assert!(chain("LimitRanger", "").contains(&"LimitRanger"));
    }
}
