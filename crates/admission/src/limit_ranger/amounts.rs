//! Sums of resources.

use json::Value;
use meta::quantity::Quantity;

use crate::read::{items, pairs, text};

/// Quantities by the name of their resource. Few, so a list; what is no quantity is left to validation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Amounts(Vec<(String, Quantity)>);

impl Amounts {
    pub(crate) fn of(value: &Value, path: &[&str]) -> Self {
        let all = pairs(value, path);
        let all = all.filter_map(|(name, it)| Some((name.into(), Quantity::from_value(it).ok()?)));
        Self(all.collect())
    }

    /// What a pod takes as a whole: `requests` or `limits`. Init containers run one after the other beside the
    /// sidecars started before them; then all the others run at once.
    pub(crate) fn of_pod(pod: &Value, part: &str) -> Self {
        let mut sum = Self::default();
        for container in items(pod, &["spec", "containers"]) {
            sum.add(&Self::of(container, &["resources", part]));
        }
        let (mut sidecars, mut initial) = (Self::default(), Self::default());
        for container in items(pod, &["spec", "initContainers"]) {
            let mut own = Self::of(container, &["resources", part]);
            if text(container, &["restartPolicy"]) == "Always" {
                sum.add(&own);
                sidecars.add(&own);
                own = sidecars.clone();
            } else {
                own.add(&sidecars);
            }
            initial.raise(&own);
        }
        sum.raise(&initial);
        for (name, quantity) in Self::of(pod, &["spec", "resources", part]).0 {
            if matches!(&*name, "cpu" | "memory") {
                sum.set(name, quantity);
            }
        }
        sum
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Quantity> {
        let found = self.0.iter().find(|(it, _)| it == name);
        found.map(|(_, quantity)| quantity)
    }

    fn set(&mut self, name: String, quantity: Quantity) {
        match self.0.iter_mut().find(|(it, _)| *it == name) {
            Some((_, old)) => *old = quantity,
            None => self.0.push((name, quantity)),
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (name, more) in &other.0 {
            let sum = match self.get(name) {
                // More digits than a quantity has: no bound allows that much either.
                Some(old) => old
                    .checked_add(more)
                    .unwrap_or_else(|| old.max(more).clone()),
                None => more.clone(),
            };
            self.set(name.clone(), sum);
        }
    }

    fn raise(&mut self, other: &Self) {
        for (name, more) in &other.0 {
            if self.get(name).is_none_or(|old| more > old) {
                self.set(name.clone(), more.clone());
            }
        }
    }
}

impl PartialEq for Amounts {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && (self.0.iter()).all(|(name, quantity)| other.get(name) == Some(quantity))
    }
}
