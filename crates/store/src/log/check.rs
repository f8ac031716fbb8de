//! Verifying the files of a store without opening it.

use std::collections::BTreeMap;

use super::recover::{Inventory, inventory, read_base, recover};
use super::scan::{Ending, places};
use crate::disk::Disk;
use crate::engine::{Record, Recovered};
use crate::{Error, Revision};

/// The outcome of [`check`].
#[derive(Debug, Default)]
pub struct Report {
    pub files: Vec<FileReport>,
    pub keys: u64,
    pub revision: Revision,
}

#[derive(Debug)]
pub struct FileReport {
    pub name: String,
    pub summary: String,
    pub problem: Option<Error>,
}

impl Report {
    pub fn is_sound(&self) -> bool {
        self.files.iter().all(|file| file.problem.is_none())
    }
}

/// Verifies every file without changing any, and goes on after damage as far as it can.
pub fn check(disk: &dyn Disk) -> Result<Report, Error> {
    let Inventory {
        base,
        mut segments,
        leftovers,
    } = inventory(disk)?;
    let mut report = Report::default();
    let mut first = 1;
    if let Some(name) = base {
        let (summary, problem) = match read_base(disk, &name) {
            Ok(content) => {
                first = content.first_segment;
                (
                    format!(
                        "{} keys at revision {}",
                        content.entries.len(),
                        content.revision
                    ),
                    None,
                )
            }
            Err(problem) => {
                first = segments.keys().next().copied().unwrap_or(1);
                (String::new(), Some(problem))
            }
        };
        report.files.push(FileReport {
            name,
            summary,
            problem,
        });
    }
    let needed = segments.split_off(&first);
    for (number, name) in &needed {
        let next = needed.range(number + 1..).next();
        let (summary, problem) = match check_segment(disk, *number, name, next) {
            Ok(summary) => (summary, None),
            Err(problem) => (String::new(), Some(problem)),
        };
        report.files.push(FileReport {
            name: name.clone(),
            summary,
            problem,
        });
    }
    for name in segments.into_values().chain(leftovers) {
        report.files.push(FileReport {
            name,
            summary: "not needed".into(),
            problem: None,
        });
    }
    if report.is_sound() {
        // The parts are sound: now as a whole, the way a server would open them.
        match recover(disk) {
            Ok(None) => {}
            Ok(Some(found)) => {
                report.revision = found.last;
                report.keys = count_keys(&found.recovered);
            }
            Err(problem) => {
                report.files.push(FileReport {
                    name: "all together".into(),
                    summary: String::new(),
                    problem: Some(problem),
                });
            }
        }
    }
    Ok(report)
}

fn check_segment(
    disk: &dyn Disk,
    number: u64,
    name: &str,
    next: Option<(&u64, &String)>,
) -> Result<String, Error> {
    let mut names = BTreeMap::from([(number, name.to_owned())]);
    let next = next.filter(|(next, _)| **next == number + 1);
    names.extend(next.map(|(next, name)| (*next, name.clone())));
    let places = places(disk, number, &names)?;
    let mut data = Vec::new();
    places[0].read(disk, &mut data)?;
    let scan = places[0].scan(&data)?;
    let tail = match scan.ending {
        Ending::Sealed => "sealed",
        Ending::Open => "open at the end, as after a crash",
    };
    Ok(format!("{} batches, {tail}", scan.payloads.len()))
}

fn count_keys(recovered: &Recovered) -> u64 {
    let mut keys: std::collections::HashSet<&[u8]> = recovered
        .entries
        .iter()
        .map(|entry| &entry.key[..])
        .collect();
    for record in &recovered.tail {
        match record {
            Record::Put(entry) => keys.insert(&entry.key),
            Record::Delete { key, .. } => keys.remove(&key[..]),
            _ => false,
        };
    }
    keys.len() as u64
}
