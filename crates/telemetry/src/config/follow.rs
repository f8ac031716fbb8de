//! A configuration that changes on the disk is taken up while the server runs, its certificates too.

use std::path::{Path, PathBuf};
use std::time::Duration;

use egress::Selector;

use super::{Environment, Error, read};
use crate::export::{Protocol, Signal, Target};
use crate::logs::{self, Field, TELEMETRY};

/// How often files are looked at. They are small, and few.
const PERIOD: Duration = Duration::from_secs(2);

/// What a configuration comes to.
#[derive(Clone, Debug)]
pub struct Tracing {
    /// Of traces.
    pub target: Target,
    pub metrics: Target,
    pub logs: Target,
    /// Of requests without a parent span, so many in a million are traced.
    pub sampling_rate_per_million: u32,
}

/// A file, and what it said when it was last read.
#[derive(Debug)]
pub struct Follow {
    path: PathBuf,
    environment: Environment,
    egress: Selector,
    /// The file itself and all that it names, with what was in them.
    seen: Vec<(PathBuf, Option<Vec<u8>>)>,
}

impl Follow {
    /// Reads the file for the first time.
    pub fn open(
        path: &Path,
        environment: Environment,
        egress: Selector,
    ) -> Result<(Self, Tracing), Error> {
        let mut follow = Self {
            path: path.to_owned(),
            environment,
            egress,
            seen: Vec::new(),
        };
        let tracing = follow.load()?;
        Ok((follow, tracing))
    }

    /// What is seen is noted before it is read: a change in between is found the next time.
    fn load(&mut self) -> Result<Tracing, Error> {
        self.seen = vec![note(&self.path)];
        let written = read(&self.path)?;
        let files = written.files(&self.environment);
        self.seen.extend(files.iter().map(|it| note(it)));
        let (environment, egress) = (&self.environment, &self.egress);
        let target = |signal| {
            let target = written.target(signal, Protocol::default(), environment, egress);
            target.map_err(Error::Setup)
        };
        Ok(Tracing {
            target: target(Signal::Traces)?,
            metrics: target(Signal::Metrics)?,
            logs: target(Signal::Logs)?,
            sampling_rate_per_million: written.rate.map_or(0, i32::unsigned_abs),
        })
    }

    /// What the files say now, if they changed. The old holds as long as they say nothing of use.
    pub fn changed(&mut self) -> Option<Result<Tracing, Error>> {
        let same = self.seen.iter().all(|(path, text)| note(path).1 == *text);
        (!same).then(|| self.load())
    }

    /// Looks again and again, until it is dropped.
    pub async fn run(mut self, mut apply: impl FnMut(Tracing)) {
        loop {
            tokio::time::sleep(PERIOD).await;
            let path = self.path.display().to_string();
            let file = ("file", Field::Text(&path));
            match self.changed() {
                None => {}
                Some(Ok(tracing)) => {
                    apply(tracing);
                    logs::info(&TELEMETRY, "The file changed and is in use", &[file]);
                }
                Some(Err(error)) => {
                    let why = error.to_string();
                    let fields = [file, ("error", Field::Text(&why))];
                    logs::warning(&TELEMETRY, "The file changed and is not used", &fields);
                }
            }
        }
    }
}

fn note(path: &Path) -> (PathBuf, Option<Vec<u8>>) {
    (path.to_owned(), std::fs::read(path).ok())
}
