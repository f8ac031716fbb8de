//! Numbers as Kubernetes reads them: whatever fits is an int64, the rest is a float64.

/// `1` and `1.0` are different values; `as_f64` makes them comparable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Int(i64),
    /// Always finite.
    Float(f64),
}

impl Number {
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Self::Int(it) => Some(it),
            Self::Float(_) => None,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "what a float64 can hold")]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Int(it) => it as f64,
            Self::Float(it) => it,
        }
    }
}
