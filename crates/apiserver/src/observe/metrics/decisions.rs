//! Hot path. Which mode of authorization decided.

use std::sync::Arc;

use auth::authorizer::{Answer, Mode, Verdict};
use auth::{Attributes, Authorizer, Decision};
use telemetry::labels;
use telemetry::metrics::{Counter, Desc, Family, Registry, Stability};

labels!(pub Decided { decision, name, r#type });

/// Counts decisions; an authorizer without an opinion is not counted, as upstream.
#[derive(Clone, Debug)]
pub struct Decisions(Family<Decided<'static>, Counter>);

impl Decisions {
    pub fn new(registry: &Registry) -> Self {
        Self(registry.counter(Desc::new(
            "apiserver_authorization_decisions_total",
            Stability::Alpha,
            "Final decisions about requests and reviews, by the mode of authorization that made them.",
        )))
    }

    /// A mode that is counted.
    pub fn of(&self, mode: Mode, inner: Arc<dyn Authorizer>) -> Arc<dyn Authorizer> {
        let kind = match mode {
            Mode::AlwaysAllow => "AlwaysAllow",
            Mode::AlwaysDeny => "AlwaysDeny",
            Mode::Webhook => "Webhook",
            Mode::Rbac => "RBAC",
            Mode::Node => "Node",
        };
        let counter = |decision| {
            self.0.with(&Decided {
                decision,
                name: mode.name(),
                r#type: kind,
            })
        };
        Arc::new(Counted {
            inner,
            allowed: counter("allowed"),
            denied: counter("denied"),
        })
    }
}

#[derive(Debug)]
struct Counted {
    inner: Arc<dyn Authorizer>,
    allowed: Counter,
    denied: Counter,
}

impl Counted {
    fn note(&self, decision: Decision) -> Decision {
        match decision.verdict {
            Verdict::Allow => self.allowed.inc(),
            Verdict::Deny => self.denied.inc(),
            Verdict::NoOpinion => {}
        }
        decision
    }
}

impl Authorizer for Counted {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> Answer<'a> {
        match self.inner.authorize(attributes) {
            Answer::Now(decision) => Answer::Now(decision.map(|it| self.note(it))),
            Answer::Later(later) => Answer::Later(Box::pin(async move { self.note(later.await) })),
        }
    }
}
