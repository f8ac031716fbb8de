//! The vocabulary of the rules: each word is one check with upstream's sentence.

use json::Value;
use meta::quantity::Quantity;
use meta::selector;

use super::errors::Errors;
use super::field::Field;
use meta::names;

const NEGATIVE: &str = "must be greater than or equal to 0";
pub(super) const IMMUTABLE: &str = "field is immutable";

impl Errors {
    /// Says whether there is text.
    pub(super) fn required_text(&mut self, it: &Field) -> bool {
        if it.is_empty() {
            self.required(it, "");
        }
        !it.is_empty()
    }

    pub(super) fn one_of(&mut self, it: &Field, supported: &[&str]) {
        if !supported.contains(&it.str()) {
            self.not_supported(it, supported);
        }
    }

    pub(super) fn required_one_of(&mut self, it: &Field, supported: &[&str]) {
        if self.required_text(it) {
            self.one_of(it, supported);
        }
    }

    /// If it is there at all.
    pub(super) fn optional_one_of(&mut self, it: &Field, supported: &[&str]) {
        if it.is_set() {
            self.one_of(it, supported);
        }
    }

    pub(super) fn non_negative(&mut self, it: &Field) {
        if it.int() < 0 {
            self.invalid(it, NEGATIVE);
        }
    }

    pub(super) fn positive(&mut self, it: &Field) {
        if it.int() <= 0 {
            self.invalid_value(it, it.int(), "must be greater than zero");
        }
    }

    pub(super) fn range(&mut self, it: &Field, low: i64, high: i64) {
        if !(low..=high).contains(&it.int()) {
            let why = format!("must be between {low} and {high}, inclusive");
            self.invalid_value(it, it.int(), &why);
        }
    }

    /// A user or group id, if there is one.
    pub(super) fn user_id(&mut self, it: &Field) {
        if it.is_set() {
            self.range(it, 0, i64::from(i32::MAX));
        }
    }

    pub(super) fn port_number(&mut self, it: &Field) {
        self.range(it, 1, 65535);
    }

    /// A number or the name of a port.
    pub(super) fn port(&mut self, it: &Field) {
        match it.opt_str() {
            Some(name) => self.invalid_all(it, names::port_name(name)),
            None => self.port_number(it),
        }
    }

    pub(super) fn dns_label(&mut self, it: &Field) {
        self.invalid_all(it, names::dns1123_label(it.str()));
    }

    pub(super) fn dns_subdomain(&mut self, it: &Field) {
        self.invalid_all(it, names::dns1123_subdomain(it.str()));
    }

    /// The same as the name of a label.
    pub(super) fn qualified_name(&mut self, it: &Field) {
        self.invalid_all(it, names::qualified_name(it.str()));
    }

    pub(super) fn path_segment(&mut self, it: &Field) {
        self.invalid_all(it, names::path_segment_name(it.str()));
    }

    pub(super) fn config_key(&mut self, it: &Field) {
        self.invalid_all(it, names::config_map_key(it.str()));
    }

    /// What the field already had stays valid.
    pub(super) fn ip(&mut self, it: &Field, had: bool) {
        self.push_all(names::ip_for_legacy_field(&it.path, it.str(), true, had));
    }

    pub(super) fn cidr(&mut self, it: &Field, had: bool) {
        self.push_all(names::cidr_for_legacy_field(&it.path, it.str(), true, had));
    }

    pub(super) fn non_negative_quantity(&mut self, it: &Field) {
        if let Some(quantity) = quantity(it)
            && quantity.sign() < 0
        {
            self.invalid_value(it, quantity.to_string(), NEGATIVE);
        }
    }

    /// A pair that is no label is blamed on the whole map.
    pub(super) fn labels(&mut self, all: &Field) {
        if let Some(pairs) = all.value.as_object() {
            self.push_all(selector::validate_labels(pairs, &all.path));
        }
    }

    pub(super) fn annotations(&mut self, all: &Field) {
        if let Some(pairs) = all.value.as_object() {
            self.push_all(meta::object::validate_annotations(pairs, &all.path));
        }
    }

    pub(super) fn annotations_size(&mut self, all: &Field) {
        const MAX: usize = 256 << 10;
        let size = |(key, value): (&str, &Value)| key.len() + value.as_str().map_or(0, str::len);
        if all.pairs().map(size).sum::<usize>() > MAX {
            self.too_long(all, MAX);
        }
    }

    pub(super) fn label_selector(&mut self, it: &Field) {
        let allow_invalid_values = false;
        self.push_all(selector::validate_label_selector(
            it.value,
            allow_invalid_values,
            &it.path,
        ));
    }

    pub(super) fn operator_and_values(&mut self, operator: &Field, values: &Field) {
        match operator.str() {
            "In" | "NotIn" => {
                if values.is_empty() {
                    let why = "must be specified when `operator` is 'In' or 'NotIn'";
                    self.required(values, why);
                }
            }
            "Exists" | "DoesNotExist" => {
                if !values.is_empty() {
                    let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                    self.forbidden(values, why);
                }
            }
            _ => self.invalid(operator, "not a valid selector operator"),
        }
    }

    /// Of rules that upstream generates: they do not show what they refuse.
    pub(super) fn unchanged(&mut self, new: &Field, old: &Field) {
        if !self.same(new, old) {
            self.invalid_value(new, Value::Null, IMMUTABLE);
        }
    }

    pub(super) fn immutable(&mut self, new: &Field, old: &Field) {
        if !self.same(new, old) {
            let shown = match new.value {
                Value::Null if old.value.as_str().is_none() => Value::Null,
                _ => return self.invalid(new, IMMUTABLE),
            };
            self.invalid_value(new, shown, IMMUTABLE);
        }
    }

    /// A number or a percentage that is not negative.
    pub(super) fn int_or_percent(&mut self, it: &Field) {
        match it.opt_str() {
            Some(text) => self.invalid_all(it, names::percent(text)),
            None => self.non_negative(it),
        }
    }

    pub(super) fn at_most_100_percent(&mut self, it: &Field) {
        if percent(it).is_some_and(|it| it > 100) {
            self.invalid(it, "must not be greater than 100%");
        }
    }
}

fn percent(it: &Field) -> Option<i64> {
    it.str().strip_suffix('%')?.parse().ok()
}

/// What a number or percentage says, without its unit.
pub(super) fn int_or_percent_value(it: &Field) -> i64 {
    percent(it).unwrap_or_else(|| it.int())
}

/// Nothing if there is none, or it is not one, which the decoder refuses.
pub(super) fn quantity(it: &Field) -> Option<Quantity> {
    read_quantity(it.value)
}

pub(super) fn read_quantity(value: &Value) -> Option<Quantity> {
    Quantity::from_value(value)
        .ok()
        .filter(|_| !value.is_null())
}
