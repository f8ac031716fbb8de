//! Probes and lifecycle hooks.

use super::containers::Surroundings;
use crate::validate::errors::Errors;
use crate::validate::field::Field;
use meta::names;

/// Startup probes have the same rules.
pub(super) fn liveness(e: &mut Errors, it: &Field, grace_period: Option<i64>) {
    if it.is_set() {
        probe(e, it, grace_period);
        let threshold = it.child("successThreshold");
        if threshold.int() != 1 {
            e.invalid_value(&threshold, threshold.int(), "must be 1");
        }
    }
}

pub(super) fn readiness(e: &mut Errors, it: &Field, grace_period: Option<i64>) {
    if it.is_set() {
        probe(e, it, grace_period);
        let grace = it.child("terminationGracePeriodSeconds");
        if grace.is_set() {
            e.invalid(&grace, "must not be set for readinessProbes");
        }
    }
}

fn probe(e: &mut Errors, it: &Field, grace_period: Option<i64>) {
    handler(
        e,
        it,
        &["exec", "httpGet", "tcpSocket", "grpc"],
        grace_period,
    );
    for name in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        e.non_negative(&it.child(name));
    }
    let grace = it.child("terminationGracePeriodSeconds");
    if grace.opt_int().is_some_and(|seconds| seconds <= 0) {
        e.invalid(&grace, "must be greater than 0");
    }
}

pub(super) fn lifecycle(e: &mut Errors, it: &Field, pod: &Surroundings) {
    for name in ["postStart", "preStop"] {
        if it.has(name) {
            let kinds = &["exec", "httpGet", "tcpSocket", "sleep"];
            handler(e, &it.child(name), kinds, pod.grace_period);
        }
    }
    let signal = it.child("stopSignal");
    if signal.is_set() {
        match pod.os {
            None => {
                e.forbidden(
                    &signal,
                    "may not be set for containers with empty `spec.os.name`",
                );
            }
            Some("windows") => e.one_of(&signal, &["SIGKILL", "SIGTERM"]),
            Some("linux") => e.one_of(&signal, LINUX_SIGNALS),
            Some(_) => {}
        }
    }
}

fn handler(e: &mut Errors, it: &Field, kinds: &[&str], grace_period: Option<i64>) {
    let mut one = false;
    for kind in kinds {
        let action = it.child(kind);
        if !action.is_set() {
            continue;
        }
        if one {
            e.forbidden(&action, "may not specify more than 1 handler type");
            continue;
        }
        one = true;
        match *kind {
            "exec" => {
                if action.child("command").is_empty() {
                    e.required(&action.child("command"), "");
                }
            }
            "httpGet" => http_get(e, &action),
            "tcpSocket" => e.port(&action.child("port")),
            "grpc" => {
                e.port_number(&action.child("port"));
                if action.has("mode") {
                    e.one_of(&action.child("mode"), &["Plaintext", "TLS"]);
                }
            }
            _ => sleep(e, &action, grace_period),
        }
    }
    if !one {
        e.required(it, "must specify a handler type");
    }
}

fn sleep(e: &mut Errors, it: &Field, grace_period: Option<i64>) {
    let seconds = it.number("seconds");
    if let Some(grace) = grace_period
        && !(0..=grace).contains(&seconds)
    {
        let why =
            format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        e.invalid_value(it, seconds, &why);
    }
}

fn http_get(e: &mut Errors, it: &Field) {
    e.required_text(&it.child("path"));
    e.port(&it.child("port"));
    e.one_of(&it.child("scheme"), &["HTTP", "HTTPS"]);
    let headers = it.child("httpHeaders");
    for header in headers.items() {
        let name = header.child("name");
        e.invalid_all(
            &headers.with(name.value),
            names::http_header_name(name.str()),
        );
    }
    let protocol = it.child("protocol");
    if protocol.is_set() {
        let host = it.child("host");
        match protocol.str() {
            "HTTP2" if it.text("scheme") != "HTTP" => {
                e.invalid(&protocol, "is only supported with HTTP (H2C)");
            }
            "HTTP2" if !host.is_empty() => {
                e.invalid(&host, "must be empty when `protocol` is \"HTTP2\"");
            }
            "HTTP1" | "HTTP2" => {}
            _ => e.not_supported(&protocol, &["HTTP1", "HTTP2"]),
        }
    }
}

const LINUX_SIGNALS: &[&str] = &[
    "SIGABRT",
    "SIGALRM",
    "SIGBUS",
    "SIGCHLD",
    "SIGCLD",
    "SIGCONT",
    "SIGFPE",
    "SIGHUP",
    "SIGILL",
    "SIGINT",
    "SIGIO",
    "SIGIOT",
    "SIGKILL",
    "SIGPIPE",
    "SIGPOLL",
    "SIGPROF",
    "SIGPWR",
    "SIGQUIT",
    "SIGRTMAX",
    "SIGRTMAX-1",
    "SIGRTMAX-10",
    "SIGRTMAX-11",
    "SIGRTMAX-12",
    "SIGRTMAX-13",
    "SIGRTMAX-14",
    "SIGRTMAX-2",
    "SIGRTMAX-3",
    "SIGRTMAX-4",
    "SIGRTMAX-5",
    "SIGRTMAX-6",
    "SIGRTMAX-7",
    "SIGRTMAX-8",
    "SIGRTMAX-9",
    "SIGRTMIN",
    "SIGRTMIN+1",
    "SIGRTMIN+10",
    "SIGRTMIN+11",
    "SIGRTMIN+12",
    "SIGRTMIN+13",
    "SIGRTMIN+14",
    "SIGRTMIN+15",
    "SIGRTMIN+2",
    "SIGRTMIN+3",
    "SIGRTMIN+4",
    "SIGRTMIN+5",
    "SIGRTMIN+6",
    "SIGRTMIN+7",
    "SIGRTMIN+8",
    "SIGRTMIN+9",
    "SIGSEGV",
    "SIGSTKFLT",
    "SIGSTOP",
    "SIGSYS",
    "SIGTERM",
    "SIGTRAP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGUSR1",
    "SIGUSR2",
    "SIGVTALRM",
    "SIGWINCH",
    "SIGXCPU",
    "SIGXFSZ",
];
