//! All plugins, in their order.

use meta::Status;
use telemetry::trace::{self, Role, Scope, Tick};

use crate::{Admitting, Outcome, Plugin, Request};

#[derive(Debug, Default)]
pub struct Chain(Vec<Box<dyn Plugin>>);

impl Chain {
    pub fn new(plugins: Vec<Box<dyn Plugin>>) -> Self {
        Self(plugins)
    }

    /// The names of the plugins, in their order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|it| it.name())
    }

    pub async fn admit(
        &self,
        request: &Request<'_>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        self.admit_once(request, admitting).await?;
        if !admitting.reinvocation.wanted {
            return Ok(());
        }
        // A webhook changed the object: the plugins before it have not seen that.
        admitting.reinvocation.running = true;
        self.admit_once(request, admitting).await
    }

    async fn admit_once(
        &self,
        request: &Request<'_>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        for plugin in self.0.iter().filter(|it| it.handles(request)) {
            let start = start();
            let outcome = plugin.admit(request, admitting);
            settle(plugin.name(), "admit", start, outcome).await?;
        }
        Ok(())
    }

    pub async fn validate(
        &self,
        request: &Request<'_>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        for plugin in self.0.iter().filter(|it| it.handles(request)) {
            let start = start();
            let outcome = plugin.validate(request, admitting);
            settle(plugin.name(), "validate", start, outcome).await?;
        }
        Ok(())
    }
}

/// When a plugin begins, if anybody wants to know.
fn start() -> Option<Tick> {
    trace::is_recording().then(trace::now)
}

/// What a plugin says, with a span for whoever says anything.
async fn settle(
    name: &'static str,
    phase: &'static str,
    start: Option<Tick>,
    outcome: Outcome<'_>,
) -> Result<(), Status> {
    let span = match outcome {
        Outcome::Nothing => return Ok(()),
        _ => start.map(|start| trace::span_from(name, Scope::Own, Role::Plain, start)),
    };
    let result = match outcome {
        Outcome::Nothing => Ok(()),
        Outcome::Now(result) => result,
        Outcome::Later(result) => result.await,
    };
    if let Some(span) = span {
        span.set("phase", || phase);
        if result.is_err() {
            span.set("refused", || true);
        }
    }
    result
}
