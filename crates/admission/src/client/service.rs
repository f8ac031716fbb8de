//! Where a Service is. Nothing here forwards cluster addresses, so its endpoints are asked first; without any, its
//! address is left to the network the server stands in.

use json::Value;

use crate::Lookup;
use crate::read::{flag, items, text};

/// The host and the port behind a port of a Service.
pub fn resolve(
    lookup: &dyn Lookup,
    namespace: &str,
    name: &str,
    port: u16,
) -> Result<(String, u16), String> {
    let quoted = meta::go::quote(name);
    let service = lookup
        .get("", "services", namespace, name)
        .ok_or_else(|| format!("service {quoted} not found"))?;
    let kind = text(&service, &["spec", "type"]);
    if kind == "ExternalName" {
        return Ok((text(&service, &["spec", "externalName"]).to_owned(), port));
    }
    let of_service = items(&service, &["spec", "ports"]).iter();
    let mut ports = of_service.filter(|it| number(it, "port") == Some(port));
    let Some(found) = ports.next() else {
        return Err(format!("no service port {port} found for service {quoted}"));
    };
    let mut some = false;
    for slice in lookup.list("discovery.k8s.io", "endpointslices", namespace) {
        if meta::object::label(&slice, "kubernetes.io/service-name") == Some(name) {
            some = true;
            if let Some(place) = in_slice(&slice, text(found, &["name"])) {
                return Ok(place);
            }
        }
    }
    if let Some(endpoints) = lookup.get("", "endpoints", namespace, name) {
        some |= !items(&endpoints, &["subsets"]).is_empty();
        if let Some(place) = in_endpoints(&endpoints, text(found, &["name"])) {
            return Ok(place);
        }
    }
    if some {
        return Err(format!("no endpoints available for service {quoted}"));
    }
    match text(&service, &["spec", "clusterIP"]) {
        "None" => Err("cannot route to service with ClusterIP \"None\"".into()),
        address => Ok((address.to_owned(), port)),
    }
}

fn number(value: &Value, key: &str) -> Option<u16> {
    let found = value.get(key).and_then(Value::as_i64)?;
    u16::try_from(found).ok()
}

fn in_slice(slice: &Value, port: &str) -> Option<(String, u16)> {
    let mut ports = items(slice, &["ports"]).iter();
    let port = ports.find(|it| text(it, &["name"]) == port);
    let port = port.and_then(|it| number(it, "port"))?;
    let mut endpoints = items(slice, &["endpoints"]).iter();
    let ready = endpoints.find(|it| flag(it, &["conditions", "ready"]) != Some(false))?;
    let address = items(ready, &["addresses"]).first()?.as_str()?;
    Some((address.to_owned(), port))
}

fn in_endpoints(endpoints: &Value, port: &str) -> Option<(String, u16)> {
    items(endpoints, &["subsets"]).iter().find_map(|subset| {
        let mut ports = items(subset, &["ports"]).iter();
        let port = ports.find(|it| text(it, &["name"]) == port);
        let port = port.and_then(|it| number(it, "port"))?;
        let address = items(subset, &["addresses"]).first()?;
        Some((text(address, &["ip"]).to_owned(), port))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::json;

    /// Objects by resource and name.
    #[derive(Debug)]
    struct Objects(Vec<(&'static str, Value)>);

    impl Lookup for Objects {
        fn get(&self, _: &str, resource: &str, _: &str, name: &str) -> Option<Value> {
            let mut all = self.0.iter();
            let found =
                all.find(|(it, object)| *it == resource && meta::object::name(object) == name);
            found.map(|(_, object)| object.clone())
        }

        fn list(&self, _: &str, resource: &str, _: &str) -> Vec<Value> {
            let all = self.0.iter().filter(|(it, _)| *it == resource);
            all.map(|(_, object)| object.clone()).collect()
        }

        fn stamp(&self, _: &str, _: &str) -> u64 {
            0
        }

        fn versions(&self, _: &str, _: &str) -> Vec<(String, u64)> {
            Vec::new()
        }
    }

    #[test]
    fn services_lead_somewhere() {
        let service = |spec: Value| ("services", json!({"metadata": {"name": "s"}, "spec": spec}));
        let plain = || {
            service(
                json!({"type": "ClusterIP", "clusterIP": "10.0.0.1", "ports": [{"name": "a", "port": 443}]}),
            )
        };
        let headless = service(json!({"clusterIP": "None", "ports": [{"name": "a", "port": 443}]}));
        let slice = |service: &str, port: &str, ready: bool| {
            let object = json!({
                "metadata": {"labels": {"kubernetes.io/service-name": service}},
                "endpoints": [{"addresses": ["10.1.0.1"], "conditions": {"ready": ready}}],
                "ports": [{"name": port, "port": 9443}],
            });
            ("endpointslices", object)
        };
        let endpoints = json!({
            "metadata": {"name": "s"},
            "subsets": [{"addresses": [{"ip": "10.1.0.2"}], "ports": [{"name": "a", "port": 9444}]}],
        });
        let external = service(json!({"type": "ExternalName", "externalName": "example.com"}));
        let none = "no endpoints available for service \"s\"";
        let cases = vec![
            (vec![], 443, Err("service \"s\" not found")),
            (vec![plain()], 443, Ok("10.0.0.1:443")),
            (
                vec![plain()],
                80,
                Err("no service port 80 found for service \"s\""),
            ),
            (
                vec![headless],
                443,
                Err("cannot route to service with ClusterIP \"None\""),
            ),
            (vec![external], 443, Ok("example.com:443")),
            (
                vec![plain(), slice("s", "a", true)],
                443,
                Ok("10.1.0.1:9443"),
            ),
            (vec![plain(), slice("s", "a", false)], 443, Err(none)),
            (vec![plain(), slice("s", "b", true)], 443, Err(none)),
            (
                vec![plain(), slice("t", "a", true)],
                443,
                Ok("10.0.0.1:443"),
            ),
            (
                vec![plain(), ("endpoints", endpoints)],
                443,
                Ok("10.1.0.2:9444"),
            ),
        ];
        for (index, (objects, port, want)) in cases.into_iter().enumerate() {
            let found = resolve(&Objects(objects), "ns", "s", port);
            let found = found.map(|(host, port)| format!("{host}:{port}"));
            let want = want.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(found, want, "case {index}");
        }
    }
}
