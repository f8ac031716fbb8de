//! What is looked at in literals when an expression is compiled.

use encoding::duration;

use crate::ast::{Expr, Id, Literal};
use crate::checker::{Checked, Reference};
use crate::env::Options;
use crate::functions::formatting;
use crate::regexp::Regexp;
use crate::source::Issues;
use crate::types::Type;
use crate::value::Timestamp;

pub(crate) fn validate(checked: &Checked, options: &Options) -> Result<(), Issues> {
    if !options.validate_literals && !options.homogeneous_literals {
        return Ok(());
    }
    let ast = &checked.ast;
    let mut issues = Issues::new(&ast.text);
    let mut report = |at: Id, message: String| issues.report(ast.at(at), message);
    ast.walk(ast.root, &mut |id| {
        let Expr::Call {
            function,
            target,
            args,
        } = ast.expr(id)
        else {
            return;
        };
        if !options.validate_literals {
            return;
        }
        let literal = args.first().and_then(|it| match ast.expr(*it) {
            Expr::Literal(literal) => Some((*it, literal)),
            _ => None,
        });
        match (&**function, literal) {
            ("duration", Some((at, Literal::String(text)))) if duration::parse(text).is_err() => {
                report(at, "invalid duration argument".to_owned());
            }
            ("timestamp", Some((at, Literal::String(text))))
                if !matches!(Timestamp::parse(text), Some(Ok(_))) =>
            {
                report(at, "invalid timestamp argument".to_owned());
            }
            ("timestamp", Some((at, Literal::Int(seconds))))
                if Timestamp::from_unix(*seconds).is_err() =>
            {
                report(at, "invalid timestamp argument".to_owned());
            }
            ("matches", Some((at, Literal::String(text)))) if Regexp::new(text).is_err() => {
                report(at, "invalid matches argument".to_owned());
            }
            ("format", _) => {
                if let (Some(target), [list]) = (target, &args[..])
                    && let Reference::Function(_) = checked.reference(id)
                {
                    format(checked, id, *target, *list, &mut report);
                }
            }
            _ => {}
        }
    });
    if options.homogeneous_literals {
        homogeneous(checked, &mut report);
    }
    if issues.is_empty() {
        Ok(())
    } else {
        Err(issues)
    }
}

/// A format and its arguments, if both are literals.
fn format(checked: &Checked, id: Id, target: Id, list: Id, report: &mut impl FnMut(Id, String)) {
    let ast = &checked.ast;
    let (Expr::Literal(Literal::String(text)), Expr::List(args)) =
        (ast.expr(target), ast.expr(list))
    else {
        return;
    };
    let mut used = 0;
    for clause in formatting::parse(text) {
        let verb = match clause {
            Ok(formatting::Clause::Text(_)) => continue,
            Ok(formatting::Clause::Verb { verb, .. }) => Ok(verb),
            Err(why) => Err(why),
        };
        let Some(arg) = args.get(used) else {
            report(id, format!("index {used} out of range"));
            return;
        };
        used += 1;
        match verb {
            Err(why) => {
                report(id, why);
                return;
            }
            Ok(verb) => {
                if let Some((at, why)) = refused(checked, verb, arg.value) {
                    report(at, why);
                    return;
                }
            }
        }
    }
    if used < args.len() {
        report(
            id,
            format!(
                "too many arguments supplied to string.format (expected {used}, got {})",
                args.len()
            ),
        );
    }
}

fn refused(checked: &Checked, verb: char, id: Id) -> Option<(Id, String)> {
    let of = checked.type_of(id);
    if of.is_dyn() {
        return None;
    }
    if let Some(why) = formatting::refuses(verb, of.name()) {
        return Some((id, why));
    }
    if verb != 's' {
        return None;
    }
    match checked.ast.expr(id) {
        Expr::List(elements) => elements
            .iter()
            .find_map(|it| refused(checked, verb, it.value)),
        Expr::Map(entries) => entries
            .iter()
            .flat_map(|it| [it.key, it.value])
            .find_map(|it| refused(checked, verb, it)),
        _ => None,
    }
}

/// The elements of a literal have one type. The checker lets some differences pass.
fn homogeneous(checked: &Checked, report: &mut impl FnMut(Id, String)) {
    let ast = &checked.ast;
    let exempt = exempt(checked);
    let of = |id: Id, optional: bool| {
        let of = checked.type_of(id);
        match of.unwrap_optional() {
            Some(inner) if optional => inner.clone(),
            _ => of.clone(),
        }
    };
    let mismatch = |wanted: &Type, actual: &Type| {
        format!(
            "expected type '{}' but found '{}'",
            wanted.shown(),
            actual.shown()
        )
    };
    ast.walk(ast.root, &mut |id| {
        if exempt.contains(&id) {
            return;
        }
        match ast.expr(id) {
            Expr::List(elements) => {
                let mut first: Option<Type> = None;
                for it in elements {
                    let of = of(it.value, it.optional);
                    match &first {
                        None => first = Some(of),
                        Some(first) if !is_equivalent(first, &of) => {
                            report(it.value, mismatch(first, &of));
                            break;
                        }
                        Some(_) => {}
                    }
                }
            }
            Expr::Map(entries) => {
                let mut first: Option<(Type, Type)> = None;
                for it in entries {
                    let (key, value) = (of(it.key, false), of(it.value, it.optional));
                    match &first {
                        None => first = Some((key, value)),
                        Some((wanted_key, wanted_value)) => {
                            if !is_equivalent(wanted_key, &key) {
                                report(it.key, mismatch(wanted_key, &key));
                            }
                            if !is_equivalent(wanted_value, &value) {
                                report(it.value, mismatch(wanted_value, &value));
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    });
}

fn is_equivalent(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::List(a), Type::List(b)) => is_equivalent(a, b),
        (Type::Map(a), Type::Map(b)) => is_equivalent(&a.0, &b.0) && is_equivalent(&a.1, &b.1),
        (Type::Opaque(a, left), Type::Opaque(b, right)) => {
            a == b
                && left.len() == right.len()
                && left
                    .iter()
                    .zip(right.iter())
                    .all(|(a, b)| is_equivalent(a, b))
        }
        (Type::Type(_), Type::Type(_)) => true,
        _ => a == b,
    }
}

/// The arguments of `format` may be of different types.
fn exempt(checked: &Checked) -> Vec<Id> {
    let ast = &checked.ast;
    let mut all = Vec::new();
    ast.walk(ast.root, &mut |id| {
        if let Expr::Call { function, args, .. } = ast.expr(id)
            && &**function == "format"
        {
            for arg in args {
                ast.walk(*arg, &mut |it| all.push(it));
            }
        }
    });
    all
}
