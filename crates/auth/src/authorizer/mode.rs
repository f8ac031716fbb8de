//! The values of `--authorization-mode`.

use super::{Answer, Authorizer, Decision};
use crate::Attributes;
use crate::quote::{quote, quote_all};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    AlwaysAllow,
    AlwaysDeny,
    Webhook,
    Rbac,
    Node,
}

impl Mode {
    /// What reasons are prefixed with, and what an `AuthorizationConfiguration` would call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AlwaysAllow => "alwaysallow",
            Self::AlwaysDeny => "alwaysdeny",
            Self::Webhook => "webhook",
            Self::Rbac => "rbac",
            Self::Node => "node",
        }
    }
}

/// Reads the flag's values. ABAC is not offered: its policy lives in files on the server.
pub fn modes<T: AsRef<str>>(values: &[T]) -> Result<Vec<Mode>, String> {
    if values.is_empty() {
        return Err("at least one authorization-mode must be passed".to_owned());
    }
    let mut modes = Vec::new();
    for value in values {
        let mode = match value.as_ref() {
            "AlwaysAllow" => Mode::AlwaysAllow,
            "AlwaysDeny" => Mode::AlwaysDeny,
            "Webhook" => Mode::Webhook,
            "RBAC" => Mode::Rbac,
            "Node" => Mode::Node,
            other => {
                let mode = quote(other);
                return Err(format!("authorization-mode {mode} is not a valid mode"));
            }
        };
        if modes.contains(&mode) {
            let all = quote_all(values);
            return Err(format!(
                "authorization-mode {all} has mode specified more than once"
            ));
        }
        modes.push(mode);
    }
    Ok(modes)
}

#[derive(Clone, Copy, Debug)]
pub struct AlwaysAllow;

impl Authorizer for AlwaysAllow {
    fn authorize<'a>(&'a self, _: Attributes<'a>) -> Answer<'a> {
        Decision::allow("").into()
    }
}

/// Has no opinion, as upstream's: a mode after it may still allow.
#[derive(Clone, Copy, Debug)]
pub struct AlwaysDeny;

impl Authorizer for AlwaysDeny {
    fn authorize<'a>(&'a self, _: Attributes<'a>) -> Answer<'a> {
        Decision::no_opinion("Everything is forbidden.").into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_flag() {
        assert_eq!(modes(&["Node", "RBAC"]), Ok(vec![Mode::Node, Mode::Rbac]));
        let refused = [
            (&[][..], "at least one authorization-mode must be passed"),
            (
                &["rbac"],
                r#"authorization-mode "rbac" is not a valid mode"#,
            ),
            (
                &["RBAC", "RBAC"],
                r#"authorization-mode ["RBAC" "RBAC"] has mode specified more than once"#,
            ),
        ];
        for (values, error) in refused {
            assert_eq!(modes(values), Err(error.to_owned()));
        }
    }
}
