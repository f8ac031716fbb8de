//! Bounds of numbers. Integers are compared as such, with what is left of a bound when it becomes one.

use json::Number;
use meta::field::Error;
use meta::go;

use super::{Outcome, Problem, general, invalid, name};
use crate::structural::Rules;

pub(super) fn check(rules: &Rules, number: Number, path: &str) -> Outcome {
    let mut all = Outcome::default();
    all.add(range(rules, number, "Checked", path));
    if let Some(factor) = rules.multiple_of {
        let bad_factor = range(rules, Number::Float(factor), "MultipleOf", path);
        let native = bad_factor.is_none();
        all.add(bad_factor);
        all.add(multiple(number, factor, native, path));
    }
    for (bound, exclusive, is_max, word) in [
        (
            rules.minimum,
            rules.exclusive_minimum,
            false,
            "Minimum boundary",
        ),
        (
            rules.maximum,
            rules.exclusive_maximum,
            true,
            "Maximum boundary",
        ),
    ] {
        let Some(bound) = bound else { continue };
        let bad_bound = range(rules, Number::Float(bound), word, path);
        let native = bad_bound.is_none();
        all.add(bad_bound);
        all.add(limit(number, bound, exclusive, is_max, native, path));
    }
    all
}

/// As upstream tells whole numbers: within what a float64 holds exactly.
pub(super) fn is_whole(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_991.0
}

/// Whether a value or a bound fits the type and format.
fn range(rules: &Rules, number: Number, word: &str, path: &str) -> Option<Problem> {
    let [ty] = &rules.types[..] else { return None };
    let format = rules.format.as_deref().unwrap_or_default();
    let fits = match (&**ty, format, number) {
        ("integer", "int32", Number::Int(it)) => i32::try_from(it).is_ok(),
        ("integer", "int32", Number::Float(it)) => {
            it.fract() == 0.0 && it.abs() <= f64::from(i32::MAX)
        }
        ("integer", _, Number::Float(it)) => it.fract() == 0.0 && it.abs() < 9.3e18,
        ("number", "float", it) => it.as_f64().abs() <= f64::from(f32::MAX),
        _ => true,
    };
    let with = match format {
        "" => "(default format)".into(),
        _ => format!("with format {format}"),
    };
    (!fits).then(|| {
        general(format!(
            "{word} value must be of type {ty} {with} in {path}"
        ))
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "upstream cuts a bound to an integer too"
)]
fn limit(
    number: Number,
    bound: f64,
    exclusive: bool,
    is_max: bool,
    native: bool,
    path: &str,
) -> Option<Problem> {
    let (order, written, number) = match number {
        Number::Int(it) if native => (it.cmp(&(bound as i64)), (bound as i64).to_string(), number),
        _ => {
            let number = number.as_f64();
            (
                number.total_cmp(&bound),
                go::float(bound),
                Number::Float(number),
            )
        }
    };
    let beyond = if is_max { order.is_gt() } else { order.is_lt() };
    let wrong = beyond || exclusive && order.is_eq();
    let word = match (is_max, exclusive) {
        (true, false) => "less than or equal to",
        (true, true) => "less than",
        (false, false) => "greater than or equal to",
        (false, true) => "greater than",
    };
    wrong.then(|| invalid(path, number, &format!("should be {word} {written}")))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "upstream cuts a factor to an integer too"
)]
fn multiple(number: Number, factor: f64, native: bool, path: &str) -> Option<Problem> {
    if let Number::Int(it) = number
        && native
    {
        let factor = factor as i64;
        if factor <= 0 {
            return Some(not_positive(path, Number::Int(factor)));
        }
        return (it % factor != 0)
            .then(|| invalid(path, number, &format!("should be a multiple of {factor}")));
    }
    if factor <= 0.0 {
        return Some(not_positive(path, Number::Float(factor)));
    }
    let number_f = number.as_f64();
    let times = if factor < 1.0 {
        1.0 / factor * number_f
    } else {
        number_f / factor
    };
    (!is_whole(times)).then(|| {
        invalid(
            path,
            Number::Float(number_f),
            &format!("should be a multiple of {}", go::float(factor)),
        )
    })
}

fn not_positive(path: &str, factor: Number) -> Problem {
    let written = match factor {
        Number::Int(it) => it.to_string(),
        Number::Float(it) => go::float(it),
    };
    let text = format!("factor MultipleOf declared for {path} must be positive: {written}");
    Problem {
        error: Error::invalid(name(path), factor, text.clone()),
        text,
    }
}
