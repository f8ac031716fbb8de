//! A user with a home, an environment and, if wanted, a terminal.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_pilothouse");

pub(crate) struct User {
    _directory: tempfile::TempDir,
    pub(crate) home: PathBuf,
    pub(crate) variables: Vec<(String, String)>,
}

pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl User {
    pub(crate) fn new() -> Self {
        Self::called("user")
    }

    /// With a name that stands in the path of the home.
    pub(crate) fn called(name: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory of our own");
        let home = directory.path().join(name);
        fs::create_dir(&home).expect("a home");
        Self {
            _directory: directory,
            home,
            variables: Vec::new(),
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// A file below the home, and the directories around it.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.home.join(path);
        let parent = path.parent().expect("it is below the home");
        fs::create_dir_all(parent).expect("directories");
        fs::write(path, text).expect("a file");
    }

    /// A kustomization that is there for its own sake.
    pub(crate) fn write_app(&self) {
        let text =
            "namePrefix: my-\nconfigMapGenerator:\n- name: a\n  literals: [x=1]\n- name: b\n";
        self.write("app/kustomization.yaml", text);
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&self.home)
            .env_clear()
            .env("HOME", &self.home)
            // The machine may be busy; nothing here is to be sent twice.
            .env("OTEL_EXPORTER_OTLP_TIMEOUT", "120000")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Where nobody reads stderr.
    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        self.run_program(Path::new(PROGRAM), arguments)
    }

    pub(crate) fn run_program(&self, program: &Path, arguments: &[&str]) -> Done {
        let output = self.command(program, arguments).output();
        let output = output.expect("the program starts");
        Done {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// With a terminal for stderr; stdout is a pipe, as in front of `kubectl apply -f -`.
    pub(crate) fn run_on_terminal(&self, arguments: &[&str]) -> Done {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let terminal = openpt(flags).expect("a terminal");
        unlockpt(&terminal).expect("it can be used");
        let program = ioctl_tiocgptpeer(&terminal, flags).expect("its other end");
        let mut command = self.command(Path::new(PROGRAM), arguments);
        command.stdout(Stdio::piped()).stderr(program);
        let child = command.spawn().expect("the program starts");
        // Who reads a terminal sees its end when nobody else has it open.
        drop(command);
        let mut screen = fs::File::from(terminal);
        let reader = std::thread::spawn(move || {
            let (mut all, mut part) = (Vec::new(), [0; 1024]);
            while let Ok(count @ 1..) = screen.read(&mut part) {
                all.extend_from_slice(&part[..count]);
            }
            String::from_utf8_lossy(&all).replace("\r\n", "\n")
        });
        let output = child.wait_with_output().expect("it ends");
        Done {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: reader.join().expect("what was on the screen"),
        }
    }

    /// Sends until nothing waits, also by those whom builds started.
    pub(crate) fn flush(&self) {
        loop {
            let sent = self.run(&["usage", "send"]);
            assert_eq!(sent.code, Some(0), "{}", sent.stderr);
            if sent.stdout.starts_with("nothing waits") {
                return;
            }
            std::thread::yield_now();
        }
    }

    /// Everything that the program has written below the home, besides what it was told to.
    pub(crate) fn kept(&self) -> Vec<(PathBuf, String)> {
        let mut all = Vec::new();
        let mut left = vec![self.home.join(".config"), self.home.join(".local")];
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten() {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    left.push(path);
                } else if let Ok(bytes) = fs::read(&path) {
                    all.push((path, String::from_utf8_lossy(&bytes).into_owned()));
                }
            }
        }
        all
    }
}
