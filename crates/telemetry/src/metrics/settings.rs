//! Kyverno's settings of metrics, as they stand in its `ConfigMap`.

use std::time::Duration;

use json::{Number, Value};

use super::view::{Exposure, Namespaces, View};

/// A setting that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {why}")]
pub struct BadSetting {
    pub key: &'static str,
    pub why: String,
}

/// Of a histogram: each costs a line per series.
const MOST_BOUNDS: usize = 200;
/// The shortest time after which a series goes.
const SHORTEST: Duration = Duration::from_secs(1);

impl View {
    /// What `data` of a `ConfigMap` says, and what of it makes no sense: that is as if it were not there, as with Kyverno.
    pub fn read<'a>(data: impl Fn(&str) -> Option<&'a str>) -> (Self, Vec<BadSetting>) {
        let (mut view, mut bad) = (Self::default(), Vec::new());
        let mut note = |key: &'static str, read: &mut dyn FnMut(&str) -> Result<(), String>| {
            if let Some(Err(why)) = data(key).map(read) {
                bad.push(BadSetting { key, why });
            }
        };
        note("metricsRefreshInterval", &mut |text| {
            let every = meta::time::parse_duration(text).map_err(|error| error.to_string())?;
            view.idle = (!every.is_zero()).then(|| every.max(SHORTEST));
            Ok(())
        });
        note("namespaces", &mut |text| {
            let value = parse(text)?;
            check_object(&value)?;
            view.namespaces = Namespaces {
                include: texts(&value, "include")?,
                exclude: texts(&value, "exclude")?,
            };
            Ok(())
        });
        note("bucketBoundaries", &mut |text| {
            let bounds = text.split(',').map(str::trim).filter(|it| !it.is_empty());
            let bounds = bounds.map(|it| {
                let wrong = || format!("invalid boundary value '{it}'");
                it.parse::<f64>().map_err(|_| wrong())
            });
            view.bounds = some(bounds.collect::<Result<_, _>>()?)?;
            Ok(())
        });
        note("metricsExposure", &mut |text| {
            let value = parse(text)?;
            let all = value.as_object().ok_or("it is no object")?;
            let all = all.iter().map(|(name, value)| {
                let read = exposure(value).map_err(|why| format!("{name}: {why}"))?;
                Ok((name.to_string(), read))
            });
            view.named = all.collect::<Result<_, String>>()?;
            Ok(())
        });
        (view, bad)
    }
}

fn parse(text: &str) -> Result<Value, String> {
    json::parse(text.as_bytes()).map_err(|error| error.to_string())
}

/// Nothing is as good as an empty one.
fn check_object(value: &Value) -> Result<(), String> {
    match value {
        Value::Object(_) | Value::Null => Ok(()),
        _ => Err("it is no object".into()),
    }
}

fn exposure(value: &Value) -> Result<Exposure, String> {
    check_object(value)?;
    let enabled = match value.get("enabled") {
        None | Some(Value::Null) => true,
        Some(value) => value.as_bool().ok_or("enabled is not true or false")?,
    };
    let bounds = items(value, "bucketBoundaries")?.iter().map(number);
    let bounds: Option<Vec<_>> = bounds.collect();
    Ok(Exposure {
        enabled,
        without: texts(value, "disabledLabelDimensions")?,
        bounds: some(bounds.ok_or("bucketBoundaries are not numbers")?)?,
    })
}

/// No bounds are none that were chosen.
fn some(bounds: Vec<f64>) -> Result<Option<Vec<f64>>, String> {
    let grow = bounds.windows(2).all(|pair| pair[0] < pair[1]);
    let fit = bounds.iter().all(|it| it.is_finite() && *it >= 0.0);
    if !(grow && fit) {
        return Err("boundaries must be numbers that grow".into());
    }
    if bounds.len() > MOST_BOUNDS {
        return Err(format!("there are more than {MOST_BOUNDS} boundaries"));
    }
    Ok((!bounds.is_empty()).then_some(bounds))
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(Number::Float(float)) => Some(*float),
        #[expect(clippy::cast_precision_loss, reason = "bounds are shown as floats")]
        value => value.as_i64().map(|it| it as f64),
    }
}

