//! One amount against one bound, with upstream's texts.

use meta::quantity::Quantity;

use super::amounts::Amounts;

/// Beyond it, thousandths would overflow: whole numbers are compared then.
const MAX_MILLI: i64 = i64::MAX / 1000;

#[derive(Debug)]
pub(super) struct Constraint<'a> {
    /// `Container`, `Pod` or `PersistentVolumeClaim`.
    pub of: &'a str,
    pub requests: &'a Amounts,
    pub limits: &'a Amounts,
}

impl Constraint<'_> {
    pub(super) fn min(&self, name: &str, bound: &Quantity) -> Option<String> {
        let (request, limit) = (self.requests.get(name), self.limits.get(name));
        let (requested, limited, enforced) = precise(request, limit, bound);
        let says = |rest: String| {
            Some(format!(
                "minimum {name} usage per {} is {bound}{rest}",
                self.of
            ))
        };
        match (request, limit) {
            (None, _) => says(".  No request is specified".into()),
            (Some(it), _) if requested < enforced => says(format!(", but request is {it}")),
            (_, Some(it)) if limited < enforced => says(format!(", but limit is {it}")),
            _ => None,
        }
    }

    pub(super) fn max(&self, name: &str, bound: &Quantity) -> Option<String> {
        let (request, limit) = (self.requests.get(name), self.limits.get(name));
        let (requested, limited, enforced) = precise(request, limit, bound);
        let says = |rest: String| {
            Some(format!(
                "maximum {name} usage per {} is {bound}{rest}",
                self.of
            ))
        };
        match (request, limit) {
            (_, None) => says(".  No limit is specified".into()),
            (_, Some(it)) if limited > enforced => says(format!(", but limit is {it}")),
            (Some(it), _) if requested > enforced => says(format!(", but request is {it}")),
            _ => None,
        }
    }

    /// For what knows no limits.
    pub(super) fn max_request(&self, name: &str, bound: &Quantity) -> Option<String> {
        let request = self.requests.get(name);
        let (requested, _, enforced) = precise(request, None, bound);
        let says = |rest: String| {
            Some(format!(
                "maximum {name} usage per {} is {bound}{rest}",
                self.of
            ))
        };
        match request {
            None => says(".  No request is specified".into()),
            Some(it) if requested > enforced => says(format!(", but request is {it}")),
            Some(_) => None,
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio is a float64 upstream too"
    )]
    pub(super) fn ratio(&self, name: &str, bound: &Quantity) -> Option<String> {
        let (request, limit) = (self.requests.get(name), self.limits.get(name));
        let (requested, limited, _) = precise(request, limit, bound);
        let says = |rest: String| {
            let of = self.of;
            Some(format!(
                "{name} max limit to request ratio per {of} is {bound}, but {rest}"
            ))
        };
        if requested == 0 {
            return says("no request is specified or request is 0".into());
        }
        if limited == 0 {
            return says("no limit is specified or limit is 0".into());
        }
        let ratio = limited as f64 / requested as f64;
        let exceeds = if bound.value() <= MAX_MILLI {
            ratio * 1000.0 > bound.milli_value() as f64
        } else {
            ratio > bound.value() as f64
        };
        if exceeds {
            return says(format!("provided ratio is {ratio:.6}"));
        }
        None
    }
}

/// All three in thousandths if none is too great for it; what is not there is zero.
fn precise(
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
    bound: &Quantity,
) -> (i64, i64, i64) {
    let of = |it: Option<&Quantity>, read: fn(&Quantity) -> i64| it.map_or(0, read);
    let all = |read| (of(request, read), of(limit, read), of(Some(bound), read));
    let whole = all(Quantity::value);
    if whole.0.max(whole.1).max(whole.2) <= MAX_MILLI {
        return all(Quantity::milli_value);
    }
    whole
}
