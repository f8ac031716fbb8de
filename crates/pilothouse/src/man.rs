//! `pilothouse man DIR`: a manual page for each command, for packages.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Command};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The directory to write into; it is made if it does not exist
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Arguments {
    /// Writes `pilothouse.1`, `pilothouse-serve.1` and so on, the same bytes each time.
    pub(crate) fn write(&self, command: Command) -> anyhow::Result<()> {
        let directory = &self.directory;
        std::fs::create_dir_all(directory)
            .and_then(|()| {
                let command = crate::completion::with_kustomize(command);
                clap_mangen::generate_to(command.disable_help_subcommand(true), directory)
            })
            .with_context(|| format!("write manual pages into {}", directory.display()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn every_visible_command_has_a_page() {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path().join("man1");
        let arguments = Arguments { directory };
        let command = crate::Arguments::command();
        arguments.write(command.clone()).expect("pages");
        let read = |name: &str| fs::read_to_string(arguments.directory.join(name)).expect(name);
        for sub in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            let page = read(&format!("pilothouse-{}.1", sub.get_name()));
            assert!(page.contains(".SH NAME"), "{}", sub.get_name());
        }
        assert!(read("pilothouse-serve.1").contains("data\\-dir"));
        assert!(read("pilothouse-kustomize-edit-add.1").contains("resource"));
        assert!(!arguments.directory.join("pilothouse-man.1").exists());
    }
}
