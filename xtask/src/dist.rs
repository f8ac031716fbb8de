//! `cargo xtask dist`: what a release consists of, the same bytes for the same commit, toolchain and machine type.
//!
//! The binary is linked statically with the C library of the build machine, so that it runs in an empty container image and on
//! any distribution. Paths of the build machine are mapped away; times in the archive are those of the commit.

mod licenses;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Outcome, run};

/// The largest binary that may be published.
const LARGEST_BINARY: u64 = 40_000_000;

/// Shell, and where its script belongs below the prefix.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/pilothouse"),
    ("fish", "share/fish/vendor_completions.d/pilothouse.fish"),
    ("zsh", "share/zsh/site-functions/_pilothouse"),
];

/// What is copied from the repository: files, and directories as a whole.
const COPIED: [(&str, &str); 6] = [
    ("CHANGELOG.md", "share/doc/pilothouse/CHANGELOG.md"),
    ("LICENSE", "share/doc/pilothouse/LICENSE"),
    ("deploy/Containerfile", "Containerfile"),
    ("deploy/kubernetes", "share/pilothouse/kubernetes"),
    (
        "deploy/systemd/pilothouse.service",
        "lib/systemd/system/pilothouse.service",
    ),
    ("examples", "share/doc/pilothouse/examples"),
];

struct Options {
    /// Packed as it is; built if it is not given.
    binary: Option<PathBuf>,
    output: PathBuf,
    allow_dirty: bool,
}

impl Options {
    fn read(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            binary: None,
            output: target_directory().join("release-files"),
            allow_dirty: false,
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut path = || {
                let value = words.next().map(PathBuf::from);
                value.ok_or_else(|| format!("{word} needs a path"))
            };
            match word.as_str() {
                "--binary" => options.binary = Some(path()?),
                "--output" => options.output = path()?,
                "--allow-dirty" => options.allow_dirty = true,
                _ => return Err(format!("dist does not know {word}")),
            }
        }
        Ok(options)
    }
}

pub(crate) fn dist(arguments: &[String]) -> Outcome {
    let options = Options::read(arguments)?;
    let target = host()?;
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => build(&target, options.allow_dirty)?,
    };
    let size = fs::metadata(&binary).map_err(|error| format!("{}: {error}", binary.display()))?;
    if size.len() > LARGEST_BINARY {
        return Err(format!(
            "{} has {} bytes, which is more than {LARGEST_BINARY}",
            binary.display(),
            size.len()
        ));
    }
    let archive = pack(&binary, &target, &options.output)?;
    println!("{}", archive.display());
    Ok(())
}

/// Builds the published binary, and checks that it has no path of this machine and needs no library.
fn build(target: &str, allow_dirty: bool) -> Result<PathBuf, String> {
    let changed = output(Command::new("git").args(["status", "--porcelain"]))?;
    if !changed.is_empty() && !allow_dirty {
        return Err(
            "the tree has changes that are not committed (or say --allow-dirty)".to_owned(),
        );
    }
    let root = std::env::current_dir().map_err(|error| format!("current directory: {error}"))?;
    let home = std::env::var_os("HOME").unwrap_or_default();
    let cargo_home =
        std::env::var_os("CARGO_HOME").map_or_else(|| Path::new(&home).join(".cargo"), Into::into);
    let build_directory = root.join(target_directory());
    // The last one that matches counts, and the target directory is often below the root.
    let mapped = [
        (cargo_home.as_path(), "/cargo"),
        (root.as_path(), "/pilothouse"),
        (build_directory.as_path(), "/target"),
    ];
    let mut flags = vec!["-Ctarget-feature=+crt-static".to_owned()];
    let mut c_flags = Vec::new();
    for (from, to) in mapped {
        let from = from.display();
        flags.push(format!("--remap-path-prefix={from}={to}"));
        c_flags.push(format!("-ffile-prefix-map={from}={to}"));
    }
    let date = output(Command::new("git").args(["show", "-s", "--format=%ct", "HEAD"]))?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // With a target, the flags are not for build scripts and macros, which cannot be static.
    cargo
        .args(["build", "--locked", "--profile", "dist"])
        .args(["--package", "pilothouse", "--target", target])
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .env(
            format!("CFLAGS_{}", target.replace('-', "_")),
            c_flags.join(" "),
        )
        .env("SOURCE_DATE_EPOCH", date.trim())
        .env("CARGO_INCREMENTAL", "0");
    run(&mut cargo)?;
    let binary = build_directory.join(target).join("dist/pilothouse");
    let bytes = fs::read(&binary).map_err(|error| format!("{}: {error}", binary.display()))?;
    for (path, _) in mapped {
        if names(&bytes, path.as_os_str().as_encoded_bytes()) {
            let binary = binary.display();
            return Err(format!("{binary} names {}", path.display()));
        }
    }
    if needs_interpreter(&bytes) {
        return Err(format!("{} is not linked statically", binary.display()));
    }
    Ok(binary)
}

