//! The store's contract, one function per behaviour, run on every backing: memory, the log on disk, etcd.
//!
//! ```text
//! testkit::suite!(testkit::suite::Embedded::new());
//! ```
//! makes one `#[test]` per behaviour. The expression is evaluated in each of them: it gives an empty store of its own.
//! `suite_without_restarts!` is for a store of which nothing survives. `suite!(requires(etcd): ...)`
//! marks each of the tests `#[requires(etcd)]`.
//! Nothing here relies on where revisions start, nor on their being consecutive: others may write to the same etcd.

mod backing;

pub mod backups;
pub mod closing;
pub mod compaction;
pub mod concurrency;
pub mod crowds;
pub mod leases;
pub mod limits;
pub mod ranges;
pub mod restarts;
pub mod snapshots;
pub mod transactions;
pub mod watches;
pub mod writes;

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use store::{Changes, Entry, Error, Event, Options, Snapshot, Store, Watch};

pub use self::backing::{Embedded, Memory};

/// Where the store under test keeps its data. One value serves one test.
pub trait Backing: Send + Sync {
    /// An empty store. Called once.
    fn open(&self, options: &Options) -> impl Future<Output = Store> + Send;

    /// Closes the store and opens it again; `None` where nothing survives. `store` is the only handle left.
    fn reopen(&self, store: Store, options: &Options)
    -> impl Future<Output = Option<Store>> + Send;

    /// Whether the past can still be read and watched after a reopen. If not, asking for it must fail, not skip it.
    fn keeps_history(&self) -> bool {
        true
    }
}

