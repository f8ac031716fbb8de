//! Builds kustomizations with this program and with another one (a real kustomize), and compares bytes, exit codes and
//! error texts: of every kustomization root below the given directories, and of random ones.

mod random;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Outcome, cargo};

const HELP: &str = "\
cargo xtask build-diff --peer PATH [FLAGS] [DIR...] [-- FLAGS OF BUILD...]

  --peer PATH     the program to compare with, as a kustomize that was installed with `go install`
  --program PATH  our program; the one of this tree is built if there is none
  --random N      compare N random kustomizations too
  --seed N        where the random ones start; the same number makes the same ones
  --keep DIR      keep the random ones that differ there
  --show N        of how many that differ both outputs are shown [default 5]

Nothing is fetched: builds of remote bases fail, with both programs.";

const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Neither program is waited for longer.
const TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Arguments {
    peer: String,
    program: String,
    random: u64,
    seed: u64,
    keep: Option<PathBuf>,
    show: usize,
    directories: Vec<PathBuf>,
    /// For both programs.
    flags: Vec<String>,
}

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let mut arguments = read(arguments)?;
    if arguments.program.is_empty() {
        cargo(&["build", "--release", "--package", "pilothouse"])?;
        let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
        arguments.program = format!("{target}/release/pilothouse");
    }
    let mut counts = Counts::default();
    for directory in &arguments.directories {
        let directory = fs::canonicalize(directory)
            .map_err(|error| format!("{}: {error}", directory.display()))?;
        for root in roots(&directory) {
            compare(&arguments, &root, &mut counts)?;
        }
    }
    let scratch = std::env::temp_dir().join(format!("build-diff-{}", std::process::id()));
    for number in 0..arguments.random {
        let seed = arguments.seed + number;
        let root = scratch.join("root");
        _ = fs::remove_dir_all(&scratch);
        write(&scratch, &random::kustomization(seed))?;
        let before = counts.different;
        compare(&arguments, &root, &mut counts)?;
        if let (Some(keep), true) = (&arguments.keep, counts.different > before) {
            write(&keep.join(seed.to_string()), &random::kustomization(seed))?;
            println!("seed {seed}");
        }
    }
    _ = fs::remove_dir_all(&scratch);
    println!("{counts}");
    if counts.different > 0 {
        return Err(format!("{} builds differ", counts.different));
    }
    Ok(())
}

fn read(arguments: &[String]) -> Result<Arguments, String> {
    let mut read = Arguments {
        show: 5,
        ..Arguments::default()
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || {
            let value = words.next().cloned();
            value.ok_or_else(|| format!("{word} needs a value\n\n{HELP}"))
        };
        let number = |text: String| {
            let number = text.parse::<u64>();
            number.map_err(|_| format!("{word} {text}: not a number"))
        };
        match word.as_str() {
            "--peer" => read.peer = value()?,
            "--program" => read.program = value()?,
            "--random" => read.random = number(value()?)?,
            "--seed" => read.seed = number(value()?)?,
            "--keep" => read.keep = Some(value()?.into()),
            "--show" => read.show = usize::try_from(number(value()?)?).unwrap_or(usize::MAX),
            "--" => {
                read.flags = words.cloned().collect();
                break;
            }
            flag if flag.starts_with('-') => return Err(format!("{flag}?\n\n{HELP}")),
            directory => read.directories.push(directory.into()),
        }
    }
    if read.peer.is_empty() || read.directories.is_empty() && read.random == 0 {
        return Err(HELP.into());
    }
    Ok(read)
}

/// All directories with a kustomization, in the order of their names.
fn roots(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        if FILE_NAMES.iter().any(|it| directory.join(it).is_file()) {
            found.push(directory.clone());
        }
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        let inner = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir()));
        left.extend(
            inner
                .filter(|it| it.file_name() != ".git")
                .map(|it| it.path()),
        );
    }
    found.sort();
    found
}

fn write(directory: &Path, files: &[(String, String)]) -> Outcome {
    for (name, text) in files {
        let path = directory.join(name);
        let parent = path.parent().unwrap_or(directory);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

#[derive(Default)]
struct Counts {
    same: usize,
    same_error: usize,
    different: usize,
    /// The other program does not agree with itself.
    nondeterministic: usize,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            same,
            same_error,
            different,
            nondeterministic,
        } = self;
        let all = same + same_error + different + nondeterministic;
        write!(
            f,
            "{all} builds: {same} with the same bytes, {same_error} with the same error, {different} different, {nondeterministic} that the other program does not build twice in the same way"
        )
    }
}

