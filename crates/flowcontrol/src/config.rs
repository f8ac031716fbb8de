//! `FlowSchema` and `PriorityLevelConfiguration` objects as they are used, and what is wrong with those that are not.

use json::Value;

use crate::classify::Rule;
use crate::shuffle::{Dealer, InvalidDealer};

/// Which requests belong together, and to which priority level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSchema {
    pub name: String,
    pub uid: String,
    /// The name of its `PriorityLevelConfiguration`.
    pub priority_level: String,
    /// Lower is tried first.
    pub precedence: i64,
    /// Without one, all of its requests are one flow.
    pub distinguisher: Option<Distinguisher>,
    pub(crate) rules: Vec<Rule>,
}

/// The flow distinguisher method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinguisher {
    ByUser,
    ByNamespace,
}

/// A level that gets seats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriorityLevel {
    pub name: String,
    pub uid: String,
    /// Its part of the server's seats, in relation to the shares of others.
    pub shares: u32,
    /// The percentage of its nominal seats that others may have.
    pub lendable: u32,
    pub level: Level,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Level {
    /// Its requests never wait.
    Exempt,
    Limited {
        /// How much it may borrow, as a percentage of its nominal seats; `None` for all that there is.
        borrowing_limit: Option<u32>,
        /// Without queues, what finds no seat is rejected.
        queuing: Option<Queuing>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queuing {
    pub queues: u32,
    pub hand_size: u32,
    pub queue_length_limit: u32,
}

/// A `PriorityLevelConfiguration` that is treated as if it were not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokenLevel {
    #[error("broken union structure at the top")]
    Union,
    #[error("non-alignment between name and type")]
    Name,
    #[error("broken union structure for limit response")]
    LimitResponse,
    #[error(
        "the QueueSetConfig implies an invalid shuffle sharding config (DesiredNumQueues is deckSize): {0}"
    )]
    Queuing(#[from] InvalidDealer),
}

pub(crate) const EXEMPT: &str = "exempt";
pub(crate) const CATCH_ALL: &str = "catch-all";

impl FlowSchema {
    pub fn from_value(object: &Value) -> Self {
        let rules = object.at(&["spec", "rules"]).and_then(Value::as_array);
        Self {
            name: text(object, &["metadata", "name"]),
            uid: text(object, &["metadata", "uid"]),
            priority_level: text(object, &["spec", "priorityLevelConfiguration", "name"]),
            precedence: object
                .at(&["spec", "matchingPrecedence"])
                .and_then(Value::as_i64)
                .unwrap_or_default(),
            distinguisher: match object.str_at(&["spec", "distinguisherMethod", "type"]) {
                Some("ByUser") => Some(Distinguisher::ByUser),
                Some("ByNamespace") => Some(Distinguisher::ByNamespace),
                _ => None,
            },
            rules: rules.into_iter().flatten().map(Rule::from_value).collect(),
        }
    }
}

impl PriorityLevel {
    pub fn from_value(object: &Value) -> Result<Self, BrokenLevel> {
        let name = text(object, &["metadata", "name"]);
        let kind = object.str_at(&["spec", "type"]).unwrap_or_default();
        let part = |field: &str| object.at(&["spec", field]).filter(|it| !it.is_null());
        let (limited, exempt) = (part("limited"), part("exempt"));
        let (("Limited", Some(settings), None) | ("Exempt", None, Some(settings))) =
            (kind, limited, exempt)
        else {
            return Err(BrokenLevel::Union);
        };
        if (kind == "Exempt") != (name == EXEMPT) {
            return Err(BrokenLevel::Name);
        }
        let level = if kind == "Exempt" {
            Level::Exempt
        } else {
            Level::Limited {
                borrowing_limit: number(settings, &["borrowingLimitPercent"]),
                queuing: queuing(settings)?,
            }
        };
        Ok(Self {
            name,
            uid: text(object, &["metadata", "uid"]),
            shares: number(settings, &["nominalConcurrencyShares"]).unwrap_or_default(),
            lendable: number(settings, &["lendablePercent"]).unwrap_or_default(),
            level,
        })
    }

