//! Building again whenever something that was read changes.
//!
//! The files are looked at a few times a second: that works on every file system, also on those across a network, and
//! for exactly the files that the build depends on.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use kustomize::{Disk, Recorded};

const PAUSE: Duration = Duration::from_millis(200);

/// Calls `build` for ever, with a file system that notes what it reads.
pub(super) fn run(mut build: impl FnMut(&Recorded<Disk>)) -> ! {
    loop {
        let files = Recorded::new(Disk);
        let start = SystemTime::now();
        build(&files);
        let paths = files.take();
        eprintln!("watching {} files", paths.len());
        let mut before = look(&paths);
        // Waits until an editor has saved all files.
        let mut changed = before.iter().any(|it| it.changed_since(start));
        loop {
            std::thread::sleep(PAUSE);
            let now = look(&paths);
            let steady = now == before;
            if changed && steady {
                break;
            }
            changed |= !steady;
            before = now;
        }
    }
}

/// What can be seen of a file without reading it.
#[derive(PartialEq, Eq)]
struct Seen(Option<(SystemTime, u64, bool)>);

impl Seen {
    /// While the build ran, so it may have read the old content.
    fn changed_since(&self, start: SystemTime) -> bool {
        self.0
            .is_some_and(|(time, ..)| time > start && time <= SystemTime::now())
    }
}

fn look(paths: &BTreeSet<String>) -> Vec<Seen> {
    let look = |path: &String| {
        let meta = std::fs::metadata(path).ok()?;
        // A directory counts for being there, or for what is in it if that was asked for.
        if meta.is_dir() && !path.ends_with('/') {
            return Some((SystemTime::UNIX_EPOCH, 0, true));
        }
        Some((meta.modified().ok()?, meta.len(), meta.is_dir()))
    };
    paths.iter().map(|path| Seen(look(path))).collect()
}
