//! Custom resources: rows of the catalog, made from `CustomResourceDefinitions`.

use std::collections::HashMap;
use std::sync::Arc;

use json::{Text, Value};
use meta::Status;
use meta::gvk::compare_versions;
use resources::columns::Custom as Columns;
use resources::{Resource as Row, Strategy, Subresource, Verb, Verbs};
use schema::Schema;
use store::Revision;
use tokio::sync::watch;

use crate::catalog::converter::Webhook;
use crate::catalog::{Resource, head};
use crate::instruments::row::RowSeries;

/// What a definition says of one version beyond its row.
#[derive(Debug)]
pub struct Custom {
    /// The definition's name: `widgets.example.com`.
    pub definition: String,
    pub columns: Columns,
    /// As it is written, without what all objects have.
    pub schema: Option<Schema>,
    /// Those of all versions, served or not: what is stored is read by the schema of its own.
    pub schemas: Arc<Schemas>,
    /// When the definition last changed: what was written after that has this schema's defaults.
    pub since: Revision,
    /// JSON paths of `spec.replicas`, `status.replicas` and the selector.
    pub scale: Option<Scale>,
    /// JSON paths that field selectors may name.
    pub selectable: Vec<String>,
    pub conversion: Conversion,
    pub deprecation: Option<String>,
    pub preserve_unknown: bool,
    pub validation: Option<Value>,
    /// Its objects are on their way out, and no new ones come.
    pub terminating: bool,
    pub life: DefinitionLifetime,
}

/// By version.
pub type Schemas = HashMap<String, Schema>;

/// Ends when the definition changes or is deleted: watches of its objects end then, and clients watch again.
#[derive(Clone, Debug)]
pub struct DefinitionLifetime(watch::Receiver<()>);

impl DefinitionLifetime {
    /// With what keeps it.
    pub(crate) fn begin() -> (watch::Sender<()>, Self) {
        let (keeper, kept) = watch::channel(());
        (keeper, Self(kept))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.0.has_changed().is_err()
    }

    pub(crate) async fn over(&self) {
        let mut kept = self.0.clone();
        while kept.changed().await.is_ok() {}
    }
}

#[derive(Clone, Debug)]
pub struct Scale {
    pub spec: String,
    pub status: String,
    pub selector: Option<String>,
}

#[derive(Clone, Debug)]
pub enum Conversion {
    None,
    Webhook(Webhook),
}

impl Custom {
    pub fn columns(&self) -> Value {
        let all = self.columns.definitions().iter();
        all.map(meta::table::Column::to_value).collect()
    }

    pub(crate) fn webhook(&self) -> Option<&Webhook> {
        match &self.conversion {
            Conversion::Webhook(webhook) => Some(webhook),
            Conversion::None => None,
        }
    }

    /// Without a webhook, versions differ in their name only.
    pub fn convert(&self, object: &mut Value, api_version: &str) -> Result<(), Status> {
        match &self.conversion {
            Conversion::None => {
                if let Some(fields) = object.as_object_mut() {
                    fields.insert("apiVersion", api_version);
                }
                Ok(())
            }
            Conversion::Webhook(webhook) => webhook.convert(object, api_version),
        }
    }
}

/// The rows of a definition: one for each served version, if it is established. Its schemas are made unless they are
/// there already.
pub(crate) fn resources(
    definition: &Value,
    webhook: Option<&Webhook>,
    since: Revision,
    life: &DefinitionLifetime,
    schemas: Option<Arc<Schemas>>,
) -> Vec<Arc<Resource>> {
    let text = |path: &[&str]| definition.str_at(path).unwrap_or_default();
    if !is_true(definition, "Established") || !is_true(definition, "NamesAccepted") {
        return Vec::new();
    }
    let group = text(&["spec", "group"]);
    let versions = definition
        .at(&["spec", "versions"])
        .and_then(Value::as_array);
    let versions = versions.map_or(&[][..], |it| it);
    let stored = versions
        .iter()
        .find(|it| it.get("storage").and_then(Value::as_bool) == Some(true));
    let stored = stored
        .and_then(|it| it.str_at(&["name"]))
        .unwrap_or_default();
    let all = DefinitionVersions {
        definition,
        group,
        stored,
        webhook,
        since,
        life,
        schemas: schemas.unwrap_or_else(|| self::schemas(versions)),
    };
    let served = versions
        .iter()
        .filter(|it| it.get("served").and_then(Value::as_bool) == Some(true));
    served
        .map(|version| Arc::new(resource(&all, version)))
        .collect()
}

