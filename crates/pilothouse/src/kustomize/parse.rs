//! The command line as kustomize's flag library reads it, and errors in its words.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::builder::ValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command, FromArgMatches};

use crate::flags::value::boolean;

/// Parses, or prints what there is to say instead and gives the exit code.
pub(crate) fn parse<T: FromArgMatches>(
    command: Command,
    arguments: &[OsString],
) -> Result<T, ExitCode> {
    let mut command = like_pflag(command);
    let matches = command.try_get_matches_from_mut(arguments);
    let parsed = matches.and_then(|mut it| T::from_arg_matches_mut(&mut it));
    parsed.map_err(|error| report(&error, &mut command, arguments))
}

/// A flag may come twice, the last counts; a switch may have a value; any word can be a value.
pub(crate) fn like_pflag(command: Command) -> Command {
    let command = command.args_override_self(true).mut_args(|arg| {
        if arg.is_positional() {
            return arg;
        }
        match arg.get_action() {
            ArgAction::SetTrue if arg.get_default_values().is_empty() => {
                switch(arg).default_value("false")
            }
            ArgAction::SetTrue => switch(arg),
            // A switch of which it is known whether it was given.
            ArgAction::Set if is_boolean(&arg) => switch(arg),
            ArgAction::Set | ArgAction::Append => {
                arg.allow_hyphen_values(true).hide_default_value(true)
            }
            _ => arg,
        }
    });
    command.mut_subcommands(like_pflag)
}

fn is_boolean(arg: &Arg) -> bool {
    arg.get_value_parser().type_id() == ValueParser::bool().type_id()
}

fn switch(arg: Arg) -> Arg {
    arg.action(ArgAction::Set)
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("true")
        .value_parser(ValueParser::new(boolean))
        .value_name("BOOL")
        .hide_default_value(true)
}

fn report(error: &clap::Error, command: &mut Command, arguments: &[OsString]) -> ExitCode {
    let path = error_path(command, arguments);
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            _ = error.print();
            return ExitCode::SUCCESS;
        }
        // A group of commands shows its help, whatever it was asked for.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::MissingSubcommand
        | ErrorKind::InvalidSubcommand
            if path.len() > 1 || error.kind() != ErrorKind::InvalidSubcommand =>
        {
            let help = find(command, &path).render_help();
            _ = crate::print(&help.to_string());
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let found = find(command, &path);
    eprintln!("Error: {}", message(error, found, arguments));
    if error.kind() == ErrorKind::InvalidSubcommand {
        eprintln!("Run 'kustomize --help' for usage.");
    } else if !matches!(path.get(1).map(String::as_str), Some("build" | "localize")) {
        eprintln!("{}", found.render_usage());
    }
    ExitCode::FAILURE
}

/// The names of the command that was meant, as far as they are ones.
fn error_path(command: &Command, arguments: &[OsString]) -> Vec<String> {
    let mut path = vec![command.get_name().to_owned()];
    let mut at = command;
    for word in arguments.iter().skip(1).filter_map(|it| it.to_str()) {
        if word.starts_with('-') {
            continue;
        }
        let Some(next) = at.find_subcommand(word) else {
            break;
        };
        path.push(next.get_name().to_owned());
        at = next;
    }
    path
}

fn find<'c>(command: &'c mut Command, path: &[String]) -> &'c mut Command {
    // Names of commands in usage lines are whole after this.
    command.build();
    let mut at = command;
    for name in &path[1..] {
        if at.find_subcommand(name).is_none() {
            break;
        }
        at = at
            .find_subcommand_mut(name)
            .expect("it was found the line before");
    }
    at
}

fn message(error: &clap::Error, command: &Command, arguments: &[OsString]) -> String {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let given = context(ContextKind::InvalidArg);
    let value = context(ContextKind::InvalidValue);
    let name = given.split([' ', '=', '[']).next().unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument if name.starts_with("--") => format!("unknown flag: {name}"),
        ErrorKind::UnknownArgument if name.starts_with('-') => {
            let shorthand = name.chars().nth(1).unwrap_or('-');
            let words = arguments.iter().filter_map(|it| it.to_str());
            let mut words = words.filter(|it| !it.starts_with("--") && it.starts_with(name));
            let word = words.next().unwrap_or(name);
            format!("unknown shorthand flag: '{shorthand}' in {word}")
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            let last = arguments.last().and_then(|it| it.to_str());
            let short = last.filter(|it| !it.starts_with("--"));
            match short.and_then(|it| it.chars().last().map(|c| (c, it))) {
                Some((shorthand, word)) => {
                    format!("flag needs an argument: '{shorthand}' in {word}")
                }
                None => format!("flag needs an argument: {name}"),
            }
        }
        ErrorKind::ValueValidation => {
            let flag = flag_names(command, name);
            format!(
                "invalid argument {value:?} for {flag:?} flag: strconv.ParseBool: parsing {value:?}: invalid syntax"
            )
        }
        ErrorKind::InvalidSubcommand => {
            let word = context(ContextKind::InvalidSubcommand);
            let names = similar(command, &word);
            let close = if names.is_empty() {
                String::new()
            } else {
                format!("\n\nDid you mean this?\n\t{}\n", names.join("\n\t"))
            };
            format!(
                "unknown command {word:?} for {:?}{close}",
                command.get_name()
            )
        }
        _ => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            first.trim_start_matches("error: ").to_owned()
        }
    }
}

/// As `-f, --force`.
fn flag_names(command: &Command, long: &str) -> String {
    let is = |arg: &&Arg| arg.get_long().is_some_and(|it| long.ends_with(it));
    let short = command.get_arguments().find(is).and_then(Arg::get_short);
    match short {
        Some(short) => format!("-{short}, {long}"),
        None => long.to_owned(),
    }
}

/// Commands that begin with a word, or are two letters away from it at most.
fn similar<'c>(command: &'c Command, word: &str) -> Vec<&'c str> {
    let word = word.to_lowercase();
    let all = command.get_subcommands().filter(|it| !it.is_hide_set());
    let names = all.map(Command::get_name).filter(|it| *it != "config");
    let mut close: Vec<&str> = names
        .filter(|it| it.starts_with(&word) || distance(it, &word) <= 2)
        .collect();
    close.sort_unstable();
    close
}

/// How many letters must be added, removed or replaced.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (at, left) in a.chars().enumerate() {
        let mut above = std::mem::replace(&mut row[0], at + 1);
        for (at, right) in b.chars().enumerate() {
            let here = row[at + 1];
            row[at + 1] = (above + usize::from(left != right))
                .min(here + 1)
                .min(row[at] + 1);
            above = here;
        }
    }
    row.last().copied().unwrap_or_default()
}
