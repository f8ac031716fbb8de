use anyhow::bail;
use store::disk::DirDisk;
use store::log;

use crate::data::Directory;

pub(super) fn run(directory: &Directory) -> anyhow::Result<()> {
    super::exists(directory)?;
    let disk = DirDisk::lock_existing(&directory.store())?;
    let report = log::check(&disk)?;
    let width = report
        .files
        .iter()
        .map(|file| file.name.len())
        .max()
        .unwrap_or(0);
    let mut damaged = 0;
    for file in &report.files {
        match &file.problem {
            None => println!("ok       {:width$}  {}", file.name, file.summary),
            Some(problem) => {
                damaged += 1;
                println!("DAMAGED  {:width$}  {problem}", file.name);
            }
        }
    }
    if damaged > 0 {
        bail!(
            "{damaged} of {} files are damaged: restore a backup into a new directory with `pilothouse storage restore`",
            report.files.len()
        );
    }
    println!(
        "sound: {} keys at revision {}",
        report.keys, report.revision
    );
    Ok(())
}
