//! Three servers over one store, a feature with a field, and an object that may hold it.

#[path = "leader.rs"]
mod leader;

use std::collections::HashMap;

use features::lifecycle::{Admission, Dangling, FeatureStatus, Plan, State, admits};

use leader::Decision;

/// How much may happen in one exploration.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) flips: u8,
    pub(crate) writes: u8,
    pub(crate) faults: u8,
    /// Servers that may be in the midst of leading at once.
    pub(crate) leaders: usize,
}

/// The rules that `features::lifecycle` states; each may be broken to see that it is needed.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub(crate) struct Rules {
    pub(crate) drain: bool,
    pub(crate) fence: bool,
    pub(crate) read_before_admitting: bool,
    pub(crate) check_epoch_after_list: bool,
    pub(crate) resource_version: bool,
}

impl Rules {
    pub(crate) const ALL: Self = Self {
        drain: true,
        fence: true,
        read_before_admitting: true,
        check_epoch_after_list: true,
        resource_version: true,
    };
}

/// A status by its number: worlds stay small.
type Id = u16;

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct World {
    stored: Option<Id>,
    target: bool,
    object: Object,
    servers: [Server; 3],
    flips: u8,
    writes: u8,
    faults: u8,
    leaders: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Object {
    has_field: bool,
    version: u8,
    /// The epoch in which the field was written.
    epoch: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Server {
    is_up: bool,
    /// As others see its Lease.
    is_fresh: bool,
    /// It knows that its Lease was not renewed, or has not read the status since.
    is_fenced: bool,
    /// The status that it has seen last.
    seen: Option<Id>,
    /// The epoch in which a write was admitted that has not ended.
    writing: Option<u64>,
    work: Work,
}

/// How far a server has come that believes to lead.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Work {
    None,
    Read {
        status: Option<Id>,
        target: bool,
    },
    Listed {
        status: Id,
        target: bool,
        version: u8,
    },
    Checked {
        status: Id,
        target: bool,
        version: u8,
    },
    Ended {
        status: Id,
        target: bool,
        is_done: bool,
    },
}

impl World {
    pub(crate) fn new(bounds: Bounds) -> Self {
        let server = Server {
            is_up: true,
            is_fresh: true,
            is_fenced: false,
            seen: None,
            writing: None,
            work: Work::None,
        };
        Self {
            stored: None,
            target: true,
            object: Object {
                has_field: false,
                version: 0,
                epoch: 0,
            },
            servers: [server; 3],
            flips: bounds.flips,
            writes: bounds.writes,
            faults: bounds.faults,
            leaders: bounds.leaders,
        }
    }

    /// Servers are alike: which is which does not matter.
    fn sorted(mut self) -> Self {
        self.servers.sort_unstable();
        self
    }
}

pub(crate) struct Explorer {
    rules: Rules,
    /// Whether the feature is on when it is announced.
    adopts: bool,
    plan: Plan,
    statuses: Vec<FeatureStatus>,
    ids: HashMap<FeatureStatus, Id>,
    /// The first status with an epoch and admission: servers look at nothing else.
    views: HashMap<(u64, Admission), Id>,
    decisions: HashMap<(Option<Id>, bool, Option<bool>), Decision>,
}

impl Explorer {
    pub(crate) fn new(rules: Rules, adopts: bool) -> Self {
        Self {
            rules,
            adopts,
            plan: Plan {
                ensure: Vec::new(),
                cleanup: vec!["strip-field".to_owned()],
            },
            statuses: Vec::new(),
            ids: HashMap::new(),
            views: HashMap::new(),
            decisions: HashMap::new(),
        }
    }

    fn get(&self, id: Id) -> &FeatureStatus {
        &self.statuses[usize::from(id)]
    }

    fn intern(&mut self, status: FeatureStatus) -> Id {
        if let Some(id) = self.ids.get(&status) {
            return *id;
        }
        let id = Id::try_from(self.statuses.len()).expect("few statuses");
        let view = (status.epoch, status.admission);
        self.views.entry(view).or_insert(id);
        self.statuses.push(status.clone());
        self.ids.insert(status, id);
        id
    }

    fn view(&self, id: Id) -> Id {
        let status = self.get(id);
        self.views[&(status.epoch, status.admission)]
    }

    fn admits(&self, server: &Server) -> bool {
        admits(server.seen.map(|id| self.get(id)), true, !server.is_fenced)
    }

    /// What must hold in every state.
    pub(crate) fn check(&self, world: &World) -> Result<(), String> {
        let Some(status) = world.stored.map(|id| self.get(id)) else {
            return Ok(());
        };
        let clean = status.state == State::Off && status.dangling == Dangling::None;
        if clean && world.object.has_field {
            return Err(format!("Off and clean, but a use is stored: {status:?}"));
        }
        if status.history.last().map(|it| it.to) != Some(status.state) {
            return Err(format!("a state change is not in the history: {status:?}"));
        }
        let in_transition = matches!(status.state, State::TurningOn | State::TurningOff);
        if in_transition != status.transition.is_some() {
            return Err(format!("tasks without a transition: {status:?}"));
        }
        Ok(())
    }

    /// Without further faults, and with one leader, the feature reaches its target.
    pub(crate) fn check_recovery(&mut self, world: &World) -> Result<(), String> {
        let mut world = world.clone();
        for _ in 0..80 {
            for server in &mut world.servers {
                if let Some(epoch) = server.writing.take() {
                    write(&mut world.object, epoch);
                }
                let seen = world.stored.map(|id| self.view(id));
                *server = Server {
                    is_up: true,
                    is_fresh: true,
                    is_fenced: false,
                    seen,
                    writing: None,
                    work: if server.is_up {
                        server.work
                    } else {
                        Work::None
                    },
                };
            }
            world.servers[1].work = Work::None;
            world.servers[2].work = Work::None;
            self.lead(&mut world, 0)?;
            self.check(&world)?;
        }
        let status = world.stored.map(|id| self.get(id).clone());
        let state = if world.target { State::On } else { State::Off };
        match status {
            Some(status) if status.state == state => Ok(()),
            other => Err(format!("never {state:?}: {other:?}")),
        }
    }

    pub(crate) fn successors(&mut self, world: &World) -> Result<Vec<World>, String> {
        let mut all = Vec::new();
        if world.flips > 0 && world.stored.is_some() {
            let mut next = world.clone();
            next.flips -= 1;
            next.target = !next.target;
            all.push(next);
        }
        for index in 0..world.servers.len() {
            // Servers are alike: of two in the same state it is enough to look at one.
            if index > 0 && world.servers[index] == world.servers[index - 1] {
                continue;
            }
            self.server_events(world, index, &mut all);
            let busy = world.servers.iter().filter(|it| it.work != Work::None);
            let server = world.servers[index];
            if server.is_up && (server.work != Work::None || busy.count() < world.leaders) {
                let mut next = world.clone();
                self.lead(&mut next, index)?;
                all.push(next);
            }
        }
        Ok(all.into_iter().map(World::sorted).collect())
    }

    fn server_events(&self, world: &World, index: usize, all: &mut Vec<World>) {
        let server = world.servers[index];
        let mut change = |spent: u8, change: &dyn Fn(&mut World)| {
            if spent <= world.faults {
                let mut next = world.clone();
                next.faults -= spent;
                change(&mut next);
                all.push(next);
            }
        };
        let set = |server: Server| move |world: &mut World| world.servers[index] = server;
        if !server.is_up {
            change(
                0,
                &set(Server {
                    is_up: true,
                    is_fresh: true,
                    is_fenced: true,
                    seen: None,
                    ..server
                }),
            );
            if server.is_fresh {
                change(
                    0,
                    &set(Server {
                        is_fresh: false,
                        ..server
                    }),
                );
            }
            return;
        }
        let latest = world.stored.map(|id| self.view(id));
        if server.seen != latest || (server.is_fenced && server.is_fresh) {
            let is_fenced = server.is_fenced && !server.is_fresh;
            change(
                0,
                &set(Server {
                    seen: latest,
                    is_fenced,
                    ..server
                }),
            );
        }
        if let Some(epoch) = server.writing {
            change(0, &|world: &mut World| {
                world.servers[index].writing = None;
                write(&mut world.object, epoch);
            });
        } else if world.writes > 0 && self.admits(&server) {
            let epoch = server.seen.map_or(0, |id| self.get(id).epoch);
            change(0, &|world: &mut World| {
                world.writes -= 1;
                world.servers[index].writing = Some(epoch);
            });
        }
        if world.faults > 0 {
            change(
                1,
                &set(Server {
                    is_up: false,
                    is_fenced: true,
                    writing: None,
                    work: Work::None,
                    ..server
                }),
            );
        }
        self.lease_events(&server, &mut |spent, server| change(spent, &set(server)));
    }

    fn lease_events(&self, server: &Server, change: &mut dyn FnMut(u8, Server)) {
        if server.is_fresh && !server.is_fenced {
            if self.rules.fence {
                // The deadlines of its writes end before others stop to count it as fresh.
                change(
                    1,
                    Server {
                        is_fenced: true,
                        writing: None,
                        ..*server
                    },
                );
            } else {
                change(
                    1,
                    Server {
                        is_fresh: false,
                        ..*server
                    },
                );
            }
        }
        if server.is_fresh && server.is_fenced {
            change(
                0,
                Server {
                    is_fresh: false,
                    ..*server
                },
            );
        }
        if !server.is_fresh {
            let is_fenced = server.is_fenced && self.rules.read_before_admitting;
            change(
                0,
                Server {
                    is_fresh: true,
                    is_fenced,
                    ..*server
                },
            );
        }
    }
}

fn write(object: &mut Object, epoch: u64) {
    *object = Object {
        has_field: true,
        version: object.version + 1,
        epoch,
    };
}
