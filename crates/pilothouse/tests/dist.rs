//! What `cargo xtask dist` packs, with this program in the place of a published one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files that packages and users look for, below the directory of the release.
const FILES: [&str; 14] = [
    "Containerfile",
    "SHA256SUMS",
    "VERSION",
    "bin/pilothouse",
    "lib/systemd/system/pilothouse.service",
    "share/bash-completion/completions/pilothouse",
    "share/doc/pilothouse/CHANGELOG.md",
    "share/doc/pilothouse/LICENSE",
    "share/doc/pilothouse/THIRD-PARTY-LICENSES.txt",
    "share/doc/pilothouse/examples/first-steps/session.console",
    "share/fish/vendor_completions.d/pilothouse.fish",
    "share/man/man1/pilothouse-serve.1",
    "share/pilothouse/kubernetes/statefulset.yaml",
    "share/zsh/site-functions/_pilothouse",
];

fn output(command: &mut Command) -> String {
    let done = command.output().expect("it starts");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {errors}");
    String::from_utf8(done.stdout).expect("text")
}

/// Packs the program into a directory, and returns the path of the archive.
fn pack(program: &Path, output_directory: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let archive = output(
        Command::new(cargo)
            .args(["run", "--quiet", "--package", "xtask", "--", "dist"])
            .arg("--binary")
            .arg(program)
            .arg("--output")
            .arg(output_directory)
            .current_dir(root),
    );
    PathBuf::from(archive.trim_end())
}

#[test]
fn a_release_is_whole_and_the_same_bytes_each_time() {
    let place = tempfile::tempdir().expect("a directory");
    // A debug build is too large to be published, and slow to compress.
    let program = place.path().join("pilothouse");
    let real = env!("CARGO_BIN_EXE_pilothouse");
    fs::write(&program, format!("#!/bin/sh\nexec '{real}' \"$@\"\n")).expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).expect("a mode");

    let archive = pack(&program, &place.path().join("one"));
    let name = archive.file_name().expect("a name").to_string_lossy();
    let version = env!("CARGO_PKG_VERSION");
    let prefix = format!("pilothouse-v{version}-linux-");
    assert!(
        name.starts_with(&prefix) && name.ends_with(".tar.gz"),
        "{name}"
    );

    let at = |directory: &Path| {
        let mut command = Command::new("sha256sum");
        command.arg("--check").arg("--quiet").current_dir(directory);
        command
    };
    output(at(&place.path().join("one")).arg(format!("{name}.sha256")));
    let unpacked = place.path().join("unpacked");
    fs::create_dir(&unpacked).expect("a directory");
    let mut tar = Command::new("tar");
    output(tar.arg("-xzf").arg(&archive).arg("-C").arg(&unpacked));
    let release = unpacked.join(name.trim_end_matches(".tar.gz"));
    for file in FILES {
        let size = fs::metadata(release.join(file)).map(|it| it.len());
        assert!(size.is_ok_and(|it| it > 0), "{file}");
    }
    let sums = fs::read_to_string(release.join("SHA256SUMS")).expect("sums");
    assert!(
        FILES
            .iter()
            .all(|it| *it == "SHA256SUMS" || sums.contains(it))
    );
    output(at(&release).arg("SHA256SUMS"));
    let program_mode = fs::metadata(release.join("bin/pilothouse")).expect("it is there");
    assert_eq!(program_mode.permissions().mode() & 0o777, 0o755);
    let own = output(Command::new(real).args(["version", "-o", "json"]));
    assert_eq!(
        fs::read_to_string(release.join("VERSION")).expect("a file"),
        own
    );
    let licenses = release.join("share/doc/pilothouse/THIRD-PARTY-LICENSES.txt");
    let licenses = fs::read_to_string(licenses).expect("licences");
    for name in [
        "\naws-lc-sys ",
        "\nk8s-openapi ",
        "\ntokio ",
        "\ntonic-prost ",
    ] {
        assert!(licenses.contains(name), "{name}");
    }
    let tests_only = licenses.contains("\nproptest ") || licenses.contains("\nkube ");
    assert!(!tests_only, "what is not linked has no place in it");

    // Later, from another place, with other times and modes.
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
    let again = pack(&program, &place.path().join("two/deeper"));
    assert_eq!(again.file_name(), archive.file_name());
    let read = |path: &Path| fs::read(path).expect("an archive");
    assert!(read(&archive) == read(&again), "the archives differ");
}
