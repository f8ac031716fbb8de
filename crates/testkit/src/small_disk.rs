//! A real file system of a few megabytes, which only this test sees, to be filled up.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// Mounted in a mount namespace that a process of ours holds: gone with it, whatever becomes of the test.
#[derive(Debug)]
pub struct SmallDisk {
    holder: Child,
    place: TempDir,
}

impl SmallDisk {
    /// Needs namespaces: tests that use it say `#[requires(mount_namespace)]`.
    pub fn mount(bytes: u64) -> Self {
        let place = TempDir::with_prefix("disk-").expect("make a directory to mount on");
        let script =
            r#"mount -t tmpfs -o size="$1",mode=0700 tmpfs "$2" && echo mounted && exec cat"#;
        let mut command = Command::new("unshare");
        command
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
            .args(["sh", &bytes.to_string()])
            .arg(place.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut holder = command.spawn().expect("run unshare");
        let out = holder.stdout.take().expect("it was asked for");
        let mut line = String::new();
        let read = BufReader::new(out).read_line(&mut line);
        let disk = Self { holder, place };
        assert!(read.is_ok() && line == "mounted\n", "mount a file system");
        disk
    }

    /// The mounted directory, for programs that [`SmallDisk::command`] starts.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// The same for this process.
    pub fn outside(&self) -> PathBuf {
        let inside = self.path().strip_prefix("/").unwrap_or(self.path());
        Path::new(&format!("/proc/{}/root", self.holder.id())).join(inside)
    }

    /// A program that sees the disk.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command
            .args(["--user", "--mount", "--preserve-credentials"])
            .args(["--target", &self.holder.id().to_string()])
            .arg(program);
        command
    }

    /// Leaves no room at all.
    pub fn fill(&self) {
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(self.outside().join("filler"))
            .expect("make a file");
        for size in [1 << 16, 1 << 12, 1] {
            loop {
                match file.write_all(&vec![0; size]) {
                    Ok(()) => {}
                    Err(error) if error.kind() == ErrorKind::StorageFull => break,
                    Err(error) => panic!("fill the disk: {error}"),
                }
            }
        }
    }

    /// Takes back what [`SmallDisk::fill`] took.
    pub fn free(&self) {
        fs::remove_file(self.outside().join("filler")).expect("remove the file");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