fn texts(value: &Value, key: &str) -> Result<Vec<String>, String> {
    let all = items(value, key)?.iter();
    let all = all.map(|it| it.as_str().map(str::to_owned));
    let all: Option<Vec<_>> = all.collect();
    all.ok_or_else(|| format!("{key} is no list of texts"))
}

fn items<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], String> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(all)) => Ok(all),
        Some(_) => Err(format!("{key} is no list")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &'static str)]) -> (View, Vec<String>) {
        let find = |key: &str| pairs.iter().find(|it| it.0 == key).map(|it| it.1);
        let (view, bad) = View::read(find);
        (view, bad.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn as_kyvernos_chart_writes_them() {
        let (view, bad) = read(&[
            ("namespaces", r#"{"exclude":["b"],"include":["a"]}"#),
            ("metricsRefreshInterval", "24h"),
            ("bucketBoundaries", "0.005, 0.01, 5"),
            (
                "metricsExposure",
                r#"{"kyverno_policy_results_total":{"disabledLabelDimensions":["resource_namespace"]},
                    "kyverno_admission_review_duration_seconds":{"enabled":false,"bucketBoundaries":[0.5,1]}}"#,
            ),
        ]);
        assert_eq!(bad, [""; 0]);
        assert_eq!(view.idle, Some(Duration::from_secs(86_400)));
        assert_eq!(view.bounds("kyverno_x"), Some(&[0.005, 0.01, 5.0][..]));
        assert_eq!(view.bounds("apiserver_x"), None, "they are Kyverno's");
        let own = view.bounds("kyverno_admission_review_duration_seconds");
        assert_eq!(own, Some(&[0.5, 1.0][..]));
        let labels = ["policy_name", "resource_namespace"];
        for name in ["kyverno_policy_results_total", "kyverno_policy_results"] {
            let shape = view.shape(name, &labels).unwrap();
            assert_eq!(shape.hidden, [false, true], "{name}");
        }
        let counts = |it| view.namespaces.count(it);
        assert_eq!(
            ["", "-", "a", "b", "c"].map(counts),
            [true, true, true, false, false]
        );
    }

    #[test]
    fn what_makes_no_sense_is_told_and_the_rest_counts() {
        let (view, bad) = read(&[
            ("namespaces", r#"{"exclude":"b"}"#),
            ("metricsRefreshInterval", "soon"),
            ("bucketBoundaries", "1, x"),
            ("metricsExposure", r#"{"a":{"enabled":false}}"#),
        ]);
        assert_eq!(bad.len(), 3, "{bad:?}");
        assert_eq!(bad[1], "namespaces: exclude is no list");
        assert_eq!(bad[2], "bucketBoundaries: invalid boundary value 'x'");
        assert!(!view.named["a"].enabled);
        let wrong = [
            ("bucketBoundaries", "2, 1"),
            ("bucketBoundaries", "1, NaN"),
            ("bucketBoundaries", "-1"),
            ("namespaces", "["),
            ("namespaces", "[]"),
            ("metricsExposure", r#"{"a":[]}"#),
            ("metricsExposure", "[]"),
            ("metricsExposure", r#"{"a":{"enabled":1}}"#),
            ("metricsExposure", r#"{"a":{"bucketBoundaries":["x"]}}"#),
            (
                "metricsExposure",
                r#"{"a":{"disabledLabelDimensions":[1]}}"#,
            ),
        ];
        for setting in wrong {
            let (view, bad) = read(&[setting]);
            assert_eq!((view, bad.len()), (View::default(), 1), "{setting:?}");
        }
        assert_eq!(
            read(&[("bucketBoundaries", ""), ("metricsRefreshInterval", "0")]).0,
            View::default()
        );
    }
}
