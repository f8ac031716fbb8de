//! Ingresses, network policies, and addresses of services.

use std::collections::HashSet;

use json::Value;
use meta::names;

use super::errors::Errors;
use super::field::{Field, text};
use super::ip;
use super::object_meta::{self, Named};
use super::service::host_name;
use super::words::IMMUTABLE;

pub(crate) mod ingresses {
    //! `Ingress`

    use super::{Errors, Field, HashSet, Named, Value, host_name, names, object_meta, text};

    const CLASS: &str = "kubernetes.io/ingress.class";

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        ingress(e, it);
        let class = it.children(&["spec", "ingressClassName"]);
        let annotation = it.value.at(&["metadata", "annotations", CLASS]);
        if let Some(annotation) = annotation.and_then(Value::as_str)
            && class.is_set()
            && annotation != class.str()
        {
            let at = it.child("annotations");
            let text = "must match `ingressClassName` when both are specified";
            e.invalid_value(&at.child(CLASS), annotation, text);
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        ingress(e, new);
    }

    pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        let at = ["status", "loadBalancer", "ingress"];
        let had = old.children(&at);
        let had: HashSet<&str> = had.list().iter().map(|it| text(it, "ip")).collect();
        for it in new.children(&at).items() {
            let ip = it.child("ip");
            if !ip.is_empty() {
                e.ip(&ip, had.contains(ip.str()));
            }
            host_name(e, &it.child("hostname"));
        }
    }

    fn ingress(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::SUBDOMAIN);
        let spec = it.child("spec");
        let (rules, default) = (spec.child("rules"), spec.child("defaultBackend"));
        if rules.is_empty() && !default.is_set() {
            let text = "either `defaultBackend` or `rules` must be specified";
            e.invalid_value(&spec, rules.value.clone(), text);
        }
        if default.is_set() {
            backend(e, &default);
        }
        for rule in rules.items() {
            host(e, &rule.child("host"), true);
            if rule.has("http") {
                paths(e, &rule.child("http"));
            }
        }
        for tls in spec.child("tls").items() {
            for host in tls.child("hosts").items() {
                self::host(e, &host, false);
            }
            let secret = tls.child("secretName");
            if !secret.is_empty() {
                e.dns_subdomain(&secret);
            }
        }
        let class = spec.child("ingressClassName");
        if class.is_set() {
            e.dns_subdomain(&class);
        }
    }

    fn host(e: &mut Errors, it: &Field, of_rule: bool) {
        if of_rule && it.is_empty() {
            return;
        }
        if of_rule && names::parse_ip_sloppy(it.str()).is_some() {
            e.invalid(it, "must be a DNS name, not an IP address");
        }
        if it.str().contains('*') {
            e.invalid_all(it, names::wildcard_dns1123_subdomain(it.str()));
        } else {
            e.dns_subdomain(it);
        }
    }

    fn paths(e: &mut Errors, http: &Field) {
        let all = http.child("paths");
        if all.is_empty() {
            e.required(&all, "");
        }
        for it in all.items() {
            let (kind, path) = (it.child("pathType"), it.child("path"));
            if !kind.is_set() {
                e.required(&kind, "pathType must be specified");
                continue;
            }
            let absolute = path.str().starts_with('/');
            match kind.str() {
                "Exact" | "Prefix" => {
                    if !absolute {
                        e.invalid(&path, "must be an absolute path");
                    }
                    for odd in ["//", "/./", "/../", "%2f", "%2F"] {
                        if path.str().contains(odd) {
                            e.invalid(&path, &format!("must not contain '{odd}'"));
                        }
                    }
                    for odd in ["/..", "/."] {
                        if path.str().ends_with(odd) {
                            e.invalid(&path, &format!("cannot end with '{odd}'"));
                        }
                    }
                }
                "ImplementationSpecific" => {
                    if !path.is_empty() && !absolute {
                        e.invalid(&path, "must be an absolute path");
                    }
                }
                _ => e.not_supported(&kind, &["Exact", "ImplementationSpecific", "Prefix"]),
            }
            backend(e, &it.child("backend"));
        }
    }

    fn backend(e: &mut Errors, it: &Field) {
        let (resource, service) = (it.child("resource"), it.child("service"));
        match (resource.is_set(), service.is_set()) {
            (true, true) => {
                e.invalid_value(it, "", "cannot set both resource and service backends");
            }
            (true, false) => {
                super::reference(e, &resource);
                for name in ["kind", "name"] {
                    let field = resource.child(name);
                    if e.required_text(&field) {
                        e.path_segment(&field);
                    }
                }
            }
            (false, true) => {
                let name = service.child("name");
                if e.required_text(&name) {
                    e.dns_label(&name);
                }
                let port = service.child("port");
                let (name, number) = (port.child("name"), port.child("number"));
                match (name.is_empty(), number.int()) {
                    (true, 0) => e.required(it, "port name or number is required"),
                    (true, _) => e.port_number(&number),
                    (false, 0) => e.invalid_all(&name, names::port_name(name.str())),
                    (false, _) => {
                        e.invalid_value(it, "", "cannot set both port name & port number");
                    }
                }
            }
            (false, false) => e.invalid_value(it, "", "resource or service backend is required"),
        }
    }
}

