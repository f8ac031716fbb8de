//! Features by namespace and name, as `--dynamic-features` and `--central-features` list them.

use std::fmt;

use crate::Error;

/// `ns/Name` or `ns/*`, some of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection(Vec<(String, String)>);

impl Selection {
    /// Each value may have several, with commas between them.
    pub fn parse(values: &[String]) -> Result<Self, Error> {
        let items = values.iter().flat_map(|it| it.split(','));
        let items = items.map(str::trim).filter(|it| !it.is_empty());
        let pairs = items.map(|item| match item.split_once('/') {
            Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() => {
                Ok((namespace.to_owned(), name.to_owned()))
            }
            _ => Err(Error::Selection(item.to_owned())),
        });
        Ok(Self(pairs.collect::<Result<_, _>>()?))
    }

    pub fn contains(&self, namespace: &str, name: &str) -> bool {
        let mut all = self.0.iter();
        all.any(|(ns, it)| ns == namespace && (it == "*" || it == name))
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (namespace, name)) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{namespace}/{name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_whole_namespaces() {
        let parse = |text: &str| Selection::parse(&[text.to_owned()]);
        let it = parse("kube-system/NodeSwap, shop/*,").expect("good");
        assert_eq!(it.to_string(), "kube-system/NodeSwap,shop/*");
        assert!(it.contains("kube-system", "NodeSwap") && it.contains("shop", "Any"));
        assert!(!it.contains("kube-system", "Any") && !it.contains("other", "NodeSwap"));
        let wrong = parse("NodeSwap").expect_err("no namespace");
        assert_eq!(
            wrong.to_string(),
            "NodeSwap is not NAMESPACE/NAME or NAMESPACE/*"
        );
    }
}
