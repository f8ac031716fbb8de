//! What the API does with objects.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use admission::Plugins;
use anyhow::{Context as _, anyhow};
use clap::Args;
use controllers::Selection;
use pilothouse::server::{AdmissionConfig, Options};

use super::value;

#[derive(Debug, Args)]
#[command(next_help_heading = "Objects")]
pub(crate) struct Api {
    /// Admission plugins to run beside those that run by default
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    enable_admission_plugins: Vec<String>,
    /// Admission plugins not to run though they do by default
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    disable_admission_plugins: Vec<String>,
    /// File with the configuration of admission plugins, for policies from files
    #[arg(long, value_name = "FILE")]
    admission_control_config_file: Option<PathBuf>,
    /// Network that Services get their addresses from
    #[arg(long, value_name = "CIDR", default_value = "10.96.0.0/16", value_parser = value::network)]
    pub(crate) service_cluster_ip_range: (Ipv4Addr, u8),
    /// Node ports that Services get
    #[arg(long, value_name = "PORTS", default_value = "30000-32767", value_parser = value::ports)]
    service_node_port_range: (u16, u16),
    /// Controllers to run: * for all, name to add one, -name to leave one out
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "*",
        allow_hyphen_values = true
    )]
    controllers: Vec<String>,
}

impl Api {
    /// Whether all names are known, before anything is made.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.plugins()?;
        self.selection()?;
        Ok(())
    }

    fn plugins(&self) -> anyhow::Result<Plugins> {
        let (on, off) = (
            &self.enable_admission_plugins,
            &self.disable_admission_plugins,
        );
        Ok(Plugins::new(on, off)?)
    }

    fn selection(&self) -> anyhow::Result<Selection> {
        Selection::parse(self.controllers.iter().map(String::as_str))
            .map_err(|error| anyhow!("--controllers: {error}"))
    }

    pub(crate) fn apply(&self, options: &mut Options) -> anyhow::Result<()> {
        options.admission = self.plugins()?;
        if let Some(file) = &self.admission_control_config_file {
            let read = AdmissionConfig::read(file);
            options.admission_config = read.context("failed to read plugin config")?;
        }
        options.controllers = self.selection()?;
        let settings = &mut options.settings;
        settings.services.network = self.service_cluster_ip_range;
        settings.services.ports = self.service_node_port_range;
        Ok(())
    }
}