fn reference(e: &mut Errors, it: &Field) {
    let group = it.child("apiGroup");
    if group.is_set() {
        e.dns_subdomain(&group);
    }
}

pub(crate) mod ingress_classes {
    //! `IngressClass`

    use super::{Errors, Field, Named, names, object_meta};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        let spec = it.child("spec");
        let controller = spec.child("controller");
        if controller.len() > 250 {
            e.too_long(&controller, 250);
        }
        e.push_all(names::domain_prefixed_path(
            &controller.path,
            controller.str(),
        ));
        let parameters = spec.child("parameters");
        if parameters.is_set() {
            self::parameters(e, &parameters);
        }
    }

    fn parameters(e: &mut Errors, it: &Field) {
        super::reference(e, it);
        for name in ["kind", "name"] {
            let field = it.child(name);
            if field.is_empty() {
                e.late(|e| e.required(&field, ""));
            } else {
                e.path_segment(&field);
            }
        }
        let (scope, namespace) = (it.child("scope"), it.child("namespace"));
        match scope.opt_str() {
            None => e.required(&scope, ""),
            Some("Namespace") if !namespace.is_set() => {
                e.required(&namespace, "`parameters.scope` is set to 'Namespace'");
            }
            Some("Namespace") => e.dns_label(&namespace),
            Some("Cluster") => {
                if namespace.is_set() {
                    e.forbidden(&namespace, "`parameters.scope` is set to 'Cluster'");
                }
            }
            Some(_) => e.not_supported(&scope, &["Cluster", "Namespace"]),
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        let (it, was) = (new.child("spec"), old.child("spec"));
        e.immutable(&it.child("controller"), &was.child("controller"));
        create(e, new);
    }
}

pub(crate) mod policies {
    //! `NetworkPolicy`

