//! Licences as SPDX expressions: `MIT OR Apache-2.0`, `(MIT OR Apache-2.0) AND Unicode-3.0`, and of old `MIT/Apache-2.0`.

use std::collections::BTreeSet;
use std::iter::Peekable;

use super::Package;

pub(super) fn check(package: &Package, allowed: &BTreeSet<String>) -> Result<(), String> {
    let Package { name, version, .. } = package;
    let Some(license) = &package.license else {
        return Err(format!("{name} {version} names no licence"));
    };
    match is_allowed(license, allowed) {
        Some(true) => Ok(()),
        Some(false) => Err(format!(
            "{name} {version} has the licence {license}, which deny.toml does not allow"
        )),
        None => Err(format!(
            "{name} {version} has a licence that cannot be read: {license}"
        )),
    }
}

/// `None` if it is not an expression.
fn is_allowed(license: &str, allowed: &BTreeSet<String>) -> Option<bool> {
    let spaced = license
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let answer = either(&mut words, allowed)?;
    words.next().is_none().then_some(answer)
}

type Words<'a> = Peekable<std::str::SplitWhitespace<'a>>;

fn either(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
    let mut answer = both(words, allowed)?;
    while words.next_if_eq(&"OR").is_some() {
        answer |= both(words, allowed)?;
    }
    Some(answer)
}

fn both(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
    let mut answer = one(words, allowed)?;
    while words.next_if_eq(&"AND").is_some() {
        answer &= one(words, allowed)?;
    }
    Some(answer)
}

fn one(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
    let word = words.next()?;
    if word == "(" {
        let answer = either(words, allowed)?;
        return (words.next() == Some(")")).then_some(answer);
    }
    let mut name = word.to_owned();
    if words.next_if_eq(&"WITH").is_some() {
        name = format!("{name} WITH {}", words.next()?);
    }
    let is_name = !["OR", "AND", "WITH", ")"].contains(&word);
    is_name.then(|| allowed.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_mean_what_spdx_says() {
        let allowed: BTreeSet<String> = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"]
            .map(str::to_owned)
            .into();
        for (license, expected) in [
            ("MIT", Some(true)),
            ("GPL-3.0", Some(false)),
            ("GPL-3.0 OR MIT", Some(true)),
            ("GPL-3.0/MIT", Some(true)),
            ("GPL-3.0 AND MIT", Some(false)),
            ("(GPL-3.0 OR MIT) AND ISC", Some(true)),
            ("MIT AND (GPL-3.0 OR BSD)", Some(false)),
            ("Apache-2.0 WITH LLVM-exception", Some(true)),
            ("Apache-2.0", Some(false)),
            ("(MIT", None),
            ("MIT OR", None),
            ("", None),
        ] {
            assert_eq!(is_allowed(license, &allowed), expected, "{license}");
        }
    }
}
