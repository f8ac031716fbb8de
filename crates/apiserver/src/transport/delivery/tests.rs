use std::collections::VecDeque;
use std::sync::Mutex;
use std::task::Waker;
use std::time::Duration;

use super::*;
use crate::transport::body::Upcoming;
use crate::transport::unread::ConnectionMemory;

const PERIOD: Duration = Duration::from_secs(60);

fn state() -> Arc<ConnectionState> {
    Arc::new(ConnectionState::new(Arc::default(), PERIOD))
}

/// Frames of these lengths; counts how many were made.
struct Made {
    lengths: VecDeque<usize>,
    count: Arc<AtomicUsize>,
}

impl Frames for Made {
    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let next = self.lengths.pop_front();
        if next.is_some() {
            self.count.fetch_add(1, Ordering::Relaxed);
        }
        Poll::Ready(next.map(|it| vec![0; it].into()))
    }

    fn upcoming(&self) -> Upcoming {
        Upcoming {
            next: self.lengths.front().copied().unwrap_or(0),
            held: 0,
        }
    }
}

fn made(lengths: &[usize]) -> (Pin<Box<dyn Frames>>, Arc<AtomicUsize>) {
    let count = Arc::default();
    let frames = Made {
        lengths: lengths.iter().copied().collect(),
        count: Arc::clone(&count),
    };
    (Box::pin(frames), count)
}

fn deliver(body: Body, state: &Arc<ConnectionState>) -> Delivery {
    let terms = DeliveryTerms {
        deadline: Some(Instant::now() + PERIOD),
        ..DeliveryTerms::default()
    };
    let response = Response::new(body);
    Delivery::of(Answer { response, terms }, state).into_body()
}

fn poll(body: &mut Delivery) -> Poll<Option<Bytes>> {
    let mut context = Context::from_waker(Waker::noop());
    let polled = Pin::new(body).poll_frame(&mut context);
    polled.map(|it| it.map(|it| it.unwrap().into_data().unwrap()))
}

#[track_caller]
fn next(body: &mut Delivery) -> Option<Bytes> {
    match poll(body) {
        Poll::Ready(frame) => frame,
        Poll::Pending => panic!("pending"),
    }
}

#[test]
fn a_small_response_is_one_frame_that_counts_until_it_is_written() {
    let state = state();
    let mut body = deliver(vec![1; 1000].into(), &state);
    assert_eq!(body.size_hint().exact(), Some(1000));
    assert_eq!(state.memory.bytes(), 1000);
    let frame = next(&mut body).unwrap();
    assert!(body.is_end_stream());
    drop(body);
    assert_eq!((frame.len(), state.memory.bytes()), (1000, 1000));
    drop(frame);
    assert_eq!(state.memory.bytes(), 0);
}

#[test]
fn the_next_frame_is_made_when_the_last_one_is_written() {
    let state = state();
    let (frames, count) = made(&[70_000, 80_000]);
    let mut body = deliver(Body::Chunks(frames), &state);
    let first = next(&mut body).unwrap();
    for _ in 0..3 {
        assert!(poll(&mut body).is_pending());
    }
    assert_eq!(
        (count.load(Ordering::Relaxed), state.memory.bytes()),
        (1, 70_000)
    );
    drop(first);
    let second = next(&mut body).unwrap();
    assert_eq!(state.memory.bytes(), 80_000);
    // It could still be cut off.
    assert!(poll(&mut body).is_pending() && !body.is_end_stream());
    drop(second);
    assert!(next(&mut body).is_none());
    assert_eq!(state.memory.bytes(), 0);
}

#[test]
fn a_large_object_is_handed_over_in_parts() {
    let state = state();
    let length = 3 * FRAME + 5;
    let mut body = deliver(vec![7; length].into(), &state);
    assert_eq!(body.size_hint().exact(), Some(length as u64));
    assert_eq!(state.memory.bytes(), length);
    let mut lengths = Vec::new();
    while let Some(frame) = next(&mut body) {
        lengths.push(frame.len());
    }
    assert_eq!(lengths, [FRAME, FRAME, FRAME, 5]);
    drop(body);
    assert_eq!(state.memory.bytes(), 0);
}

