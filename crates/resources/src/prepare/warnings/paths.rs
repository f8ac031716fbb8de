//! Volumes in which two entries would be one file, or one a file and the other a directory.

use std::collections::BTreeMap;

use json::Value;
use meta::go::quote;

use super::Warnings;
use crate::read::Read;

/// No file has a longer path.
const MAX_PATH: usize = 4096;

pub(crate) fn check(volumes: &[Value], all: &mut Warnings) {
    for volume in volumes {
        let name = quote(volume.text("name"));
        for (key, kind, named) in [
            ("configMap", "ConfigMap", "name"),
            ("secret", "Secret", "secretName"),
            ("downwardAPI", "DownwardAPI", ""),
        ] {
            let Some(source) = volume.find(key) else {
                continue;
            };
            let title = match named {
                "" => kind.to_owned(),
                _ => format!("{kind} {}", quote(source.text(named))),
            };
            overlaps(items(source, ""), &name, &title, all);
        }
        if volume.has("projected") {
            let mut paths = Vec::new();
            for source in volume.list("projected.sources") {
                if source.as_object().is_none_or(json::Object::is_empty) {
                    all.push(format!("volume {name} (Projected) has no sources provided"));
                } else {
                    paths.extend(projection(source));
                }
            }
            overlaps(paths, &name, "Projected", all);
        }
    }
}

/// A path, and where it comes from.
struct Entry {
    path: String,
    source: String,
}

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&quote(&self.path))?;
        match self.source.as_str() {
            "" => Ok(()),
            source => write!(f, " ({source})"),
        }
    }
}

fn entry(path: &str, source: &str) -> Entry {
    Entry {
        path: path.trim_end_matches('/').to_owned(),
        source: source.to_owned(),
    }
}

fn items(source: &Value, title: &str) -> Vec<Entry> {
    let items = source.list("items").iter();
    items.map(|it| entry(it.text("path"), title)).collect()
}

fn projection(source: &Value) -> Vec<Entry> {
    for (key, kind) in [("configMap", "ConfigMap"), ("secret", "Secret")] {
        if let Some(found) = source.find(key) {
            return items(found, &format!("{kind} {}", quote(found.text("name"))));
        }
    }
    if let Some(found) = source.find("downwardAPI") {
        return items(found, "DownwardAPI");
    }
    if let Some(found) = source.find("serviceAccountToken") {
        return vec![entry(found.text("path"), "ServiceAccountToken")];
    }
    if let Some(found) = source.find("clusterTrustBundle") {
        let name = if found.has("name") {
            "name"
        } else {
            "signerName"
        };
        let title = format!("ClusterTrustBundle {}", quote(found.text(name)));
        return vec![entry(found.text("path"), &title)];
    }
    let Some(found) = source.find("podCertificate") else {
        return Vec::new();
    };
    let all = [
        ("certificateChainPath", "PodCertificate chain"),
        ("keyPath", "PodCertificate key"),
        ("credentialBundlePath", "PodCertificate credential bundle"),
    ];
    let all = all.iter().map(|(key, title)| entry(found.text(key), title));
    all.filter(|it| !it.path.is_empty()).collect()
}

/// Each with all that came before, in their order.
fn overlaps(entries: Vec<Entry>, volume: &str, title: &str, all: &mut Warnings) {
    let entries: Vec<Entry> = (entries.into_iter())
        .filter(|it| (1..=MAX_PATH).contains(&it.path.len()))
        .collect();
    let mut seen: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, entry) in entries.iter().enumerate() {
        if all.is_full() {
            return;
        }
        let path = &*entry.path;
        // What is above, and what is the same.
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        let mut others: Vec<usize> = (above.chain([path]))
            .filter_map(|it| seen.get(it))
            .flatten()
            .copied()
            .collect();
        // What is below stands together.
        let prefix = format!("{path}/");
        let below = seen.range(&*prefix..);
        let below = below.take_while(|(it, _)| it.starts_with(&prefix));
        others.extend(below.flat_map(|(_, it)| it));
        others.sort_unstable();
        for other in others.into_iter().map(|it| &entries[it]) {
            all.push(format!(
                "volume {volume} ({title}): overlapping paths: {entry} with {other}"
            ));
        }
        seen.entry(path).or_default().push(index);
    }
}