/// What the versions of a definition have in common.
struct DefinitionVersions<'a> {
    definition: &'a Value,
    group: &'a str,
    stored: &'a str,
    webhook: Option<&'a Webhook>,
    since: Revision,
    life: &'a DefinitionLifetime,
    schemas: Arc<Schemas>,
}

fn schemas(versions: &[Value]) -> Arc<Schemas> {
    let schema = |version: &Value| {
        let props = version.at(&["schema", "openAPIV3Schema"])?;
        let name = version.str_at(&["name"])?;
        Some((name.to_owned(), crate::catalog::structural::schema(props)?))
    };
    Arc::new(versions.iter().filter_map(schema).collect())
}

/// The row of the version that objects are stored in, served or not. Only for what needs no conversion.
pub(crate) fn stored(definition: &Value) -> Option<Arc<Resource>> {
    let versions = definition.at(&["spec", "versions"])?.as_array()?;
    let is_stored = |it: &&Value| it.get("storage").and_then(Value::as_bool) == Some(true);
    let version = versions.iter().find(is_stored)?;
    let (group, name) = (
        definition.str_at(&["spec", "group"])?,
        version.str_at(&["name"])?,
    );
    let all = DefinitionVersions {
        definition,
        group,
        stored: name,
        webhook: None,
        since: 0,
        life: &DefinitionLifetime::begin().1,
        schemas: schemas(versions),
    };
    Some(Arc::new(resource(&all, version)))
}

/// The warning for clients of a deprecated version.
fn deprecation(definition: &Value, version: &Value, kind: &str) -> Option<String> {
    if version.get("deprecated").and_then(Value::as_bool) != Some(true) {
        return None;
    }
    if let Some(warning) = version.str_at(&["deprecationWarning"]) {
        return Some(warning.to_owned());
    }
    let group = definition.str_at(&["spec", "group"]).unwrap_or_default();
    let name = version.str_at(&["name"]).unwrap_or_default();
    let better = better_version(definition, name);
    let hint = better.map(|it| format!("; use {group}/{it} {kind}"));
    let hint = hint.unwrap_or_default();
    Some(format!("{group}/{name} {kind} is deprecated{hint}"))
}

/// The best served version that is not deprecated, if clients prefer it.
fn better_version<'a>(definition: &'a Value, than: &str) -> Option<&'a str> {
    let versions = definition.at(&["spec", "versions"])?.as_array()?;
    let is = |it: &Value, key| it.get(key).and_then(Value::as_bool) == Some(true);
    let fine = versions
        .iter()
        .filter(|it| is(it, "served") && !is(it, "deprecated"));
    let names = fine.filter_map(|it| it.str_at(&["name"]));
    let better = names.filter(|it| compare_versions(it, than).is_gt());
    better.max_by(|a, b| compare_versions(a, b))
}

/// The webhook that converts between the versions of a definition.
pub fn webhook(definition: &Value) -> Option<&Value> {
    let strategy = definition.str_at(&["spec", "conversion", "strategy"]);
    let webhook = definition.at(&["spec", "conversion", "webhook"]);
    webhook.filter(|_| strategy == Some("Webhook"))
}

