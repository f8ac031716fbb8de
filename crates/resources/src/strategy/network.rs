//! The groups `networking.k8s.io` and `discovery.k8s.io`.

use super::{SPEC, Strategy, Unenforced};
use crate::columns::table::{machinery, objects, pods};
use crate::columns::{Columns, network};
use crate::defaults::cluster::{METADATA_SPEC, METADATA_SPEC_STATUS};
use crate::defaults::{self, Defaults};
use crate::prepare::warnings::{self, Warn};
use crate::prepare::{Generation, Meta, Status};
use crate::validate;

const GROUP: &str = "networking.k8s.io";

pub(super) const NETWORKING: &[Strategy] = &[
    Strategy {
        defaults: Defaults::Always(defaults::cluster::INGRESS),
        status: Status::Wiped,
        generation: SPEC,
        validate: rules!(validate::networking::ingresses),
        warnings: Warn {
            create: warnings::ingress,
            ..Warn::NOTHING
        },
        columns: Some(Columns::new(pods::INGRESS, network::ingress)),
        ..Strategy::unconditional(GROUP, "Ingress")
    },
    Strategy {
        defaults: Defaults::Always(defaults::cluster::INGRESS_CLASS),
        generation: SPEC,
        validate: rules!(validate::networking::ingress_classes, no status),
        columns: Some(Columns::new(pods::INGRESS_CLASS, network::ingress_class)),
        ..Strategy::unconditional(GROUP, "IngressClass")
    },
    Strategy {
        defaults: Defaults::Always(defaults::cluster::NETWORK_POLICY),
        generation: SPEC,
        validate: rules!(validate::networking::policies, no status),
        columns: Some(Columns::new(
            objects::NETWORK_POLICY,
            network::network_policy,
        )),
        ..Strategy::unconditional(GROUP, "NetworkPolicy")
    },
    Strategy {
        defaults: Defaults::Always(METADATA_SPEC),
        validate: rules!(validate::networking::addresses, no status),
        columns: Some(Columns::new(machinery::IP_ADDRESS, network::ip_address)),
        ..Strategy::unconditional(GROUP, "IPAddress")
    },
    Strategy {
        defaults: Defaults::Always(METADATA_SPEC_STATUS),
        status: Status::Wiped,
        metadata: Meta::Reset,
        validate: rules!(validate::networking::ranges),
        columns: Some(Columns::new(machinery::SERVICE_CIDR, network::service_cidr)),
        unenforced: Some(Unenforced {
            what: "ServiceCIDR beside the default one",
            effect: "additional ServiceCIDRs are stored and not used by this server: Services get their addresses from --service-cluster-ip-range",
            plugin: None,
            applies: |object| object.str_at(&["metadata", "name"]) != Some("kubernetes"),
        }),
        ..Strategy::unconditional(GROUP, "ServiceCIDR")
    },
];

pub(super) const DISCOVERY: &[Strategy] = &[Strategy {
    defaults: Defaults::Always(defaults::cluster::ENDPOINT_SLICE),
    generation: Generation::AllAndLabels,
    validate: rules!(validate::endpoints::slices, no status),
    warnings: Warn {
        both: warnings::endpoint_slice,
        ..Warn::NOTHING
    },
    columns: Some(Columns::new(
        machinery::ENDPOINT_SLICE,
        network::endpoint_slice,
    )),
    ..Strategy::unconditional("discovery.k8s.io", "EndpointSlice")
}];
