//! Endpoints, and the slices that replace them.

use meta::names;

use super::errors::Errors;
use super::field::Field;
use super::ip;
use super::object_meta::{self, Named};
use super::pod::containers::PROTOCOLS;
use super::seen::Seen;

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::SUBDOMAIN);
    subsets(e, &it.child("subsets"));
}

/// What did not change was valid once.
pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    object_meta::create(e, new, Named::SUBDOMAIN);
    let all = new.child("subsets");
    if !e.same(&all, &old.child("subsets")) {
        subsets(e, &all);
    }
}

fn subsets(e: &mut Errors, all: &Field) {
    for it in all.items() {
        let (ready, other) = (it.child("addresses"), it.child("notReadyAddresses"));
        if ready.is_empty() && other.is_empty() {
            e.required(&it, "must specify `addresses` or `notReadyAddresses`");
        }
        for address in ready.items().chain(other.items()) {
            let (ip, host, node) = (
                address.child("ip"),
                address.child("hostname"),
                address.child("nodeName"),
            );
            e.ip(&ip, false);
            if !host.is_empty() {
                e.dns_label(&host);
            }
            if node.is_set() {
                e.dns_subdomain(&node);
            }
            e.invalid_all(&ip, ip::wrong_endpoint(ip.str()));
        }
        let ports = it.child("ports");
        for port in ports.items() {
            let name = port.child("name");
            if !name.is_empty() {
                e.dns_label(&name);
            } else if ports.len() > 1 {
                e.required(&name, "");
            }
            e.port_number(&port.child("port"));
            e.required_one_of(&port.child("protocol"), PROTOCOLS);
            let protocol = port.child("appProtocol");
            if protocol.is_set() {
                e.qualified_name(&protocol);
            }
        }
    }
}

pub(crate) mod slices {
    //! `EndpointSlice`

    use super::{Errors, Field, Named, PROTOCOLS, Seen, ip, names, object_meta};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        slice(e, it, true);
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        let (all, had) = (new.child("endpoints"), old.child("endpoints"));
        let changed = !e.same(&all, &had);
        slice(e, new, changed);
        let kind = new.child("addressType");
        e.late(|e| e.unchanged(&kind, &old.child("addressType")));
    }

    fn slice(e: &mut Errors, it: &Field, check_endpoints: bool) {
        object_meta::create(e, it, Named::SUBDOMAIN);
        let kind = it.child("addressType");
        e.late(|e| e.required_one_of(&kind, &["FQDN", "IPv4", "IPv6"]));
        ports(e, &it.child("ports"));
        let all = it.child("endpoints");
        if !check_endpoints {
            return;
        }
        if all.len() > 1000 {
            return e.too_many(&all, 1000);
        }
        for endpoint in all.items() {
            self::endpoint(e, &endpoint, kind.str());
        }
    }

    fn ports(e: &mut Errors, all: &Field) {
        if all.len() > 20_000 {
            return e.too_many(all, 20_000);
        }
        let mut seen = Seen::default();
        for it in all.items() {
            let name = it.child("name");
            if !name.is_empty() {
                e.dns_label(&name);
            }
            if !seen.insert(it.text("name")) {
                e.duplicate(&name);
            }
            let protocol = it.child("protocol");
            if protocol.is_set() {
                e.one_of(&protocol, PROTOCOLS);
            } else {
                e.required(&protocol, "");
            }
            let application = it.child("appProtocol");
            if application.is_set() {
                e.qualified_name(&application);
            }
        }
    }

    fn endpoint(e: &mut Errors, it: &Field, kind: &str) {
        let addresses = it.child("addresses");
        e.late(|e| {
            if addresses.is_empty() {
                e.required(&addresses, "");
            } else if addresses.len() > 100 {
                e.too_many(&addresses, 100);
            }
        });
        for at in addresses.items() {
            let before = e.len();
            match kind {
                "IPv4" => e.ip(&at, false),
                "IPv6" => e.push_all(names::ip(&at.path, at.str())),
                "FQDN" => {
                    e.push_all(names::fully_qualified_domain_name(&at.path, at.str()));
                    continue;
                }
                _ => continue,
            }
            if e.len() > before {
                continue;
            }
            if ip::is_ipv6(at.str()) != (kind == "IPv6") {
                e.invalid_value(&addresses, at.str(), &format!("must be an {kind} address"));
            }
            e.invalid_all(&at, ip::wrong_endpoint(at.str()));
        }
        let (node, host) = (it.child("nodeName"), it.child("hostname"));
        if node.is_set() {
            e.dns_subdomain(&node);
        }
        let topology = it.child("deprecatedTopology");
        if topology.len() > 16 {
            e.too_many(&topology, 16);
        }
        e.labels(&topology);
        if host.is_set() {
            e.dns_label(&host);
        }
        hints(e, &it.child("hints"));
    }

    fn hints(e: &mut Errors, it: &Field) {
        for (list, rule) in [
            ("forZones", names::label_value as fn(&str) -> Vec<String>),
            ("forNodes", names::dns1123_subdomain),
        ] {
            let all = it.child(list);
            if all.len() > 8 {
                return e.too_many(&all, 8);
            }
            let mut seen = Seen::default();
            for hint in all.items() {
                let name = hint.child("name");
                if !seen.insert(hint.text("name")) {
                    e.duplicate(&name);
                }
                e.invalid_all(&name, rule(name.str()));
            }
        }
    }
}
