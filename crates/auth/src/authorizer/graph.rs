//! Which objects concern a node: what the pods bound to it use, and what is attached to it.

mod uses;

use std::collections::{HashMap, HashSet};
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use json::Value;

/// Fed with objects of [`RESOURCES`](Self::RESOURCES).
#[derive(Debug, Default)]
pub struct ObjectGraph(RwLock<Graph>);

/// Resource, namespace, name.
type Key = (&'static str, String, String);
/// Namespace, name.
type Name = (String, String);

#[derive(Debug, Default)]
struct Graph {
    /// How many objects lead from a key to a node: it counts as long as one does.
    nodes: HashMap<Key, HashMap<String, usize>>,
    /// What each object added, to take it back when it changes or goes.
    added: HashMap<Key, (String, Vec<Key>)>,
    /// Volumes that are bound.
    volumes: HashMap<String, Volume>,
    /// The volumes that name a secret.
    volume_secrets: HashMap<Name, HashSet<String>>,
}

#[derive(Debug)]
struct Volume {
    claim: Name,
    secrets: Vec<Name>,
}

impl ObjectGraph {
    /// All that it learns from.
    pub const RESOURCES: [&'static str; 5] = [
        "pods",
        "persistentvolumes",
        "volumeattachments",
        "resourceslices",
        "podcertificaterequests",
    ];

    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a new or changed object; other resources are left alone.
    pub fn put(&self, resource: &str, object: &Value) {
        self.write().put(resource, object);
    }

    pub fn remove(&self, resource: &str, namespace: &str, name: &str) {
        self.write().remove(resource, namespace, name);
    }

    /// Forgets what was learned from a resource for what is there now, in one step.
    pub fn replace(&self, resource: &str, objects: impl Iterator<Item = Value>) {
        let mut graph = self.write();
        graph.forget(resource);
        for object in objects {
            graph.put(resource, &object);
        }
    }

    /// Whether an object concerns a node.
    pub fn related(&self, node: &str, resource: &str, namespace: &str, name: &str) -> bool {
        let graph = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if resource == "persistentvolumes" {
            return graph.uses_volume(node, name);
        }
        let known = uses::RESOURCES.iter().find(|it| **it == resource);
        if known.is_some_and(|resource| graph.leads(node, resource, namespace, name)) {
            return true;
        }
        let secret = (namespace.to_owned(), name.to_owned());
        let volumes = graph.volume_secrets.get(&secret).into_iter().flatten();
        let mut volumes = volumes.filter(|_| resource == "secrets");
        volumes.any(|volume| graph.uses_volume(node, volume))
    }

    fn write(&self) -> RwLockWriteGuard<'_, Graph> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Graph {
    fn put(&mut self, resource: &str, object: &Value) {
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
        let (namespace, name) = (
            text(&["metadata", "namespace"]),
            text(&["metadata", "name"]),
        );
        self.remove(resource, &namespace, &name);
        if resource == "persistentvolumes" {
            return self.put_volume(name, object);
        }
        let Some(resource) = learned(resource) else {
            return;
        };
        let node = text(&["spec", "nodeName"]);
        if node.is_empty() {
            return;
        }
        let own = (resource, namespace, name);
        let mut keys = vec![own.clone()];
        // A mirror pod is the kubelet's own word: it must not give it access to anything.
        let mirror = ["metadata", "annotations", "kubernetes.io/config.mirror"];
        if resource == "pods" && object.at(&mirror).is_none() {
            keys.extend(uses::of_pod(object, &own.1, &own.2));
        }
        self.add(own, node, keys);
    }

    fn put_volume(&mut self, name: String, object: &Value) {
        let claim = |key| object.str_at(&["spec", "claimRef", key]);
        let Some(claim_name) = claim("name").filter(|it| !it.is_empty()) else {
            return;
        };
        let namespace = claim("namespace").unwrap_or_default();
        let secrets = uses::of_volume(object, namespace);
        for secret in &secrets {
            let volumes = self.volume_secrets.entry(secret.clone()).or_default();
            volumes.insert(name.clone());
        }
        let claim = (namespace.to_owned(), claim_name.to_owned());
        self.volumes.insert(name, Volume { claim, secrets });
    }

    fn remove(&mut self, resource: &str, namespace: &str, name: &str) {
        if resource == "persistentvolumes" {
            self.remove_volume(name);
        } else if let Some(resource) = learned(resource) {
            self.take_back(&(resource, namespace.to_owned(), name.to_owned()));
        }
    }

    fn remove_volume(&mut self, name: &str) {
        let gone = self.volumes.remove(name);
        for secret in gone.into_iter().flat_map(|it| it.secrets) {
            if let Some(volumes) = self.volume_secrets.get_mut(&secret) {
                volumes.remove(name);
                if volumes.is_empty() {
                    self.volume_secrets.remove(&secret);
                }
            }
        }
    }

    fn forget(&mut self, resource: &str) {
        if resource == "persistentvolumes" {
            self.volumes.clear();
            self.volume_secrets.clear();
        }
        let sources = self.added.keys().filter(|it| it.0 == resource);
        let sources: Vec<Key> = sources.cloned().collect();
        for source in &sources {
            self.take_back(source);
        }
    }

    fn add(&mut self, source: Key, node: String, keys: Vec<Key>) {
        for key in &keys {
            let counts = self.nodes.entry(key.clone()).or_default();
            *counts.entry(node.clone()).or_default() += 1;
        }
        self.added.insert(source, (node, keys));
    }

    fn take_back(&mut self, source: &Key) {
        let Some((node, keys)) = self.added.remove(source) else {
            return;
        };
        for key in &keys {
            let Some(counts) = self.nodes.get_mut(key) else {
                continue;
            };
            if let Some(count) = counts.get_mut(&node) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(&node);
                }
            }
            if counts.is_empty() {
                self.nodes.remove(key);
            }
        }
    }

    fn leads(&self, node: &str, resource: &'static str, namespace: &str, name: &str) -> bool {
        let key = (resource, namespace.to_owned(), name.to_owned());
        self.nodes
            .get(&key)
            .is_some_and(|nodes| nodes.contains_key(node))
    }

    fn uses_volume(&self, node: &str, volume: &str) -> bool {
        self.volumes.get(volume).is_some_and(|it| {
            let (namespace, name) = &it.claim;
            self.leads(node, "persistentvolumeclaims", namespace, name)
        })
    }
}