/// Makes the archive and its checksum in `directory`, and returns the archive's path.
fn pack(binary: &Path, target: &str, directory: &Path) -> Result<PathBuf, String> {
    let binary =
        &fs::canonicalize(binary).map_err(|error| format!("{}: {error}", binary.display()))?;
    let facts = output(Command::new(binary).args(["version", "--output", "json"]))?;
    let parsed = json::parse(facts.as_bytes()).map_err(|error| format!("version: {error}"))?;
    let fact = |name: &str| parsed.str_at(&[name]).ok_or(format!("version: no {name}"));
    let name = format!("pilothouse-{}-{}", fact("pilothouse")?, platform(target));
    let date = match fact("commitDate")? {
        "unknown" => "@0",
        date => date,
    };
    let stage = directory.join(&name);
    if stage.exists() {
        fs::remove_dir_all(&stage).map_err(|error| format!("{}: {error}", stage.display()))?;
    }
    let write = |to: &str, bytes: &[u8]| write(&stage.join(to), bytes);
    let program = fs::read(binary).map_err(|error| format!("{}: {error}", binary.display()))?;
    write("bin/pilothouse", &program)?;
    let executable = stage.join("bin/pilothouse");
    fs::set_permissions(&executable, fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("{}: {error}", executable.display()))?;
    for (shell, to) in COMPLETIONS {
        let script = output(Command::new(binary).args(["completion", shell]))?;
        write(to, script.as_bytes())?;
    }
    run(Command::new(binary)
        .arg("man")
        .arg(stage.join("share/man/man1")))?;
    for (from, to) in COPIED {
        copy(Path::new(from), &stage.join(to))?;
    }
    write("VERSION", facts.as_bytes())?;
    let texts = licenses::texts(target)?;
    write(
        "share/doc/pilothouse/THIRD-PARTY-LICENSES.txt",
        texts.as_bytes(),
    )?;
    write("SHA256SUMS", checksums(&stage)?.as_bytes())?;
    let archive = directory.join(format!("{name}.tar.gz"));
    compress(directory, &name, date, &archive)?;
    let file = format!("{name}.tar.gz");
    let sum = output(
        Command::new("sha256sum")
            .arg(&file)
            .current_dir(directory)
            .env("LC_ALL", "C"),
    )?;
    self::write(
        &directory.join(format!("{name}.tar.gz.sha256")),
        sum.as_bytes(),
    )?;
    Ok(archive)
}

/// One checksum per file, in the order of their names, for `sha256sum --check SHA256SUMS`.
fn checksums(stage: &Path) -> Result<String, String> {
    let mut files = Vec::new();
    collect(stage, Path::new(""), &mut files)?;
    files.sort();
    output(
        Command::new("sha256sum")
            .arg("--")
            .args(files)
            .current_dir(stage),
    )
}

/// As reproducible-builds.org advises: order, times, owners and modes do not come from this machine.
fn compress(directory: &Path, name: &str, date: &str, archive: &Path) -> Outcome {
    let file =
        fs::File::create(archive).map_err(|error| format!("{}: {error}", archive.display()))?;
    let mut tar = Command::new("tar")
        .args(["--sort=name", "--format=ustar", "--owner=0", "--group=0"])
        .args(["--numeric-owner", "--mode=u=rwX,go=rX"])
        .arg(format!("--mtime={date}"))
        .args(["--create", "--file=-", "--directory"])
        .args([directory.as_os_str(), name.as_ref()])
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("tar: {error}"))?;
    let stream = tar.stdout.take().ok_or("tar has no output")?;
    let mut gzip = Command::new("gzip");
    gzip.args(["--no-name", "-9"]).stdin(stream).stdout(file);
    run(&mut gzip)?;
    let status = tar.wait().map_err(|error| format!("tar: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("tar: {status}"))
    }
}

