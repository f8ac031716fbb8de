//! Quantities inside values, as decoding and encoding them again leaves them.

use json::Value;
use meta::quantity::Format;
pub(crate) use meta::quantity::Quantity;

/// What is no quantity stays for validation to refuse.
pub(crate) fn canonicalize(value: &mut Value) {
    if let Some(quantity) = of(value) {
        *value = quantity.to_string().into();
    }
}

/// Nothing finer than thousandths remains.
pub(crate) fn round_up_to_milli(value: &mut Value) {
    if let Some(quantity) = of(value) {
        let milli = quantity.milli_value();
        let rounded = Quantity::milli(milli, quantity.format());
        // What is too large to count in thousandths has none.
        let counts = milli != i64::MAX && milli != i64::MIN;
        let kept = if counts && rounded != quantity {
            rounded
        } else {
            quantity
        };
        *value = kept.to_string().into();
    }
}

pub(crate) fn of(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(_) | Value::Number(_) => Quantity::from_value(value).ok(),
        _ => None,
    }
}

pub(crate) fn zero() -> Quantity {
    Quantity::new(0, Format::DecimalSI)
}

#[test]
fn canonical_forms() {
    use json::json;
    for (from, to) in [
        (json!("0.5"), "500m"),
        (json!("1024Mi"), "1Gi"),
        (json!("1000m"), "1"),
        (json!("1000"), "1k"),
        (json!(2), "2"),
        (json!("0.0001"), "1m"),
        (json!("100Pi"), "100Pi"),
        (json!("abc"), "abc"),
    ] {
        let mut value = from.clone();
        round_up_to_milli(&mut value);
        assert_eq!(value, json!(to), "{from}");
    }
    let mut value = json!("0.0001");
    canonicalize(&mut value);
    assert_eq!(value, json!("100u"));
}
