//! Any bytes as any kind: an error or an object; what is decoded is encoded, decoded and encoded again as the same.

#![no_main]

use fuzz::{Dice, admitted};
use json::Value;
use libfuzzer_sys::fuzz_target;
use schema::{Schema, protobuf};

fuzz_target!(|bytes: &[u8]| {
    let mut dice = Dice(bytes);
    match dice.below(3) {
        0 => _ = protobuf::decode_object(dice.rest()),
        1 => {
            let (.., schema) = dice.kind();
            if let Ok(value) = protobuf::decode(schema.place(), dice.rest()) {
                stable(&schema, &value);
            }
        }
        // From the other side: what a client could have sent as JSON.
        _ => {
            let (api_version, kind, schema) = dice.kind();
            let object = dice.object(&api_version, &kind, &schema);
            if let Some(object) = admitted(&schema, object)
                && protobuf::is_supported(schema.place())
            {
                stable(&schema, &object);
            }
        }
    }
});

fn stable(schema: &Schema, value: &Value) {
    // Raw values and quantities may be such that there is no way to write them: an error, then.
    let Ok(encoded) = protobuf::encode(schema.place(), value) else {
        return;
    };
    let decoded = protobuf::decode(schema.place(), &encoded)
        .unwrap_or_else(|error| panic!("{error}: {value}"));
    let again = protobuf::encode(schema.place(), &decoded)
        .unwrap_or_else(|error| panic!("{error}: {value}, {decoded}"));
    assert_eq!(encoded, again, "{value}, {decoded}");
}
