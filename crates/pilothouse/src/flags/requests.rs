//! How much at once, and for how long.

use std::time::Duration;

use apiserver::pipeline::Settings;
use clap::Args;

use super::value;

#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Requests {
    /// Reading requests at a time, watches aside; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 400)]
    max_requests_inflight: usize,
    /// Writing requests at a time; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 200)]
    max_mutating_requests_inflight: usize,
    /// What a request may take, if it is not a watch
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = value::time)]
    pub(crate) request_timeout: Duration,
    /// Seconds that a watch gets at least, if it asks for none
    #[arg(long, value_name = "SECONDS", default_value_t = 1800)]
    min_request_timeout: u32,
    /// How long events are kept
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = value::time)]
    event_ttl: Duration,
}

impl Requests {
    pub(crate) fn apply(&self, settings: &mut Settings) {
        settings.max_requests_inflight = self.max_requests_inflight;
        settings.max_mutating_requests_inflight = self.max_mutating_requests_inflight;
        settings.request_timeout = self.request_timeout;
        settings.min_request_timeout = Duration::from_secs(self.min_request_timeout.into());
        settings.event_ttl = self.event_ttl;
    }
}
