//! `pilothouse usage` and `pilothouse config`: what is counted, and whether.

use std::process::ExitCode;

use clap::Subcommand;
use usage::{Error, Places, Sent, config};

use crate::usage_recorder::here;

#[derive(Debug, Subcommand)]
pub(crate) enum Usage {
    /// Print exactly what would be sent now, and what was sent last
    Show,
    /// Send what waits; builds start this by themselves
    Send {
        /// Then send what builds add, until there are none for a while
        #[arg(long, hide = true)]
        attend: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Keep a setting; KUSTOMIZE_EXPORT_METRICS=none switches the recording of usage off
    #[expect(clippy::doc_markdown, reason = "a help text for a terminal")]
    Set {
        /// The setting, and its value if it is not given as the next word
        #[arg(value_name = "KEY[=VALUE]")]
        setting: String,
        /// The value, if it is not behind the '='
        value: Option<String>,
    },
    /// Print a setting, or whether usage is recorded, why and where it goes
    Get { key: Option<String> },
    /// Forget a setting
    Unset { key: String },
}

impl Usage {
    pub(crate) fn run(&self) -> ExitCode {
        finish(match self {
            Self::Show => usage::show(&here()),
            Self::Send { attend: true } => {
                // This process runs in the background: no user waits for it.
                _ = rustix::process::nice(19);
                usage::send_in_background(here, std::thread::sleep);
                return ExitCode::SUCCESS;
            }
            Self::Send { attend: false } => usage::send(&here()).map(|sent| match sent {
                Sent::Payloads(count) => format!("sent: {count}\n"),
                Sent::Nothing => "nothing waits\n".into(),
                Sent::Busy => "another process sends at this moment\n".into(),
                Sent::Nowhere => "nothing is sent: no endpoint is set\n".into(),
                Sent::Off(why) => format!("nothing is sent: {why}\n"),
            }),
        })
    }
}

impl Config {
    pub(crate) fn run(&self) -> ExitCode {
        let here = here();
        let places = || Places::find(&here).ok_or(Error::NoHome);
        finish(match self {
            Self::Set { setting, value } => places()
                .and_then(|it| match value {
                    Some(value) if setting.contains('=') => {
                        Err(Error::Key(format!("{setting} {value}")))
                    }
                    Some(value) => config::set(&it, &format!("{setting}={value}")),
                    None => config::set(&it, setting),
                })
                .map(|()| usage::state(&here)),
            Self::Unset { key } => places()
                .and_then(|it| config::unset(&it, key))
                .map(|()| usage::state(&here)),
            Self::Get { key: None } => Ok(usage::state(&here)),
            Self::Get { key: Some(key) } => places()
                .and_then(|it| config::get(&it, key))
                .map(|value| value.map_or_else(String::new, |it| it + "\n")),
        })
    }
}

fn finish(outcome: Result<String, Error>) -> ExitCode {
    let printed = outcome
        .map_err(|error| error.to_string())
        .and_then(|text| crate::print(&text).map_err(|error| error.to_string()));
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
