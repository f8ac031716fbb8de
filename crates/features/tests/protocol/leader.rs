//! A server that believes to lead: what it reads, decides and writes, one access to the store at a time.

use features::Source;
use features::lifecycle::{
    Acknowledgement, Admission, FeatureStatus, Inputs, OnDangling, Outcome, Target, TaskOutcome,
    name, step, wait_servers,
};

use super::{Explorer, Id, Server, Work, World};

/// What the transition function says.
#[derive(Clone, Copy)]
pub(super) struct Decision {
    next: Id,
    run: Option<Run>,
}

#[derive(Clone, Copy)]
enum Run {
    WaitServers,
    VerifyClean,
    StripField,
    Other,
}

impl Explorer {
    /// One step of a server that believes to lead.
    pub(super) fn lead(&mut self, world: &mut World, index: usize) -> Result<(), String> {
        let work = world.servers[index].work;
        world.servers[index].work = match work {
            Work::None => Work::Read {
                status: world.stored,
                target: world.target,
            },
            Work::Read { status, target } => self.decide(world, status, target)?,
            Work::Listed {
                status,
                target,
                version,
            } => {
                let epoch = world.stored.map(|id| self.get(id).epoch);
                if self.rules.check_epoch_after_list && epoch != Some(self.get(status).epoch) {
                    Work::None
                } else {
                    self.check_closed(world, status)?;
                    Work::Checked {
                        status,
                        target,
                        version,
                    }
                }
            }
            Work::Checked {
                status,
                target,
                version,
            } => {
                let object = &mut world.object;
                let is_same = object.version == version || !self.rules.resource_version;
                if object.has_field && is_same {
                    if object.epoch > self.get(status).epoch {
                        return Err("a task removed a use of a later epoch".to_owned());
                    }
                    object.has_field = false;
                    object.version += 1;
                }
                Work::Ended {
                    status,
                    target,
                    is_done: is_same,
                }
            }
            Work::Ended {
                status,
                target,
                is_done,
            } => {
                let next = self.step(Some(status), target, Some(is_done)).next;
                self.compare_and_swap(world, Some(status), next)?
            }
        };
        Ok(())
    }

    /// Writes the next status, or runs the task if there is nothing to write.
    fn decide(
        &mut self,
        world: &mut World,
        read: Option<Id>,
        target: bool,
    ) -> Result<Work, String> {
        let decision = self.step(read, target, None);
        let Some(status) = read.filter(|id| *id == decision.next) else {
            return self.compare_and_swap(world, read, decision.next);
        };
        let is_done = match decision.run {
            None => return Ok(Work::None),
            Some(Run::WaitServers) => self.acknowledged(world, self.get(status)),
            Some(Run::VerifyClean) => !world.object.has_field,
            Some(Run::StripField) => {
                let version = world.object.version;
                return Ok(Work::Listed {
                    status,
                    target,
                    version,
                });
            }
            Some(Run::Other) => true,
        };
        Ok(Work::Ended {
            status,
            target,
            is_done,
        })
    }

    fn acknowledged(&self, world: &World, status: &FeatureStatus) -> bool {
        let fresh = world.servers.iter().filter(|it| it.is_fresh);
        let acknowledged = fresh.map(|server| {
            let drained = server.writing.is_none() || !self.rules.drain;
            let seen = server.seen.filter(|_| drained).map(|id| self.get(id));
            Acknowledgement {
                server: "server".to_owned(),
                epoch: seen.map_or(0, |it| it.epoch),
                admission: seen.map_or(Admission::Closed, |it| it.admission),
            }
        });
        wait_servers(status, &acknowledged.collect::<Vec<_>>()) == Outcome::Done
    }

    /// Before uses are removed, no fresh server admits new ones, and none that is not fresh does.
    fn check_closed(&self, world: &World, status: Id) -> Result<(), String> {
        let epoch = world.stored.map(|id| self.get(id).epoch);
        let is_current = epoch == Some(self.get(status).epoch);
        let open = |it: &Server| it.is_up && (self.admits(it) || it.writing.is_some());
        if is_current && world.servers.iter().any(open) {
            return Err("uses are removed while a server admits new ones".to_owned());
        }
        Ok(())
    }

    fn compare_and_swap(
        &mut self,
        world: &mut World,
        read: Option<Id>,
        next: Id,
    ) -> Result<Work, String> {
        if world.stored != read {
            return Ok(Work::None);
        }
        if let Some(before) = read.map(|id| self.get(id)) {
            let next = self.get(next);
            let flipped = before.state.is_towards_on() != next.state.is_towards_on();
            if next.epoch != before.epoch + u64::from(flipped) {
                return Err(format!("epoch {} after {}", next.epoch, before.epoch));
            }
            if next.state != before.state && next.history == before.history {
                return Err(format!("a state change without history: {next:?}"));
            }
        }
        world.stored = Some(next);
        Ok(Work::None)
    }

    /// The next status and the task to run, computed once for each combination.
    fn step(&mut self, current: Option<Id>, target: bool, ended: Option<bool>) -> Decision {
        let key = (current, target, ended);
        if let Some(known) = self.decisions.get(&key) {
            return *known;
        }
        let status = current.map(|id| self.get(id).clone());
        let task = status.as_ref().and_then(FeatureStatus::current_task);
        let outcome = task.zip(ended).map(|(task, is_done)| TaskOutcome {
            epoch: status.as_ref().map_or(0, |it| it.epoch),
            task: task.name.clone(),
            outcome: if is_done {
                Outcome::Done
            } else {
                Outcome::Blocked(vec!["object".to_owned()].into())
            },
        });
        let inputs = Inputs {
            // Time passes only as far as something waits for it; flips are far apart.
            now: task.map_or(0, |it| it.next_attempt),
            known: true,
            target: Some(Target {
                enabled: target,
                source: Source::Dynamic,
                immediate: !target,
            }),
            on_dangling: OnDangling::Hold,
            unmet_dependencies: &[],
            active_dependents: &[],
            plan: &self.plan,
            outcome: outcome.as_ref(),
            scanned: None,
            adopts: self.adopts,
        };
        let next = step(status.as_ref(), &inputs).expect("the feature is known");
        let run = next.run.map(|it| match &*it.name {
            name::WAIT_SERVERS => Run::WaitServers,
            name::VERIFY_CLEAN => Run::VerifyClean,
            "strip-field" => Run::StripField,
            _ => Run::Other,
        });
        let decision = Decision {
            next: self.intern(next.status),
            run,
        };
        self.decisions.insert(key, decision);
        decision
    }
}
