//! Bytes of responses that were made and that no client has read yet. They are counted per connection, per user and in
//! all: clients that ask and do not read cannot fill the memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use auth::User;
use meta::Status;

/// A connection may hold this much without its user being charged: most responses are small and gone at once.
const FREE_PER_CONNECTION: usize = 64 << 10;
/// A user may hold this much even when all users together hold what they may: no user is shut out by others.
const FREE_PER_USER: usize = 256 << 10;
/// Accounts that may be kept before unused ones are removed.
const FIRST_PURGE: usize = 1024;

/// How many bytes of unread responses may be held.
#[derive(Clone, Copy, Debug)]
pub struct UnreadLimits {
    pub per_connection: usize,
    pub per_user: usize,
    pub total: usize,
}

impl Default for UnreadLimits {
    fn default() -> Self {
        Self {
            per_connection: 32 << 20,
            per_user: 64 << 20,
            total: 512 << 20,
        }
    }
}

/// The bytes of all connections of a server.
#[derive(Debug)]
pub(crate) struct Unread {
    limits: UnreadLimits,
    total: AtomicUsize,
    accounts: Mutex<Accounts>,
    /// Responses that go on when there is room again.
    waiting: Mutex<Vec<Waker>>,
    is_waited_for: AtomicBool,
}

#[derive(Debug)]
struct Accounts {
    by_user: HashMap<String, Weak<Account>>,
    purge_at: usize,
}

