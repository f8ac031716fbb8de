//! Reading a kustomization: strict, with warnings for what is deprecated.

use crate::decode::decode;
use crate::error::{Error, Result, Wrap as _};
use crate::types::{HelmChart, HelmGlobals, Kustomization};
use crate::usage_counts::UsageCounts;

pub(crate) const FILE_NAMES: &[&str] =
    &["kustomization.yaml", "kustomization.yml", "Kustomization"];

const BETA: &str = "kustomize.config.k8s.io/v1beta1";
const ALPHA: &str = "kustomize.config.k8s.io/v1alpha1";
pub(crate) const COMPONENT: &str = "Component";

impl Kustomization {
    /// `root` is where it was found.
    pub(crate) fn read(
        text: &[u8],
        root: &str,
        usage_counts: &UsageCounts,
        warn: &mut dyn FnMut(&str),
    ) -> Result<Self> {
        let value = yaml::to_json(text)
            .map_err(Error::from)
            .wrap("invalid Kustomization")?;
        let mut it: Self = decode(&value, true).wrap("invalid Kustomization")?;
        it.warn_of_deprecated(warn);
        usage_counts.kustomization(&it);
        it.fix();
        let empty = Self {
            kind: it.kind.clone(),
            api_version: it.api_version.clone(),
            ..Self::default()
        };
        if it == empty {
            return Err(Error::new("kustomization.yaml is empty"));
        }
        it.enforce(root)?;
        Ok(it)
    }

    fn warn_of_deprecated(&self, warn: &mut dyn FnMut(&str)) {
        let old = [
            (self.bases.given, "bases", "resources", ""),
            (self.common_labels.given, "commonLabels", "labels", ""),
            (self.image_tags.given, "imageTags", "images", ""),
            (
                self.patches_json6902.given,
                "patchesJson6902",
                "patches",
                "",
            ),
            (
                self.patches_strategic_merge.given,
                "patchesStrategicMerge",
                "patches",
                "",
            ),
            (self.vars.given, "vars", "replacements", "[EXPERIMENTAL] "),
        ];
        for (given, field, other, note) in old {
            if given {
                warn(&format!(
                    "# Warning: '{field}' is deprecated. Please use '{other}' instead. {note}Run 'kustomize edit fix' to update your Kustomization automatically."
                ));
            }
        }
    }

    /// Old fields become new ones.
    pub(crate) fn fix(&mut self) {
        if self.kind.is_empty() {
            self.kind = "Kustomization".into();
        }
        if self.api_version.is_empty() {
            self.api_version = if self.kind == COMPONENT { ALPHA } else { BETA }.into();
        }
        self.resources.append(&mut self.bases);
        self.images.append(&mut self.image_tags);
        for generator in self.config_map_generator.iter_mut() {
            if !generator.env.is_empty() {
                let env = std::mem::take(&mut generator.env);
                generator.envs.push(env);
            }
        }
        for generator in self.secret_generator.iter_mut() {
            if !generator.env.is_empty() {
                let env = std::mem::take(&mut generator.env);
                generator.envs.push(env);
            }
        }
        self.fix_helm();
    }

    fn fix_helm(&mut self) {
        let mut globals = HelmGlobals::default();
        let old = std::mem::take(&mut self.helm_chart_inflation_generator);
        for args in &old {
            if !args.chart_home.is_empty() {
                globals.chart_home.clone_from(&args.chart_home);
            }
            if !args.helm_home.is_empty() {
                globals.config_home.clone_from(&args.helm_home);
            }
            self.helm_charts.given = true;
            self.helm_charts.push(HelmChart {
                name: args.chart_name.clone(),
                version: args.chart_version.clone(),
                repo: args.chart_repo_url.clone(),
                release_name: args.release_name.clone(),
                values_file: args.values.clone(),
                values_inline: args.values_local.clone(),
                values_merge: args.values_merge.clone(),
                ..HelmChart::default()
            });
        }
        if self.helm_globals.is_none() && globals != HelmGlobals::default() {
            self.helm_globals = Some(globals);
        }
    }

    fn enforce(&self, root: &str) -> Result<()> {
        let mut problems = Vec::new();
        if self.kind != "Kustomization" && self.kind != COMPONENT {
            problems.push("kind should be Kustomization or Component".to_owned());
        }
        let wanted = if self.kind == COMPONENT { ALPHA } else { BETA };
        if self.api_version != wanted {
            problems.push(format!("apiVersion for {} should be {wanted}", self.kind));
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(Error::new(format!(
            "Failed to read kustomization file under {root}:\n{}",
            problems.join("\n")
        )))
    }

    pub(crate) fn is_component(&self) -> bool {
        self.kind == COMPONENT
    }
}