    use super::{Errors, Field, HashSet, Named, Value, ip, names, object_meta};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::SUBDOMAIN);
        spec(e, &it.child("spec"), &HashSet::new());
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        let mut had = HashSet::new();
        for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
            let all = old.value.at(&["spec", rules]).and_then(Value::as_array);
            for rule in all.into_iter().flatten() {
                let blocks = rule
                    .get(peers)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten();
                for block in blocks.filter_map(|peer| peer.get("ipBlock")) {
                    had.extend(block.str_at(&["cidr"]));
                    let except = block.get("except").and_then(Value::as_array);
                    had.extend(except.into_iter().flatten().filter_map(Value::as_str));
                }
            }
        }
        spec(e, &new.child("spec"), &had);
    }

    fn spec(e: &mut Errors, it: &Field, had: &HashSet<&str>) {
        e.label_selector(&it.child("podSelector"));
        for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
            for rule in it.child(rules).items() {
                for port in rule.child("ports").items() {
                    self::port(e, &port);
                }
                for peer in rule.child(peers).items() {
                    self::peer(e, &peer, had);
                }
            }
        }
        let types = it.child("policyTypes");
        if types.len() > 2 {
            return e.invalid(&types, "may not specify more than two policyTypes");
        }
        for kind in types.items() {
            e.one_of(&kind, &["Ingress", "Egress"]);
        }
    }

    fn port(e: &mut Errors, it: &Field) {
        let (protocol, port, end) = (it.child("protocol"), it.child("port"), it.child("endPort"));
        e.optional_one_of(&protocol, &["TCP", "UDP", "SCTP"]);
        if let Some(name) = port.opt_str() {
            if end.is_set() {
                e.invalid(&end, "may not be specified when `port` is non-numeric");
            }
            e.invalid_all(&port, names::port_name(name));
        } else if port.is_set() {
            e.port_number(&port);
            if end.is_set() {
                if end.int() < port.int() {
                    e.invalid(&end, "must be greater than or equal to `port`");
                }
                e.port_number(&end);
            }
        } else if end.is_set() {
            e.invalid(&end, "may not be specified when `port` is not specified");
        }
    }

    fn peer(e: &mut Errors, it: &Field, had: &HashSet<&str>) {
        let (pods, namespaces, block) = (
            it.child("podSelector"),
            it.child("namespaceSelector"),
            it.child("ipBlock"),
        );
        e.label_selector(&pods);
        e.label_selector(&namespaces);
        if block.is_set() {
            ip_block(e, &block, had);
        }
        if !pods.is_set() && !namespaces.is_set() && !block.is_set() {
            e.required(it, "must specify a peer");
        } else if block.is_set() && (pods.is_set() || namespaces.is_set()) {
            e.forbidden(it, "may not specify both ipBlock and another peer");
        }
    }

    fn ip_block(e: &mut Errors, it: &Field, had: &HashSet<&str>) {
        let cidr = it.child("cidr");
        if cidr.is_empty() {
            return e.late(|e| e.required(&cidr, ""));
        }
        e.cidr(&cidr, had.contains(cidr.str()));
        let Some(network) = names::parse_cidr_sloppy(cidr.str()) else {
            return;
        };
        for except in it.child("except").items() {
            e.cidr(&except, had.contains(except.str()));
            if let Some((address, length)) = names::parse_cidr_sloppy(except.str())
                && (!ip::contains(network, address) || network.1 >= length)
            {
                e.invalid(&except, "must be a strict subset of `cidr`");
            }
        }
    }
}

pub(crate) mod addresses {
    //! `IPAddress`

    use super::{Errors, Field, Named, names, object_meta};

    fn name(name: &str, _: bool) -> Vec<String> {
        let wrong = names::ip(&meta::field::Path::root(), name);
        wrong.into_iter().map(|error| error.detail).collect()
    }

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::cluster(name));
        let parent = it.children(&["spec", "parentRef"]);
        if !parent.is_set() {
            return e.late(|e| e.required(&parent, ""));
        }
        let group = parent.child("group");
        if !group.is_empty() {
            e.dns_subdomain(&group);
        }
        for (name, required) in [("resource", true), ("name", true), ("namespace", false)] {
            let field = parent.child(name);
            if !field.is_empty() {
                e.path_segment(&field);
            } else if required {
                e.late(|e| e.required(&field, ""));
            }
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        let at = ["spec", "parentRef"];
        let (parent, was) = (new.children(&at), old.children(&at));
        e.late(|e| e.immutable(&parent, &was));
    }
}

pub(crate) mod ranges {
    //! `ServiceCIDR`

    use super::{Errors, Field, IMMUTABLE, Named, ip, names, object_meta};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
        ranges(e, &it.child("spec"));
    }

    fn ranges(e: &mut Errors, spec: &Field) {
        let all = spec.child("cidrs");
        if all.is_empty() {
            return e.required(&all, "at least one CIDR required");
        }
        if all.len() > 2 {
            return e.invalid_value(&all, spec.value.clone(), "may only hold up to 2 values");
        }
        let before = e.len();
        for range in all.items() {
            e.push_all(names::cidr(&range.path, range.str()));
        }
        if e.len() == before && all.len() == 2 && !ip::is_dual_stack(all.texts()) {
            let text = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
            e.invalid(&all, text);
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        let spec = new.child("spec");
        let (all, had) = (spec.child("cidrs"), old.children(&["spec", "cidrs"]));
        let added = all.len() == 2 && had.len() == 1;
        if all.len() != had.len() && !added {
            return e.invalid_value(&all, all.value.clone(), IMMUTABLE);
        }
        for (range, was) in all.items().zip(had.list()) {
            if range.value != was {
                e.invalid(&range, IMMUTABLE);
            }
        }
        if added {
            ranges(e, &spec);
        }
    }

    pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
    }
}
