//! A configuration that changes on the disk is taken up while the server runs, its certificates too.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use egress::Selector;

use super::{Environment, Error, read};
use crate::export::{Protocol, Signal, Target, Transport};

/// How often files are looked at. They are small, and few.
const PERIOD: Duration = Duration::from_secs(2);

/// What a configuration comes to.
#[derive(Clone, Debug)]
pub struct Tracing {
    pub target: Target,
    /// Of those that are nobody's children, so many in a million are traced.
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
        let target = written.target(
            Signal::Traces,
            Protocol::default(),
            &self.environment,
            &self.egress,
        );
        Ok(Tracing {
            target: target.map_err(Error::Setup)?,
            sampling_rate_per_million: written.rate.map_or(0, i32::unsigned_abs),
        })
    }

    /// What the files say now, if they changed. The old holds as long as they say nothing of use.
    pub fn changed(&mut self) -> Option<Result<Tracing, Error>> {
        let same = self.seen.iter().all(|(path, text)| note(path).1 == *text);
        (!same).then(|| self.load())
    }

    /// Looks again and again, until it is dropped.
    pub async fn run(mut self, transport: Arc<Transport>, mut rate: impl FnMut(u32)) {
        loop {
            tokio::time::sleep(PERIOD).await;
            let line = match self.changed() {
                None => continue,
                Some(Ok(tracing)) => {
                    transport.replace(tracing.target);
                    rate(tracing.sampling_rate_per_million);
                    "--tracing-config-file: the file changed and is in use".to_owned()
                }
                Some(Err(error)) => {
                    format!(
                        "warning: --tracing-config-file: the file changed and is not used: {error}"
                    )
                }
            };
            // Nobody may be listening.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }
}

fn note(path: &Path) -> (PathBuf, Option<Vec<u8>>) {
    (path.to_owned(), std::fs::read(path).ok())
}
