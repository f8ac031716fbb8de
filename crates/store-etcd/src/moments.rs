//! Pauses that end when they should: the runtime's timers count in whole milliseconds, and may end one too late.

use std::time::Duration;

#[cfg(target_os = "linux")]
pub(crate) use timer::Moments;

/// A timer of the kernel's, among what the runtime waits for anyway: no thread has to be woken for it.
#[cfg(target_os = "linux")]
mod timer {
    use std::os::fd::OwnedFd;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    use super::Duration;

    #[derive(Debug)]
    pub(crate) struct Moments(Option<AsyncFd<OwnedFd>>);

    impl Moments {
        /// Must be called on a runtime. Without a timer there are no pauses.
        pub(crate) fn start() -> Self {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags).ok();
            #[expect(
                deprecated,
                reason = "what took its place is unsafe, for the sake of types that do not own what they name"
            )]
            Self(timer.and_then(|it| AsyncFd::try_with_interest(it, Interest::READABLE).ok()))
        }

        /// For one caller after the other.
        pub(crate) async fn pass(&self, length: Duration) {
            let Some(timer) = &self.0 else { return };
            let once = Itimerspec {
                it_interval: Timespec::default(),
                it_value: Timespec::try_from(length).unwrap_or_default(),
            };
            // Starting it again forgets how often it went off.
            if timerfd_settime(timer, TimerfdTimerFlags::empty(), &once).is_err() {
                return;
            }
            while let Ok(mut ready) = timer.readable().await {
                match rustix::io::read(timer, &mut [0; 8]) {
                    Err(rustix::io::Errno::AGAIN) => ready.clear_ready(),
                    _ => return,
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct Moments;

#[cfg(not(target_os = "linux"))]
impl Moments {
    pub(crate) fn start() -> Self {
        Self
    }

    pub(crate) async fn pass(&self, length: Duration) {
        tokio::time::sleep(length).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[tokio::test]
    async fn a_moment_passes_and_so_do_those_that_nobody_waited_for() {
        let moments = Moments::start();
        let length = Duration::from_millis(2);
        for _ in 0..3 {
            tokio::select! {
                biased;
                () = moments.pass(length) => unreachable!("not at once"),
                () = std::future::ready(()) => {}
            }
            std::thread::sleep(length * 2);
            let start = Instant::now();
            moments.pass(length).await;
            assert!(start.elapsed() >= length);
        }
    }
}
