use std::sync::atomic::AtomicUsize;
use std::task::{Wake, Waker};

use super::*;
use crate::export::message::Message;

/// Takes so much at each write, and nothing when there is no more room.
#[derive(Debug, Default)]
struct Socket {
    most: usize,
    room: usize,
    /// What each write brought.
    writes: Vec<Vec<u8>>,
    /// How much can be read.
    incoming: usize,
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.incoming == 0 {
            return Poll::Pending;
        }
        let count = self.incoming.min(buffer.remaining());
        self.incoming -= count;
        buffer.put_slice(&vec![7; count]);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.room == 0 {
            return Poll::Pending;
        }
        let mut all: Vec<u8> = slices.iter().flat_map(|it| it.to_vec()).collect();
        all.truncate(self.most.min(self.room));
        self.room -= all.len();
        let count = all.len();
        self.writes.push(all);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// How often it was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Driven {
    stream: Batched<Socket>,
    woken: Arc<Woken>,
}

impl Driven {
    fn new(most: usize, room: usize, gathers: bool) -> Self {
        let socket = Socket {
            most,
            room,
            ..Socket::default()
        };
        let exchange = Arc::default();
        Self {
            stream: Batched::new(socket, exchange, gathers),
            woken: Arc::default(),
        }
    }

    fn with<T>(&mut self, act: impl FnOnce(Pin<&mut Batched<Socket>>, &mut Context<'_>) -> T) -> T {
        let waker = Waker::from(self.woken.clone());
        act(Pin::new(&mut self.stream), &mut Context::from_waker(&waker))
    }

    /// As the library does it: a frame's head and a piece of the message, and then it flushes.
    fn frame(&mut self, head: &[u8], piece: &[u8]) -> Poll<io::Result<usize>> {
        let written = self.with(|stream, context| {
            stream.poll_write_vectored(context, &[IoSlice::new(head), IoSlice::new(piece)])
        });
        let flushed = self.with(AsyncWrite::poll_flush);
        assert!(matches!(flushed, Poll::Ready(Ok(()))));
        written
    }

    fn read(&mut self) -> Poll<io::Result<usize>> {
        let mut memory = vec![0; 1 << 20];
        let mut buffer = ReadBuf::new(&mut memory);
        let read = self.with(|stream, context| stream.poll_read(context, &mut buffer));
        read.map_ok(|()| buffer.filled().len())
    }

    fn woken(&self) -> usize {
        self.woken.0.swap(0, Ordering::Relaxed)
    }
}

#[test]
fn frames_leave_together_and_the_message_is_not_copied() {
    let mut driven = Driven::new(usize::MAX, usize::MAX, true);
    let piece = Bytes::from(vec![1; 40_000]);
    let body = Message::new(Vec::new(), vec![piece.clone()]).body(Vec::new());
    driven.stream.exchange.begin(&body);
    let mut want = Vec::new();
    for part in piece.chunks(16_384) {
        let head = [0; 9];
        assert!(
            matches!(driven.frame(&head, part), Poll::Ready(Ok(count)) if count == 9 + part.len())
        );
        want.extend_from_slice(&head);
        want.extend_from_slice(part);
    }
    assert!(driven.woken() > 0, "or nobody would write it");
    assert!(driven.stream.inner.writes.is_empty());
    let shared = driven.stream.waiting.iter();
    let shared = shared.filter(|it| piece.as_ptr_range().contains(&it.as_ptr()));
    assert_eq!(shared.map(Bytes::len).sum::<usize>(), piece.len());
    assert!(driven.read().is_pending());
    assert!(driven.stream.inner.writes == [want], "in one go");
    // There is no more to write, and nobody is woken for it.
    assert!(driven.with(AsyncWrite::poll_flush).is_ready());
    assert_eq!(driven.woken(), 0);
    driven.stream.exchange.end();
    assert!(driven.stream.exchange.part(&piece).is_none());
}

#[test]
fn who_takes_little_at_a_time_gets_all_in_order() {
    let mut driven = Driven::new(10, 25, true);
    let want: Vec<u8> = (0..60).collect();
    assert!(driven.frame(&want[..20], &want[20..60]).is_ready());
    assert!(driven.read().is_pending());
    driven.woken();
    // The socket wakes it when it has room: until then it is not woken again and again.
    assert!(driven.with(AsyncWrite::poll_flush).is_ready());
    assert_eq!(driven.woken(), 0);
    driven.stream.inner.room = usize::MAX;
    assert!(driven.with(AsyncWrite::poll_shutdown).is_ready());
    assert_eq!(driven.stream.inner.writes.concat(), want);
}

#[test]
fn no_more_than_so_much_gathers() {
    let mut driven = Driven::new(usize::MAX, 0, true);
    let part = vec![0; 100_000];
    let taken = (0..1000).take_while(|_| driven.frame(&[], &part).is_ready());
    let taken = taken.count() * part.len();
    assert!((GATHERED..2 * GATHERED).contains(&taken), "{taken}");
}

#[test]
fn without_gathering_what_is_written_is_written() {
    let mut driven = Driven::new(usize::MAX, usize::MAX, false);
    assert!(matches!(driven.frame(b"a", b"bc"), Poll::Ready(Ok(3))));
    assert_eq!(driven.stream.inner.writes, [b"abc"]);
}

#[test]
fn an_answer_has_an_end() {
    let mut driven = Driven::new(usize::MAX, usize::MAX, true);
    for _ in 0..2 {
        // Counted anew for each request.
        driven.stream.exchange.begin(&Vec::new().into());
        driven.stream.inner.incoming = MAX_READ;
        while driven.stream.inner.incoming > 0 {
            assert!(matches!(driven.read(), Poll::Ready(Ok(_))));
        }
    }
    driven.stream.inner.incoming = 1;
    let Poll::Ready(Err(error)) = driven.read() else {
        panic!("it went on");
    };
    assert!(
        error.to_string().contains("instead of an answer"),
        "{error}"
    );
}
