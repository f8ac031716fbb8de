//! Documents that are large: many ask for them at once.

use std::io;
use std::time::Duration;

use json::{Value, json};

use super::crowd;
use crate::field::Field;
use crate::{Attack, Bounds, USUAL, Who};

pub(super) const ALL: &[Attack] = &[Attack {
    name: "openapi-burst",
    about: "100 clients without any role ask for /openapi/v2 at once, with many definitions there, and again",
    who: Who::NoRole,
    bounds: Bounds {
        memory_mib: 384,
        // One document is made, and all of it is sent over TLS two hundred times.
        cpu: Duration::from_secs(12),
        bystander: Duration::from_millis(250),
        ..USUAL
    },
    run: openapi_burst,
}];

fn definition(number: usize) -> Value {
    let field = |name: usize| {
        let text = "What this field is for, in a sentence or two that somebody wrote.";
        let nested =
            json!({"type": "object", "properties": {"a": {"type": "string", "description": text}}});
        (
            format!("field{name}"),
            json!({"type": "array", "description": text, "items": nested}),
        )
    };
    let properties: json::Object = (0..80).map(field).collect();
    json!({
        "metadata": {"name": (format!("kind{number}s.many.example.com"))},
        "spec": {
            "group": "many.example.com", "scope": "Namespaced",
            "names": {"plural": (format!("kind{number}s")), "kind": (format!("Kind{number}"))},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "properties": properties}},
            }}}],
        },
    })
}

fn openapi_burst(field: &mut Field) -> io::Result<()> {
    let (admin, mallory) = (field.admin(), field.mallory());
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for number in 0..field.of(60, 5) {
        admin.make(definitions, &definition(number))?;
    }
    for path in ["/openapi/v2", "/openapi/v3/apis/many.example.com/v1"] {
        let answers = crowd(field.of(100, 10), |_| {
            let first = mallory.get(path);
            (first, mallory.get(path))
        });
        for (first, second) in answers {
            field.expect(path, first, &[200]);
            field.expect(path, second, &[200]);
        }
    }
    Ok(())
}
