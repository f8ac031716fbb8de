//! `pilothouse completion SHELL`: a script that completes the whole command line. That of `kustomize completion` is
//! kustomize's, for its own name.

use clap::{Args, Command, CommandFactory as _};
use clap_complete::Shell;

use crate::build::Kustomize;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The shell to print a script for
    shell: Shell,
}

impl Arguments {
    /// The script, for a command line.
    pub(crate) fn script(&self, command: Command) -> String {
        let mut command = with_kustomize(command);
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "pilothouse", &mut script);
        String::from_utf8_lossy(&script).into_owned()
    }
}

/// The command line with the commands below `kustomize`, which another parser reads.
pub(crate) fn with_kustomize(command: Command) -> Command {
    command.mut_subcommand("kustomize", |it| {
        let about = it.get_about().cloned().unwrap_or_default();
        Kustomize::command().about(about)
    })
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_shell_gets_every_command() {
        for shell in Shell::value_variants() {
            let script = Arguments { shell: *shell }.script(crate::Arguments::command());
            for word in ["serve", "kubeconfig", "localize", "explain", "data-dir"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
}
