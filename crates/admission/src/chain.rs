//! All plugins, in their order.

use std::sync::Arc;

use meta::Status;
use telemetry::metrics::Timer;
use telemetry::trace::{self, Role, Scope};

use crate::metrics::{Held, Metrics, Phase};
use crate::{Admitting, Outcome, Plugin, Request};

#[derive(Debug)]
pub struct Chain {
    plugins: Vec<Timed>,
    metrics: Arc<Metrics>,
    admit: Held,
    validate: Held,
}

/// A plugin, and where its time is noted.
#[derive(Debug)]
struct Timed {
    plugin: Box<dyn Plugin>,
    admit: Held,
    validate: Held,
}

impl Chain {
    pub fn new(plugins: Vec<Box<dyn Plugin>>, metrics: Arc<Metrics>) -> Self {
        let plugins = plugins.into_iter().map(|plugin| Timed {
            plugin,
            admit: Held::default(),
            validate: Held::default(),
        });
        Self {
            plugins: plugins.collect(),
            metrics,
            admit: Held::default(),
            validate: Held::default(),
        }
    }

    /// The names of the plugins, in their order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.plugins.iter().map(|it| it.plugin.name())
    }

    pub async fn admit(
        &self,
        request: &Request<'_>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        let started = Timer::start();
        let mut done = self.run(Phase::Admit, request, admitting).await;
        if done.is_ok() && admitting.reinvocation.wanted {
            // A webhook changed the object: the plugins before it have not seen that.
            admitting.reinvocation.running = true;
            done = self.run(Phase::Admit, request, admitting).await;
        }
        self.note(&self.admit, Phase::Admit, request, started, &done);
        done
    }

    pub async fn validate(
        &self,
        request: &Request<'_>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        let started = Timer::start();
        let done = self.run(Phase::Validate, request, admitting).await;
        self.note(&self.validate, Phase::Validate, request, started, &done);
        done
    }

    /// All that have something to say, one after the other.
    async fn run(
        &self,
        phase: Phase,
        request: &Request<'_>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        for it in self.handling(request) {
            let started = Timer::start();
            let outcome = match phase {
                Phase::Admit => it.plugin.admit(request, admitting),
                Phase::Validate => it.plugin.validate(request, admitting),
            };
            self.settle(it, phase, request, (started, outcome)).await?;
        }
        Ok(())
    }

    fn note(
        &self,
        held: &Held,
        phase: Phase,
        request: &Request<'_>,
        started: Timer,
        done: &Result<(), Status>,
    ) {
        let (operation, rejected) = (request.operation, done.is_err());
        self.metrics
            .step(held, phase, operation, rejected, started.nanos());
    }

    fn handling(&self, request: &Request<'_>) -> impl Iterator<Item = &Timed> {
        self.plugins.iter().filter(|it| it.plugin.handles(request))
    }

    /// What a plugin says, with a span and a time for whoever says anything.
    async fn settle(
        &self,
        it: &Timed,
        phase: Phase,
        request: &Request<'_>,
        (started, outcome): (Timer, Outcome<'_>),
    ) -> Result<(), Status> {
        let name = it.plugin.name();
        let span = || trace::span_from(name, Scope::Own, Role::Plain, started.tick());
        let span = match outcome {
            Outcome::Nothing => return Ok(()),
            _ => trace::is_recording().then(span),
        };
        let result = match outcome {
            Outcome::Nothing => Ok(()),
            Outcome::Now(result) => result,
            Outcome::Later(result) => result.await,
        };
        if let Some(span) = span {
            span.set("phase", || phase.as_str());
            if result.is_err() {
                span.set("refused", || true);
            }
        }
        let held = match phase {
            Phase::Admit => &it.admit,
            Phase::Validate => &it.validate,
        };
        let (operation, rejected) = (request.operation, result.is_err());
        let took = started.nanos();
        self.metrics
            .plugin(held, name, phase, operation, rejected, took);
        result
    }
}