fn compare(arguments: &Arguments, root: &Path, counts: &mut Counts) -> Outcome {
    let ours = build(&arguments.program, root, &arguments.flags)?;
    let theirs = build(&arguments.peer, root, &arguments.flags)?;
    if ours == theirs {
        match ours.code {
            Some(0) => counts.same += 1,
            _ => counts.same_error += 1,
        }
        return Ok(());
    }
    for _ in 0..5 {
        if build(&arguments.peer, root, &arguments.flags)? != theirs {
            counts.nondeterministic += 1;
            return Ok(());
        }
    }
    counts.different += 1;
    println!("different: {}", root.display());
    if counts.different <= arguments.show {
        print!("{}", difference(&theirs, &ours));
    }
    Ok(())
}

#[derive(PartialEq, Eq)]
struct Built {
    /// None: it took too long, or was killed.
    code: Option<i32>,
    output: String,
    errors: String,
}

fn build(program: &str, root: &Path, flags: &[String]) -> Result<Built, String> {
    // Nobody listens there.
    const NO_PROXY: &str = "http://127.0.0.1:1";
    let fail = |error: std::io::Error| format!("{program}: {error}");
    let mut child = Command::new(program)
        .arg("build")
        .arg(root)
        .args(flags)
        .envs(["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"].map(|it| (it, NO_PROXY)))
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_SSH_COMMAND", "false")
        .env("DO_NOT_TRACK", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(fail)?;
    let (Some(mut output), Some(mut errors)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(format!("{program}: no output"));
    };
    std::thread::scope(|scope| {
        let output = scope.spawn(move || text(&mut output));
        let errors = scope.spawn(move || text(&mut errors));
        let start = Instant::now();
        let code = loop {
            if let Some(status) = child.try_wait().map_err(fail)? {
                break status.code();
            }
            if start.elapsed() > TIMEOUT {
                _ = child.kill();
                _ = child.wait();
                break None;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        Ok(Built {
            code,
            output: output.join().unwrap_or_default(),
            errors: comparable(&errors.join().unwrap_or_default()),
        })
    })
}

fn text(from: &mut dyn std::io::Read) -> String {
    let mut bytes = Vec::new();
    _ = from.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Without what differs each time: the time of log lines, how long git tried, and names of temporary directories.
fn comparable(errors: &str) -> String {
    let mut all = String::new();
    for line in errors.lines() {
        // As `2024/12/31 23:59:59 `.
        let stamp = line.get(..20).filter(|it| {
            let digits = it.bytes().filter(u8::is_ascii_digit).count();
            digits == 14 && it.ends_with(' ')
        });
        let line = line.get(stamp.map_or(0, str::len)..).unwrap_or(line);
        let line = without_duration(line);
        let mut parts = line.split("/kustomize-");
        all.push_str(parts.next().unwrap_or_default());
        for part in parts {
            all.push_str("/kustomize-N");
            all.push_str(part.trim_start_matches(|it: char| it.is_ascii_digit()));
        }
        all.push('\n');
    }
    all
}

/// As in `Failed to connect to 127.0.0.1 port 1 after 0 ms`.
fn without_duration(line: &str) -> String {
    let found = line.split_once(" after ").and_then(|(before, rest)| {
        let (number, after) = rest.split_once(" ms")?;
        let is_number = number.bytes().all(|it| it.is_ascii_digit());
        is_number.then(|| format!("{before} after N ms{after}"))
    });
    found.unwrap_or_else(|| line.to_owned())
}

/// Where both part, with some lines around it.
fn difference(theirs: &Built, ours: &Built) -> String {
    let mut out = format!("  exit code: {:?} and {:?}\n", theirs.code, ours.code);
    for (name, theirs, ours) in [
        ("stdout", &theirs.output, &ours.output),
        ("stderr", &theirs.errors, &ours.errors),
    ] {
        let (a, b): (Vec<&str>, Vec<&str>) = (theirs.lines().collect(), ours.lines().collect());
        let at = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        if at == a.len() && at == b.len() {
            continue;
        }
        _ = writeln!(out, "  {name}, line {}:", at + 1);
        let from = at.saturating_sub(3);
        for line in &a[from..at] {
            _ = writeln!(out, "     {line}");
        }
        for (sign, lines) in [('-', &a), ('+', &b)] {
            for line in lines.iter().skip(at).take(4) {
                _ = writeln!(out, "   {sign} {line}");
            }
        }
    }
    out
}
