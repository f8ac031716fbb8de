//! `ResourceSlice`: what a driver offers.

use json::Value;
use meta::names;

use super::{Errors, Field, Named, object_meta, parts};
use crate::validate::pod::scheduling::node_selector;
use crate::validate::sources::csi_driver_name;

const DEVICES: usize = 128;
/// With taints, counters or lists as attributes.
const DEMANDING: usize = 64;
const COUNTER_SETS: usize = 8;
const COUNTERS: usize = 32;
const CONSUMED: usize = 2;
const TAINTS: usize = 16;
const ATTRIBUTES: usize = 32;
const VALUES: usize = 48;
/// Of an attribute's text.
const LONGEST: usize = 64;
const LISTS: [&str; 4] = ["bools", "ints", "strings", "versions"];
/// Of an attribute; one of them is given.
const KINDS: [&str; 8] = [
    "int", "bool", "string", "version", "ints", "bools", "strings", "versions",
];

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::CLUSTER_SUBDOMAIN);
    spec(e, &it.child("spec"), None);
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    spec(e, &new.child("spec"), Some(&old.child("spec")));
}

fn spec(e: &mut Errors, it: &Field, old: Option<&Field>) {
    csi_driver_name(e, &it.child("driver"));
    pool(e, &it.child("pool"));
    if let Some(old) = old {
        let name = ["pool", "name"];
        e.immutable(&it.children(&name), &old.children(&name));
        for field in ["driver", "nodeName"] {
            e.immutable(&it.child(field), &old.child(field));
        }
    }
    place(e, it);
    if it.has("sharedCounters") && it.has("devices") {
        let why = "only one of `sharedCounters` or `devices` is allowed";
        e.invalid_value(it, "", why);
    }
    let devices = it.child("devices");
    let demanding = devices.items().any(|it| {
        let attributes = it.child("attributes");
        !it.child("taints").is_empty()
            || !it.child("consumesCounters").is_empty()
            || attributes
                .entries()
                .any(|(_, it)| LISTS.iter().any(|list| it.has(list)))
    });
    let most = if demanding { DEMANDING } else { DEVICES };
    let each = it.flag("perDeviceNodeSelection");
    for device in devices.items() {
        self::device(e, &device, each);
    }
    if devices.len() > most {
        e.too_many(&devices, most);
    }
    super::duplicates(e, &devices);
    let sets = it.child("sharedCounters");
    parts::count(e, &sets, COUNTER_SETS);
    for set in sets.items() {
        e.late(|e| {
            let name = set.child("name");
            if e.required_text(&name) {
                e.dns_label(&name);
            }
        });
        counters(e, &set.child("counters"));
    }
    e.late(|e| super::listed_twice(e, &sets));
}

fn pool(e: &mut Errors, it: &Field) {
    parts::pool_name(e, &it.child("name"));
    let slices = it.child("resourceSliceCount");
    if slices.int() <= 0 {
        e.invalid_value(&slices, slices.int(), "must be greater than zero");
    }
    let generation = it.child("generation");
    if generation.int() < 0 {
        e.invalid(&generation, "must be greater than or equal to zero");
    }
}

/// Where its devices are: one way of saying so.
fn place(e: &mut Errors, it: &Field) {
    let mut set = Vec::new();
    let name = it.child("nodeName");
    if let Some(text) = name.opt_str() {
        if text.is_empty() {
            e.invalid(&name, "must be either unset or set to a non-empty string");
        } else {
            set.push("`nodeName`");
            e.invalid_all(&name, names::dns1123_subdomain(text));
        }
    }
    let selector = it.child("nodeSelector");
    if selector.is_set() {
        set.push("`nodeSelector`");
        node_selector(e, &selector);
        let terms = selector.child("nodeSelectorTerms");
        if terms.len() != 1 {
            e.invalid(&terms, "must have exactly one node selector term");
        }
    }
    for (field, shown) in [
        ("allNodes", "`allNodes`"),
        ("perDeviceNodeSelection", "`perDeviceNodeSelection`"),
    ] {
        let flag = it.child(field);
        match flag.opt_bool() {
            Some(true) => set.push(shown),
            Some(false) => e.invalid(&flag, "must be either unset or set to true"),
            None => {}
        }
    }
    let one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    one_of(
        e,
        it,
        &set,
        one,
        &format!("{one}, but multiple fields are set"),
    );
}

fn one_of(e: &mut Errors, it: &Field, set: &[&str], none: &str, several: &str) {
    match set {
        [] => e.required(it, none),
        [_] => {}
        _ => e.invalid_value(it, format!("{{{}}}", set.join(", ")), several),
    }
}