fn learned(resource: &str) -> Option<&'static str> {
    ObjectGraph::RESOURCES
        .into_iter()
        .find(|it| *it == resource)
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::json;

    fn pod(node: &str) -> Value {
        json!({
            "metadata": {"name": "p", "namespace": "ns"},
            "spec": {
                "nodeName": node,
                "serviceAccountName": "sa",
                "imagePullSecrets": [{"name": "pull"}],
                "initContainers": [{"envFrom": [{"secretRef": {"name": "s1"}}, {"configMapRef": {"name": "c1"}}]}],
                "containers": [{"env": [
                    {"valueFrom": {"secretKeyRef": {"name": "s2"}}},
                    {"valueFrom": {"configMapKeyRef": {"name": "c2"}}},
                ]}],
                "volumes": [
                    {"secret": {"secretName": "s3"}},
                    {"configMap": {"name": "c3"}},
                    {"projected": {"sources": [{"secret": {"name": "s4"}}, {"configMap": {"name": "c4"}}]}},
                    {"persistentVolumeClaim": {"claimName": "claim"}},
                    {"name": "v", "ephemeral": {}},
                    {"csi": {"nodePublishSecretRef": {"name": "s5"}}},
                    {"cinder": {"secretRef": {"name": "s7"}}},
                    {"cephfs": {"secretRef": {"name": "s6"}}},
                ],
                "resourceClaims": [{"name": "a", "resourceClaimName": "r1"}, {"name": "b", "resourceClaimTemplateName": "t"}],
            },
            "status": {
                "resourceClaimStatuses": [{"name": "b", "resourceClaimName": "r2"}, {"name": "x", "resourceClaimName": "forged"}],
                "extendedResourceClaimStatus": {"resourceClaimName": "r3"},
            },
        })
    }

    #[test]
    fn follows_what_a_pod_uses() {
        let graph = ObjectGraph::new();
        graph.put("pods", &pod("n"));
        graph.put(
            "persistentvolumes",
            &json!({"metadata": {"name": "pv"}, "spec": {"claimRef": {"namespace": "ns", "name": "claim"}}}),
        );
        let used = [
            ("pods", "p"),
            ("serviceaccounts", "sa"),
            ("secrets", "pull"),
            ("secrets", "s1"),
            ("configmaps", "c1"),
            ("secrets", "s2"),
            ("configmaps", "c2"),
            ("secrets", "s3"),
            ("configmaps", "c3"),
            ("secrets", "s4"),
            ("configmaps", "c4"),
            ("persistentvolumeclaims", "claim"),
            ("persistentvolumeclaims", "p-v"),
            ("secrets", "s5"),
            ("secrets", "s6"),
            ("secrets", "s7"),
            ("resourceclaims", "r1"),
            ("resourceclaims", "r2"),
            ("resourceclaims", "r3"),
        ];
        for (resource, name) in used {
            assert!(
                graph.related("n", resource, "ns", name),
                "{resource} {name}"
            );
            assert!(!graph.related("m", resource, "ns", name), "another node");
            assert!(
                !graph.related("n", resource, "other", name),
                "another namespace"
            );
        }
        assert!(graph.related("n", "persistentvolumes", "", "pv"));
        assert!(!graph.related("m", "persistentvolumes", "", "pv"));
        assert!(
            !graph.related("n", "resourceclaims", "ns", "forged"),
            "only in the status"
        );
        assert!(
            !graph.related("n", "secrets", "ns", "c1"),
            "a secret of the name of a config map"
        );

        graph.put("pods", &pod("m"));
        assert!(
            !graph.related("n", "secrets", "ns", "s1") && graph.related("m", "secrets", "ns", "s1")
        );
        graph.remove("pods", "ns", "p");
        assert!(!graph.related("m", "secrets", "ns", "s1"));
        assert!(
            graph.0.read().unwrap().nodes.is_empty(),
            "nothing is left behind"
        );
    }

    #[test]
    fn counts_while_one_uses_it() {
        let graph = ObjectGraph::new();
        let mut second = pod("n");
        second
            .at_mut(&["metadata"])
            .unwrap()
            .as_object_mut()
            .unwrap()
            .insert("name", "q");
        graph.put("pods", &pod("n"));
        graph.put("pods", &second);
        graph.remove("pods", "ns", "p");
        assert!(graph.related("n", "secrets", "ns", "s1"));
        graph.remove("pods", "ns", "q");
        assert!(!graph.related("n", "secrets", "ns", "s1"));
    }

    #[test]
    fn what_must_not_count() {
        let graph = ObjectGraph::new();
        graph.put("pods", &pod(""));
        assert!(!graph.related("", "secrets", "ns", "s1"), "not bound yet");
        let mut mirror = pod("n");
        let annotations = json!({"kubernetes.io/config.mirror": "x"});
        mirror
            .at_mut(&["metadata"])
            .unwrap()
            .as_object_mut()
            .unwrap()
            .insert("annotations", annotations);
        graph.put("pods", &mirror);
        assert!(graph.related("n", "pods", "ns", "p"));
        assert!(
            !graph.related("n", "secrets", "ns", "s1"),
            "a mirror pod gives no access"
        );
    }

    #[test]
    fn attachments_and_slices() {
        let graph = ObjectGraph::new();
        for resource in [
            "volumeattachments",
            "resourceslices",
            "podcertificaterequests",
        ] {
            graph.put(
                resource,
                &json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n"}}),
            );
            assert!(
                graph.related("n", resource, "", "a") && !graph.related("m", resource, "", "a")
            );
            graph.remove(resource, "", "a");
            assert!(!graph.related("n", resource, "", "a"));
        }
    }

    #[test]
    fn secrets_of_volumes() {
        let graph = ObjectGraph::new();
        graph.put("pods", &pod("n"));
        let volume = |source: Value| {
            let mut volume = json!({
                "metadata": {"name": "pv"},
                "spec": {"claimRef": {"namespace": "ns", "name": "claim"}},
            });
            let spec = volume.at_mut(&["spec"]).unwrap().as_object_mut().unwrap();
            let source = source.as_object().unwrap().iter();
            spec.extend(source.map(|(key, value)| (key.clone(), value.clone())));
            volume
        };
        let cases = [
            (
                json!({"csi": {"nodePublishSecretRef": {"name": "s", "namespace": "csi"}}}),
                "csi",
                true,
            ),
            (
                json!({"csi": {"nodeStageSecretRef": {"name": "s", "namespace": "csi"}}}),
                "csi",
                true,
            ),
            (
                json!({"csi": {"nodeExpandSecretRef": {"name": "s", "namespace": "csi"}}}),
                "csi",
                true,
            ),
            (
                json!({"csi": {"controllerPublishSecretRef": {"name": "s", "namespace": "csi"}}}),
                "csi",
                false,
            ),
            (json!({"cephfs": {"secretRef": {"name": "s"}}}), "ns", true),
            (
                json!({"cephfs": {"secretRef": {"name": "s", "namespace": "other"}}}),
                "other",
                true,
            ),
            (json!({"azureFile": {"secretName": "s"}}), "ns", true),
            (
                json!({"azureFile": {"secretName": "s", "secretNamespace": "other"}}),
                "other",
                true,
            ),
            (
                json!({"cinder": {"secretRef": {"name": "s", "namespace": "other"}}}),
                "other",
                true,
            ),
        ];
        for (source, namespace, expected) in cases {
            graph.put("persistentvolumes", &volume(source.clone()));
            let of = |node| graph.related(node, "secrets", namespace, "s");
            assert_eq!(of("n"), expected, "{source}");
            assert!(!of("m"), "another node: {source}");
            assert!(
                !graph.related("n", "configmaps", namespace, "s"),
                "{source}"
            );
        }
        graph.remove("persistentvolumes", "", "pv");
        assert!(graph.0.read().unwrap().volume_secrets.is_empty());
    }

    #[test]
    fn what_was_missed_is_forgotten() {
        let graph = ObjectGraph::new();
        graph.put("pods", &pod("n"));
        let attachment = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n"}});
        graph.put("volumeattachments", &attachment);
        graph.replace("pods", std::iter::once(pod("m")));
        assert!(!graph.related("n", "secrets", "ns", "s1"));
        assert!(graph.related("m", "secrets", "ns", "s1"));
        assert!(
            graph.related("n", "volumeattachments", "", "a"),
            "not a pod"
        );
    }
}