/// Adds the files below `root`/`below`, as paths from `root`.
fn collect(root: &Path, below: &Path, files: &mut Vec<PathBuf>) -> Outcome {
    let directory = root.join(below);
    let failed = |error| format!("{}: {error}", directory.display());
    for entry in fs::read_dir(&directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = below.join(entry.file_name());
        if entry.file_type().map_err(failed)?.is_dir() {
            collect(root, &path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Outcome {
    if from.is_dir() {
        let mut files = Vec::new();
        collect(from, Path::new(""), &mut files)?;
        return files
            .iter()
            .try_for_each(|it| copy(&from.join(it), &to.join(it)));
    }
    let bytes = fs::read(from).map_err(|error| format!("{}: {error}", from.display()))?;
    write(to, &bytes)
}

fn write(path: &Path, bytes: &[u8]) -> Outcome {
    let failed = |error| format!("{}: {error}", path.display());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    let mut file = fs::File::create(path).map_err(failed)?;
    file.write_all(bytes).map_err(failed)
}

/// `linux-amd64`, as the Go world names it and container images do.
fn platform(target: &str) -> String {
    let arch = target.split('-').next().unwrap_or(target);
    let arch = match arch {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("linux-{arch}")
}

/// Whether a 64-bit ELF program has a `PT_INTERP` header: the dynamic linker, which an empty image does not have.
fn needs_interpreter(elf: &[u8]) -> bool {
    const PT_INTERP: u64 = 3;
    let number = |at: u64, size: usize| {
        let at = usize::try_from(at).ok()?;
        let bytes = elf.get(at..at.checked_add(size)?)?;
        Some(
            bytes
                .iter()
                .rev()
                .fold(0, |sum, it| sum << 8 | u64::from(*it)),
        )
    };
    let headers = || {
        let (start, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
        let kinds = (0..count).map(move |index| number(start + index * size, 4));
        Some(kinds.collect::<Vec<_>>())
    };
    // What cannot be read is not known to run without one.
    headers().is_none_or(|kinds| kinds.iter().any(|it| it.is_none_or(|it| it == PT_INTERP)))
}

/// Whether a file below this directory is named; `/src` is not, where only `/rustc/src/lib.rs` is.
fn names(bytes: &[u8], directory: &[u8]) -> bool {
    let is_path = |it: &u8| it.is_ascii_alphanumeric() || b"/._-".contains(it);
    let mut places = bytes.windows(directory.len().max(1)).enumerate();
    places.any(|(at, it)| {
        let before = at.checked_sub(1).and_then(|it| bytes.get(it));
        it == directory
            && bytes.get(at + directory.len()) == Some(&b'/')
            && !before.is_some_and(is_path)
    })
}

fn host() -> Result<String, String> {
    let facts = output(Command::new("rustc").arg("-vV"))?;
    let host = facts.lines().find_map(|it| it.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "rustc -vV names no host".to_owned())
}

fn target_directory() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from)
}

fn output(command: &mut Command) -> Result<String, String> {
    let done = command.stderr(Stdio::inherit()).output();
    let done = done.map_err(|error| format!("{command:?}: {error}"))?;
    if !done.status.success() {
        return Err(format!("{command:?}: {}", done.status));
    }
    String::from_utf8(done.stdout).map_err(|error| format!("{command:?}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of a 64-bit ELF file with program headers of these kinds.
    fn elf(kinds: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = u8::try_from(kinds.len()).expect("few");
        for kind in kinds {
            let at = bytes.len();
            bytes.resize(at + 56, 0);
            bytes[at..at + 4].copy_from_slice(&kind.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn a_dynamic_program_is_noticed() {
        assert!(!needs_interpreter(&elf(&[1, 2, 6])));
        assert!(needs_interpreter(&elf(&[6, 3, 1])));
        assert!(needs_interpreter(b"#!/bin/sh"), "not known to be static");
        let own = std::env::current_exe().expect("a path");
        assert!(needs_interpreter(&fs::read(own).expect("this program")));
    }

    #[test]
    fn paths_of_the_machine_are_noticed() {
        let bytes = b"\0at /home/jane/src/lib.rs\0/rustc/1/src/lib.rs";
        assert!(names(bytes, b"/home/jane/src"));
        assert!(names(bytes, b"/home"));
        assert!(!names(bytes, b"/src"));
        assert!(!names(bytes, b"/home/jan"));
        assert!(!names(bytes, b""));
    }

    #[test]
    fn platforms_have_the_names_of_container_images() {
        assert_eq!(platform("x86_64-unknown-linux-gnu"), "linux-amd64");
        assert_eq!(platform("aarch64-unknown-linux-gnu"), "linux-arm64");
        assert_eq!(platform("riscv64gc-unknown-linux-gnu"), "linux-riscv64gc");
    }

    #[test]
    fn unknown_words_are_refused() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(Options::read(&words("--binary")).is_err());
        assert!(Options::read(&words("--fast")).is_err());
        let options = Options::read(&words("--binary a --output b")).expect("fine");
        assert_eq!(options.binary.as_deref(), Some(Path::new("a")));
        assert_eq!(options.output, Path::new("b"));
    }
}