    pub fn is_exempt(&self) -> bool {
        self.level == Level::Exempt
    }

    pub fn queuing(&self) -> Option<Queuing> {
        match self.level {
            Level::Exempt => None,
            Level::Limited { queuing, .. } => queuing,
        }
    }
}

fn queuing(limited: &Value) -> Result<Option<Queuing>, BrokenLevel> {
    let queuing = limited.at(&["limitResponse", "queuing"]);
    let queuing = queuing.filter(|it| !it.is_null());
    match (limited.str_at(&["limitResponse", "type"]), queuing) {
        (Some("Reject"), None) => Ok(None),
        (Some("Queue"), Some(queuing)) => {
            let field = |name| number(queuing, &[name]).unwrap_or_default();
            let queuing = Queuing {
                queues: field("queues"),
                hand_size: field("handSize"),
                queue_length_limit: field("queueLengthLimit"),
            };
            Dealer::new(queuing.queues as usize, queuing.hand_size as usize)?;
            Ok(Some(queuing))
        }
        _ => Err(BrokenLevel::LimitResponse),
    }
}

pub(crate) fn text(object: &Value, path: &[&str]) -> String {
    object.str_at(path).unwrap_or_default().to_owned()
}

/// A number that is not negative.
fn number(object: &Value, path: &[&str]) -> Option<u32> {
    let number = object.at(path)?.as_i64()?;
    Some(u32::try_from(number.max(0)).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    fn read(name: &str, spec: Value) -> Result<PriorityLevel, BrokenLevel> {
        PriorityLevel::from_value(&json!({"metadata": {"name": name, "uid": "u"}, "spec": spec}))
    }

    #[test]
    fn levels_are_read() {
        let queue = json!({"queues": 8, "handSize": 2, "queueLengthLimit": 5});
        let spec = json!({
            "type": "Limited",
            "limited": {
                "nominalConcurrencyShares": 7,
                "limitResponse": {"type": "Queue", "queuing": queue},
                "lendablePercent": 30,
                "borrowingLimitPercent": 0,
            },
        });
        let level = read("a", spec).unwrap();
        assert_eq!((level.shares, level.lendable), (7, 30));
        let queuing = Queuing {
            queues: 8,
            hand_size: 2,
            queue_length_limit: 5,
        };
        assert_eq!(level.queuing(), Some(queuing));
        let limited = Level::Limited {
            borrowing_limit: Some(0),
            queuing: Some(queuing),
        };
        assert_eq!(level.level, limited);
        let exempt = read("exempt", json!({"type": "Exempt", "exempt": {}})).unwrap();
        assert_eq!((exempt.is_exempt(), exempt.shares), (true, 0));
    }

    #[test]
    fn broken_levels_are_told() {
        let reject = json!({"type": "Reject"});
        let many = json!({"type": "Queue", "queuing": {"queues": 512, "handSize": 8}});
        let limited =
            |response: Value| json!({"type": "Limited", "limited": {"limitResponse": response}});
        let table = [
            (
                "a",
                json!({"type": "Limited"}),
                "broken union structure at the top",
            ),
            (
                "a",
                json!({"type": "Exempt", "exempt": {}}),
                "non-alignment between name and type",
            ),
            (
                "exempt",
                limited(reject),
                "non-alignment between name and type",
            ),
            (
                "a",
                limited(json!({"type": "Queue"})),
                "broken union structure for limit response",
            ),
            (
                "a",
                limited(many),
                "the QueueSetConfig implies an invalid shuffle sharding config (DesiredNumQueues is deckSize): required entropy bits of deckSize 512 and handSize 8 is greater than 60",
            ),
        ];
        for (name, spec, text) in table {
            assert_eq!(read(name, spec).unwrap_err().to_string(), text);
        }
    }
}