fn device(e: &mut Errors, it: &Field, each: bool) {
    e.dns_label(&it.child("name"));
    let (attributes, capacity) = (it.child("attributes"), it.child("capacity"));
    let total = attributes.len() + capacity.len();
    if total > ATTRIBUTES {
        let why =
            format!("the total number of attributes and capacities must not exceed {ATTRIBUTES}");
        e.invalid_value(it, number(total), &why);
    }
    let values = |(_, it): (&str, Field<'_>)| {
        let listed: usize = LISTS.iter().map(|list| it.child(list).len()).sum();
        listed.max(1)
    };
    let values: usize = attributes.entries().map(values).sum();
    if values > VALUES {
        let why = format!("the total number of attribute values must not exceed {VALUES}");
        e.invalid_value(it, number(values), &why);
    }
    for (name, at) in attributes.entries() {
        parts::qualified_name(e, &attributes, name);
        attribute(e, &at);
    }
    for (name, at) in capacity.entries() {
        parts::qualified_name(e, &capacity, name);
        let policy = at.child("requestPolicy");
        if policy.is_set() && !it.flag("allowMultipleAllocations") {
            e.forbidden(&policy, "allowMultipleAllocations must be true");
        }
    }
    let taints = it.child("taints");
    if taints.len() > TAINTS {
        e.too_many(&taints, TAINTS);
    }
    for taint in taints.items() {
        parts::taint(e, &taint);
    }
    let consumed = it.child("consumesCounters");
    parts::count(e, &consumed, CONSUMED);
    for set in consumed.items() {
        e.late(|e| {
            let name = set.child("counterSet");
            if e.required_text(&name) {
                e.dns_label(&name);
            }
        });
        counters(e, &set.child("counters"));
    }
    device_place(e, it, each);
}

fn device_place(e: &mut Errors, it: &Field, each: bool) {
    if !each {
        if ["nodeName", "nodeSelector", "allNodes"]
            .iter()
            .any(|field| it.has(field))
        {
            let why = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
            e.invalid_value(it, Value::Null, why);
        }
        return;
    }
    let mut set = Vec::new();
    let name = it.child("nodeName");
    if let Some(text) = name.opt_str() {
        if text.is_empty() {
            e.invalid(&name, "must not be empty");
        } else {
            set.push("`nodeName`");
            e.invalid_all(&name, names::dns1123_subdomain(text));
        }
    }
    let selector = it.child("nodeSelector");
    if selector.is_set() {
        set.push("`nodeSelector`");
        node_selector(e, &selector);
    }
    let all = it.child("allNodes");
    match all.opt_bool() {
        Some(true) => set.push("`allNodes`"),
        Some(false) => e.invalid(&all, "must be either unset or set to true"),
        None => {}
    }
    let one = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    one_of(e, it, &set, one, one);
}

fn attribute(e: &mut Errors, it: &Field) {
    let (text, version) = (it.child("string"), it.child("version"));
    if text.len() > LONGEST {
        e.too_long(&text, LONGEST);
    }
    if version.is_set() {
        self::version(e, &version);
    }
    for list in LISTS {
        let all = it.child(list);
        if all.is_set() && all.is_empty() {
            e.invalid_value(&all, all.value.clone(), "must not be empty if specified");
        }
        for item in all.items() {
            match list {
                "strings" if item.len() > LONGEST => e.late(|e| e.too_long(&item, LONGEST)),
                "versions" => self::version(e, &item),
                _ => {}
            }
        }
    }
    let set: Vec<&str> = KINDS.iter().copied().filter(|name| it.has(name)).collect();
    let kinds = KINDS.map(|it| format!("`{it}`")).join(", ");
    match &*set {
        [] => e.late(|e| e.invalid_value(it, "", &format!("must specify one of: {kinds}"))),
        [_] => {}
        _ => e.late(|e| {
            let why = format!("must specify exactly one of: {kinds}");
            e.invalid_value(it, format!("{{{}}}", set.join(", ")), &why);
        }),
    }
}

fn version(e: &mut Errors, it: &Field) {
    if !is_semantic(it.str()) {
        e.invalid(it, "must be a string compatible with semver.org spec 2.0.0");
    }
    if it.len() > LONGEST {
        e.too_long(it, LONGEST);
    }
}

/// Three numbers, perhaps a pre-release and a build (semver.org 2.0.0).
fn is_semantic(text: &str) -> bool {
    let number = |it: &str| {
        !it.is_empty()
            && it.bytes().all(|it| it.is_ascii_digit())
            && (it == "0" || !it.starts_with('0'))
    };
    let word = |it: &str| {
        !it.is_empty()
            && it
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'-')
    };
    let (rest, build) = match text.split_once('+') {
        Some((rest, build)) => (rest, Some(build)),
        None => (text, None),
    };
    let (core, before) = match rest.split_once('-') {
        Some((core, before)) => (core, Some(before)),
        None => (rest, None),
    };
    let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    core.split('.').count() == 3
        && core.split('.').all(number)
        && before.is_none_or(|it| {
            it.split('.')
                .all(|it| word(it) && (!digits(it) || number(it)))
        })
        && build.is_none_or(|it| it.split('.').all(word))
}

fn counters(e: &mut Errors, all: &Field) {
    if all.is_empty() {
        return e.late(|e| e.required(all, ""));
    }
    parts::count(e, all, COUNTERS);
    for (name, _) in all.entries() {
        for why in names::dns1123_label(name) {
            e.late(|e| e.invalid_value(all, name, &why));
        }
    }
}

fn number(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::is_semantic;

    #[test]
    fn versions_of_devices() {
        let good = [
            "1.2.3",
            "0.0.0",
            "1.0.0-alpha.1",
            "1.0.0+x.1",
            "1.0.0-a-b+c",
        ];
        for text in good {
            assert!(is_semantic(text), "{text}");
        }
        let bad = [
            "", "1", "1.2", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "v1.2.3", "1.2.3.4",
        ];
        for text in bad {
            assert!(!is_semantic(text), "{text}");
        }
    }
}
