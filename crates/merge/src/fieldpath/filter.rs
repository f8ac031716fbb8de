//! Which fields a kind of request may own at all.

use super::{Element, Node, Set};

#[derive(Clone, Debug)]
pub enum Filter {
    /// All but these, and what is below them.
    Exclude(Set<'static>),
    /// Only what matches.
    Include(Matcher),
}

/// Paths with wildcards. What matches a whole pattern matches with all below it.
#[derive(Clone, Debug, Default)]
pub struct Matcher(Vec<(Option<Element<'static>>, Matcher)>);

impl Matcher {
    /// All paths that begin so. `None` stands for any element.
    pub fn prefix(parts: Vec<Option<Element<'static>>>) -> Self {
        let parts = parts.into_iter().rev();
        parts.fold(Self(Vec::new()), |below, part| Self(vec![(part, below)]))
    }

    /// What either matches.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self.0.is_empty() || other.0.is_empty() {
            return Self(Vec::new());
        }
        let mut all = self.0;
        for (part, below) in other.0 {
            match all.iter_mut().find(|(it, _)| *it == part) {
                Some((_, found)) => *found = std::mem::take(found).or(below),
                None => all.push((part, below)),
            }
        }
        // Wildcards come first, as the first that matches decides.
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        Self(all)
    }

    fn keep(&self, set: &mut Set) {
        if self.0.is_empty() {
            return;
        }
        set.0.retain_mut(|node| {
            let Node {
                element, children, ..
            } = node;
            let mut parts = self.0.iter();
            let found = parts.find(|(part, _)| part.as_ref().is_none_or(|it| it == element));
            match found {
                Some((_, below)) => below.keep(children),
                None => return false,
            }
            node.member || !node.children.is_empty()
        });
    }
}

impl Filter {
    /// Takes away what may not be owned.
    pub fn keep_in(&self, set: &mut Set) {
        match self {
            Self::Exclude(fields) => set.subtract_recursively(fields),
            Self::Include(matcher) => matcher.keep(set),
        }
    }
}
