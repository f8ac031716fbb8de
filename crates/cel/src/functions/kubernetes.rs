//! URLs, quantities, addresses, versions and formats.

use std::cmp::Ordering;
use std::net::IpAddr;
use std::sync::Arc;

use super::quantity::{self, Quantity};
use super::{Context, Function, Result, formats, net, semver, url};
use crate::error::Error;
use crate::value::map::Entries;
use crate::value::{Map, Opaque, Str, Value};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "url" | "isURL" | "getScheme" | "getHost" | "getHostname" | "getPort"
        | "getEscapedPath" | "getQuery" => urls,
        "quantity" | "isQuantity" | "sign" | "asApproximateFloat" | "asInteger" | "isInteger"
        | "add" | "sub" => quantities,
        "isGreaterThan" | "isLessThan" | "compareTo" => order,
        "semver" | "isSemver" | "major" | "minor" | "patch" => versions,
        "ip"
        | "isIP"
        | "ip.isCanonical"
        | "family"
        | "isUnspecified"
        | "isLoopback"
        | "isLinkLocalMulticast"
        | "isLinkLocalUnicast"
        | "isGlobalUnicast" => addresses,
        "cidr" | "isCIDR" | "containsIP" | "containsCIDR" | "prefixLength" | "masked"
        | "isMask" => networks,
        "validate" => validate,
        _ if name.starts_with("format.") => named,
        _ => return None,
    })
}

fn text<'a>(it: impl Into<String>) -> Value<'a> {
    Value::String(Str::from(it.into()))
}

fn urls<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    Ok(match (context.name, args) {
        ("url", [Value::String(it)]) => match url::parse(it) {
            Ok(it) => Value::Opaque(Opaque::Url(Arc::new(it))),
            Err(why) => {
                return Err(Error::new(format!(
                    "URL parse error during conversion from string: {why}"
                )));
            }
        },
        ("isURL", [Value::String(it)]) => Value::Bool(url::parse(it).is_ok()),
        (name, [Value::Opaque(Opaque::Url(it))]) => match name {
            "getScheme" => text(&*it.scheme),
            "getHost" => text(&*it.host),
            "getHostname" => text(it.hostname()),
            "getPort" => text(it.port()),
            "getEscapedPath" => text(it.escaped_path()),
            "getQuery" => {
                let mut entries = Entries::default();
                for (key, values) in it.query() {
                    entries.insert(
                        text(key),
                        Value::list(values.into_iter().map(text).collect()),
                    );
                }
                Value::Map(Map::from(entries))
            }
            _ => return Err(context.mismatch(args)),
        },
        _ => return Err(context.mismatch(args)),
    })
}

fn of_quantity<'a>(it: Quantity) -> Value<'a> {
    Value::Opaque(Opaque::Quantity(Arc::new(it)))
}

fn quantities<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    use Opaque::Quantity as Q;
    Ok(match (context.name, args) {
        ("quantity", [Value::String(it)]) => of_quantity(quantity::parse(it).map_err(Error::new)?),
        ("isQuantity", [Value::String(it)]) => Value::Bool(quantity::parse(it).is_ok()),
        ("sign", [Value::Opaque(Q(it))]) => Value::Int(it.sign()),
        ("asApproximateFloat", [Value::Opaque(Q(it))]) => Value::Double(it.as_double()),
        ("asInteger", [Value::Opaque(Q(it))]) => it
            .as_int()
            .map(Value::Int)
            .ok_or_else(|| Error::new("cannot convert value to integer"))?,
        ("isInteger", [Value::Opaque(Q(it))]) => Value::Bool(it.as_int().is_some()),
        ("add", [Value::Opaque(Q(a)), Value::Opaque(Q(b))]) => of_quantity(a.add(b)),
        ("add", [Value::Opaque(Q(a)), Value::Int(b)]) => {
            of_quantity(a.add(&Quantity::from_int(*b)))
        }
        ("sub", [Value::Opaque(Q(a)), Value::Opaque(Q(b))]) => of_quantity(a.sub(b)),
        ("sub", [Value::Opaque(Q(a)), Value::Int(b)]) => {
            of_quantity(a.sub(&Quantity::from_int(*b)))
        }
        _ => return Err(context.mismatch(args)),
    })
}

fn order<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let order = match args {
        [
            Value::Opaque(Opaque::Quantity(a)),
            Value::Opaque(Opaque::Quantity(b)),
        ] => a.cmp(b),
        [
            Value::Opaque(Opaque::Semver(a)),
            Value::Opaque(Opaque::Semver(b)),
        ] => a.cmp(b),
        _ => return Err(context.mismatch(args)),
    };
    Ok(match context.name {
        "isGreaterThan" => Value::Bool(order == Ordering::Greater),
        "isLessThan" => Value::Bool(order == Ordering::Less),
        _ => Value::Int(order as i64),
    })
}