/// What one user holds, over all connections.
#[derive(Debug, Default)]
pub(crate) struct Account {
    bytes: AtomicUsize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Unread {
    pub(crate) fn new(limits: UnreadLimits) -> Self {
        Self {
            limits,
            total: AtomicUsize::new(0),
            accounts: Mutex::new(Accounts {
                by_user: HashMap::new(),
                purge_at: FIRST_PURGE,
            }),
            waiting: Mutex::default(),
            is_waited_for: AtomicBool::new(false),
        }
    }

    /// Bytes charged to users now.
    pub(crate) fn total(&self) -> usize {
        self.total.load(Ordering::Relaxed)
    }

    /// Refuses a request of a user, or on a connection, with too many unread responses.
    pub(crate) fn check(&self, memory: &ConnectionMemory, user: &User) -> Result<(), Status> {
        let limits = &self.limits;
        if memory.bytes() >= limits.per_connection {
            return Err(refused("this connection has", limits.per_connection));
        }
        let total = self.total();
        if total < limits.per_user.min(limits.total) {
            return Ok(());
        }
        let held = self.account(&user.name).bytes.load(Ordering::Relaxed);
        if held >= limits.per_user {
            let user = format!("user {} has", meta::go::quote(&user.name));
            return Err(refused(&user, limits.per_user));
        }
        if total >= limits.total && held >= FREE_PER_USER {
            return Err(refused("all clients together have", limits.total));
        }
        Ok(())
    }

    fn account(&self, user: &str) -> Arc<Account> {
        let mut accounts = lock(&self.accounts);
        if let Some(found) = accounts.by_user.get(user).and_then(Weak::upgrade) {
            return found;
        }
        if accounts.by_user.len() >= accounts.purge_at {
            accounts.by_user.retain(|_, it| it.strong_count() > 0);
            accounts.purge_at = FIRST_PURGE.max(2 * accounts.by_user.len());
        }
        let account = Arc::new(Account::default());
        let weak = Arc::downgrade(&account);
        accounts.by_user.insert(user.to_owned(), weak);
        account
    }

    /// A response that waits may go on.
    fn released(&self) {
        // Sequentially consistent, as in `poll_room`: either this sees who waits, or who waits sees the room.
        if !self.is_waited_for.load(Ordering::SeqCst) {
            return;
        }
        let waiting = {
            let mut waiting = lock(&self.waiting);
            self.is_waited_for.store(false, Ordering::SeqCst);
            std::mem::take(&mut *waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}

fn refused(who: &str, limit: usize) -> Status {
    let text = format!(
        "Too many requests: {who} {limit} bytes or more of responses that were not read; read them, then try again."
    );
    Status::too_many_requests(text, 1)
}

/// What one connection holds.
#[derive(Debug)]
pub struct ConnectionMemory {
    unread: Arc<Unread>,
    bytes: AtomicUsize,
    /// The user of the last response that was charged, who is most often that of the next.
    last: Mutex<Option<(String, Arc<Account>)>>,
    /// Bytes by the period in which they must have been read.
    due: [AtomicUsize; PERIODS],
}

/// Deadlines lie in the current period or in the next, so that two are enough to hold; one more may be overdue.
const PERIODS: usize = 4;

impl Default for ConnectionMemory {
    fn default() -> Self {
        Self::new(Arc::new(Unread::new(UnreadLimits::default())))
    }
}

impl ConnectionMemory {
    pub(crate) fn new(unread: Arc<Unread>) -> Self {
        Self {
            unread,
            bytes: AtomicUsize::new(0),
            last: Mutex::default(),
            due: Default::default(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes that had to be read in this period.
    pub(crate) fn due(&self, period: u64) -> usize {
        self.due[slot(period)].load(Ordering::Relaxed)
    }

    pub(crate) fn account(&self, user: Option<&User>) -> Arc<Account> {
        let name = user.map_or("", |it| &it.name);
        let mut last = lock(&self.last);
        if let Some((known, account)) = &*last
            && known == name
        {
            return account.clone();
        }
        let account = self.unread.account(name);
        *last = Some((name.to_owned(), account.clone()));
        account
    }

    /// The account that was charged last.
    pub(crate) fn last_account(&self) -> Option<Arc<Account>> {
        lock(&self.last).as_ref().map(|it| it.1.clone())
    }

    /// Whether bytes in this number would be charged to the user.
    pub(crate) fn is_charged(&self, bytes: usize) -> bool {
        self.bytes() + bytes > FREE_PER_CONNECTION
    }

    /// Counts bytes until the charge is dropped. `period` is that of the deadline, if there is one.
    pub(crate) fn charge(
        self: &Arc<Self>,
        account: Option<Arc<Account>>,
        bytes: usize,
        period: Option<u64>,
    ) -> Charge {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let period = period.map(slot);
        if let Some(period) = period {
            self.due[period].fetch_add(bytes, Ordering::Relaxed);
        }
        if let Some(account) = &account {
            account.bytes.fetch_add(bytes, Ordering::Relaxed);
            self.unread.total.fetch_add(bytes, Ordering::Relaxed);
        }
        Charge {
            memory: self.clone(),
            account,
            bytes,
            period,
        }
    }

    /// Waits until so many bytes more may be made for a response that has begun.
    pub(crate) fn poll_room(
        &self,
        context: &mut Context<'_>,
        account: &Account,
        bytes: usize,
    ) -> Poll<()> {
        if self.has_room(account, bytes) {
            return Poll::Ready(());
        }
        let unread = &self.unread;
        let mut waiting = lock(&unread.waiting);
        unread.is_waited_for.store(true, Ordering::SeqCst);
        if !waiting.iter().any(|it| it.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        drop(waiting);
        // A client may have read at this moment.
        if self.has_room(account, bytes) {
            return Poll::Ready(());
        }
        Poll::Pending
    }

    fn has_room(&self, account: &Account, bytes: usize) -> bool {
        let limits = &self.unread.limits;
        let held = account.bytes.load(Ordering::SeqCst);
        if held < FREE_PER_USER {
            return true;
        }
        held + bytes <= limits.per_user
            && self.bytes() + bytes <= limits.per_connection
            && self.unread.total() + bytes <= limits.total
    }
}

fn slot(period: u64) -> usize {
    usize::try_from(period % PERIODS as u64).unwrap_or(0)
}

/// Bytes that are held for a client.
#[derive(Debug)]
pub(crate) struct Charge {
    memory: Arc<ConnectionMemory>,
    account: Option<Arc<Account>>,
    bytes: usize,
    period: Option<usize>,
}

impl Drop for Charge {
    fn drop(&mut self) {
        let Self { memory, bytes, .. } = self;
        memory.bytes.fetch_sub(*bytes, Ordering::Relaxed);
        if let Some(period) = self.period {
            memory.due[period].fetch_sub(*bytes, Ordering::Relaxed);
        }
        if let Some(account) = &self.account {
            account.bytes.fetch_sub(*bytes, Ordering::SeqCst);
            memory.unread.total.fetch_sub(*bytes, Ordering::SeqCst);
            memory.unread.released();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(per_connection: usize, per_user: usize, total: usize) -> Arc<ConnectionMemory> {
        let unread = Unread::new(UnreadLimits {
            per_connection,
            per_user,
            total,
        });
        Arc::new(ConnectionMemory::new(Arc::new(unread)))
    }

    fn other(memory: &ConnectionMemory) -> Arc<ConnectionMemory> {
        Arc::new(ConnectionMemory::new(memory.unread.clone()))
    }

    fn user(name: &str) -> User {
        User::new(name, &[])
    }

    fn hold(memory: &Arc<ConnectionMemory>, name: &str, bytes: usize) -> Charge {
        let account = memory.account(Some(&user(name)));
        memory.charge(Some(account), bytes, None)
    }

    #[track_caller]
    fn refuses(memory: &ConnectionMemory, name: &str, why: &str) {
        let status = memory.unread.check(memory, &user(name)).unwrap_err();
        assert_eq!(status.code, 429);
        assert!(status.message.contains(why), "{}", status.message);
    }

    fn takes(memory: &ConnectionMemory, name: &str) -> bool {
        memory.unread.check(memory, &user(name)).is_ok()
    }

    #[test]
    fn a_user_over_the_limit_is_refused_on_every_connection_and_others_are_not() {
        let first = memory(usize::MAX, 1 << 20, usize::MAX);
        let second = other(&first);
        let held = hold(&first, "alice", 1 << 20);
        refuses(&first, "alice", "user \"alice\" has 1048576 bytes");
        refuses(&second, "alice", "user \"alice\"");
        assert!(takes(&first, "bob") && takes(&second, "bob"));
        drop(held);
        assert!(takes(&first, "alice") && takes(&second, "alice"));
        assert_eq!(first.unread.total(), 0);
    }

    #[test]
    fn a_connection_over_the_limit_is_refused_and_others_are_not() {
        let first = memory(1 << 20, usize::MAX, usize::MAX);
        let second = other(&first);
        let _held = hold(&first, "alice", 1 << 20);
        refuses(&first, "alice", "this connection has");
        assert!(takes(&second, "alice"));
    }

    #[test]
    fn whoever_holds_little_is_served_even_if_all_hold_too_much() {
        let first = memory(usize::MAX, usize::MAX, 1 << 20);
        let _held = hold(&first, "alice", 2 << 20);
        refuses(&first, "alice", "all clients together have");
        let second = other(&first);
        assert!(takes(&second, "bob"));
        let _some = hold(&second, "bob", FREE_PER_USER);
        refuses(&second, "bob", "all clients together have");
    }

    #[test]
    fn a_response_that_has_begun_goes_on_when_there_is_room() {
        let memory = memory(usize::MAX, 1 << 20, usize::MAX);
        let account = memory.account(Some(&user("alice")));
        let flag = Arc::new(Flag(AtomicBool::new(false)));
        let waker = flag.clone().into();
        let mut context = Context::from_waker(&waker);
        let held = hold(&memory, "alice", 1 << 20);
        assert!(memory.poll_room(&mut context, &account, 1).is_pending());
        assert!(!flag.0.load(Ordering::Relaxed));
        drop(held);
        assert!(flag.0.load(Ordering::Relaxed));
        assert!(memory.poll_room(&mut context, &account, 1).is_ready());
    }

    struct Flag(AtomicBool);

    impl std::task::Wake for Flag {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn accounts_that_nobody_uses_go() {
        let memory = memory(usize::MAX, 1 << 20, usize::MAX);
        for number in 0..3 * FIRST_PURGE {
            drop(hold(&memory, &number.to_string(), 1));
        }
        let kept = lock(&memory.unread.accounts).by_user.len();
        assert!(kept <= FIRST_PURGE, "{kept}");
    }

    #[test]
    fn bytes_are_known_by_the_period_of_their_deadline() {
        let memory = memory(usize::MAX, usize::MAX, usize::MAX);
        let first = memory.charge(None, 5, Some(7));
        let second = memory.charge(None, 6, Some(8));
        assert_eq!((memory.due(7), memory.due(8), memory.due(9)), (5, 6, 0));
        drop(first);
        assert_eq!((memory.due(7), memory.bytes()), (0, 6));
        drop(second);
        assert_eq!(memory.bytes(), 0);
    }
}
