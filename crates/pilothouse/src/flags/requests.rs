//! How much at once, and for how long.

use std::time::Duration;

use apiserver::pipeline::Settings;
use apiserver::unread::UnreadLimits;
use clap::{ArgAction, Args};

use super::value;

#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Requests {
    /// Queue requests by API Priority and Fairness; without it, only the two limits below hold
    #[arg(long, value_name = "BOOL", default_value = "true", default_missing_value = "true",
        num_args = 0..=1, require_equals = true, action = ArgAction::Set, value_parser = value::boolean)]
    enable_priority_and_fairness: bool,
    /// Read requests at a time, without watches; with priority and fairness, a part of its seats
    #[arg(long, value_name = "N", default_value_t = 400)]
    max_requests_inflight: usize,
    /// Mutating requests at a time; with priority and fairness, the other part of its seats
    #[arg(long, value_name = "N", default_value_t = 200)]
    max_mutating_requests_inflight: usize,
    /// What a request may take, its response included, if it is not a watch
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = value::time)]
    pub(crate) request_timeout: Duration,
    /// Seconds that a watch gets at least, if it asks for none
    #[arg(long, value_name = "SECONDS", default_value_t = 1800)]
    min_request_timeout: u32,
    /// Bytes of unread responses on one connection, from which on its requests are refused
    #[arg(long, value_name = "BYTES", default_value_t = UnreadLimits::default().per_connection)]
    max_unread_response_bytes_per_connection: usize,
    /// Bytes of unread responses of one user, from which on the user's requests are refused
    #[arg(long, value_name = "BYTES", default_value_t = UnreadLimits::default().per_user)]
    max_unread_response_bytes_per_user: usize,
    /// Bytes of unread responses of all users, from which on users who hold many are refused
    #[arg(long, value_name = "BYTES", default_value_t = UnreadLimits::default().total)]
    max_unread_response_bytes: usize,
    /// How long events are kept
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = value::time)]
    event_ttl: Duration,
}

impl Requests {
    pub(crate) fn apply(&self, settings: &mut Settings) -> anyhow::Result<()> {
        let (reading, writing) = (
            self.max_requests_inflight,
            self.max_mutating_requests_inflight,
        );
        anyhow::ensure!(
            !self.enable_priority_and_fairness || reading.saturating_add(writing) > 0,
            "--max-requests-inflight={reading} and --max-mutating-requests-inflight={writing} leave no seats: \
             they must add up to something positive, or give --enable-priority-and-fairness=false for no limit"
        );
        settings.priority_and_fairness = self.enable_priority_and_fairness;
        settings.max_requests_inflight = self.max_requests_inflight;
        settings.max_mutating_requests_inflight = self.max_mutating_requests_inflight;
        settings.request_timeout = self.request_timeout;
        settings.min_request_timeout = Duration::from_secs(self.min_request_timeout.into());
        settings.unread = UnreadLimits {
            per_connection: self.max_unread_response_bytes_per_connection,
            per_user: self.max_unread_response_bytes_per_user,
            total: self.max_unread_response_bytes,
        };
        settings.event_ttl = self.event_ttl;
        Ok(())
    }
}
