//! The parts of [`Api`], for functions that take one of them.

use std::sync::Arc;

use admission::Chain;
use auth::impersonation::LastModes;
use auth::serviceaccount::Issuer;
use auth::{Authorizer, Rbac};
use store::Store;
use telemetry::recent::Recent;
use telemetry::trace::Tracer;
use tokio::sync::Semaphore;

use super::features::FeatureAdmission;
use super::{Api, Settings};
use crate::access::authenticate::Authentication;
use crate::access::used_tokens::UsedTokens;
use crate::catalog::ServedCatalog;
use crate::discovery::documents::Documents;
use crate::discovery::{self, openapi};
use crate::flow::limiter::Limiter;
use crate::handler::encoded::Encoded;
use crate::observe::metrics::Metrics;
use crate::runtime::cpu_slots::CpuSlots;
use crate::runtime::lifecycle::Lifecycle;
use crate::transport::unread::Unread;

impl Api {
    pub fn store(&self) -> &Store {
        &self.store
    }

    pub fn catalog(&self) -> &ServedCatalog {
        &self.catalog
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn documents(&self) -> &Documents {
        &self.documents
    }

    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub fn tracer(&self) -> &Arc<Tracer> {
        &self.tracer
    }

    /// Traces that can be read here, if any are kept.
    pub fn recent(&self) -> Option<&Arc<Recent>> {
        self.recent.as_ref()
    }

    pub fn used_tokens(&self) -> &UsedTokens {
        &self.used_tokens
    }

    pub(crate) fn admission(&self) -> &Chain {
        &self.admission
    }

    pub(crate) fn authentication(&self) -> &Authentication {
        &self.authentication
    }

    pub(crate) fn authorizer(&self) -> &dyn Authorizer {
        &*self.authorizer
    }

    pub(crate) fn last_modes(&self) -> &LastModes {
        &self.last_modes
    }

    pub(crate) fn rbac(&self) -> &Rbac {
        &self.rbac
    }

    /// Signs service account tokens.
    pub(crate) fn issuer(&self) -> Option<&Issuer> {
        self.issuer.as_ref()
    }

    pub(crate) fn encoded(&self) -> &Encoded {
        &self.encoded
    }

    pub(crate) fn openapi(&self) -> &Arc<openapi::Cache> {
        &self.openapi
    }

    pub(crate) fn discovery(&self) -> &discovery::Cache {
        &self.discovery
    }

    pub(crate) fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    pub(crate) fn limiter(&self) -> &Limiter {
        &self.limiter
    }

    pub(crate) fn held(&self) -> &Arc<Semaphore> {
        &self.held
    }

    pub(crate) fn cpu_slots(&self) -> &Arc<CpuSlots> {
        &self.cpu_slots
    }

    /// Which features new uses are admitted of.
    pub fn features(&self) -> &Arc<FeatureAdmission> {
        &self.features
    }

    pub(crate) fn unread(&self) -> &Unread {
        &self.unread
    }
}
