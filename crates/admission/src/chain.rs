//! All plugins, in their order.

use std::sync::Arc;

use meta::Status;
use telemetry::metrics::Timer;

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
        let done = self.admit_all(request, admitting).await;
        let (operation, rejected) = (request.operation, done.is_err());
        self.metrics.step(
            &self.admit,
            Phase::Admit,
            operation,
            rejected,
            started.nanos(),
        );
        done
    }

    async fn admit_all(
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
        let mut timer = Timer::start();
        for it in self.handling(request) {
            let done = match it.plugin.admit(request, admitting) {
                Outcome::Nothing => continue,
                Outcome::Now(result) => result,
                Outcome::Later(result) => result.await,
            };
            self.note(it, Phase::Admit, request, done.is_err(), timer.lap());
            done?;
        }
        Ok(())
    }

    pub async fn validate(
        &self,
        request: &Request<'_>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        let started = Timer::start();
        let done = self.validate_all(request, admitting).await;
        let (operation, rejected) = (request.operation, done.is_err());
        self.metrics.step(
            &self.validate,
            Phase::Validate,
            operation,
            rejected,
            started.nanos(),
        );
        done
    }

    async fn validate_all(
        &self,
        request: &Request<'_>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        let mut timer = Timer::start();
        for it in self.handling(request) {
            let done = match it.plugin.validate(request, admitting) {
                Outcome::Nothing => continue,
                Outcome::Now(result) => result,
                Outcome::Later(result) => result.await,
            };
            self.note(it, Phase::Validate, request, done.is_err(), timer.lap());
            done?;
        }
        Ok(())
    }

    fn handling(&self, request: &Request<'_>) -> impl Iterator<Item = &Timed> {
        self.plugins.iter().filter(|it| it.plugin.handles(request))
    }

    fn note(&self, it: &Timed, phase: Phase, request: &Request<'_>, rejected: bool, took: u64) {
        let held = match phase {
            Phase::Admit => &it.admit,
            Phase::Validate => &it.validate,
        };
        let (name, operation) = (it.plugin.name(), request.operation);
        self.metrics
            .plugin(held, name, phase, operation, rejected, took);
    }
}