/// One `#[test]` per behaviour, in a module per group.
#[macro_export]
macro_rules! suite {
    (requires($name:ident): $backing:expr) => {
        $crate::suite! { [#[$crate::requires($name)]] $backing }
    };
    ([$($attributes:tt)*] $backing:expr) => {
        $crate::suite_without_restarts! { [$($attributes)*] $backing }
        $crate::suite_tests! { [$($attributes)*] $backing;
            restarts {
                everything_is_there_after_a_restart
                revisions_go_on_after_a_restart
                a_watch_resumes_over_a_restart
                the_past_can_be_read_over_a_restart
                the_floor_stays_over_a_restart
                a_lease_lives_on_over_a_restart
                a_lease_ends_after_a_restart
                everything_is_there_after_much_was_written
            }
        }
    };
    ($backing:expr) => {
        $crate::suite! { [] $backing }
    };
}

/// The same for a store of which nothing survives.
#[macro_export]
macro_rules! suite_without_restarts {
    ([$($attributes:tt)*] $backing:expr) => {
        $crate::suite_tests! { [$($attributes)*] $backing;
            writes {
                create_makes_a_key
                create_conflicts_with_what_is_there
                update_needs_the_right_revision
                update_of_nothing_conflicts
                delete_needs_the_right_revision
                delete_of_nothing_conflicts
                put_keeps_created_and_changes_modified
                a_new_life_gets_a_new_created
                an_answer_is_readable_at_once
                values_may_be_empty_and_keys_any_bytes
                revisions_only_grow
            }
            transactions {
                all_conditions_hold_and_all_writes_share_one_revision
                one_failed_condition_and_nothing_happens
                every_condition_means_what_it_says
                previous_values_come_back_in_order
                deleting_what_is_not_there_changes_nothing
                a_transaction_without_writes_only_compares
                a_watch_gets_a_transaction_in_one_run
            }
            ranges {
                keys_come_in_byte_order
                the_empty_prefix_is_everything
                a_prefix_that_is_a_key_is_in_its_range
                prefixes_may_end_in_0xff
                count_and_range_agree
                pages_cover_a_range_once
                pages_stay_consistent_while_writes_go_on
                a_page_may_start_outside_the_prefix
            }
            snapshots {
                a_snapshot_is_not_changed_by_later_writes
                every_past_revision_can_be_read
                the_past_of_a_key_with_several_lives
                the_future_cannot_be_read
                get_is_none_without_a_key
            }
            compaction {
                the_past_up_to_the_floor_is_gone
                the_error_names_the_floor
                compacting_twice_is_the_same_as_once
                the_future_cannot_be_compacted
                compaction_leaves_open_watches_alone
                history_is_bounded_in_bytes
                history_of_large_values_is_bounded_in_bytes
            }
            watches {
                no_gap_after_a_snapshot
                no_gap_while_others_write
                the_past_comes_first_then_the_present
                only_the_prefix_is_seen
                the_empty_prefix_sees_everything
                an_event_carries_what_was_and_what_is
                the_future_cannot_be_watched
                progress_grows_without_a_matching_change
                progress_never_runs_ahead_of_what_was_returned
                a_cancelled_wait_loses_nothing
                a_dropped_watch_is_forgotten
                try_next_never_waits
                a_change_that_was_seen_can_be_read
            }
            crowds {
                many_watchers_share_the_same_events
                ten_thousand_watchers_of_one_prefix
                ten_thousand_watchers_of_their_own_prefix
                a_slow_watcher_is_dropped_and_no_other
                a_watcher_that_keeps_up_survives_a_large_transaction
            }
            leases {
                keys_vanish_when_the_time_is_over
                keep_alive_extends_the_time
                revoke_deletes_all_keys_at_one_revision
                an_unknown_lease_is_refused
                a_put_without_the_lease_detaches_the_key
                a_put_with_another_lease_moves_the_key
                a_deleted_key_made_anew_is_not_the_leases
                a_lease_without_keys_takes_no_revision
            }
            limits {
                a_key_must_not_be_empty
                a_request_may_be_as_large_as_the_limit_and_no_larger
                a_transaction_has_at_most_128_operations
                a_key_is_written_once_in_a_transaction
            }
            closing {
                a_closed_store_refuses_everything
                closing_twice_is_fine
                closing_ends_watches
                closing_answers_every_writer
            }
            concurrency {
                all_writers_are_answered_and_all_writes_are_there
                of_many_creates_one_wins
                of_many_updates_one_wins
                increments_are_never_lost
                transfers_keep_the_sum
                a_write_given_up_is_whole_or_not_at_all
            }
            backups {
                a_backup_taken_while_writing_equals_its_revision
                a_restored_store_skips_revisions
                a_backup_keeps_leases
            }
        }
    };
    ($backing:expr) => {
        $crate::suite_without_restarts! { [] $backing }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! suite_tests {
    ($attributes:tt $backing:expr; $($group:ident { $($name:ident)* })*) => {
        $(mod $group {
            #[allow(unused_imports)]
            use super::*;
            $($crate::suite_test! { $attributes
            fn $name() {
                $crate::suite::run(stringify!($name), async {
                    let backing = $backing;
                    $crate::suite::$group::$name(&backing).await;
                });
            } })*
        })*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! suite_test {
    ([$($attributes:tt)*] $($test:tt)*) => {
        $($attributes)*
        #[test]
        $($test)*
    };
}

/// Runs one test. What hangs fails by name.
pub fn run<T>(name: &str, test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .expect("a runtime starts");
    runtime.block_on(within(name, Duration::from_secs(120), test))
}

/// Waits for what must happen.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    within(what, Duration::from_secs(30), future).await
}

async fn within<T>(what: &str, limit: Duration, future: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(limit, future).await;
    done.unwrap_or_else(|_| panic!("{what}: not within {limit:?}"))
}

/// As the defaults, with small files: a test's disk is not a server's.
pub fn options() -> Options {
    Options {
        segment_bytes: 1 << 20,
        ..Options::default()
    }
}

async fn open(backing: &impl Backing) -> Store {
    backing.open(&options()).await
}

async fn next(watch: &mut Watch) -> Changes {
    soon("the next changes", watch.next())
        .await
        .expect("the watch goes on")
}

/// The next `count` events, and not one more in the run that brought the last of them.
async fn events(watch: &mut Watch, count: usize) -> Vec<Arc<Event>> {
    let mut all = Vec::new();
    while all.len() < count {
        all.extend_from_slice(&next(watch).await);
    }
    assert_eq!(all.len(), count, "more events than expected: {all:?}");
    all
}

/// What an event says, in short: `+key=value` for what a key holds now, `-key` for a delete.
fn brief(events: &[Arc<Event>]) -> Vec<String> {
    let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
    events
        .iter()
        .map(|event| match &event.current {
            Some(entry) => format!("+{}={}", text(&event.key), text(&entry.value)),
            None => format!("-{}", text(&event.key)),
        })
        .collect()
}

/// What a conflict says the key holds.
fn conflict<T: Debug>(key: &[u8], answer: Result<T, Error>) -> Option<Arc<Entry>> {
    match answer {
        Err(Error::Conflict {
            key: found,
            current,
        }) => {
            assert_eq!(found, key, "the conflict names its key");
            current
        }
        other => panic!("a conflict was expected, not {other:?}"),
    }
}

fn keys(snapshot: &Snapshot, prefix: &[u8]) -> Vec<Bytes> {
    snapshot
        .range(prefix)
        .map(|entry| entry.key.clone())
        .collect()
}

fn entries(snapshot: &Snapshot) -> Vec<Arc<Entry>> {
    snapshot.range(b"").cloned().collect()
}

async fn get(store: &Store, key: &[u8]) -> Arc<Entry> {
    store
        .get(key)
        .await
        .expect("reads work")
        .expect("the key is there")
}

macro_rules! assert_matches {
    ($value:expr, $pattern:pat $(if $guard:expr)?) => {
        match $value {
            $pattern $(if $guard)? => {}
            other => panic!("{} expected, not {other:?}", stringify!($pattern)),
        }
    };
}
use assert_matches;

#[cfg(test)]
mod tests {
    /// A behaviour that is written but not in the list above would never run.
    #[test]
    fn every_behaviour_is_in_the_suite() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/src/suite");
        let list = include_str!("suite.rs");
        let mut count = 0;
        for file in std::fs::read_dir(root).unwrap() {
            let path = file.unwrap().path();
            let source = std::fs::read_to_string(&path).unwrap();
            for line in source.lines() {
                if let Some(rest) = line.strip_prefix("pub async fn ") {
                    let name = rest.split('(').next().unwrap();
                    let entry = format!("                {name}\n");
                    assert!(list.contains(&entry), "{name} of {path:?} is not run");
                    count += 1;
                }
            }
        }
        assert!(count > 70, "only {count} behaviours were found");
    }
}