fn resource(all: &DefinitionVersions<'_>, version: &Value) -> Resource {
    let (definition, group) = (all.definition, all.group);
    let names = definition
        .at(&["status", "acceptedNames"])
        .or_else(|| definition.at(&["spec", "names"]));
    let names = names.cloned().unwrap_or_default();
    let name = |field: &str| Text::from(names.str_at(&[field]).unwrap_or_default());
    let list = |field: &str| {
        let found = names.get(field).and_then(Value::as_array);
        let all = found.into_iter().flatten().filter_map(Value::as_str);
        all.map(Text::from).collect::<Vec<_>>()
    };
    let version_name = version.str_at(&["name"]).unwrap_or_default();
    let kind = name("kind");
    let sub = |sub: &str, group: &str, version: &str, kind: &str, foreign: bool| Subresource {
        name: sub.into(),
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        foreign,
        verbs: [Verb::Get, Verb::Patch, Verb::Update].into_iter().collect(),
    };
    let mut subresources = Vec::new();
    if version.at(&["subresources", "status"]).is_some() {
        subresources.push(sub("status", group, version_name, &kind, false));
    }
    let scale = version.at(&["subresources", "scale"]).map(scale);
    if scale.is_some() {
        subresources.push(sub("scale", "autoscaling", "v1", "Scale", true));
    }
    let definition_name = definition.str_at(&["metadata", "name"]).unwrap_or_default();
    let validation = version.at(&["schema", "openAPIV3Schema"]).cloned();
    let own = all.schemas.get(version_name).cloned();
    let schema = own.as_ref().map(schema::with_object_meta);
    let columns = version
        .get("additionalPrinterColumns")
        .and_then(Value::as_array);
    let columns = Columns::new(columns.map_or(&[][..], |it| it))
        .or_else(|_| Columns::new(&[]))
        .expect("the default columns are well formed");
    let selectable = version.get("selectableFields").and_then(Value::as_array);
    let selectable = selectable.into_iter().flatten();
    let selectable = selectable.filter_map(|it| it.str_at(&["jsonPath"]));
    let conversion = match all.webhook {
        Some(webhook) => Conversion::Webhook(webhook.clone()),
        None => Conversion::None,
    };
    let custom = Custom {
        definition: definition_name.to_owned(),
        columns,
        schema: own,
        schemas: all.schemas.clone(),
        since: all.since,
        scale,
        selectable: selectable.map(str::to_owned).collect(),
        conversion,
        deprecation: deprecation(definition, version, &kind),
        preserve_unknown: definition
            .at(&["spec", "preserveUnknownFields"])
            .and_then(Value::as_bool)
            == Some(true),
        validation,
        terminating: is_true(definition, "Terminating"),
        life: all.life.clone(),
    };
    let row = Row {
        group: group.into(),
        version: version_name.into(),
        list_kind: Some(name("listKind")),
        plural: name("plural"),
        singular: name("singular"),
        namespaced: definition.str_at(&["spec", "scope"]) == Some("Namespaced"),
        short_names: list("shortNames"),
        categories: list("categories"),
        verbs: Verbs::ALL,
        subresources,
        prefix: Some(format!("{group}/{}", name("plural")).into()),
        stored: (group.into(), all.stored.into()),
        schema: Text::default(),
        strategy: Strategy::CUSTOM,
        served_by_default: true,
        kind,
    };
    Resource {
        prefix: format!("/{group}/{}/", row.plural),
        head: head(group, version_name, &row.kind, true),
        schema,
        custom: Some(Arc::new(custom)),
        row: Arc::new(row),
        series: RowSeries::default(),
        gates: None,
        may_be_gated: false,
    }
}

fn scale(scale: &Value) -> Scale {
    let path = |field: &str| scale.str_at(&[field]).unwrap_or_default().to_owned();
    Scale {
        spec: path("specReplicasPath"),
        status: path("statusReplicasPath"),
        selector: scale.str_at(&["labelSelectorPath"]).map(str::to_owned),
    }
}

/// Whether a condition holds.
pub fn is_true(definition: &Value, condition: &str) -> bool {
    let all = definition
        .at(&["status", "conditions"])
        .and_then(Value::as_array);
    let mut all = all.into_iter().flatten();
    all.any(|it| it.str_at(&["type"]) == Some(condition) && it.str_at(&["status"]) == Some("True"))
}
