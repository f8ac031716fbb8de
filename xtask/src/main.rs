//! The one list of commands, for people and for CI. No tool to install: `cargo xtask`.

mod attack;
mod build_diff;
mod definitions;
mod dist;
mod feature_tables;
mod ignored;
mod layers;
mod mutants;
mod recording;
mod soak;
mod supply_chain;
mod tables;

use std::process::{Command, ExitCode};

type Outcome = Result<(), String>;

const HELP: &str = "\
cargo xtask COMMAND

  check         what CI checks besides the tests: format, lints, layers, supply chain
  layers        only the direction of dependencies, of crates and of the rooms within one, and the list of them
  supply-chain  only licences, duplicate versions, build scripts and known advisories of dependencies (deny.toml)
  test          cargo test --workspace, and at the end the sum of what was ignored and why [arguments of cargo test]
  ignored       that sum of a finished run; fails if Debian's packages would have let more tests run [FILE: output of cargo test]
  tables        write the tables of built-in types and kinds [--openapi DIR] [--source DIR: a Kubernetes source tree]
  feature-tables  write the tables of feature gates and of the fields they guard [--data DIR]
  on-etcd       the stories of the whole server on a real etcd in place of memory [arguments of cargo test]
  attack        hostile clients against a release build: what was tried, what held, at what cost [--server PATH] [--only NAME] [--slack N] [--list]
  definitions   apply the custom resource definitions of projects to a fresh server with kubectl [--server PATH] DIRECTORY...
  mutants       plants faults and sees whether a crate's own tests notice [--sample N] [--seed S] [--crate NAME] [--list] [--survivors]
  soak          crash drill on the release binary: kill -9 under load, verify, repeat [ROUNDS, default 200]
  dist          the tarball of a release, the same bytes each time [--binary PATH: pack that one] [--output DIR] [--allow-dirty]
  bench         side by side with etcd: prints ratios and their bars [arguments of bench-store]
  bench-server  side by side with kube-apiserver: the same for the whole server [arguments of bench-server]
  bench-build   side by side with kubectl or kustomize: the same for building kustomizations [arguments of bench-build]
  bench-cel     side by side with cel-go: the same for expressions; hostile: what those take that try to take much [hostile]
  build-diff    builds of kustomizations, random ones too, with this program and with another kustomize: compares all that they say
  recording     builds with and without recording of usage, in turns: prints what they differ in, and what is noise [ROUNDS, default 200]
  engines       the measurement behind the choice of storage engine [arguments of bench-engines]
";

/// Stories that are about the API, whatever the store.
const ON_ETCD: [&str; 7] = [
    "admission_plugins",
    "answers",
    "controllers",
    "hostile",
    "kube_rs",
    "kubectl",
    "webhooks",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rest = arguments.get(1..).unwrap_or_default();
    let outcome = match arguments.first().map(String::as_str) {
        Some("check") => check(),
        Some("layers") => layers::check(),
        Some("test") => ignored::test(rest),
        Some("ignored") => ignored::check(rest),
        Some("supply-chain") => supply_chain::check(),
        Some("tables") => tables::run(rest),
        Some("feature-tables") => feature_tables::run(rest),
        Some("on-etcd") => on_etcd(rest),
        Some("attack") => attack::attack(rest),
        Some("definitions") => definitions::run(rest),
        Some("mutants") => mutants::mutants(rest),
        Some("soak") => soak::run(rest),
        Some("dist") => dist::dist(rest),
        Some("bench") => bench("store", rest),
        Some("bench-server") => bench_program("server", rest),
        Some("bench-build") => bench_program("build", rest),
        Some("bench-cel") => bench_cel(rest),
        Some("build-diff") => build_diff::run(rest),
        Some("recording") => recording::run(rest),
        Some("engines") => bench("engines", rest),
        _ => {
            print!("{HELP}");
            return if arguments.is_empty() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            };
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn check() -> Outcome {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ])?;
    layers::check()?;
    supply_chain::check()
}

/// Measures what the tree is now, unless another binary is named.
fn bench_program(name: &str, arguments: &[String]) -> Outcome {
    let named = |it: &String| it.split('=').next() == Some("--pilothouse");
    if !arguments.iter().any(named) {
        cargo(&["build", "--profile", "dist", "--package", "pilothouse"])?;
    }
    bench(name, arguments)
}

/// Paths of data are relative to it.
fn bench_cel(arguments: &[String]) -> Outcome {
    let mut call = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    run(call
        .args(["run", "--release", "--"])
        .args(arguments)
        .current_dir("bench/cel"))
}

fn on_etcd(arguments: &[String]) -> Outcome {
    let mut call = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    call.args(["test", "-p", "pilothouse"]);
    for story in ON_ETCD {
        call.args(["--test", story]);
    }
    run(call.args(arguments).env("PILOTHOUSE_TEST_STORE", "etcd"))
}

/// Benches are workspaces of their own: the engines they compare with are not our dependencies.
fn bench(name: &str, arguments: &[String]) -> Outcome {
    let manifest = format!("bench/{name}/Cargo.toml");
    let mut call = vec!["run", "--release", "--manifest-path", &manifest, "--"];
    call.extend(arguments.iter().map(String::as_str));
    cargo(&call)
}

fn cargo(arguments: &[&str]) -> Outcome {
    run(Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())).args(arguments))
}

fn run(command: &mut Command) -> Outcome {
    let status = command
        .status()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{command:?}: {status}"))
    }
}
