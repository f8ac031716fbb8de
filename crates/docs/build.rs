//! Takes the descriptions of types and fields out of `k8s-openapi` and packs them for the program.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::{env, fs, path::Path};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use schemars::{JsonSchema, Schema, SchemaGenerator};

/// Makes the schemas of kinds and of all that they lead to.
macro_rules! kinds {
    ($generator:ident: $($($module:ident)::+ { $($kind:ident)+ })+) => {
        $({
            use k8s_openapi::$($module)::+ as module;
            $(add::<module::$kind>(&mut $generator);)+
        })+
    };
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=texts");
    let mut generator = SchemaGenerator::default();
    kinds! { generator:
        api::admissionregistration::v1 {
            MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration
            ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration
        }
        api::admissionregistration::v1alpha1 { MutatingAdmissionPolicy MutatingAdmissionPolicyBinding }
        api::admissionregistration::v1beta1 { MutatingAdmissionPolicy MutatingAdmissionPolicyBinding }
        api::apiserverinternal::v1alpha1 { StorageVersion }
        api::apps::v1 { ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet }
        api::authentication::v1 { SelfSubjectReview TokenRequest TokenReview }
        api::authorization::v1 {
            LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview
        }
        api::autoscaling::v1 { HorizontalPodAutoscaler Scale }
        api::autoscaling::v2 { HorizontalPodAutoscaler }
        api::batch::v1 { CronJob Job }
        api::certificates::v1 { CertificateSigningRequest ClusterTrustBundle PodCertificateRequest }
        api::certificates::v1beta1 { ClusterTrustBundle PodCertificateRequest }
        api::coordination::v1 { Lease }
        api::coordination::v1alpha2 { LeaseCandidate }
        api::coordination::v1beta1 { LeaseCandidate }
        api::core::v1 {
            Binding ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume
            PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount
        }
        api::discovery::v1 { EndpointSlice }
        api::events::v1 { Event }
        api::flowcontrol::v1 { FlowSchema PriorityLevelConfiguration }
        api::lifecycle::v1alpha1 { Eviction EvictionRequest }
        api::networking::v1 { Ingress IngressClass IPAddress NetworkPolicy ServiceCIDR }
        api::node::v1 { RuntimeClass }
        api::policy::v1 { Eviction PodDisruptionBudget }
        api::rbac::v1 { ClusterRole ClusterRoleBinding Role RoleBinding }
        api::resource::v1 { DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice }
        api::resource::v1alpha3 { DeviceTaintRule ResourcePoolStatusRequest }
        api::resource::v1beta1 { DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice }
        api::resource::v1beta2 {
            DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice
        }
        api::scheduling::v1 { PriorityClass }
        api::scheduling::v1alpha3 { CompositePodGroup PodGroup Workload }
        api::scheduling::v1beta1 { PodGroup Workload }
        api::storage::v1 {
            CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass
        }
        api::storagemigration::v1 { StorageVersionMigration }
        api::storagemigration::v1beta1 { StorageVersionMigration }
        apiextensions_apiserver::pkg::apis::apiextensions::v1 { CustomResourceDefinition }
        apimachinery::pkg::apis::meta::v1 {
            APIGroup APIGroupList APIResourceList APIVersions DeleteOptions Patch Status
        }
        apimachinery::pkg::version { Info }
        kube_aggregator::pkg::apis::apiregistration::v1 { APIService }
    }
    add::<meta::WatchEvent<RawExtension>>(&mut generator);
    let schemas = generator.take_definitions(false);
    let mut packages: BTreeMap<String, String> = BTreeMap::new();
    for (name, schema) in &schemas {
        let Some((package, ty)) = name.rsplit_once('.') else {
            continue;
        };
        let Ok(schema) = <&Schema>::try_from(schema) else {
            continue;
        };
        let out = packages.entry(package.to_owned()).or_default();
        line(out, &format!(":{ty}"), text(schema));
        let properties = schema.get("properties").and_then(|it| it.as_object());
        for (field, property) in properties.into_iter().flatten() {
            if let Ok(property) = <&Schema>::try_from(property) {
                line(out, field, text(property));
            }
        }
    }
    packages.extend(own_texts());
    write(&packages);
}

/// Texts of the kinds that Pilothouse adds: a file per package, in the form of [`line`].
fn own_texts() -> impl Iterator<Item = (String, String)> {
    let files = fs::read_dir("texts").expect("the directory is a part of this crate");
    files.map(|file| {
        let path = file.expect("the directory can be read").path();
        let package = path.file_stem().and_then(|it| it.to_str());
        let package = package.expect("files are named by packages").to_owned();
        (package, fs::read_to_string(&path).expect("a text file"))
    })
}

fn add<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

fn text(schema: &Schema) -> &str {
    let text = schema.get("description").and_then(|it| it.as_str());
    text.unwrap_or_default()
}

fn line(out: &mut String, name: &str, text: &str) {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n");
    writeln!(out, "{name}\t{text}").expect("a String takes all");
}

fn deflate(out: Vec<u8>, data: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(out, Compression::best());
    encoder.write_all(data).expect("a Vec takes all");
    encoder.finish().expect("a Vec takes all")
}

fn write(packages: &BTreeMap<String, String>) {
    let mut index = String::from("/// Each package with the place of its texts, by name.\n");
    index.push_str("#[allow(clippy::unreadable_literal)]\n");
    index.push_str("static PACKAGES: &[(&str, usize, usize)] = &[\n");
    let mut blob = Vec::new();
    for (package, text) in packages {
        let from = blob.len();
        blob = deflate(blob, text.as_bytes());
        writeln!(index, "    ({package:?}, {from}, {}),", blob.len()).expect("a String takes all");
    }
    index.push_str("];\n");
    let out = env::var_os("OUT_DIR").expect("cargo sets it for build scripts");
    let out = Path::new(&out);
    fs::write(out.join("texts.bin"), blob).expect("OUT_DIR can be written to");
    fs::write(out.join("packages.rs"), index).expect("OUT_DIR can be written to");
}
