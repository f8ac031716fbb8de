//! The labels that requests are counted by, as upstream's `MonitorRequest` has them.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportedVerb {
    Get,
    List,
    Watch,
    Post,
    Put,
    Patch,
    Apply,
    Delete,
    Connect,
    /// No method that Kubernetes knows.
    Other,
}

impl ReportedVerb {
    /// Those that requests for whole objects have.
    pub(crate) const WHOLE: usize = 8;

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::List => "LIST",
            Self::Watch => "WATCH",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Apply => "APPLY",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
            Self::Other => "other",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Resource,
    Namespace,
    Cluster,
    /// Not about a resource.
    None,
}

impl Scope {
    pub(crate) const OF_RESOURCES: usize = 3;

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Namespace => "namespace",
            Self::Cluster => "cluster",
            Self::None => "",
        }
    }
}

/// The labels of a request, but for its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported<'a> {
    pub verb: ReportedVerb,
    pub scope: Scope,
    pub dry_run: &'static str,
    pub group: &'a str,
    pub version: &'a str,
    pub resource: &'a str,
    pub subresource: &'a str,
    pub component: &'static str,
}
