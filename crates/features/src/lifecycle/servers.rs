//! What each server does with the status that it has seen.

use super::status::{Admission, FeatureStatus};
use super::task::Outcome;

/// What a server says it has taken over, once no write that it admitted before is under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Acknowledgement {
    pub server: String,
    pub epoch: u64,
    pub admission: Admission,
}

/// Whether a server may write new uses now, by the status that it has seen last and whether its own Lease is fresh by its own clock.
/// While the feature is not announced, the server's own value counts: nobody has closed anything.
pub fn admits(seen: Option<&FeatureStatus>, own_value: bool, is_lease_fresh: bool) -> bool {
    is_lease_fresh && seen.map_or(own_value, |it| it.admission == Admission::Open)
}

/// The outcome of `wait-servers`: every fresh server has acknowledged this epoch and admission. A fresh server that has
/// acknowledged nothing yet has to be in the list, with epoch 0.
pub fn wait_servers(status: &FeatureStatus, fresh: &[Acknowledgement]) -> Outcome {
    let behind =
        |it: &&Acknowledgement| (it.epoch, it.admission) != (status.epoch, status.admission);
    let behind: Vec<String> = fresh
        .iter()
        .filter(behind)
        .map(|it| it.server.clone())
        .collect();
    if behind.is_empty() {
        Outcome::Done
    } else {
        Outcome::Blocked(behind.into())
    }
}
