//! Backup and restore: an image of everything at one revision.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use crate::disk::Disk;
use crate::engine::Image;
use crate::log::Log;
use crate::{Error, LeaseId, Options, Revision, Snapshot, View, image};

/// Writes a snapshot as an image, with the leases its keys may hold.
pub(crate) fn write(
    snapshot: Snapshot,
    leases: Vec<(LeaseId, Duration)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let next_lease = leases.iter().map(|(lease, _)| lease + 1).max().unwrap_or(1);
    image::write(
        &Image {
            snapshot,
            leases,
            next_lease,
        },
        0,
        out,
    )
}

/// What is in a backup that has been read and verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    pub revision: Revision,
    pub keys: u64,
}

/// Reads all of a backup and verifies it.
pub fn verify(input: &mut dyn Read, name: &str) -> Result<Summary, Error> {
    let content = image::read(input, name)?;
    Ok(Summary {
        revision: content.revision,
        keys: content.entries.len() as u64,
    })
}

/// Fills an empty data directory from a backup. `skip` revisions are left out before the next write, so that clients
/// which saw newer revisions than the backup's never meet one of them again with another meaning.
pub fn restore(
    input: &mut dyn Read,
    name: &str,
    disk: Arc<dyn Disk>,
    skip: Revision,
    options: &Options,
) -> Result<Summary, Error> {
    let mut content = image::read(input, name)?;
    // A lease that ended while the backup was begun is not in it: its keys would be taken over by the next of its name.
    let alive: HashSet<_> = content.leases.iter().map(|(lease, _)| *lease).collect();
    for entry in content
        .entries
        .iter_mut()
        .filter(|entry| !alive.contains(&entry.lease))
    {
        Arc::make_mut(entry).lease = 0;
    }
    let revision = content
        .revision
        .checked_add(skip)
        .filter(|revision| i64::try_from(*revision).is_ok());
    let revision = revision.ok_or(Error::TooLarge {
        size: usize::MAX,
        limit: usize::MAX / 2,
    })?;
    let summary = Summary {
        revision,
        keys: content.entries.len() as u64,
    };
    let view = View::new(content.entries, revision, options);
    let image = Image {
        snapshot: view.latest(),
        leases: content.leases,
        next_lease: content.next_lease,
    };
    Log::create(disk, &image, options)?;
    Ok(summary)
}
