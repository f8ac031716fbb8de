//! `kustomize localize`.

use clap::Args;
use kustomize::{Disk, Host as _, Local};

use super::{build_options, text};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A directory with a kustomization, or a git repository URL with a reference; '.' if omitted
    #[arg(value_names = ["TARGET", "DESTINATION"])]
    words: Vec<String>,
    /// The directory that local references must not leave; the target if omitted
    #[arg(long, value_name = "DIRECTORY", default_value = "")]
    scope: String,
    /// Do not build the target and its copy to see that they give the same
    #[arg(long)]
    no_verify: bool,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), String> {
        if self.words.len() > 2 {
            return Err(format!(
                "accepts at most 2 arg(s), received {}",
                self.words.len()
            ));
        }
        let target = self.words.first().map_or(".", String::as_str);
        let destination = self.words.get(1).map_or("", String::as_str);
        let copy = kustomize::localize(&Disk, &Local, target, &self.scope, destination);
        let copy = copy.map_err(text)?;
        let directory = &copy.directory;
        if !self.no_verify {
            // Upstream only looks whether both can be built.
            let same = build(target)? == build(&copy.target)?;
            let builds = format!("`kustomize build` for {target} and {directory} are");
            if !same {
                return Err(format!(
                    "VERIFICATION FAILED: {builds} different after localization."
                ));
            }
            Local.log(&format!(
                "VERIFICATION SUCCESS: {builds} the same after localization."
            ));
        }
        Local.log(&format!(
            "SUCCESS: localized {target:?} to directory {directory}"
        ));
        Ok(())
    }
}

fn build(target: &str) -> Result<String, String> {
    let output = kustomize::build(&Disk, &Local, target, &build_options());
    output.and_then(|it| it.to_yaml()).map_err(|error| {
        Local.log(&format!(
            "If your target directory requires flags to build: \n1. Add executable permissions for the downloaded exec binaries in '{target}'. \n2. Run kustomize build with the necessary flags and self-verify the outputs."
        ));
        error.to_string()
    })
}
