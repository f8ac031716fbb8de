use super::*;
use crate::context::{Flags, TraceContext};
use crate::protobuf::{Message, attribute};
use crate::trace::arena::{Keep, Link};
use crate::trace::attributes::{Attributes, Name};
use crate::trace::clock::{Calendar, now};
use crate::trace::describe::Describe;
use crate::trace::encode;
use crate::trace::ids;

struct Described {
    text: String,
    is_error: bool,
}

impl Describe for Described {
    fn name(&self, out: &mut Name<'_>) {
        out.push("GET ");
        out.push(&self.text);
    }

    fn attributes(&self, role: Role, out: &mut Attributes<'_>) {
        if role == Role::Server || role == Role::Handler {
            out.text("url", &self.text);
        }
    }

    fn is_error(&self) -> bool {
        self.is_error
    }
}

fn arena() -> Arena {
    let mut arena = Arena::new();
    arena.reset(ids::trace(), Flags::minted(true), Keep::Spans);
    arena.open_root(now(), Kind::Server);
    arena
}

fn span(arena: &mut Arena, name: &'static str, scope: Scope, role: Role) -> u32 {
    let index = arena.start(name, arena.current, scope, role, now());
    let index = index.expect("there is room for it");
    arena.current = index;
    index
}

/// The variants differ in one thing each, and in nothing from one call to the next but in ids, times and lengths.
fn shaped(variant: usize, length: usize) -> (Arena, Described) {
    let context = TraceContext {
        trace_id: ids::trace(),
        span_id: ids::span(),
        flags: Flags::minted(true),
        state: None,
    };
    let mut arena = arena();
    let mut described = Described {
        text: "t".repeat(length),
        is_error: false,
    };
    span(&mut arena, "authentication", Scope::Filter, Role::Plain);
    let handler = span(&mut arena, "Get", Scope::Component, Role::Handler);
    arena.event(handler, "begun", "", 0);
    let stored = span(&mut arena, "Get etcd3", Scope::Component, Role::Stored);
    arena.text_attribute(stored, "key", &"k".repeat(length));
    let count = i64::try_from(length).unwrap();
    arena.event(stored, "Decode succeeded", "len", count);
    arena.event(handler, "ended", "", 0);
    match variant {
        0 => {}
        1 => arena.set_parent(context, None, true),
        2 => {
            let state = Some("a=b".into());
            arena.set_parent(TraceContext { state, ..context }, None, true);
        }
        3 => {
            arena.link = Some(Link {
                context,
                is_remote: true,
            });
        }
        4 => described.is_error = true,
        5 => arena.spans[1].failed = true,
        6 => arena.left_out = 7,
        7 => arena.event(1, "in a filter", "", 0),
        8 => arena.event(1, "in a filter", "count", 3),
        9 => arena.spans[2].kind = Kind::Client,
        10 => arena.spans[3].parent = 1,
        11 => {
            let long = "a name of more than a hundred and twenty-eight bytes, which is so long that its length takes \
                        two bytes and no longer one, as the lengths of others do";
            span(&mut arena, long, Scope::Filter, Role::Plain);
            arena.event(stored, long, "", 0);
            arena.event(stored, long, "len", 1);
        }
        12 => {
            for _ in 0..200 {
                span(&mut arena, "audit", Scope::Filter, Role::Plain);
            }
        }
        _ => {
            span(&mut arena, "store.commit", Scope::Own, Role::Plain);
        }
    }
    (arena, described)
}

const VARIANTS: usize = 14;

/// The same as a message of messages, each made for itself.
fn reference(arena: &Arena, calendar: Calendar, describe: &Described) -> Vec<u8> {
    let mut out = Message::default();
    for scope in Scope::ALL {
        if arena.scopes & scope.bit() == 0 {
            continue;
        }
        out.message(2, |out| {
            let name = match scope {
                Scope::Own => "pilothouse",
                Scope::Filter => "k8s.op/apiserver/pkg/endpoints/filterlatency",
                Scope::Component => "k8s.io/component-base/tracing",
            };
            out.message(1, |out| out.text(1, name));
            for (index, span) in (0..).zip(&arena.spans) {
                if span.scope == scope {
                    out.message(2, |out| one(arena, calendar, describe, (index, span), out));
                }
            }
        });
    }
    out.0
}

