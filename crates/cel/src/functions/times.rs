//! Parts of points in time and of durations.

use encoding::go::NumError;

use super::{Context, Function, Result};
use crate::error::Error;
use crate::value::time::Civil;
use crate::value::{Timestamp, Value};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "getFullYear" => |context, args| part(context, args, |it| it.date.year, None),
        "getMonth" => |context, args| part(context, args, |it| it.date.month - 1, None),
        "getDayOfYear" => |context, args| part(context, args, |it| it.year_day, None),
        "getDayOfMonth" => |context, args| part(context, args, |it| it.date.day - 1, None),
        "getDate" => |context, args| part(context, args, |it| it.date.day, None),
        "getDayOfWeek" => |context, args| part(context, args, |it| it.week_day, None),
        "getHours" => {
            |context, args| part(context, args, |it| it.date.hour, Some(3_600_000_000_000))
        }
        "getMinutes" => {
            |context, args| part(context, args, |it| it.date.minute, Some(60_000_000_000))
        }
        "getSeconds" => {
            |context, args| part(context, args, |it| it.date.second, Some(1_000_000_000))
        }
        "getMilliseconds" => |context, args| {
            part(
                context,
                args,
                |it| i64::from(it.nanos / 1_000_000),
                Some(1_000_000),
            )
        },
        _ => return None,
    })
}

fn part<'a>(
    context: &mut Context,
    args: &[Value<'a>],
    of: fn(&Civil) -> i64,
    unit: Option<i64>,
) -> Result<Value<'a>> {
    match (args, unit) {
        ([Value::Timestamp(it)], _) => Ok(Value::Int(of(&it.civil(0)))),
        ([Value::Timestamp(it), Value::String(zone)], _) => {
            Ok(Value::Int(of(&it.civil(offset(*it, zone)?))))
        }
        ([Value::Duration(it)], Some(unit)) => Ok(Value::Int(it / unit)),
        _ => Err(context.mismatch(args)),
    }
}

/// How many seconds a zone is east of UTC at a point in time.
fn offset(at: Timestamp, zone: &str) -> Result<i32> {
    let Some((hours, minutes)) = zone.split_once(':') else {
        return crate::zones::offset(zone, at.seconds)
            .ok_or_else(|| Error::new(format!("unknown time zone {zone}")));
    };
    let number = |text: &str| {
        text.parse::<i32>()
            .map_err(|_| Error::new(NumError::syntax("Atoi", text).to_string()))
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    if !(0..=59).contains(&minutes) {
        return Err(Error::new(format!(
            "timezone offset minutes out of range [0, 59]: {zone}"
        )));
    }
    let minutes = if zone.starts_with('-') {
        -minutes
    } else {
        minutes
    };
    Ok(hours.saturating_mul(3600).saturating_add(minutes * 60))
}
