//! What controllers get from the server process that the API does not serve. This list is all of it: a controller has
//! no [`Api`] and no store. An operation belongs here only if no request of the API can do it, or if a request would
//! cost too much on each object of the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use json::Value;
use meta::Status;
use store::LeaseId;
use telemetry::metrics::Gauge;
use tokio::sync::watch;

use crate::access::used_tokens::UsedToken;
use crate::catalog::{Catalog, Resource};
use crate::observe::metrics::{FeatureSeries, QueueSeries};
use crate::read::metadata_stream::{self, MetadataStream, ObjectMetadata};
use crate::state::Api;
use crate::state::features::FeatureAdmission;
use crate::write::allocate;
use crate::write::feature_uses::{self, Found, Page};

/// The server process that a controller runs in.
#[derive(Clone, Debug)]
pub struct Host {
    api: Arc<Api>,
}

impl Host {
    pub(super) fn new(api: Arc<Api>) -> Self {
        Self { api }
    }

    pub(super) fn api(&self) -> &Arc<Api> {
        &self.api
    }

    /// Returns when the server is told to stop.
    pub async fn stopping(&self) {
        self.api.stopping().await;
    }

    /// Makes `/readyz` succeed: the objects that every cluster has are there.
    pub fn set_ready(&self) {
        self.api.set_ready();
    }

    /// Whether the store refuses writes now, for example because the disk is full.
    pub fn refuses_writes(&self) -> bool {
        self.api.store().stats().1.refusing.is_some()
    }

    /// Waits until roles, definitions and flow schemas in memory are as new as every acknowledged write.
    pub async fn wait_until_caught_up(&self) -> Result<(), Status> {
        self.api.wait_until_caught_up().await
    }

    /// The kinds that are served now: discovery without a request.
    pub fn served_kinds(&self) -> Arc<Catalog> {
        self.api.catalog().load_full()
    }

    /// Changes whenever other kinds are served.
    pub fn served_kinds_changes(&self) -> watch::Receiver<()> {
        self.api.catalog_changes()
    }

    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.api
            .catalog()
            .load()
            .get(group, version, plural)
            .cloned()
    }

    pub fn resource_of_kind(
        &self,
        group: &str,
        version: &str,
        kind: &str,
    ) -> Option<Arc<Resource>> {
        self.api
            .catalog()
            .load()
            .by_kind(group, version, kind)
            .cloned()
    }

    /// The resource at the version that its group prefers.
    pub fn preferred(&self, group: &str, plural: &str) -> Option<Arc<Resource>> {
        self.api.preferred(group, plural)
    }

    /// The metadata of all objects of all kinds, and their changes.
    pub fn metadata_stream(&self) -> MetadataStream {
        MetadataStream::new(self.api.clone())
    }

    /// The metadata of an object in this server's memory, which may lag behind other servers over the same store.
    pub fn cached_metadata(
        &self,
        resource: &Arc<Resource>,
        namespace: &str,
        name: &str,
    ) -> Option<ObjectMetadata> {
        metadata_stream::cached(&self.api, resource, namespace, name)
    }

    /// The names of all namespaces in this server's memory.
    pub fn cached_namespaces(&self) -> Vec<String> {
        self.api.names("", "namespaces", "")
    }

    /// Secrets whose tokens were used since the last call; waits for one.
    pub async fn used_tokens(&self) -> BTreeSet<UsedToken> {
        self.api.used_tokens().take().await
    }

    /// The metrics of a work queue.
    pub fn queue_series(&self, name: &str) -> QueueSeries {
        self.api.metrics().queues.of(name)
    }

    /// The gauge that is 1 while this server holds the Lease of leader election.
    pub fn leader_gauge(&self, lease: &str) -> Gauge {
        self.api.metrics().leads(lease)
    }

    /// The `ServiceCIDR` of the server's flags.
    pub fn service_cidr(&self) -> Value {
        allocate::service_cidr(&self.api.settings().services)
    }

    /// The cluster IP of the Service `kubernetes`.
    pub fn service_ip(&self) -> IpAddr {
        self.api.settings().services.first().into()
    }

    /// The port that this server listens on.
    pub fn port(&self) -> u16 {
        self.api.documents().port()
    }

    pub fn priority_and_fairness(&self) -> bool {
        self.api.settings().priority_and_fairness
    }

    /// Which features this server admits new uses of, and what it has taken over of their states.
    pub fn features(&self) -> &Arc<FeatureAdmission> {
        self.api.features()
    }

    /// The metrics of features.
    pub fn feature_series(&self) -> &FeatureSeries {
        &self.api.metrics().features
    }

    /// Counts the objects that use features of these gates, whether or not their kinds are served.
    pub async fn count_uses(
        &self,
        gates: Vec<String>,
    ) -> Result<BTreeMap<&'static str, Found>, Status> {
        feature_uses::count_uses(&self.api, gates).await
    }

    /// Objects that have a field; the path has `[]` for the items of a list.
    pub async fn find_field(&self, resource: &str, path: &str) -> Result<Found, Status> {
        feature_uses::find_field(&self.api, resource, path).await
    }

    /// Objects of a resource, whether or not it is served.
    pub async fn count_stored(&self, resource: &str) -> Result<Found, Status> {
        feature_uses::count_stored(&self.api, resource).await
    }

    /// Removes the fields of a gate from a page of a collection: verbs of the API keep what a stored object uses.
    pub async fn strip_fields(
        &self,
        gate: &str,
        resource: &str,
        cursor: Option<&str>,
        still_wanted: impl Future<Output = Result<bool, Status>>,
    ) -> Result<Page, Status> {
        feature_uses::strip_fields(&self.api, gate, resource, cursor, still_wanted).await
    }

    /// Deletes a page of a collection that is not served.
    pub async fn delete_stored(
        &self,
        resource: &str,
        cursor: Option<&str>,
        still_wanted: impl Future<Output = Result<bool, Status>>,
    ) -> Result<Page, Status> {
        feature_uses::delete_stored(&self.api, resource, cursor, still_wanted).await
    }

    /// How long a master lease lasts without being renewed.
    pub fn master_lease_duration(&self) -> Duration {
        self.api.settings().server_ttl
    }

    /// Renews the master lease of the server at this address. `lease` is what the last call returned, zero at first.
    pub async fn renew_master_lease(&self, ip: IpAddr, lease: LeaseId) -> Result<LeaseId, Status> {
        self.api.renew_master_lease(ip, lease).await
    }

    pub async fn revoke_master_lease(&self, lease: LeaseId) -> Result<(), Status> {
        self.api.revoke_master_lease(lease).await
    }

    /// The addresses of all servers whose master lease has not expired.
    pub async fn master_addresses(&self) -> Result<BTreeSet<IpAddr>, Status> {
        self.api.master_addresses().await
    }
}
