//! The modes, from the narrowest to the widest.

use crate::User;
use crate::user::{split_node, split_service_account};

pub(super) const MODES: [Mode; 5] = [
    Mode::AssociatedNode,
    Mode::ArbitraryNode,
    Mode::ServiceAccount,
    Mode::UserInfo,
    Mode::Legacy,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A service account acts as the node its pod runs on.
    AssociatedNode,
    ArbitraryNode,
    ServiceAccount,
    /// Anyone but nodes and service accounts.
    UserInfo,
    /// The verb `impersonate`, whatever is asked for.
    Legacy,
}

impl Mode {
    /// None for the old one.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::AssociatedNode => Some("associated-node"),
            Self::ArbitraryNode => Some("arbitrary-node"),
            Self::ServiceAccount => Some("serviceaccount"),
            Self::UserInfo => Some("user-info"),
            Self::Legacy => None,
        }
    }

    pub(super) fn applies(self, wanted: &User, requestor: &User) -> bool {
        let only_name =
            wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty();
        let node = split_node(&wanted.name);
        let account = split_service_account(&wanted.name);
        match self {
            Self::AssociatedNode => only_name && node.is_some() && requestor.token_node() == node,
            Self::ArbitraryNode => only_name && node.is_some(),
            Self::ServiceAccount => only_name && account.is_some(),
            Self::UserInfo => node.is_none() && account.is_none(),
            Self::Legacy => true,
        }
    }
}
