//! Watches by the thousand that nobody reads, while much is written.

use std::io::{self, Write as _};
use std::time::Duration;

use json::json;

use crate::field::{Field, MAPS};
use crate::http2::{END_HEADERS, END_STREAM, HEADERS, connect, frame, request};
use crate::{Attack, Bounds, USUAL, Who};

pub(super) const ALL: &[Attack] = &[Attack {
    name: "unread-watches",
    about: "2,000 watches of which nobody reads anything while 400 objects of 20 KB are written",
    who: Who::Editor,
    bounds: Bounds {
        memory_mib: 384,
        cpu: Duration::from_secs(40),
        bystander: Duration::from_millis(250),
        ..USUAL
    },
    run: unread_watches,
}];

fn unread_watches(field: &mut Field) -> io::Result<()> {
    let alice = field.alice();
    let (connections, each) = (field.of(20, 4), field.of(100, 25));
    let mut open = Vec::new();
    for _ in 0..connections {
        let mut stream = connect(&alice, &[])?;
        let head = request(&alice, &format!("{MAPS}?watch=true"));
        let numbers = (0..u32::try_from(each).unwrap_or(0)).map(|it| it * 2 + 1);
        let all: Vec<u8> = numbers
            .flat_map(|on| frame(HEADERS, END_STREAM | END_HEADERS, on, &head))
            .collect();
        stream.write_all(&all)?;
        open.push(stream);
    }
    field.tried(connections * each);
    let text = "x y\n".repeat(5000);
    for _ in 0..field.of(400, 40) {
        let map = json!({"metadata": {"generateName": "watched-"}, "data": {"text": (&*text)}});
        let answer = alice.post(MAPS, &map);
        field.expect("a write", answer, &[201]);
    }
    drop(open);
    Ok(())
}
