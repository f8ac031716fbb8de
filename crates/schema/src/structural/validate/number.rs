//! Bounds of numbers. Integers are compared as such, with what is left of a bound when it becomes one.

use json::Number;
use meta::field::Error;
use meta::go;

use super::Walk;
use super::report::{Problem, general, invalid, name};
use crate::structural::Rules;

impl Walk {
    pub(super) fn number(&mut self, rules: &Rules, number: Number) {
        self.in_range(rules, number, "Checked");
        if let Some(factor) = rules.multiple_of {
            let native = self.in_range(rules, Number::Float(factor), "MultipleOf");
            if let Some(wrong) = not_multiple(number, factor, native) {
                self.problem(wrong);
            }
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
            let native = self.in_range(rules, Number::Float(bound), word);
            if let Some(wrong) = beyond(number, bound, exclusive, is_max, native) {
                self.problem(wrong);
            }
        }
    }

    /// Whether a value or a bound fits the type and format.
    fn in_range(&mut self, rules: &Rules, number: Number, word: &str) -> bool {
        let [ty] = &rules.types[..] else { return true };
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
        if !fits {
            self.problem(|path| {
                let with = match format {
                    "" => "(default format)".into(),
                    _ => format!("with format {format}"),
                };
                general(format!(
                    "{word} value must be of type {ty} {with} in {path}"
                ))
            });
        }
        fits
    }
}

/// As upstream tells whole numbers: within what a float64 holds exactly.
pub(super) fn is_whole(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_991.0
}

/// What is wrong with a number, told of a path.
type Wrong = Box<dyn FnOnce(&str) -> Problem>;

fn wrong(number: Number, what: String) -> Wrong {
    Box::new(move |path| invalid(path, number, &what))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "upstream cuts a bound to an integer too"
)]
fn beyond(
    number: Number,
    bound: f64,
    exclusive: bool,
    is_max: bool,
    native: bool,
) -> Option<Wrong> {
    let (order, bound, number) = match number {
        Number::Int(it) if native => {
            let bound = bound as i64;
            (it.cmp(&bound), Number::Int(bound), number)
        }
        _ => {
            let number = number.as_f64();
            (
                number.total_cmp(&bound),
                Number::Float(bound),
                Number::Float(number),
            )
        }
    };
    let is_beyond = if is_max { order.is_gt() } else { order.is_lt() };
    let is_wrong = is_beyond || exclusive && order.is_eq();
    if !is_wrong {
        return None;
    }
    let word = match (is_max, exclusive) {
        (true, false) => "less than or equal to",
        (true, true) => "less than",
        (false, false) => "greater than or equal to",
        (false, true) => "greater than",
    };
    Some(wrong(
        number,
        format!("should be {word} {}", written(bound)),
    ))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "upstream cuts a factor to an integer too"
)]
fn not_multiple(number: Number, factor: f64, native: bool) -> Option<Wrong> {
    if let Number::Int(it) = number
        && native
    {
        let factor = factor as i64;
        if factor <= 0 {
            return Some(not_positive(Number::Int(factor)));
        }
        return (it % factor != 0)
            .then(|| wrong(number, format!("should be a multiple of {factor}")));
    }
    if factor <= 0.0 {
        return Some(not_positive(Number::Float(factor)));
    }
    let number = number.as_f64();
    let times = if factor < 1.0 {
        1.0 / factor * number
    } else {
        number / factor
    };
    (!is_whole(times)).then(|| {
        let what = format!("should be a multiple of {}", go::float(factor));
        wrong(Number::Float(number), what)
    })
}

fn written(number: Number) -> String {
    match number {
        Number::Int(it) => it.to_string(),
        Number::Float(it) => go::float(it),
    }
}

fn not_positive(factor: Number) -> Wrong {
    Box::new(move |path| {
        let written = written(factor);
        let text = format!("factor MultipleOf declared for {path} must be positive: {written}");
        Problem {
            error: Error::invalid(name(path), factor, text.clone()),
            text,
        }
    })
}
