//! Helm charts: their values, and the directories they are in.

use super::Localizer;
use crate::error::{Error, Result, Wrap as _, quote};
use crate::fs::{EntryKind, exists};
use crate::paths;
use crate::types::Kustomization;

const DEFAULT_HOME: &str = "charts";

impl Localizer<'_> {
    pub(super) fn localize_charts(&self, it: &mut Kustomization) -> Result<()> {
        for (at, chart) in it.helm_chart_inflation_generator.iter_mut().enumerate() {
            chart.values = self.file(&chart.values).wrap_with(|| {
                format!("unable to localize helmChartInflationGenerator entry {at} values")
            })?;
            chart.chart_home = self
                .chart_home(&chart.chart_home)
                .wrap_with(|| format!("unable to copy helmChartInflationGenerator entry {at}"))?;
        }
        for (at, chart) in it.helm_charts.iter_mut().enumerate() {
            chart.values_file = self
                .file(&chart.values_file)
                .wrap_with(|| format!("unable to localize helmCharts entry {at} valuesFile"))?;
            for path in chart.additional_values_files.iter_mut() {
                *path = self.file(path).wrap_with(|| {
                    format!("unable to localize helmCharts entry {at} additionalValuesFiles")
                })?;
            }
        }
        if let Some(globals) = &mut it.helm_globals {
            globals.chart_home = self
                .chart_home(&globals.chart_home)
                .wrap("unable to copy helmGlobals")?;
        } else if !it.helm_charts.is_empty() {
            self.chart_home("")
                .wrap("unable to copy default chart home")?;
        }
        Ok(())
    }

    /// Copies the directory, if it is there.
    pub(super) fn chart_home(&self, entry: &str) -> Result<String> {
        let path = if entry.is_empty() {
            DEFAULT_HOME
        } else {
            entry
        };
        if path.starts_with('/') {
            return Err(Error::new(format!(
                "absolute path {} not handled in alpha",
                quote(path)
            )));
        }
        let local = self
            .copy_home(path)
            .wrap_with(|| format!("unable to copy home {}", quote(entry)))?;
        Ok(if entry.is_empty() {
            String::new()
        } else {
            local
        })
    }

    fn copy_home(&self, path: &str) -> Result<String> {
        let root = self.root();
        let at = paths::join(root, path);
        let path = paths::relative(root, &at);
        if !exists(self.fs(), &at) {
            return Ok(path);
        }
        let real = self.enter(&path).wrap("invalid chart home")?.root.clone();
        // Helm looks for the default one by its name.
        let local = if at == paths::join(root, DEFAULT_HOME) {
            path.clone()
        } else {
            paths::relative(root, &real)
        };
        let copy = paths::join(&self.destination, &local);
        if !exists(self.fs(), &copy) {
            self.copy(&real, &copy)
                .wrap_with(|| format!("unable to copy directory {}", quote(&real)))
                .wrap_with(|| format!("unable to copy chart home {}", quote(&path)))?;
        }
        Ok(local)
    }

    /// Links are left out.
    fn copy(&self, from: &str, to: &str) -> Result<()> {
        self.fs().make_directory(to)?;
        for entry in self.fs().entries(from)? {
            let (from, to) = (paths::join(from, &entry.name), paths::join(to, &entry.name));
            match entry.kind {
                EntryKind::Link => {}
                EntryKind::Directory => self.copy(&from, &to)?,
                EntryKind::File => self.fs().write(&to, &self.fs().read(&from)?)?,
            }
        }
        Ok(())
    }
}
