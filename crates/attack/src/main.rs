//! The whole suite against a server: a table of what was tried, what held, and at what cost. Exit code 1 if anything did not.

use std::path::PathBuf;
use std::process::ExitCode;

use attack::field::Scale;
use attack::server::Program;
use attack::{Runner, attacks, report};

const HELP: &str = "\
attack --server PATH [--only NAME]... [--slack N] [--short] [--list]

  --server PATH  the pilothouse to start, on ports that the system gives and with data in a temporary directory
  --only NAME    attacks whose names contain this
  --slack N      multiplies all bounds in time, for a machine that is busy otherwise [default: 1]
  --short        fewer and smaller, without bounds in time: as in cargo test
  --list         only tell what there is
";

struct Arguments {
    server: Option<PathBuf>,
    only: Vec<String>,
    slack: u32,
    scale: Scale,
    list: bool,
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)) {
        Ok(arguments) if arguments.list => {
            for attack in attacks::all() {
                println!("{:<26} {:<10} {}", attack.name, attack.who, attack.about);
            }
            ExitCode::SUCCESS
        }
        Ok(Arguments {
            server: Some(server),
            only,
            slack,
            scale,
            ..
        }) => run(server, &only, slack, scale),
        Ok(_) => {
            print!("{HELP}");
            ExitCode::FAILURE
        }
        Err(problem) => {
            eprintln!("error: {problem}\n\n{HELP}");
            ExitCode::FAILURE
        }
    }
}

fn run(server: PathBuf, only: &[String], slack: u32, scale: Scale) -> ExitCode {
    let place = match tempfile::tempdir() {
        Ok(place) => place,
        Err(error) => {
            eprintln!("error: a temporary directory: {error}");
            return ExitCode::FAILURE;
        }
    };
    let runner = Runner {
        program: Program::new(server),
        scale,
        slack: (scale == Scale::Full).then_some(slack),
    };
    println!("{}", report::HEAD);
    let (mut held, mut all, mut tried, mut not_tried) = (0, 0, 0, 0);
    for attack in attacks::all() {
        if !only.is_empty() && !only.iter().any(|it| attack.name.contains(it)) {
            continue;
        }
        let report = runner.run(attack, place.path());
        println!("{report}");
        if report.was_not_tried() {
            not_tried += 1;
            continue;
        }
        all += 1;
        tried += report.tried;
        held += usize::from(report.held());
    }
    println!(
        "\n{held} of {all} attacks held, of {tried} requests, frames and connections; {not_tried} could not be tried here"
    );
    if held == all && all > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments {
        server: None,
        only: Vec::new(),
        slack: 1,
        scale: Scale::Full,
        list: false,
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} takes a value"));
        match word.as_str() {
            "--server" => arguments.server = Some(value()?.into()),
            "--only" => arguments.only.push(value()?),
            "--slack" => {
                let text = value()?;
                let slack = text
                    .parse()
                    .map_err(|_| format!("{text} is not a number"))?;
                arguments.slack = slack;
            }
            "--short" => arguments.scale = Scale::Short,
            "--list" => arguments.list = true,
            "-h" | "--help" => {
                print!("{HELP}");
                std::process::exit(0);
            }
            other => return Err(format!("{other} is not known")),
        }
    }
    Ok(arguments)
}
