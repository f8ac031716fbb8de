//! One iterator over two layouts.

/// Over the pairs of a small object, or the live slots of a large one.
#[derive(Clone, Debug)]
pub(super) enum Pairs<S, L> {
    Small(S),
    Large(L),
}

impl<S: Iterator, L: Iterator<Item = S::Item>> Iterator for Pairs<S, L> {
    type Item = S::Item;

    fn next(&mut self) -> Option<S::Item> {
        match self {
            Self::Small(it) => it.next(),
            Self::Large(it) => it.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Small(it) => it.size_hint(),
            Self::Large(it) => it.size_hint(),
        }
    }
}

impl<S, L> DoubleEndedIterator for Pairs<S, L>
where
    S: DoubleEndedIterator,
    L: DoubleEndedIterator<Item = S::Item>,
{
    fn next_back(&mut self) -> Option<S::Item> {
        match self {
            Self::Small(it) => it.next_back(),
            Self::Large(it) => it.next_back(),
        }
    }
}

impl<S, L> ExactSizeIterator for Pairs<S, L>
where
    S: ExactSizeIterator,
    L: ExactSizeIterator<Item = S::Item>,
{
}

/// The slots that hold a pair, of which the number is known.
#[derive(Clone, Debug)]
pub(super) struct Live<I> {
    slots: I,
    left: usize,
}

impl<I> Live<I> {
    pub(super) fn new(slots: I, left: usize) -> Self {
        Self { slots, left }
    }
}

impl<I: Iterator<Item: IntoIterator>> Iterator for Live<I> {
    type Item = <I::Item as IntoIterator>::Item;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.slots.find_map(|slot| slot.into_iter().next())?;
        self.left -= 1;
        Some(found)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: DoubleEndedIterator<Item: IntoIterator>> DoubleEndedIterator for Live<I> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let found = self
            .slots
            .by_ref()
            .rev()
            .find_map(|slot| slot.into_iter().next())?;
        self.left -= 1;
        Some(found)
    }
}

impl<I: Iterator<Item: IntoIterator>> ExactSizeIterator for Live<I> {}
