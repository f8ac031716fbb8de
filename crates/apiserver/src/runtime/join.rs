//! Several futures at once within one task.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Waits for all; answers in the order of the questions.
pub(crate) async fn all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut answers: Vec<Option<F::Output>> = running.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut left = false;
        for (future, answer) in running.iter_mut().zip(&mut answers) {
            if answer.is_some() {
                continue;
            }
            match future.as_mut().poll(context) {
                Poll::Ready(found) => *answer = Some(found),
                Poll::Pending => left = true,
            }
        }
        if left { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    answers.into_iter().flatten().collect()
}
