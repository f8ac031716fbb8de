//! A disk in memory that can do what real ones do on a bad day.
//!
//! It tells the page cache (what a process reads) from the platter (what is there after a power loss). A sync moves a
//! file's pending writes to the platter; a *failed* sync forgets them, as Linux does: the process still reads them, a
//! later sync succeeds, and after a power loss they are gone.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::disk::{Disk, DiskFile};

const SECTOR: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Read,
    Write,
    Sync,
    Allocate,
    Create,
    Rename,
    Remove,
    SyncNames,
}

/// What an operation on a file whose name begins so fails with, how often, and after how many that work.
#[derive(Clone, Debug)]
pub struct Fault {
    pub op: Op,
    pub name: &'static str,
    pub errno: i32,
    pub after: u64,
    pub times: u64,
}

pub const EIO: i32 = 5;
pub const ENOSPC: i32 = 28;
/// Not an error number: the power goes instead of the operation.
pub const POWER_CUT: i32 = 0;

/// What becomes of writes that were not synced when the power goes.
#[derive(Clone, Copy, Debug)]
pub enum Loss {
    /// All are gone.
    Everything,
    /// All made it.
    Nothing,
    /// Each sector of each write may have made it or not; of changed names, the first few.
    Random(u64),
    /// The last write to the log made it up to this byte, everything before it whole.
    Cut(usize),
}

#[derive(Clone, Debug, Default)]
struct File {
    name: String,
    cache: Vec<u8>,
    platter: Vec<u8>,
    pending: Vec<Pending>,
}

#[derive(Clone, Debug)]
enum Pending {
    Write { offset: usize, data: Vec<u8> },
    Size(usize),
}

#[derive(Clone, Debug)]
enum NameChange {
    Set(String, usize),
    Move(String, String),
    Remove(String),
}

#[derive(Clone, Debug, Default)]
struct World {
    files: Vec<File>,
    names: BTreeMap<String, usize>,
    platter_names: BTreeMap<String, usize>,
    pending_names: Vec<NameChange>,
    faults: Vec<Fault>,
    capacity: Option<u64>,
    operations: u64,
    stop_at: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub struct FaultyDisk(Arc<Mutex<World>>);

impl FaultyDisk {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn fail(&self, fault: Fault) {
        self.world().faults.push(fault);
    }

    /// Takes back all faults.
    pub fn heal(&self) {
        let mut world = self.world();
        world.faults.clear();
        world.stop_at = None;
    }

    /// Files may hold this much in all.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.world().capacity = bytes;
    }

    pub fn used(&self) -> u64 {
        self.world().used()
    }

    /// Changing operations so far: writes, syncs, names.
    pub fn operations(&self) -> u64 {
        self.world().operations
    }

    /// The power goes when this many changing operations are done: every later one fails.
    pub fn stop_at(&self, operations: u64) {
        self.world().stop_at = Some(operations);
    }

    /// What the next process finds after this one was killed: everything written, synced or not.
    #[must_use]
    pub fn after_kill(&self) -> Self {
        let mut world = self.world().clone();
        world.faults.clear();
        world.stop_at = None;
        Self(Arc::new(Mutex::new(world)))
    }

    /// What the next process finds after a power loss.
    #[must_use]
    pub fn after_power_loss(&self, loss: Loss) -> Self {
        let mut world = self.world().clone();
        let mut random = Random(match loss {
            Loss::Random(seed) => seed | 1,
            _ => 1,
        });
        let last = world.last_pending_log();
        for (index, file) in world.files.iter_mut().enumerate() {
            let pending = std::mem::take(&mut file.pending);
            let count = pending.len();
            for (number, change) in pending.into_iter().enumerate() {
                match (loss, change) {
                    (Loss::Everything, _) => {}
                    (Loss::Cut(at), Pending::Write { offset, data })
                        if Some(index) == last && number + 1 == count =>
                    {
                        put(&mut file.platter, offset, &data[..at.min(data.len())]);
                    }
                    (Loss::Random(_), Pending::Write { offset, data }) => {
                        for (sector, piece) in data.chunks(SECTOR).enumerate() {
                            if random.coin() {
                                put(&mut file.platter, offset + sector * SECTOR, piece);
                            }
                        }
                    }
                    (Loss::Random(_), Pending::Size(_)) if random.coin() => {}
                    (_, change) => change.apply(&mut file.platter),
                }
            }
            file.cache.clone_from(&file.platter);
        }
        let changes = std::mem::take(&mut world.pending_names);
        let kept = match loss {
            Loss::Everything => 0,
            Loss::Random(_) => random.below(changes.len() + 1),
            Loss::Nothing | Loss::Cut(_) => changes.len(),
        };
        for change in &changes[..kept] {
            change.apply(&mut world.platter_names);
        }
        world.names = world.platter_names.clone();
        world.faults.clear();
        world.stop_at = None;
        Self(Arc::new(Mutex::new(world)))
    }