fn versions<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let parse = |it: &str, normalize: bool| {
        if normalize {
            semver::normalize(it)
        } else {
            semver::parse(it)
        }
    };
    let (name, normalize) = match args {
        [_, Value::Bool(it)] => (context.name, *it),
        _ => (context.name, false),
    };
    let number = |it: u64| Value::Int(it.cast_signed());
    Ok(match (name, args) {
        ("semver", [Value::String(it)] | [Value::String(it), Value::Bool(_)]) => {
            let it = parse(it, normalize).map_err(Error::new)?;
            Value::Opaque(Opaque::Semver(Arc::new(it)))
        }
        ("isSemver", [Value::String(it)] | [Value::String(it), Value::Bool(_)]) => {
            Value::Bool(parse(it, normalize).is_ok())
        }
        ("major", [Value::Opaque(Opaque::Semver(it))]) => number(it.major),
        ("minor", [Value::Opaque(Opaque::Semver(it))]) => number(it.minor),
        ("patch", [Value::Opaque(Opaque::Semver(it))]) => number(it.patch),
        _ => return Err(context.mismatch(args)),
    })
}

fn addresses<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    Ok(match (context.name, args) {
        ("ip", [Value::String(it)]) => Value::Opaque(Opaque::Ip(net::parse_ip(it)?)),
        ("ip", [Value::Opaque(Opaque::Cidr(it))]) => Value::Opaque(Opaque::Ip(it.address)),
        ("isIP", [Value::String(it)]) => Value::Bool(net::parse_ip(it).is_ok()),
        ("ip.isCanonical", [Value::String(it)]) => {
            Value::Bool(net::parse_ip(it)?.to_string() == **it)
        }
        (name, [Value::Opaque(Opaque::Ip(it))]) => match name {
            "family" => Value::Int(if it.is_ipv4() { 4 } else { 6 }),
            "isUnspecified" => Value::Bool(it.is_unspecified()),
            "isLoopback" => Value::Bool(it.is_loopback()),
            "isLinkLocalMulticast" => Value::Bool(net::is_link_local_multicast(*it)),
            "isLinkLocalUnicast" => Value::Bool(net::is_link_local_unicast(*it)),
            "isGlobalUnicast" => Value::Bool(net::is_global_unicast(*it)),
            _ => return Err(context.mismatch(args)),
        },
        _ => return Err(context.mismatch(args)),
    })
}

fn networks<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let contains_cidr = |a: &net::Cidr, b: &net::Cidr| {
        a.address.is_ipv4() == b.address.is_ipv4() && a.bits <= b.bits && a.contains(b.address)
    };
    let ip = |it: &Value| -> Result<Option<IpAddr>> {
        match it {
            // What is no address is none of the types that the function takes.
            Value::String(it) => net::parse_ip(it)
                .map(Some)
                .map_err(|_| Error::no_such_overload()),
            Value::Opaque(Opaque::Ip(it)) => Ok(Some(*it)),
            _ => Ok(None),
        }
    };
    Ok(match (context.name, args) {
        ("cidr", [Value::String(it)]) => Value::Opaque(Opaque::Cidr(net::parse_cidr(it)?)),
        ("isCIDR", [Value::String(it)]) => Value::Bool(net::parse_cidr(it).is_ok()),
        ("containsIP", [Value::Opaque(Opaque::Cidr(a)), other]) => match ip(other)? {
            Some(other) => Value::Bool(a.contains(other)),
            None => return Err(context.mismatch(args)),
        },
        (
            "containsCIDR",
            [
                Value::Opaque(Opaque::Cidr(a)),
                Value::Opaque(Opaque::Cidr(b)),
            ],
        ) => Value::Bool(contains_cidr(a, b)),
        ("containsCIDR", [Value::Opaque(Opaque::Cidr(a)), Value::String(b)]) => {
            Value::Bool(contains_cidr(a, &net::parse_cidr(b)?))
        }
        ("prefixLength", [Value::Opaque(Opaque::Cidr(it))]) => Value::Int(i64::from(it.bits)),
        ("masked", [Value::Opaque(Opaque::Cidr(it))]) => Value::Opaque(Opaque::Cidr(it.masked())),
        ("isMask", [Value::Opaque(Opaque::Cidr(it))]) => Value::Bool(it.masked() == *it),
        _ => return Err(context.mismatch(args)),
    })
}

fn named<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    match (context.name, args) {
        ("format.named", [Value::String(it)]) => Ok(match formats::find(it) {
            Some(it) => Value::some(Value::Opaque(Opaque::Format(it))),
            None => Value::NONE,
        }),
        (name, []) => formats::find(name.trim_start_matches("format."))
            .map(|it| Value::Opaque(Opaque::Format(it)))
            .ok_or_else(|| context.mismatch(args)),
        _ => Err(context.mismatch(args)),
    }
}

fn validate<'a>(context: &mut Context, args: &[Value<'a>]) -> Result<Value<'a>> {
    let [Value::Opaque(Opaque::Format(format)), Value::String(it)] = args else {
        return Err(context.mismatch(args));
    };
    let errors = (format.validate)(it);
    if errors.is_empty() {
        return Ok(Value::NONE);
    }
    let errors = errors.into_iter().map(text).collect();
    Ok(Value::some(Value::list(errors)))
}
