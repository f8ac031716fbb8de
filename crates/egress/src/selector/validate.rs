//! What upstream finds wrong with a configuration, in its words and order.

use std::collections::HashSet;
use std::path::Path as File;

use json::json;
use meta::field::{Error, Path};

use super::{Connection, Files, Selection, Tcp, Transport};

const AT: Path<'static> = Path::of(&["service", "connection"]);
const NAMES: [&str; 3] = ["cluster", "controlplane", "etcd"];

pub(super) fn all(selections: &[Selection]) -> Vec<Error> {
    let mut errors = Vec::new();
    for selection in selections {
        connection(&selection.connection, &mut errors);
    }
    let mut seen = HashSet::new();
    for (index, selection) in selections.iter().enumerate() {
        let name = selection.name.to_lowercase();
        if !seen.insert(name.clone()) {
            errors.push(Error::duplicate(AT.index(index), name));
        } else if !NAMES.contains(&&*name) {
            errors.push(Error::not_supported(AT, name, NAMES));
        }
    }
    errors
}

fn connection(connection: &Connection, errors: &mut Vec<Error>) {
    let transport = connection.transport.as_ref();
    match &*connection.protocol {
        "Direct" if transport.is_some() => errors.push(Error::invalid(
            AT.child("transport"),
            "direct",
            "config must be absent for direct connect",
        )),
        "Direct" => {}
        "HTTPConnect" => match transport {
            Some(transport) => http_connect(transport, errors),
            None => errors.push(Error::required(
                AT.child("transport"),
                "transport must be set for HTTPConnect",
            )),
        },
        "GRPC" => match transport {
            Some(Transport { uds: Some(uds), .. }) => socket(uds, errors),
            Some(_) => errors.push(Error::required(
                AT.child("uds"),
                "UDS must be set with GRPC",
            )),
            None => errors.push(Error::required(
                AT.child("transport"),
                "transport must be set for GRPC",
            )),
        },
        other => errors.push(Error::not_supported(
            AT.child("protocol"),
            other,
            ["Direct", "HTTPConnect", "GRPC"],
        )),
    }
}

fn http_connect(transport: &Transport, errors: &mut Vec<Error>) {
    match (&transport.tcp, &transport.uds) {
        (Some(tcp), Some(_)) => errors.push(Error::invalid(
            AT.child("tcp"),
            json!({"URL": (tcp.url.clone()), "TLSConfig": null}),
            "TCP and UDS cannot both be set",
        )),
        (None, None) => errors.push(Error::required(
            AT.child("tcp"),
            "One of TCP or UDS must be set",
        )),
        (Some(tcp), None) => self::tcp(tcp, errors),
        (None, Some(uds)) => socket(uds, errors),
    }
}

fn socket(name: &str, errors: &mut Vec<Error>) {
    if name.is_empty() {
        errors.push(Error::invalid(
            AT.child("udsName"),
            "nil",
            "must be present for UDS connections",
        ));
    }
}

fn tcp(tcp: &Tcp, errors: &mut Vec<Error>) {
    if tcp.url.starts_with("https://") {
        match &tcp.tls {
            Some(files) => tls(files, errors),
            None => errors.push(Error::required(
                AT.child("tlsConfig"),
                "TLSConfig must be present when using HTTPS",
            )),
        }
    } else if !tcp.url.starts_with("http://") {
        errors.push(Error::invalid(
            AT.child("url"),
            &*tcp.url,
            "supported connection protocols are http:// and https://",
        ));
    } else if tcp.tls.is_some() {
        errors.push(Error::invalid(
            AT.child("tlsConfig"),
            "nil",
            "config must not be present when using HTTP",
        ));
    }
}

fn tls(files: &Files, errors: &mut Vec<Error>) {
    let gone = |path: &str| !File::new(path).exists();
    let at = AT.child("tlsConfig");
    if !files.ca_bundle.is_empty() && gone(&files.ca_bundle) {
        errors.push(Error::invalid(
            at.child("caBundle"),
            &*files.ca_bundle,
            "TLS config ca bundle does not exist",
        ));
    }
    // The second text says `requires` twice, as upstream's.
    let pair = [
        (
            "clientCert",
            &files.client_cert,
            "Using TLS requires clientCert",
            "TLS client cert does not exist",
        ),
        (
            "clientKey",
            &files.client_key,
            "Using TLS requires requires clientKey",
            "TLS client key does not exist",
        ),
    ];
    for (name, path, absent, missing) in pair {
        if path.is_empty() {
            errors.push(Error::invalid(at.child(name), "nil", absent));
        } else if gone(path) {
            errors.push(Error::invalid(at.child(name), &**path, missing));
        }
    }
}
