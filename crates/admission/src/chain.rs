//! All plugins, in their order.

use meta::Status;

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
            match plugin.admit(request, admitting) {
                Outcome::Now(result) => result?,
                Outcome::Later(result) => result.await?,
            }
        }
        Ok(())
    }

    pub async fn validate(
        &self,
        request: &Request<'_>,
        admitting: &mut Admitting,
    ) -> Result<(), Status> {
        for plugin in self.0.iter().filter(|it| it.handles(request)) {
            match plugin.validate(request, admitting) {
                Outcome::Now(result) => result?,
                Outcome::Later(result) => result.await?,
            }
        }
        Ok(())
    }
}
