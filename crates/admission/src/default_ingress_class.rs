//! An ingress without a class gets the default one.

use crate::read::{default_class, has, section};
use crate::{Admitting, Operation, Outcome, Plugin, Request};

const GROUP: &str = "networking.k8s.io";
const OLD_CLASS: &str = "kubernetes.io/ingress.class";
const IS_DEFAULT: &str = "ingressclass.kubernetes.io/is-default-class";

#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultIngressClass;

impl Plugin for DefaultIngressClass {
    fn name(&self) -> &'static str {
        "DefaultIngressClass"
    }

    fn handles(&self, request: &Request<'_>) -> bool {
        request.operation == Operation::Create && request.is_whole(GROUP, "ingresses")
    }

    fn admit<'a>(&'a self, request: &'a Request<'a>, admitting: &'a mut Admitting) -> Outcome<'a> {
        let ingress = &mut admitting.object;
        let annotated = meta::object::annotation(ingress, OLD_CLASS).is_some();
        if !annotated && !has(ingress, &["spec", "ingressClassName"]) {
            let classes = request.lookup.list(GROUP, "ingressclasses", "");
            if let Some(name) = default_class(classes, &[IS_DEFAULT])
                && let Some(spec) = section(ingress, "spec")
            {
                spec.insert("ingressClassName", name);
            }
        }
        Ok(()).into()
    }
}
