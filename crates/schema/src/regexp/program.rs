//! A list of states, and running it: all states that a text can be in are followed at once, so that time is at most the
//! product of both lengths. It counts its steps and stops when there are none left.

use std::collections::HashMap;

use super::class::{Class, folded};
use super::parse::{Look, Node};

/// More states are not made.
const MAX_STATES: usize = 1 << 15;
/// So many visits of states are one step.
const VISITS: usize = 64;

#[derive(Debug)]
pub(super) struct Program {
    states: Vec<State>,
    classes: Vec<(Class, bool)>,
    /// It can only match at the beginning.
    anchored: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Char(char),
    Folded(char),
    Any,
    NotNewline,
    Class(usize),
    Look(Look),
    /// On to the next state, and to another.
    Split(usize),
    Jump(usize),
    Match,
}

pub(super) fn fits(node: &Node) -> bool {
    size(node) < MAX_STATES
}

/// How many states a tree becomes.
fn size(node: &Node) -> usize {
    match node {
        Node::Empty => 0,
        Node::Char(..) | Node::Any(_) | Node::Class(..) | Node::Look(_) => 1,
        Node::Cat(all) => all.iter().map(size).fold(0, usize::saturating_add),
        Node::Alternate(all) => {
            let each = all.iter().map(|it| size(it).saturating_add(2));
            each.fold(0, usize::saturating_add)
        }
        Node::Repeat(inner, min, max) => {
            let one = size(inner).saturating_add(2);
            one.saturating_mul(max.unwrap_or(min + 1).max(1))
        }
    }
}

impl Program {
    pub(super) fn new(node: &Node) -> Option<Self> {
        if !fits(node) {
            return None;
        }
        let mut program = Self {
            states: Vec::new(),
            classes: Vec::new(),
            anchored: begins(node),
        };
        program.add(node, &mut HashMap::new());
        program.states.push(State::Match);
        Some(program)
    }

    pub(super) fn size(&self) -> usize {
        self.states.len()
    }

    /// `known` has the places of classes, by where they lie in the tree: what is repeated has each of its classes once.
    fn add(&mut self, node: &Node, known: &mut HashMap<usize, usize>) {
        match node {
            Node::Empty => {}
            Node::Char(it, false) => self.states.push(State::Char(*it)),
            Node::Char(it, true) => self.states.push(State::Folded(folded(*it))),
            Node::Any(true) => self.states.push(State::Any),
            Node::Any(false) => self.states.push(State::NotNewline),
            Node::Class(class, fold) => {
                let place = known.entry(std::ptr::from_ref(class).addr());
                let index = *place.or_insert_with(|| {
                    self.classes.push((class.clone(), *fold));
                    self.classes.len() - 1
                });
                self.states.push(State::Class(index));
            }
            Node::Look(look) => self.states.push(State::Look(*look)),
            Node::Cat(all) => all.iter().for_each(|it| self.add(it, known)),
            Node::Alternate(all) => {
                let mut ends = Vec::new();
                for (index, it) in all.iter().enumerate() {
                    let split = self.states.len();
                    let is_last = index + 1 == all.len();
                    if !is_last {
                        self.states.push(State::Match);
                    }
                    self.add(it, known);
                    if !is_last {
                        ends.push(self.states.len());
                        self.states.push(State::Match);
                        self.states[split] = State::Split(self.states.len());
                    }
                }
                for end in ends {
                    self.states[end] = State::Jump(self.states.len());
                }
            }
            Node::Repeat(inner, min, max) => self.repeat(inner, *min, *max, known),
        }
    }

    fn repeat(
        &mut self,
        inner: &Node,
        min: usize,
        max: Option<usize>,
        known: &mut HashMap<usize, usize>,
    ) {
        for _ in 0..min {
            self.add(inner, known);
        }
        let Some(max) = max else {
            // Once more, or on.
            let split = self.states.len();
            self.states.push(State::Match);
            self.add(inner, known);
            self.states.push(State::Jump(split));
            self.states[split] = State::Split(self.states.len());
            return;
        };
        let mut splits = Vec::new();
        for _ in min..max {
            splits.push(self.states.len());
            self.states.push(State::Match);
            self.add(inner, known);
        }
        for split in splits {
            self.states[split] = State::Split(self.states.len());
        }
    }

    pub(super) fn is_match(&self, text: &str, steps: &mut usize) -> bool {
        let mut run = Run {
            program: self,
            marks: vec![usize::MAX; self.states.len()],
            todo: Vec::new(),
            visits: 0,
        };
        let (mut now, mut next) = (Vec::new(), Vec::new());
        let mut before = None;
        let ends = text.chars().map(Some).chain([None]);
        for (place, this) in ends.enumerate() {
            let around = (before, this);
            let mut found = false;
            // Those that were waiting for this place first; then one that begins here.
            for state in next.drain(..) {
                found |= run.follow(state, place, around, &mut now);
            }
            if place == 0 || !self.anchored {
                found |= run.follow(0, place, around, &mut now);
            }
            *steps = steps.saturating_sub(run.visits / VISITS);
            run.visits %= VISITS;
            if found || *steps == 0 {
                return found;
            }
            let Some(this) = this else { break };
            for state in now.drain(..) {
                if self.takes(state, this) {
                    next.push(state + 1);
                }
            }
            if next.is_empty() && self.anchored {
                return false;
            }
            before = Some(this);
        }
        false
    }

    fn takes(&self, state: usize, it: char) -> bool {
        match self.states[state] {
            State::Char(wanted) => it == wanted,
            State::Folded(wanted) => folded(it) == wanted,
            State::Any => true,
            State::NotNewline => it != '\n',
            State::Class(at) => {
                let (class, fold) = &self.classes[at];
                class.contains(it, *fold)
            }
            State::Look(_) | State::Split(_) | State::Jump(_) | State::Match => false,
        }
    }
}

struct Run<'a> {
    program: &'a Program,
    /// Where each state was last reached.
    marks: Vec<usize>,
    todo: Vec<usize>,
    visits: usize,
}

impl Run<'_> {
    /// All states that can be reached without a character. Tells whether one is the end.
    fn follow(
        &mut self,
        state: usize,
        place: usize,
        around: (Option<char>, Option<char>),
        reached: &mut Vec<usize>,
    ) -> bool {
        self.todo.push(state);
        while let Some(state) = self.todo.pop() {
            self.visits += 1;
            if std::mem::replace(&mut self.marks[state], place) == place {
                continue;
            }
            match self.program.states[state] {
                State::Match => {
                    self.todo.clear();
                    return true;
                }
                State::Split(other) => self.todo.extend([other, state + 1]),
                State::Jump(other) => self.todo.push(other),
                State::Look(look) if holds(look, around) => self.todo.push(state + 1),
                State::Look(_) => {}
                _ => reached.push(state),
            }
        }
        false
    }
}

fn holds(look: Look, (before, after): (Option<char>, Option<char>)) -> bool {
    let word = |it: Option<char>| it.is_some_and(|it| it.is_ascii_alphanumeric() || it == '_');
    match look {
        Look::BeginText => before.is_none(),
        Look::EndText => after.is_none(),
        Look::BeginLine => before.is_none_or(|it| it == '\n'),
        Look::EndLine => after.is_none_or(|it| it == '\n'),
        Look::Word => word(before) != word(after),
        Look::NotWord => word(before) == word(after),
    }
}

fn begins(node: &Node) -> bool {
    match node {
        Node::Look(Look::BeginText) => true,
        Node::Cat(all) => all.first().is_some_and(begins),
        Node::Alternate(all) => all.iter().all(begins),
        _ => false,
    }
}
