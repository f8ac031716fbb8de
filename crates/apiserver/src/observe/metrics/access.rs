//! Hot path. Metrics of authentication and authorization.

use std::time::Duration;

use auth::authorizer::Verdict;
use auth::{Decision, User};
use telemetry::labels;
use telemetry::metrics::{Counter, Desc, Histogram, Registry, Stability, Unit};

labels!(pub(crate) Outcome { result });
labels!(pub(crate) Username { username });
labels!(pub(crate) Filter { filter });

const BOUNDS: &[f64] = &[
    0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096,
    8.192, 16.384,
];
const EXPIRATION: &[f64] = &[
    0.0,
    1800.0,
    3600.0,
    7200.0,
    21600.0,
    43200.0,
    86400.0,
    172_800.0,
    345_600.0,
    604_800.0,
    2_592_000.0,
    7_776_000.0,
    15_552_000.0,
    31_104_000.0,
];

const FILTERS: &[f64] = &[
    0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 5.0, 10.0, 15.0, 30.0,
];

/// Names that upstream counts one by one; all others are counted together, so that no name of a user gets out.
const USERS: [&str; 5] = [
    "admin",
    "client",
    "kube_proxy",
    "kubelet",
    "system:serviceaccount:kube-system:default",
];

#[derive(Debug)]
pub(crate) struct Access {
    success: Attempts,
    failure: Attempts,
    wrong: Attempts,
    users: [Counter; USERS.len()],
    emails: Counter,
    others: Counter,
    allowed: Attempts,
    denied: Attempts,
    no_opinion: Attempts,
    error: Attempts,
    expiration: Histogram,
    filters: Filters,
}

/// How long a request spends before its handler, by upstream's names of what it passes there.
#[derive(Debug)]
struct Filters {
    authentication: Histogram,
    impersonation: Histogram,
    limit: Histogram,
    authorization: Histogram,
}

impl Filters {
    fn new(registry: &Registry) -> Self {
        let filters = registry.histogram::<Filter<'_>>(
            Desc::new(
                "apiserver_request_filter_duration_seconds",
                Stability::Alpha,
                "Seconds that a request spent in what stands before its handler.",
            ),
            Unit::Seconds,
            FILTERS,
        );
        let of = |filter| filters.with(&Filter { filter });
        Self {
            authentication: of("authentication"),
            impersonation: of("constrainedimpersonation"),
            limit: of("priorityandfairness"),
            authorization: of("authorization"),
        }
    }
}

#[derive(Debug)]
struct Attempts {
    count: Counter,
    duration: Histogram,
}

impl Attempts {
    fn note(&self, took: u64) {
        self.count.inc();
        self.duration.observe_value(took);
    }
}

/// The outcome of authentication.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Authenticated<'a> {
    As(&'a User),
    /// Nothing was shown that says so.
    Not,
    /// What was shown does not count.
    Error,
}

impl Access {
    pub(super) fn new(registry: &Registry) -> Self {
        let counted = |attempts, duration| {
            let attempts = registry.counter::<Outcome<'_>>(attempts);
            let durations = registry.histogram::<Outcome<'_>>(duration, Unit::Seconds, BOUNDS);
            move |result| Attempts {
                count: attempts.with(&Outcome { result }),
                duration: durations.with(&Outcome { result }),
            }
        };
        let alpha = |name, help| Desc::new(name, Stability::Alpha, help);
        let authenticated = counted(
            alpha(
                "authentication_attempts",
                "Attempts to find out who asks, by their result.",
            ),
            alpha(
                "authentication_duration_seconds",
                "Seconds that it took to find out who asks.",
            ),
        );
        let authorized = counted(
            alpha(
                "authorization_attempts_total",
                "Decisions about requests: allowed, denied, no-opinion (which refuses, too), error.",
            ),
            alpha(
                "authorization_duration_seconds",
                "Seconds that it took to decide.",
            ),
        );
        let users = registry.counter::<Username<'_>>(alpha(
            "authenticated_user_requests",
            "Requests by their user: a few well-known names, email_id for what looks like an address, other for the rest.",
        ));
        let user = |username| users.with(&Username { username });
        let expiration = registry.histogram::<()>(
            alpha(
                "apiserver_client_certificate_expiration_seconds",
                "Seconds that the client certificate of a request still counts for.",
            ),
            Unit::Seconds,
            EXPIRATION,
        );
        Self {
            success: authenticated("success"),
            failure: authenticated("failure"),
            wrong: authenticated("error"),
            users: USERS.map(user),
            emails: user("email_id"),
            others: user("other"),
            allowed: authorized("allowed"),
            denied: authorized("denied"),
            no_opinion: authorized("no-opinion"),
            error: authorized("error"),
            expiration: expiration.with(&()),
            filters: Filters::new(registry),
        }
    }

    /// Times are in nanoseconds.
    pub(crate) fn authenticated(&self, who: Authenticated<'_>, took: u64) {
        self.filters.authentication.observe_value(took);
        let user = match who {
            Authenticated::As(user) => user,
            Authenticated::Not => return self.failure.note(took),
            Authenticated::Error => return self.wrong.note(took),
        };
        self.success.note(took);
        let known = USERS.iter().position(|it| *it == user.name);
        match known {
            Some(at) => &self.users[at],
            None if user.name.contains('@') => &self.emails,
            None => &self.others,
        }
        .inc();
    }

    /// Records the remaining lifetime of a client certificate, in seconds.
    pub(crate) fn certificate_ends_in(&self, seconds: i64) {
        let seconds = u64::try_from(seconds).unwrap_or_default();
        self.expiration.observe(Duration::from_secs(seconds));
    }

    pub(crate) fn impersonated(&self, took: u64) {
        self.filters.impersonation.observe_value(took);
    }

    /// There was a place for the request.
    pub(crate) fn placed(&self, took: u64) {
        self.filters.limit.observe_value(took);
    }

    pub(crate) fn authorized(&self, decision: &Decision, took: u64) {
        let attempts = match decision.verdict {
            Verdict::Allow => {
                self.filters.authorization.observe_value(took);
                &self.allowed
            }
            _ if decision.error.is_some() => &self.error,
            Verdict::Deny => &self.denied,
            Verdict::NoOpinion => &self.no_opinion,
        };
        attempts.note(took);
    }
}
