//! What fits where, and in which colour.

use meta::time::Time;

/// How wide what is no terminal is.
const USUAL: usize = 120;
const NARROWEST: usize = 60;

#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    pub(super) width: usize,
    pub(super) colour: bool,
}

impl Screen {
    /// `COLUMNS` counts before what the terminal says.
    pub(super) fn of_process(is_terminal: bool) -> Self {
        let said = std::env::var("COLUMNS").ok();
        let said = said.and_then(|it| it.parse().ok());
        let found = || {
            let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
            (size.ws_col > 0).then(|| usize::from(size.ws_col))
        };
        let width = said.or_else(found).unwrap_or(USUAL);
        Self {
            width: width.max(NARROWEST),
            colour: is_terminal && std::env::var_os("NO_COLOR").is_none(),
        }
    }

    pub(super) fn red(&self, text: &str) -> String {
        self.paint("31", text)
    }

    pub(super) fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Of nanoseconds, with three digits.
pub(super) fn duration(nanos: u64) -> String {
    let (unit, name) = match nanos {
        0..1_000 => return format!("{nanos}ns"),
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    let (whole, thousandths) = (nanos / unit, nanos % unit * 1000 / unit);
    match whole {
        0..10 => format!("{whole}.{:02}{name}", thousandths / 10),
        10..100 => format!("{whole}.{}{name}", thousandths / 100),
        _ => format!("{whole}{name}"),
    }
}

/// In UTC, to the millisecond.
pub(super) fn time(nanos: u64) -> String {
    let seconds = i64::try_from(nanos / 1_000_000_000).unwrap_or_default();
    let time = Time::from_unix(seconds, 0).to_string();
    let millis = nanos / 1_000_000 % 1000;
    format!("{}.{millis:03}Z", time.trim_end_matches('Z'))
}

/// What others wrote must not steer the terminal.
pub(super) fn clean(text: &str) -> String {
    let shown = |it: char| if it.is_control() { '\u{fffd}' } else { it };
    text.chars().map(shown).collect()
}

/// Exactly so many characters.
pub(super) fn fit(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return format!("{text:width$}");
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}