#[test]
fn of_a_document_that_is_kept_anyway_only_what_is_on_its_way_counts() {
    let state = state();
    let document = Bytes::from(vec![7; 10 * FRAME]);
    let mut body = deliver(document.clone().into(), &state);
    assert_eq!(state.memory.bytes(), 0);
    let frame = next(&mut body).unwrap();
    assert_eq!(state.memory.bytes(), FRAME);
    drop((frame, body));
    assert_eq!(state.memory.bytes(), 0);
}

#[test]
fn a_watch_makes_nothing_while_its_client_takes_nothing() {
    let state = state();
    let (frames, count) = made(&[100; 10]);
    let mut body = deliver(Body::Stream(frames), &state);
    assert_eq!(next(&mut body).unwrap().len(), 100);
    assert_eq!(next(&mut body).unwrap().len(), 100);
    state.set_clogged(true);
    for _ in 0..3 {
        assert!(poll(&mut body).is_pending());
    }
    assert_eq!(count.load(Ordering::Relaxed), 2);
    state.set_clogged(false);
    assert!(next(&mut body).is_some());
}

#[test]
fn a_watch_has_one_large_event_on_its_way() {
    let state = state();
    let (frames, count) = made(&[1 << 20, 1 << 20]);
    let mut body = deliver(Body::Stream(frames), &state);
    let first = next(&mut body).unwrap();
    assert!(poll(&mut body).is_pending());
    assert_eq!(
        (count.load(Ordering::Relaxed), state.memory.bytes()),
        (1, 1 << 20)
    );
    drop(first);
    assert!(next(&mut body).is_some());
}

#[test]
fn who_waits_is_woken_when_the_client_takes_more() {
    struct Count(AtomicUsize);
    impl std::task::Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = count.clone().into();
    let mut context = Context::from_waker(&waker);
    let state = state();
    let bodies = Mutex::new(Vec::new());
    for body in [
        Body::Stream(made(&[100]).0),
        Body::Chunks(made(&[20_000; 2]).0),
    ] {
        let mut body = deliver(body, &state);
        if matches!(body, Delivery::Large(_)) {
            let first = next(&mut body).unwrap();
            assert!(Pin::new(&mut body).poll_frame(&mut context).is_pending());
            drop(first);
            assert_eq!(count.0.load(Ordering::Relaxed), 2);
        } else {
            state.set_clogged(true);
            assert!(Pin::new(&mut body).poll_frame(&mut context).is_pending());
            state.set_clogged(false);
            assert_eq!(count.0.load(Ordering::Relaxed), 1);
        }
        bodies.lock().unwrap().push(body);
    }
}

#[test]
fn what_is_not_written_is_overdue_after_the_period_of_its_deadline() {
    let state = state();
    let now = Instant::now();
    assert_eq!(state.overdue_at(now), None);
    let mut body = deliver(vec![1; 1000].into(), &state);
    let frame = next(&mut body);
    drop(body);
    let at = state.overdue_at(now).expect("something waits");
    assert!(at > now + PERIOD && at <= now + 2 * PERIOD + Duration::from_secs(1));
    assert_eq!(state.overdue_at(at), Some(at));
    drop(frame);
    assert_eq!(state.overdue_at(at), None);
}

#[test]
fn what_is_held_for_a_list_counts_until_it_is_handed_over() {
    let memory = Arc::<ConnectionMemory>::default();
    let state = Arc::new(ConnectionState::new(memory, PERIOD));
    let upcoming = Upcoming {
        next: 0,
        held: 500_000,
    };
    let body = Body::chunks(upcoming, |out| async move {
        out.send(vec![0; 500_000].into()).await;
    });
    let mut body = deliver(body, &state);
    assert_eq!(state.memory.bytes(), 500_000);
    let frame = next(&mut body);
    assert_eq!(state.memory.bytes(), 500_000);
    drop((frame, body));
    assert_eq!(state.memory.bytes(), 0);
}
