//! The phases of a round. Sides take turns after each.

use std::ops::Range;

use anyhow::Result;
use http::StatusCode;

use crate::lines::Row;
use crate::plan::Plan;
use crate::server::Server;
use crate::sheet::Sheet;
use crate::{custom, verbs, watch};

/// Objects that reads and patches find.
pub(crate) const OBJECTS: usize = 10_000;
const END: usize = 20_000;
const APPLIED: usize = 3000;
const CUSTOM: usize = 5000;
const CLIENTS: usize = 16;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Ready,
    Create(usize, Range<usize>),
    Filled,
    Get(usize),
    List,
    Pages,
    Patch,
    Apply(&'static str, &'static str, StatusCode),
    WatchFull,
    WatchPaced,
    Definition,
    CustomCreate,
    CustomPatch,
    CustomApply,
    Delete,
    End,
}

/// What the wanted rows need. All but the starts need the objects.
pub(crate) fn all(plan: &Plan) -> Vec<Step> {
    let create = [
        Step::Create(1, 0..500),
        Step::Create(16, 500..4000),
        Step::Create(64, 4000..OBJECTS),
    ];
    let rows = [
        (Row::Memory, vec![Step::Ready]),
        (Row::Create, create.to_vec()),
        (Row::Memory, vec![Step::Filled]),
        (Row::Get, vec![Step::Get(16), Step::Get(64)]),
        (Row::List, vec![Step::List, Step::Pages]),
        (Row::Patch, vec![Step::Patch]),
        (
            Row::Apply,
            vec![
                Step::Apply("apply create", "a", StatusCode::CREATED),
                Step::Apply("apply update", "b", StatusCode::OK),
                Step::Apply("apply no-op", "b", StatusCode::OK),
            ],
        ),
        (Row::Watch, vec![Step::WatchFull, Step::WatchPaced]),
        (
            Row::Custom,
            vec![
                Step::Definition,
                Step::CustomCreate,
                Step::CustomPatch,
                Step::CustomApply,
            ],
        ),
        (Row::Delete, vec![Step::Delete]),
        (Row::Memory, vec![Step::End]),
    ];
    if !rows.iter().any(|(row, _)| plan.wants(*row)) {
        return Vec::new();
    }
    rows.into_iter()
        .filter(|(row, _)| plan.wants(*row) || *row == Row::Create)
        .flat_map(|(_, steps)| steps)
        .collect()
}

/// The rows that are also measured with etcd under both sides.
pub(crate) fn over_etcd() -> Vec<Step> {
    vec![
        Step::Create(64, 0..OBJECTS),
        Step::Get(16),
        Step::Get(64),
        Step::List,
        Step::Pages,
    ]
}

/// A side's turn.
pub(crate) struct Turn<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) server: &'a mut Server,
    pub(crate) side: usize,
    /// What the keys of its figures begin with.
    pub(crate) prefix: &'static str,
    pub(crate) sheet: &'a mut Sheet,
}

impl Turn<'_> {
    pub(crate) async fn take(&mut self, step: &Step) -> Result<()> {
        let plan = self.plan;
        let server = &mut *self.server;
        let objects = plan.count(OBJECTS);
        let (name, outcome) = match step {
            Step::Ready => {
                let memory = server.memory()?;
                self.figure("memory ready", memory);
                return Ok(());
            }
            Step::Create(clients, numbers) => {
                let numbers = plan.count(numbers.start)..plan.count(numbers.end);
                server.objects += numbers.len();
                let outcome = verbs::create(server, *clients, numbers).await?;
                (format!("create {clients}"), outcome)
            }
            Step::Filled => {
                let (memory, disk) = (server.memory()?, server.disk()?);
                self.figure("memory filled", memory);
                self.figure("disk filled", disk);
                return Ok(());
            }
            Step::Get(clients) => {
                let outcome = verbs::read(server, *clients, objects, plan.seconds).await?;
                (format!("get {clients}"), outcome)
            }
            Step::List => {
                let seconds = verbs::list(server, objects).await?;
                self.figure("list", seconds);
                return Ok(());
            }
            Step::Pages => {
                let outcome = verbs::pages(server, CLIENTS, plan.seconds).await?;
                ("pages".into(), outcome)
            }
            Step::Patch => {
                let outcome = verbs::patch(server, CLIENTS, plan.count(4000), objects).await?;
                ("patch".into(), outcome)
            }
            Step::Apply(name, fill, expected) => {
                let applied = plan.count(APPLIED);
                if *expected == StatusCode::CREATED {
                    server.objects += applied;
                }
                let outcome = verbs::apply(server, CLIENTS, applied, fill, *expected).await?;
                ((*name).into(), outcome)
            }
            Step::WatchFull | Step::WatchPaced => return self.watch(step).await,
            Step::Definition => {
                let milliseconds = custom::define(server).await?;
                self.figure("definition", milliseconds);
                return Ok(());
            }
            Step::CustomCreate => {
                let count = plan.count(CUSTOM);
                server.objects += count;
                let outcome = custom::create(server, CLIENTS, count).await?;
                ("custom create".into(), outcome)
            }
            Step::CustomPatch => {
                let outcome = custom::patch(server, CLIENTS, plan.count(CUSTOM) / 2).await?;
                ("custom patch".into(), outcome)
            }
            Step::CustomApply => {
                let outcome = custom::apply(server, CLIENTS, plan.count(CUSTOM) / 2).await?;
                ("custom apply".into(), outcome)
            }
            Step::Delete => {
                let count = plan.count(3000);
                server.objects -= count;
                let outcome = verbs::delete(server, CLIENTS, count).await?;
                ("delete".into(), outcome)
            }
            Step::End => {
                let missing = plan.count(END).saturating_sub(server.objects);
                let memory = watch::memory_with_watchers(server, missing).await?;
                self.figure("memory end", memory);
                return Ok(());
            }
        };
        let name = format!("{}{name}", self.prefix);
        self.sheet.add_load(self.side, &name, &outcome);
        Ok(())
    }

    async fn watch(&mut self, step: &Step) -> Result<()> {
        let writes = self.plan.count(2000);
        if matches!(step, Step::WatchFull) {
            let seen = watch::at_full_speed(self.server, writes).await?;
            self.figure("watch full rate", seen.per_second);
            self.figure("watch full own", seen.own_cpu_each);
        } else {
            self.server.objects += writes;
            let seen = watch::run(self.server, "watch-paced", writes, Some(100)).await?;
            self.figure("watch paced p50", seen.answered.per_mille(500));
            self.figure("watch paced p99", seen.answered.per_mille(990));
            self.figure("watch paced sent p50", seen.sent.per_mille(500));
            self.figure("watch paced sent p99", seen.sent.per_mille(990));
            self.figure("watch paced cpu", seen.cpu);
        }
        Ok(())
    }

    fn figure(&mut self, key: &str, figure: f64) {
        let key = format!("{}{key}", self.prefix);
        self.sheet.add(self.side, key, figure);
    }
}
