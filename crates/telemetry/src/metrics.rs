//! One registry of numbers, and the readers that show it: Prometheus' text, `OpenMetrics` with exemplars, OTLP.
//!
//! Code that counts often gets the handle of a series from its [`Family`] once and holds it: each event then costs one
//! atomic addition. Series without a handle that have not changed for a while are removed; an instrument with too many
//! series counts what is new under `unexpected`.

pub mod delta;
mod family;
mod handle;
mod layout;
mod otlp;
mod process;
mod protobuf;
mod registry;
mod settings;
#[cfg(test)]
mod tests;
mod text;
mod timer;
mod view;

pub use family::{Family, Labels, Values};
pub use handle::{Counter, Gauge, Histogram, Unit};
pub use otlp::{Batch, encode as encode_otlp};
pub use process::register as register_process;
pub use registry::{Collected, CollectedHistograms, Desc, Registry, Stability};
pub use settings::BadSetting;
pub use text::{Format, encode, render};
pub use timer::Timer;
pub use view::View;

/// A struct of labels, in the alphabet's order: `labels!(pub Request { code, verb });`
#[macro_export]
macro_rules! labels {
    ($(#[$doc:meta])* $visible:vis $name:ident { $($label:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible struct $name<'a> {
            $(pub $label: &'a str,)*
        }

        impl $crate::metrics::Labels for $name<'_> {
            const NAMES: &'static [&'static str] = &[$($crate::metrics::label_name(stringify!($label))),*];
            type Values<'a> = $name<'a>;
        }

        impl $crate::metrics::Values for $name<'_> {
            fn each(&self, take: &mut dyn FnMut(&str)) {
                $(take(self.$label);)*
            }
        }
    };
}

/// A label that is a word of Rust's is written `r#type`.
#[doc(hidden)]
pub const fn label_name(written: &'static str) -> &'static str {
    match written.as_bytes() {
        [b'r', b'#', ..] => written.split_at(2).1,
        _ => written,
    }
}