fn one(
    arena: &Arena,
    calendar: Calendar,
    describe: &Described,
    (index, span): (u32, &Record),
    out: &mut Message,
) {
    let is_root = index == 0;
    out.bytes(1, &arena.trace_id.to_bytes());
    out.bytes(2, &arena.span_id(index).to_bytes());
    let parent = match arena.parent {
        _ if !is_root => Some(arena.span_id(span.parent)),
        parent => parent,
    };
    if let Some(parent) = parent {
        out.bytes(4, &parent.to_bytes());
    }
    if is_root {
        out.text(5, &format!("GET {}", describe.text));
    } else {
        out.text(5, span.name);
    }
    out.number(6, u64::from(kind(span.kind)));
    out.fixed64(7, calendar.nanos(span.start));
    out.fixed64(8, calendar.nanos(span.end.expect("all have ended")));
    let remote = if is_root && arena.parent.is_some() {
        0x300
    } else {
        0x100
    };
    out.fixed32(16, u32::from(arena.flags.bits()) | remote);
    if is_root {
        if arena.left_out > 0 {
            out.number(12, u64::from(arena.left_out));
        }
        if let Some(link) = &arena.link {
            out.message(13, |out| {
                out.bytes(1, &link.context.trace_id.to_bytes());
                out.bytes(2, &link.context.span_id.to_bytes());
                out.fixed32(6, u32::from(link.context.flags.bits()) | 0x300);
            });
        }
        if describe.is_error {
            out.message(15, |out| out.number(3, 2));
        }
    }
    if let Some(state) = &arena.state {
        out.text(3, state);
    }
    if matches!(span.role, Role::Server | Role::Handler) {
        attribute(out, 9, "url", &describe.text);
    }
    if span.role == Role::Stored {
        attribute(out, 9, "key", &arena.text);
    }
    if span.failed {
        out.message(15, |out| out.number(3, 2));
    }
    for (_, event) in span.events.iter(&arena.events) {
        out.message(11, |out| {
            out.fixed64(1, calendar.nanos(event.time));
            out.text(2, event.name);
            if !event.key.is_empty() {
                out.message(3, |out| {
                    out.text(1, event.key);
                    out.message(2, |out| out.number(3, event.value.cast_unsigned()));
                });
            }
        });
    }
}

/// Each shape is met often enough to be known, among others, and with what it carries of every length.
#[test]
fn a_trace_is_written_as_without_a_plan() {
    for length in [0, 1, 5, 100, 127, 128, 300, 4000, 20, 20, 20] {
        for variant in (0..VARIANTS).chain(0..VARIANTS) {
            let (mut arena, described) = shaped(variant, length);
            let calendar = Calendar::at(arena.close());
            let mut out = b"before".to_vec();
            encode::at(&arena, calendar, &described, &mut out);
            let want = [&b"before"[..], &reference(&arena, calendar, &described)].concat();
            assert!(out == want, "variant {variant}, length {length}");
        }
    }
}

#[test]
fn shapes_are_told_apart() {
    for first in 0..VARIANTS {
        let plan = Plan::new(&shaped(first, 5).0);
        for second in 0..VARIANTS {
            let fits = plan.shape.is_of(&shaped(second, 300).0);
            // What links, failures of the server and spans left out change is not part of a plan.
            let alike = [0, 3, 4, 6];
            let same = first == second || [first, second].iter().all(|it| alike.contains(it));
            assert_eq!(fits, same, "{first} {second}");
        }
    }
}

#[test]
fn a_shape_is_known_when_it_came_twice() {
    let plans: Vec<_> = (0..4).map(|_| Plan::of(&shaped(0, 5).0)).collect();
    assert!(!Rc::ptr_eq(&plans[0], &plans[1]));
    assert!(Rc::ptr_eq(&plans[1], &plans[2]) && Rc::ptr_eq(&plans[2], &plans[3]));
}

#[test]
fn what_is_very_large_is_not_kept() {
    let plans = (0..4).map(|_| Plan::of(&shaped(12, 5).0));
    let plans: Vec<_> = plans.collect();
    assert!(plans[0].bytes.len() > LARGEST);
    assert!(plans.windows(2).all(|it| !Rc::ptr_eq(&it[0], &it[1])));
}
