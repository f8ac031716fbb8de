//! `kustomize fn`.

use std::io::Read as _;

use clap::{ArgAction, Args, Subcommand};
use kustomize::cfg::{self, Input, OneFunction, RunOptions};
use kustomize::{Disk, FunctionOptions, Local};

use super::{print, text};
use crate::build::current_user;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run functions on resources
    Run(Box<Arguments>),
}

#[expect(clippy::struct_excessive_bools, reason = "flags as upstream has them")]
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A file or a directory, to which results are written; stdin and stdout if omitted
    #[arg(value_name = "PATH")]
    words: Vec<String>,
    /// Arguments of the function of --image or --exec-path, as key=value; the first can be a kind
    #[arg(last = true, value_name = "ARGUMENTS")]
    told: Option<Vec<String>>,
    /// Accepted as upstream does
    #[arg(long, action = ArgAction::SetTrue, default_value = "true", hide = true)]
    include_subpackages: bool,
    /// Print results and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Functions see all resources, not only those in their directory and below
    #[arg(long)]
    global_scope: bool,
    /// Directories with functions, instead of those among the resources
    #[arg(long, value_name = "DIRECTORIES", value_delimiter = ',')]
    fn_path: Vec<String>,
    /// Run this image instead of the functions that are found
    #[arg(long, value_name = "IMAGE", default_value = "")]
    image: String,
    /// Enable functions that are programs; do not use for configurations you do not trust
    #[arg(long)]
    enable_exec: bool,
    /// Run this program instead of the functions that are found
    #[arg(long, value_name = "PROGRAM", default_value = "")]
    exec_path: String,
    /// Where to write what functions say of their work
    #[arg(long, value_name = "DIRECTORY", default_value = "")]
    results_dir: String,
    /// Enable network access for functions that declare it
    #[arg(long)]
    network: bool,
    /// A storage option read from the file system
    #[arg(long, value_name = "MOUNT")]
    mount: Vec<String>,
    /// Say on stderr which function runs
    #[arg(long)]
    log_steps: bool,
    /// An environment variable for functions
    #[arg(short, long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Use the user and group of this process to run functions in containers
    #[arg(long)]
    as_current_user: bool,
}

impl Command {
    pub(crate) fn run(self) -> Result<(), String> {
        match self {
            Self::Run(arguments) => arguments.run(),
        }
    }
}

impl Arguments {
    fn run(self) -> Result<(), String> {
        if !self.enable_exec && !self.exec_path.is_empty() {
            return Err("must specify --enable-exec with --exec-path".into());
        }
        let explicit = !self.image.is_empty() || !self.exec_path.is_empty();
        if self.told.is_some() && !explicit {
            return Err("must specify --image".into());
        }
        if self.words.len() > 1 {
            return Err("0 or 1 arguments supported, function arguments go after '--'".into());
        }
        let here = std::env::current_dir().map_err(|error| error.to_string())?;
        let options = RunOptions {
            dry_run: self.dry_run,
            global: self.global_scope,
            paths: self.fn_path,
            function: explicit.then(|| OneFunction {
                image: self.image,
                program: self.exec_path,
                arguments: self.told.unwrap_or_default(),
            }),
            results_dir: self.results_dir,
            log_steps: self.log_steps,
            directory: here.to_string_lossy().into_owned(),
            functions: FunctionOptions {
                enable_exec: self.enable_exec,
                network: self.network,
                mounts: self.mount,
                env: self.env,
                as_current_user: self.as_current_user,
                user: current_user(),
                ..FunctionOptions::default()
            },
        };
        let mut stdin = Vec::new();
        let path = self.words.first().map(|it| here.join(it));
        let path = path.map(|it| it.to_string_lossy().into_owned());
        let input = if let Some(path) = &path {
            Input::Path(path)
        } else {
            std::io::stdin()
                .read_to_end(&mut stdin)
                .map_err(|error| error.to_string())?;
            Input::Text(&stdin)
        };
        print(&cfg::run(&Disk, &Local, input, &options).map_err(text)?)
    }
}
