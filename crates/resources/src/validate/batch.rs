//! Jobs and cron jobs.

mod cron;
pub(super) mod cron_jobs;
mod indexes;
pub(super) mod jobs;
mod policies;
mod status;
mod zones;
