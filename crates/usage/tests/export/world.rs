//! A user of our own, with a home and an environment.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use usage::{Build, Error, Invocation, Outcome, Sent};

pub(crate) struct World {
    home: tempfile::TempDir,
    variables: BTreeMap<String, String>,
}

impl World {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().expect("a home of our own");
        let path = home.path().to_str().expect("UTF-8").to_owned();
        Self {
            home,
            variables: [
                ("HOME".to_owned(), path),
                // The machine may be busy; nothing here is to be sent twice.
                ("OTEL_EXPORTER_OTLP_TIMEOUT".to_owned(), "120000".to_owned()),
            ]
            .into(),
        }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    /// Runs something where only these variables are set, and nobody reads.
    fn within<T>(&self, run: impl FnOnce(&Invocation<'_>) -> T) -> T {
        let variable = |name: &'static str| self.variables.get(name).cloned();
        run(&Invocation {
            variable: &variable,
            interactive: false,
            now: SystemTime::now(),
            program: "pilothouse",
        })
    }

    /// Whether somebody is to send it.
    pub(crate) fn record(&self) -> bool {
        let build = Build {
            fields: [
                (vec!["configMapGenerator"], 2),
                (vec!["configMapGenerator", "literals"], 1),
            ]
            .into(),
            plugins: [("HashTransformer", 1)].into(),
            duration: Duration::from_millis(50),
            resources: Some(40),
            outcome: Outcome::Success,
        };
        let started = Cell::new(false);
        self.within(|it| usage::record(&build, it, &mut Vec::new(), || started.set(true)));
        started.get()
    }

    pub(crate) fn send(&self) -> Result<Sent, Error> {
        self.within(usage::send)
    }

    /// Sends for others; what happens in each pause is given.
    pub(crate) fn attend(&self, mut pause: impl FnMut()) {
        let variable = |name: &'static str| self.variables.get(name).cloned();
        let here = || Invocation {
            variable: &variable,
            interactive: false,
            now: SystemTime::now(),
            program: "pilothouse",
        };
        usage::send_in_background(here, |_| pause());
    }

    pub(crate) fn state(&self) -> String {
        self.within(usage::state)
    }

    pub(crate) fn show(&self) -> String {
        self.within(usage::show).expect("a home")
    }

    pub(crate) fn places(&self) -> usage::Places {
        self.within(usage::Places::find).expect("a home")
    }
}
