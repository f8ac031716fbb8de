//! Jobs and cron jobs.

mod cron;
pub(crate) mod cron_jobs;
mod indexes;
pub(crate) mod jobs;
mod policies;
mod status;
mod zones;
