//! Pods, and templates of pods.

mod annotations;
pub(crate) mod containers;
mod env;
mod mounts;
mod probes;
mod projected;
mod resize;
pub(crate) mod resources;
pub(crate) mod scheduling;
mod security;
mod spec;
mod status;
mod update;
mod volumes;

pub(crate) use resize::resize;
pub(crate) use status::update_status;
pub(crate) use update::{update, update_ephemeral_containers};

use super::errors::Errors;
use super::field::Field;
use super::object_meta::{self, Named};

pub(crate) fn create(e: &mut Errors, pod: &Field) {
    metadata_and_spec(e, pod);
    let spec = pod.child("spec");
    let ephemeral = spec.child("ephemeralContainers");
    if !ephemeral.is_empty() {
        e.forbidden(&ephemeral, "cannot be set on create");
    }
    if !spec.text("nodeName").is_empty() && !spec.child("schedulingGates").is_empty() {
        let text = "cannot be set until all schedulingGates have been cleared";
        e.forbidden(&spec.child("nodeName"), text);
    }
    let metadata = pod.child("metadata");
    annotations::match_fields(e, &metadata.child("annotations"), &spec);
}

fn metadata_and_spec(e: &mut Errors, pod: &Field) {
    object_meta::create(e, pod, Named::SUBDOMAIN);
    let (metadata, spec) = (pod.child("metadata"), pod.child("spec"));
    annotations::annotations(e, &metadata.child("annotations"), &spec);
    spec::spec(e, &spec, Some(pod));
    if spec.text("serviceAccountName").is_empty() {
        for volume in spec.child("volumes").items() {
            let sources = volume.children(&["projected", "sources"]);
            for source in sources.items() {
                let token = source.child("serviceAccountToken");
                if token.is_set() {
                    e.forbidden(
                        &token,
                        "must not be specified when serviceAccountName is not set",
                    );
                }
            }
        }
    }
    e.non_negative(&spec.child("terminationGracePeriodSeconds"));
    for name in ["containers", "initContainers"] {
        for container in spec.child(name).items() {
            containers::image_without_space(e, &container);
        }
    }
}

/// Reported, as upstream does, without the metadata around labels and annotations.
pub(super) fn template(e: &mut Errors, it: &Field) {
    let (metadata, spec) = (it.child("metadata"), it.child("spec"));
    e.labels(&it.child("labels").with(metadata.child("labels").value));
    let annotations = metadata.child("annotations");
    let reported = it.child("annotations");
    let reported = reported.with(annotations.value);
    e.annotations(&reported);
    annotations::annotations(e, &reported, &spec);
    spec::spec(e, &spec, None);
    annotations::match_fields(e, &annotations, &spec);
    let ephemeral = spec.child("ephemeralContainers");
    if !ephemeral.is_empty() {
        e.forbidden(
            &ephemeral,
            "ephemeral containers not allowed in pod template",
        );
    }
}

/// The part of a template's rules that upstream says twice for a stateful set.
pub(super) fn template_metadata(e: &mut Errors, it: &Field) {
    let (metadata, spec) = (it.child("metadata"), it.child("spec"));
    e.labels(&it.child("labels").with(metadata.child("labels").value));
    let reported = it.child("annotations");
    let reported = reported.with(metadata.child("annotations").value);
    e.annotations(&reported);
    annotations::annotations(e, &reported, &spec);
}

/// In the order init, regular, ephemeral.
pub(super) fn each_container(spec: &Field, mut see: impl FnMut(&Field)) {
    for name in ["initContainers", "containers", "ephemeralContainers"] {
        for container in spec.child(name).items() {
            see(&container);
        }
    }
}

/// Which node a pod goes to.
pub(crate) fn binding(e: &mut Errors, it: &Field) {
    let target = it.child("target");
    let (kind, name) = (target.child("kind"), target.child("name"));
    let to_node = matches!(kind.str(), "" | "Node");
    if !to_node {
        e.not_supported(&kind, &["Node", "<empty>"]);
    }
    if e.required_text(&name) && to_node {
        e.dns_subdomain(&name);
    }
}

pub(crate) mod templates {
    //! `PodTemplate` objects.

    use super::{Errors, Field, Named, object_meta, template};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::SUBDOMAIN);
        template(e, &it.child("template"));
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        template(e, &new.child("template"));
    }
}
