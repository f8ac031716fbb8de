//! Values of libraries.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use crate::functions::Authz;
use crate::functions::formats::Format;
use crate::functions::net::Cidr;
use crate::functions::quantity::Quantity;
use crate::functions::semver::Semver;
use crate::functions::url::Url;
use crate::types::Type;

#[derive(Clone, Debug)]
pub enum Opaque<'a> {
    Url(Arc<Url>),
    Quantity(Arc<Quantity>),
    Ip(IpAddr),
    Cidr(Cidr),
    Semver(Arc<Semver>),
    Format(&'static Format),
    Authz(Arc<Authz<'a>>),
}

impl Opaque<'_> {
    pub(crate) fn type_of(&self) -> Type {
        let name = match self {
            Self::Url(_) => "kubernetes.URL",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Ip(_) => return Type::Opaque(Arc::from("net.IP"), Arc::from([])),
            Self::Cidr(_) => return Type::Opaque(Arc::from("net.CIDR"), Arc::from([])),
            Self::Semver(_) => "kubernetes.Semver",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Authz(it) => it.type_name(),
        };
        Type::structure(name)
    }

    pub(crate) fn go_type(&self) -> &'static str {
        match self {
            Self::Url(_) => "cel.URL",
            Self::Quantity(_) => "cel.Quantity",
            Self::Ip(_) => "cel.IP",
            Self::Cidr(_) => "cel.CIDR",
            Self::Semver(_) => "cel.Semver",
            Self::Format(_) => "*cel.Format",
            Self::Authz(_) => "library.authorizerVal",
        }
    }

    /// The bytes of an address or of the part of it that counts.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Ip(it) if it.is_ipv4() => 4,
            Self::Ip(_) => 16,
            Self::Cidr(it) => u64::from(it.bits).div_ceil(8),
            _ => 1,
        }
    }
}

impl PartialEq for Opaque<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Url(a), Self::Url(b)) => a.to_string() == b.to_string(),
            (Self::Quantity(a), Self::Quantity(b)) => a == b,
            (Self::Ip(a), Self::Ip(b)) => a == b,
            (Self::Cidr(a), Self::Cidr(b)) => a == b,
            (Self::Semver(a), Self::Semver(b)) => a.cmp(b).is_eq(),
            (Self::Format(a), Self::Format(b)) => a.name == b.name,
            _ => false,
        }
    }
}

impl fmt::Display for Opaque<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(it) => write!(f, "{it}"),
            Self::Quantity(it) => write!(f, "{it}"),
            Self::Ip(it) => write!(f, "{it}"),
            Self::Cidr(it) => write!(f, "{it}"),
            Self::Semver(it) => write!(f, "{it}"),
            Self::Format(it) => f.write_str(it.name),
            Self::Authz(it) => f.write_str(it.type_name()),
        }
    }
}