    /// An independent copy of this disk as it is.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self(Arc::new(Mutex::new(self.world().clone())))
    }

    pub fn content(&self, name: &str) -> Vec<u8> {
        let world = self.world();
        world.files[world.names[name]].cache.clone()
    }

    /// Damages a file behind everybody's back, in cache and on the platter.
    pub fn damage(&self, name: &str, damage: impl Fn(&mut Vec<u8>)) {
        let mut world = self.world();
        let id = world.names[name];
        let file = &mut world.files[id];
        damage(&mut file.cache);
        damage(&mut file.platter);
    }

    /// The size of the last write to the log that is not synced, if any.
    pub fn last_pending_write(&self) -> Option<usize> {
        let world = self.world();
        let file = &world.files[world.last_pending_log()?];
        match file.pending.last()? {
            Pending::Write { data, .. } => Some(data.len()),
            Pending::Size(_) => None,
        }
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl World {
    /// Counts the operation, and fails it if that is planned.
    fn step(&mut self, op: Op, name: &str) -> io::Result<()> {
        if op != Op::Read {
            if self.stop_at.is_some_and(|stop| self.operations >= stop) {
                return Err(io::Error::from_raw_os_error(EIO));
            }
            self.operations += 1;
        }
        let fault = self.faults.iter_mut().find(|fault| {
            fault.op == op && name.starts_with(fault.name) && (fault.after > 0 || fault.times > 0)
        });
        match fault {
            Some(fault) if fault.after > 0 => {
                fault.after -= 1;
                Ok(())
            }
            Some(fault) if fault.errno == POWER_CUT => {
                self.stop_at = Some(self.operations);
                Err(io::Error::from_raw_os_error(EIO))
            }
            Some(fault) => {
                fault.times -= 1;
                Err(io::Error::from_raw_os_error(fault.errno))
            }
            None => Ok(()),
        }
    }

    fn last_pending_log(&self) -> Option<usize> {
        let pending = |file: &File| !file.pending.is_empty() && file.name.starts_with("log-");
        self.files.iter().rposition(pending)
    }

    fn used(&self) -> u64 {
        self.names
            .values()
            .map(|id| self.files[*id].cache.len() as u64)
            .sum()
    }

    fn room_for(&self, id: usize, size: usize) -> io::Result<()> {
        let more = size.saturating_sub(self.files[id].cache.len()) as u64;
        match self.capacity {
            Some(capacity) if more > 0 && self.used() + more > capacity => {
                Err(io::Error::from_raw_os_error(ENOSPC))
            }
            _ => Ok(()),
        }
    }

    fn id(&self, name: &str) -> io::Result<usize> {
        self.names
            .get(name)
            .copied()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn change_name(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.pending_names.push(change);
    }
}

impl Pending {
    fn apply(self, to: &mut Vec<u8>) {
        match self {
            Self::Write { offset, data } => put(to, offset, &data),
            Self::Size(size) => to.resize(size, 0),
        }
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            Self::Set(name, id) => {
                names.insert(name.clone(), *id);
            }
            Self::Move(from, to) => {
                if let Some(id) = names.remove(from) {
                    names.insert(to.clone(), id);
                }
            }
            Self::Remove(name) => {
                names.remove(name);
            }
        }
    }
}

fn put(to: &mut Vec<u8>, offset: usize, data: &[u8]) {
    if to.len() < offset + data.len() {
        to.resize(offset + data.len(), 0);
    }
    to[offset..offset + data.len()].copy_from_slice(data);
}

impl Disk for FaultyDisk {
    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.world().names.keys().cloned().collect())
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut world = self.world();
        world.step(Op::Create, name)?;
        let id = world.files.len();
        world.files.push(File {
            name: name.into(),
            ..File::default()
        });
        world.change_name(NameChange::Set(name.into(), id));
        Ok(Arc::new(Handle {
            disk: self.clone(),
            id,
        }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let id = self.world().id(name)?;
        Ok(Arc::new(Handle {
            disk: self.clone(),
            id,
        }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut world = self.world();
        world.step(Op::Rename, from)?;
        let id = world.id(from)?;
        world.files[id].name = to.into();
        world.change_name(NameChange::Move(from.into(), to.into()));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut world = self.world();
        world.step(Op::Remove, name)?;
        world.id(name)?;
        world.change_name(NameChange::Remove(name.into()));
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut world = self.world();
        world.step(Op::SyncNames, "")?;
        for change in std::mem::take(&mut world.pending_names) {
            change.apply(&mut world.platter_names);
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Handle {
    disk: FaultyDisk,
    id: usize,
}

impl Handle {
    /// The world, after the operation was counted and did not fail.
    fn step(&self, op: Op) -> io::Result<MutexGuard<'_, World>> {
        let mut world = self.disk.world();
        let name = world.files[self.id].name.clone();
        world.step(op, &name)?;
        Ok(world)
    }
}

impl DiskFile for Handle {
    fn size(&self) -> io::Result<u64> {
        Ok(self.disk.world().files[self.id].cache.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let world = self.step(Op::Read)?;
        let cache = &world.files[self.id].cache;
        let from = usize::try_from(offset)
            .map_err(io::Error::other)?
            .min(cache.len());
        let count = buffer.len().min(cache.len() - from);
        buffer[..count].copy_from_slice(&cache[from..from + count]);
        Ok(count)
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        let mut world = self.step(Op::Write)?;
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        world.room_for(self.id, offset + data.len())?;
        let file = &mut world.files[self.id];
        put(&mut file.cache, offset, data);
        file.pending.push(Pending::Write {
            offset,
            data: data.to_vec(),
        });
        Ok(())
    }

    fn allocate(&self, size: u64) -> io::Result<()> {
        let mut world = self.step(Op::Allocate)?;
        let size = usize::try_from(size).map_err(io::Error::other)?;
        world.room_for(self.id, size)?;
        let file = &mut world.files[self.id];
        file.cache.resize(size, 0);
        file.pending.push(Pending::Size(size));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let result = self.step(Op::Sync).map(drop);
        let mut world = self.disk.world();
        let powerless = world.stop_at.is_some_and(|stop| world.operations >= stop);
        let file = &mut world.files[self.id];
        if result.is_ok() {
            for change in std::mem::take(&mut file.pending) {
                change.apply(&mut file.platter);
            }
        } else if !powerless {
            // The kernel reports once and then holds the pages for clean.
            file.pending.clear();
        }
        result
    }
}

/// xorshift: the same seed, the same disaster.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn coin(&mut self) -> bool {
        self.next() >> 33 & 1 == 0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap_or(0) % bound
    }
}
