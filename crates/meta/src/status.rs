//! The answer of an API server that is not an object, and the only error that becomes HTTP.

mod new;
mod value;

use std::fmt;

/// `metav1.Status`. The constructors are the errors of upstream's `api/errors`, with its texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    pub success: bool,
    pub code: u16,
    pub reason: Reason,
    pub message: String,
    /// Boxed, for a Status is what most functions may fail with.
    pub details: Option<Box<Details>>,
    /// Only a paginated answer has it: where an expired list may go on.
    pub continue_token: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    pub name: String,
    pub group: String,
    /// A kind in `Invalid`, a resource elsewhere.
    pub kind: String,
    pub uid: String,
    pub causes: Vec<Cause>,
    pub retry_after_seconds: i32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cause {
    pub reason: String,
    pub message: String,
    pub field: String,
}

macro_rules! reasons {
    ($($reason:ident $text:literal,)*) => {
        /// Why, in one word that clients branch on.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
        pub enum Reason {
            #[default]
            Unknown,
            $($reason,)*
            /// One that a webhook or an aggregated server made up.
            Other(String),
        }

        impl Reason {
            pub fn as_str(&self) -> &str {
                match self {
                    Self::Unknown => "",
                    $(Self::$reason => $text,)*
                    Self::Other(text) => text,
                }
            }
        }

        impl From<&str> for Reason {
            fn from(text: &str) -> Self {
                match text {
                    "" => Self::Unknown,
                    $($text => Self::$reason,)*
                    other => Self::Other(other.into()),
                }
            }
        }
    };
}

reasons! {
    Unauthorized "Unauthorized",
    Forbidden "Forbidden",
    NotFound "NotFound",
    AlreadyExists "AlreadyExists",
    Conflict "Conflict",
    Gone "Gone",
    Invalid "Invalid",
    ServerTimeout "ServerTimeout",
    StoreReadError "StorageReadError",
    Timeout "Timeout",
    TooManyRequests "TooManyRequests",
    BadRequest "BadRequest",
    MethodNotAllowed "MethodNotAllowed",
    NotAcceptable "NotAcceptable",
    RequestEntityTooLarge "RequestEntityTooLarge",
    UnsupportedMediaType "UnsupportedMediaType",
    InternalError "InternalError",
    Expired "Expired",
    ServiceUnavailable "ServiceUnavailable",
}

impl Status {
    /// A failure without details.
    pub fn failure(code: u16, reason: Reason, message: impl Into<String>) -> Self {
        Self {
            success: false,
            code,
            reason,
            message: message.into(),
            details: None,
            continue_token: String::new(),
        }
    }

    /// What a delete answers that leaves no object behind.
    pub fn success(details: Details) -> Self {
        Self {
            success: true,
            code: 0,
            reason: Reason::Unknown,
            message: String::new(),
            details: Some(Box::new(details)),
            continue_token: String::new(),
        }
    }

    #[must_use]
    pub fn with_details(self, details: Details) -> Self {
        Self {
            details: Some(Box::new(details)),
            ..self
        }
    }

    #[must_use]
    pub fn with_cause(mut self, reason: &str, message: impl Into<String>, field: &str) -> Self {
        let details = self.details.get_or_insert_default();
        details.causes.push(Cause {
            reason: reason.into(),
            message: message.into(),
            field: field.into(),
        });
        self
    }

    /// The header `Retry-After`, where the answer should have one.
    pub fn retry_after_seconds(&self) -> Option<i32> {
        let details = self.details.as_ref()?;
        (details.retry_after_seconds > 0).then_some(details.retry_after_seconds)
    }

    pub fn is_not_found(&self) -> bool {
        self.reason == Reason::NotFound
    }

    pub fn is_conflict(&self) -> bool {
        self.reason == Reason::Conflict
    }

    pub fn is_too_large(&self) -> bool {
        self.reason == Reason::RequestEntityTooLarge
    }

    pub fn is_already_exists(&self) -> bool {
        self.reason == Reason::AlreadyExists
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Status {}
