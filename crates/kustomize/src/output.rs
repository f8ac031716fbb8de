//! What comes out.

use std::collections::HashSet;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::id::NOT_NAMESPACEABLE;
use crate::node::source::Sources;
use crate::resource::Resource;

/// The resources of a build, in order.
#[derive(Debug)]
pub struct Output {
    resources: Vec<Resource>,
    /// What they were read from.
    pub(crate) sources: Rc<Sources>,
}

impl Output {
    pub(crate) fn new(resources: Vec<Resource>, sources: Rc<Sources>) -> Self {
        Self { resources, sources }
    }

    pub(crate) fn resources(&self) -> &[Resource] {
        &self.resources
    }

    pub fn len(&self) -> usize {
        self.resources.len()
    }

    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// Appends all documents, `---` between them.
    pub fn write(&self, out: &mut Vec<u8>) -> std::result::Result<(), Error> {
        for (at, resource) in self.resources.iter().enumerate() {
            if at > 0 {
                out.extend_from_slice(b"---\n");
            }
            resource.write(out).map_err(|error| {
                // Upstream shows what it could read of the object, which is nothing.
                match error.cause() {
                    Error::Yaml(
                        yaml::Error::UnsupportedMapKey { .. }
                        | yaml::Error::NotJson
                        | yaml::Error::UnsupportedValue(_),
                    ) => error,
                    Error::Yaml(_) => error.wrap("map[string]interface {}(nil)"),
                    _ => error,
                }
            })?;
        }
        Ok(())
    }

    /// Each resource, in order.
    pub fn values(&self) -> std::result::Result<Vec<json::Value>, Error> {
        self.resources.iter().map(Resource::to_value).collect()
    }

    pub fn to_yaml(&self) -> std::result::Result<String, Error> {
        let mut out = Vec::new();
        self.write(&mut out)?;
        String::from_utf8(out).map_err(|error| Error::new(error.to_string()))
    }

    /// One file for each resource: its name and its content.
    pub fn files(&self) -> std::result::Result<Vec<(String, String)>, Error> {
        let namespaces: HashSet<_> = self
            .resources
            .iter()
            .map(|it| it.current_id().effective_namespace())
            .filter(|it| **it != *NOT_NAMESPACEABLE)
            .collect();
        self.resources
            .iter()
            .map(|resource| {
                Ok((
                    file_name(resource, namespaces.len() > 1),
                    resource.to_yaml()?,
                ))
            })
            .collect::<Result<_>>()
    }
}

fn file_name(resource: &Resource, with_namespace: bool) -> String {
    let id = resource.current_id();
    let parts = [&id.gvk.group, &id.gvk.version, &id.gvk.kind];
    let parts: Vec<&str> = parts
        .iter()
        .map(|it| it.as_str())
        .filter(|it| !it.is_empty())
        .collect();
    let name = format!("{}_{}.yaml", parts.join("_"), id.name).to_lowercase();
    match id.effective_namespace() {
        namespace if with_namespace && *namespace != *NOT_NAMESPACEABLE => {
            format!("{}_{name}", namespace.to_lowercase())
        }
        _ => name,
    }
}
