//! `kustomize cfg`.

use std::io::Read as _;

use clap::{ArgAction, Args, Subcommand};
use kustomize::cfg::{self, CatOptions, GrepOptions, Input, TreeOptions};
use kustomize::{Disk, FileSystem as _};

use super::{print, text};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print resources
    Cat(Cat),
    /// Count resources
    Count(Count),
    /// Print resources with a field that matches
    Grep(Grep),
    /// Show resources as a tree
    Tree(Tree),
}

#[expect(clippy::struct_excessive_bools, reason = "flags as upstream has them")]
#[expect(clippy::doc_markdown, reason = "these are help texts for a terminal")]
#[derive(Debug, Args)]
pub(crate) struct Cat {
    /// A file or a directory; stdin if omitted
    #[arg(value_name = "PATH")]
    words: Vec<String>,
    /// Put fields in their usual order; true if omitted
    #[arg(long, action = ArgAction::SetTrue, default_value = "true")]
    format: bool,
    /// Say in annotations which files resources come from
    #[arg(long)]
    annotate: bool,
    /// Wrap the output in a list of this kind
    #[arg(long, value_name = "KIND", default_value = "")]
    wrap_kind: String,
    /// Wrap the output in a list of this API version
    #[arg(long, value_name = "VERSION", default_value = "")]
    wrap_version: String,
    /// A file whose object goes into the list as functionConfig
    #[arg(long, value_name = "FILE", default_value = "")]
    function_config: String,
    /// The style of what is printed: FlowStyle or TaggedStyle
    #[arg(long, value_name = "STYLE", value_delimiter = ',')]
    style: Vec<String>,
    /// Leave comments out
    #[arg(long)]
    strip_comments: bool,
    /// Print resources too that are for tools and not for a cluster
    #[arg(long)]
    include_local: bool,
    /// Leave those out that are for a cluster
    #[arg(long)]
    exclude_non_local: bool,
    /// Write to this file
    #[arg(long, value_name = "FILE", default_value = "")]
    dest: String,
    /// Look into packages below too; true if omitted
    #[arg(short = 'R', long, action = ArgAction::SetTrue, default_value = "true")]
    recurse_subpackages: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Count {
    /// A file or a directory; stdin if omitted
    #[arg(value_name = "PATH")]
    words: Vec<String>,
    /// Count by kind; true if omitted
    #[arg(long, action = ArgAction::SetTrue, default_value = "true")]
    kind: bool,
    /// Look into packages below too; true if omitted
    #[arg(short = 'R', long, action = ArgAction::SetTrue, default_value = "true")]
    recurse_subpackages: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Grep {
    /// A query like kind=Deployment, spec.replicas>3 or spec.template.spec.containers[name=web].image=nginx, and a
    /// file or a directory; stdin if that is omitted
    #[arg(value_names = ["QUERY", "PATH"])]
    words: Vec<String>,
    /// Say in annotations which files resources come from; true if omitted
    #[arg(long, action = ArgAction::SetTrue, default_value = "true")]
    annotate: bool,
    /// Print those that do not match
    #[arg(long)]
    invert_match: bool,
    /// Look into packages below too; true if omitted
    #[arg(short = 'R', long, action = ArgAction::SetTrue, default_value = "true")]
    recurse_subpackages: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Tree {
    /// A file or a directory, '.' if omitted; '-' is stdin
    #[arg(value_name = "PATH")]
    words: Vec<String>,
    /// Show the names of containers
    #[arg(long)]
    name: Option<bool>,
    /// Show the resources that containers ask for
    #[arg(long)]
    resources: Option<bool>,
    /// Show ports
    #[arg(long)]
    ports: Option<bool>,
    /// Show images
    #[arg(long)]
    image: Option<bool>,
    /// Show how many replicas there are
    #[arg(long)]
    replicas: Option<bool>,
    /// Show the arguments of containers
    #[arg(long)]
    args: Option<bool>,
    /// Show the commands of containers
    #[arg(long)]
    command: Option<bool>,
    /// Show the environment of containers
    #[arg(long)]
    env: Option<bool>,
    /// Show all of these
    #[arg(long)]
    all: bool,
    /// Show this field
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    field: Vec<String>,
    /// Show resources too that are for tools and not for a cluster
    #[arg(long)]
    include_local: bool,
    /// Leave those out that are for a cluster
    #[arg(long)]
    exclude_non_local: bool,
    /// By what the tree grows: directory or owners
    #[arg(long, value_name = "STRUCTURE", default_value = "")]
    graph_structure: String,
}

impl Command {
    pub(crate) fn run(self) -> Result<(), String> {
        match self {
            Self::Cat(arguments) => arguments.run(),
            Self::Count(arguments) => {
                let path = at_most(&arguments.words, 1)?.first();
                let (by_kind, recurse) = (arguments.kind, arguments.recurse_subpackages);
                let mut out = String::new();
                let done = with_input(path, |input| {
                    cfg::count(&Disk, input, by_kind, recurse, &mut out)
                });
                print(&out)?;
                done
            }
            Self::Grep(arguments) => arguments.run(),
            Self::Tree(arguments) => arguments.run(),
        }
    }
}

fn at_most(words: &[String], count: usize) -> Result<&[String], String> {
    if words.len() > count {
        return Err(format!(
            "accepts at most {count} arg(s), received {}",
            words.len()
        ));
    }
    Ok(words)
}

/// A path, or stdin.
fn with_input<T>(
    path: Option<&String>,
    run: impl FnOnce(Input<'_>) -> Result<T, kustomize::Error>,
) -> Result<T, String> {
    if let Some(path) = path {
        return run(Input::Path(path)).map_err(text);
    }
    let mut all = Vec::new();
    let read = std::io::stdin().read_to_end(&mut all);
    read.map_err(|error| error.to_string())?;
    run(Input::Text(&all)).map_err(text)
}

impl Cat {
    fn run(self) -> Result<(), String> {
        let path = at_most(&self.words, 1)?.first();
        let options = CatOptions {
            format: self.format,
            annotate: self.annotate,
            wrap_kind: self.wrap_kind,
            wrap_version: self.wrap_version,
            function_config: self.function_config,
            styles: self.style,
            strip_comments: self.strip_comments,
            include_local: self.include_local,
            exclude_non_local: self.exclude_non_local,
            recurse: self.recurse_subpackages,
        };
        let out = with_input(path, |input| cfg::cat(&Disk, input, &options))?;
        if self.dest.is_empty() {
            return print(&out);
        }
        Disk.write(&self.dest, out.as_bytes()).map_err(text)
    }
}

impl Grep {
    fn run(self) -> Result<(), String> {
        let [query, rest @ ..] = at_most(&self.words, 2)? else {
            return Err("missing required argument: QUERY".into());
        };
        let options = GrepOptions {
            annotate: self.annotate,
            invert_match: self.invert_match,
            recurse: self.recurse_subpackages,
        };
        let out = with_input(rest.first(), |input| {
            cfg::grep(&Disk, input, query, options)
        })?;
        print(&out)
    }
}

impl Tree {
    fn run(self) -> Result<(), String> {
        let here = ".".to_owned();
        let path = at_most(&self.words, 1)?.first().unwrap_or(&here);
        let known = [
            ("name", self.name),
            ("image", self.image),
            ("command", self.command),
            ("args", self.args),
            ("env", self.env),
            ("replicas", self.replicas),
            ("resources", self.resources),
            ("ports", self.ports),
        ];
        let known = known.into_iter();
        let options = TreeOptions {
            known: known
                .filter(|(_, asked)| asked.unwrap_or(self.all))
                .map(|(name, _)| name)
                .collect(),
            fields: self.field,
            include_local: self.include_local,
            exclude_non_local: self.exclude_non_local,
            structure: self.graph_structure,
        };
        let path = (path != "-").then_some(path);
        let out = with_input(path, |input| cfg::tree(&Disk, input, &options))?;
        print(&out)
    }
}
