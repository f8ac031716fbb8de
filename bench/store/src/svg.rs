//! A plot of latency over time: a line for the median, a point for the worst, named bands behind them.

use std::fmt::Write;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 45.0;
const SHADES: [&str; 2] = ["#eef3f8", "#dbe6f0"];

#[derive(Debug)]
pub(crate) struct Plot {
    title: &'static str,
    /// Seconds and milliseconds, in order of time.
    pub(crate) line: Vec<(f64, f64)>,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) bands: Vec<Band>,
}

#[derive(Debug)]
pub(crate) struct Band {
    pub(crate) name: &'static str,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Plot {
    pub(crate) fn new(title: &'static str) -> Self {
        Self {
            title,
            line: Vec::new(),
            points: Vec::new(),
            bands: Vec::new(),
        }
    }
}

/// Time from left to right, milliseconds on a logarithmic axis.
struct Scale {
    end: f64,
    /// Powers of ten.
    low: i32,
    high: i32,
}

impl Scale {
    fn of(plot: &Plot) -> Self {
        let end = plot.bands.iter().fold(1.0, |end: f64, it| end.max(it.to));
        let all = || plot.line.iter().chain(&plot.points).map(|(_, y)| *y);
        let (low, high) = (all().fold(1.0, f64::min), all().fold(1.0, f64::max));
        let power_below = |value: f64| (-6..6).rev().find(|it| 10_f64.powi(*it) <= value);
        Self {
            end,
            low: power_below(low).unwrap_or(-6),
            high: power_below(high).unwrap_or(-6) + 1,
        }
    }

    fn x(&self, seconds: f64) -> f64 {
        LEFT + seconds / self.end * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, milliseconds: f64) -> f64 {
        let (low, high) = (f64::from(self.low), f64::from(self.high));
        let share = (milliseconds.max(1e-6).log10() - low) / (high - low);
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }
}

pub(crate) fn render(plot: &Plot) -> String {
    let scale = Scale::of(plot);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    bands(plot, &scale, &mut out);
    axes(plot, &scale, &mut out);
    data(plot, &scale, &mut out);
    out.push_str("</svg>\n");
    out
}

// Writing to a String cannot fail, so the results below are dropped.

fn bands(plot: &Plot, scale: &Scale, out: &mut String) {
    for (index, band) in plot.bands.iter().enumerate() {
        let (from, to) = (scale.x(band.from), scale.x(band.to));
        let _ = writeln!(
            out,
            "<rect x=\"{from:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            to - from,
            HEIGHT - TOP - BOTTOM,
            SHADES[index % SHADES.len()],
            f64::midpoint(from, to),
            TOP + 16.0,
            band.name
        );
    }
}

fn axes(plot: &Plot, scale: &Scale, out: &mut String) {
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{}</text>\n\
         <text x=\"{right}\" y=\"24\" text-anchor=\"end\"><tspan fill=\"#1f5fa8\">line: median of 50 ms</tspan>, \
         <tspan fill=\"#c0392b\">points: worst of 50 ms</tspan></text>\n\
         <text x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">seconds</text>",
        plot.title,
        HEIGHT - 8.0
    );
    for power in scale.low..=scale.high {
        let value = 10_f64.powi(power);
        let y = scale.y(value);
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#bbb\" stroke-width=\"0.5\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            LEFT - 6.0,
            y + 4.0
        );
    }
    // About ten marks of a round number of seconds.
    let step = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
        .into_iter()
        .find(|step| scale.end / step <= 12.0)
        .unwrap_or(500.0);
    let mut second = 0.0;
    while second <= scale.end {
        let x = scale.x(second);
        let _ = writeln!(
            out,
            "<path d=\"M{x:.1} {bottom}v5\" stroke=\"black\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{second}</text>",
            bottom + 18.0
        );
        second += step;
    }
    let _ = writeln!(
        out,
        "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"black\"/>"
    );
}

fn data(plot: &Plot, scale: &Scale, out: &mut String) {
    let at = |(x, y): &(f64, f64)| format!("{:.1},{:.1}", scale.x(*x), scale.y(*y));
    let line: Vec<_> = plot.line.iter().map(at).collect();
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f5fa8\"/>",
        line.join(" ")
    );
    for (x, y) in &plot.points {
        let _ = writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.6\" fill=\"#c0392b\"/>",
            scale.x(*x),
            scale.y(*y)
        );
    }
}
