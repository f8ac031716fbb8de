//! `--token-auth-file`: a line per token, as CSV with token, user name, uid and groups.

use std::collections::HashMap;
use std::fmt;

use aws_lc_rs::digest;

use crate::User;

/// Tokens are kept as their hashes: the time of a lookup reveals nothing about the others.
#[derive(Clone, Default)]
pub struct StaticTokens(HashMap<[u8; 32], User>);

impl StaticTokens {
    /// Reads the file's text. Groups are one quoted column with commas.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut tokens = HashMap::new();
        for record in records(text)? {
            let [token, name, uid, rest @ ..] = &record[..] else {
                return Err(format!(
                    "token file must have at least 3 columns (token, user name, user uid), found {}",
                    record.len()
                ));
            };
            if token.is_empty() {
                continue;
            }
            let groups = rest
                .first()
                .map(|it| it.split(',').map(str::to_owned).collect());
            let user = User {
                name: name.clone(),
                uid: uid.clone(),
                groups: groups.unwrap_or_default(),
                ..User::default()
            };
            tokens.insert(hash(token), user);
        }
        Ok(Self(tokens))
    }

    pub fn authenticate(&self, token: &str) -> Option<&User> {
        self.0.get(&hash(token))
    }
}

impl fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StaticTokens({})", self.0.len())
    }
}

fn hash(token: &str) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(digest::digest(&digest::SHA256, token.as_bytes()).as_ref());
    out
}

/// CSV as Go's encoding/csv reads it: quotes may hold commas, newlines and doubled quotes; empty lines do not count.
fn records(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut records = Vec::new();
    let mut record: Vec<String> = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while !rest.is_empty() {
        if record.is_empty() && (rest.starts_with('\n') || rest.starts_with("\r\n")) {
            rest = rest
                .trim_start_matches('\r')
                .strip_prefix('\n')
                .unwrap_or_default();
            line += 1;
            continue;
        }
        let field = if let Some(quoted) = rest.strip_prefix('"') {
            let (field, after) = quoted_field(quoted, line)?;
            line += field.matches('\n').count();
            rest = after;
            field
        } else {
            let end = rest.find([',', '\n']).unwrap_or(rest.len());
            let field = &rest[..end];
            if field.contains('"') {
                return Err(format!(
                    "parse error on line {line}: bare \" in non-quoted field"
                ));
            }
            rest = &rest[end..];
            let at_end = !rest.starts_with(',');
            let field = if at_end {
                field.strip_suffix('\r').unwrap_or(field)
            } else {
                field
            };
            field.to_owned()
        };
        record.push(field);
        match rest.strip_prefix(',') {
            // A comma before the end of the line leaves one more, empty field.
            Some(after) if after.is_empty() || after.starts_with('\n') => {
                record.push(String::new());
                rest = after;
            }
            Some(after) => {
                rest = after;
                continue;
            }
            None => {}
        }
        rest = rest.strip_prefix('\n').unwrap_or(rest);
        line += 1;
        records.push(std::mem::take(&mut record));
    }
    if !record.is_empty() {
        records.push(record);
    }
    Ok(records)
}

/// The field and what follows it, which is a comma, a newline or nothing.
fn quoted_field(text: &str, line: usize) -> Result<(String, &str), String> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let Some((part, after)) = rest.split_once('"') else {
            return Err(format!(
                "parse error on line {line}: extraneous or missing \" in quoted-field"
            ));
        };
        field.push_str(part);
        if let Some(after) = after.strip_prefix('"') {
            field.push('"');
            rest = after;
            continue;
        }
        let after = if after.starts_with("\r\n") {
            &after[1..]
        } else {
            after
        };
        if after.is_empty() || after.starts_with([',', '\n']) {
            return Ok((field, after));
        }
        return Err(format!(
            "parse error on line {line}: extraneous or missing \" in quoted-field"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Upstream's file, in our words.
    const FILE: &str = "token1,user1,uid1\ntoken2,user2,uid2\n\r\n\ntoken3,user3,uid3,\"group1,group2\"\r\ntoken4,user4,uid4,\"group2\"\ntoken5,user5,uid5,group5\ntoken6,user6,uid6,group5,otherdata\n\"to\"\"ken7\",\"us\ner7\",uid7\n,nobody,uid\ntoken1,user1b,uid1";

    #[test]
    fn reads() {
        type Found<'a> = Option<(&'a str, &'a [&'a str])>;
        let tokens = StaticTokens::parse(FILE).unwrap();
        let cases: [(&str, Found); 9] = [
            ("token1", Some(("user1b", &[]))),
            ("token2", Some(("user2", &[]))),
            ("token3", Some(("user3", &["group1", "group2"]))),
            ("token4", Some(("user4", &["group2"]))),
            ("token5", Some(("user5", &["group5"]))),
            ("token6", Some(("user6", &["group5"]))),
            ("to\"ken7", Some(("us\ner7", &[]))),
            ("", None),
            ("token8", None),
        ];
        for (token, expected) in cases {
            let found = tokens.authenticate(token);
            let found = found.map(|it| (it.name.clone(), it.groups.clone()));
            let expected = expected.map(|(name, groups)| {
                let user = User::new(name, groups);
                (user.name, user.groups)
            });
            assert_eq!(found, expected, "{token}");
        }
        assert_eq!(tokens.authenticate("token2").unwrap().uid, "uid2");
    }

    #[test]
    fn refuses() {
        let columns =
            "token file must have at least 3 columns (token, user name, user uid), found 2";
        let cases = [
            ("token1,user1\n", columns),
            (
                "a,b,c\n\na,b\"\n",
                "parse error on line 3: bare \" in non-quoted field",
            ),
            (
                "a,\"b\"c\n",
                "parse error on line 1: extraneous or missing \" in quoted-field",
            ),
            (
                "a,\"b",
                "parse error on line 1: extraneous or missing \" in quoted-field",
            ),
        ];
        for (text, error) in cases {
            assert_eq!(StaticTokens::parse(text).unwrap_err(), error);
        }
        assert_eq!(
            StaticTokens::parse("a,b,\n").unwrap().0.len(),
            1,
            "an empty uid"
        );
        assert_eq!(StaticTokens::parse("").unwrap().0.len(), 0);
    }
}
