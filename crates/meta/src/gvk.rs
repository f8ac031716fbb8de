//! Groups, versions, kinds and resources, and which version comes first.

use std::cmp::Ordering;
use std::fmt;

/// `apps/v1`, or `v1` for the core group.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersion {
    pub group: String,
    pub version: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersionKind {
    pub group: String,
    pub version: String,
    pub kind: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersionResource {
    pub group: String,
    pub version: String,
    pub resource: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKind {
    pub group: String,
    pub kind: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupResource {
    pub group: String,
    pub resource: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unexpected GroupVersion string: {0}")]
pub struct ParseError(pub String);

impl GroupVersion {
    pub fn new(group: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
        }
    }

    /// Reads an `apiVersion`; nothing, and `/`, is the empty version of the core group.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        match text.split_once('/') {
            None => Ok(Self::new("", text)),
            Some((_, version)) if version.contains('/') => Err(ParseError(text.into())),
            Some((group, version)) => Ok(Self::new(group, version)),
        }
    }

    pub fn with_kind(&self, kind: impl Into<String>) -> GroupVersionKind {
        GroupVersionKind::new(&*self.group, &*self.version, kind)
    }

    pub fn with_resource(&self, resource: impl Into<String>) -> GroupVersionResource {
        GroupVersionResource::new(&*self.group, &*self.version, resource)
    }
}

impl GroupVersionKind {
    pub fn new(
        group: impl Into<String>,
        version: impl Into<String>,
        kind: impl Into<String>,
    ) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        }
    }

    /// From what an object says of itself.
    pub fn parse(api_version: &str, kind: &str) -> Result<Self, ParseError> {
        GroupVersion::parse(api_version).map(|it| it.with_kind(kind))
    }

    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    pub fn group_kind(&self) -> GroupKind {
        GroupKind::new(&*self.group, &*self.kind)
    }

    pub fn group_version(&self) -> GroupVersion {
        GroupVersion::new(&*self.group, &*self.version)
    }
}

impl GroupVersionResource {
    pub fn new(
        group: impl Into<String>,
        version: impl Into<String>,
        resource: impl Into<String>,
    ) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            resource: resource.into(),
        }
    }

    pub fn group_resource(&self) -> GroupResource {
        GroupResource::new(&*self.group, &*self.resource)
    }

    pub fn group_version(&self) -> GroupVersion {
        GroupVersion::new(&*self.group, &*self.version)
    }
}

impl GroupKind {
    pub fn new(group: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            kind: kind.into(),
        }
    }

    /// Reads `Deployment.apps`.
    pub fn parse(text: &str) -> Self {
        let (kind, group) = text.split_once('.').unwrap_or((text, ""));
        Self::new(group, kind)
    }
}

impl GroupResource {
    pub fn new(group: impl Into<String>, resource: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            resource: resource.into(),
        }
    }

    /// Reads `deployments.apps`.
    pub fn parse(text: &str) -> Self {
        let (resource, group) = text.split_once('.').unwrap_or((text, ""));
        Self::new(group, resource)
    }

    pub fn is_empty(&self) -> bool {
        self.group.is_empty() && self.resource.is_empty()
    }
}

/// The `apiVersion` of a group and a version.
pub fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        return version.into();
    }
    format!("{group}/{version}")
}

impl fmt::Display for GroupVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&api_version(&self.group, &self.version))
    }
}

impl fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

impl fmt::Display for GroupVersionResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            group,
            version,
            resource,
        } = self;
        write!(f, "{group}/{version}, Resource={resource}")
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        dotted(f, &self.kind, &self.group)
    }
}

impl fmt::Display for GroupResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        dotted(f, &self.resource, &self.group)
    }
}

fn dotted(f: &mut fmt::Formatter<'_>, name: &str, group: &str) -> fmt::Result {
    f.write_str(name)?;
    if group.is_empty() {
        return Ok(());
    }
    write!(f, ".{group}")
}

/// How clients prefer versions, the preferred one greatest: v2, v1, v1beta2, v1alpha1, then all else by the alphabet.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    match (rank(a), rank(b)) {
        (None, None) => b.cmp(a),
        (a, b) => a.cmp(&b),
    }
}

/// Stability, then major, then minor.
fn rank(version: &str) -> Option<(u8, i64, i64)> {
    let rest = version.strip_prefix('v')?;
    let stages = [("alpha", 0), ("beta", 1)];
    for (word, stability) in stages {
        if let Some((major, minor)) = rest.split_once(word) {
            return Some((stability, number(major)?, number(minor)?));
        }
    }
    Some((2, number(rest)?, 0))
}

fn number(text: &str) -> Option<i64> {
    let digits = text.bytes().all(|it| it.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_an_order() {
        let table = [
            ("v1", "v2", false),
            ("v2", "v1", true),
            ("v10", "v2", true),
            ("v1", "v2alpha1", true),
            ("v1", "v2beta1", true),
            ("v1alpha2", "v1alpha1", true),
            ("v1beta1", "v2alpha3", true),
            ("v1alpha10", "v1alpha2", true),
            ("v1beta10", "v1beta2", true),
            ("foo", "v1beta2", false),
            ("bar", "foo", true),
            ("version1", "version2", true),
            ("version1", "version10", true),
            ("v1.1", "v1alpha1", false),
            ("v1alpha1.1", "v1alpha1", false),
        ];
        for (a, b, greater) in table {
            assert_eq!(compare_versions(a, b).is_gt(), greater, "{a} {b}");
            assert_eq!(compare_versions(b, a).is_lt(), greater, "{b} {a}");
        }
        assert!(compare_versions("x", "x").is_eq());
    }

    #[test]
    fn api_versions() {
        let table = [
            ("", "", ""),
            ("/", "", ""),
            ("v1", "", "v1"),
            ("apps/v1", "apps", "v1"),
            ("apps/", "apps", ""),
        ];
        for (text, group, version) in table {
            assert_eq!(
                GroupVersion::parse(text),
                Ok(GroupVersion::new(group, version))
            );
        }
        let error = GroupVersion::parse("a/b/c").unwrap_err();
        assert_eq!(error.to_string(), "unexpected GroupVersion string: a/b/c");
    }

    #[test]
    fn print_as_upstream() {
        let deployments = GroupVersion::new("apps", "v1").with_resource("deployments");
        let table = [
            (deployments.to_string(), "apps/v1, Resource=deployments"),
            (deployments.group_resource().to_string(), "deployments.apps"),
            (GroupResource::new("", "pods").to_string(), "pods"),
            (
                GroupVersionKind::new("", "v1", "Pod").to_string(),
                "/v1, Kind=Pod",
            ),
            (GroupKind::parse("A.b.c").to_string(), "A.b.c"),
        ];
        for (got, want) in table {
            assert_eq!(got, want);
        }
        assert_eq!(GroupKind::parse("A.b.c").group, "b.c");
    }
}
