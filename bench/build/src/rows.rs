//! The rows of the report.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::generate;
use crate::plan::{Plan, Row, say};
use crate::process::{Cost, cost};
use crate::report::{Bar, Line, Report};

/// Up to here the time is to grow as the number of resources does.
const MANY: usize = 5000;

/// A build as short as the first one is run this many times a round.
const REPEATS: usize = 10;

pub(crate) fn measure(plan: &Plan, dir: &Path, report: &mut Report) -> Result<()> {
    if plan.wants(Row::Hello) {
        let root = dir.join("hello");
        generate::hello(&root)?;
        let costs = both(plan, &root, dir, REPEATS)?;
        report.add(costs.line("hello", "3 resources", WALL, Bar::AtMost(0.1)));
    }
    let thousand = dir.join("1000/overlay");
    if plan.wants(Row::Thousand) || plan.wants(Row::Growth) {
        generate::overlay(&dir.join("1000"), 1000)?;
    }
    if plan.wants(Row::Thousand) {
        let costs = both(plan, &thousand, dir, 1)?;
        report.add(costs.line("thousand", "1,000 resources", CPU, Bar::AtMost(0.01)));
        report.add(costs.line("thousand", "1,000 resources", MEMORY, Bar::AtMost(THIRD)));
    }
    if plan.wants(Row::Growth) {
        growth(plan, &thousand, dir, report)?;
    }
    if plan.wants(Row::Large) {
        let root = dir.join("large");
        generate::definitions(&root)?;
        let name = format!("{} definitions", generate::DEFINITIONS);
        large(plan, &name, &root, dir, report)?;
    }
    for root in &plan.roots {
        large(plan, &root.display().to_string(), root, dir, report)?;
    }
    report.note(format!("medians of {} rounds", plan.rounds));
    if plan.peer.is_none() {
        report.note("nothing to measure against: --peer names it");
    }
    if plan.quick {
        report.note("--quick: nothing is judged, no figure is worth quoting");
    }
    Ok(())
}

fn large(plan: &Plan, name: &str, root: &Path, dir: &Path, report: &mut Report) -> Result<()> {
    let costs = both(plan, root, dir, 1)?;
    let size = std::fs::metadata(dir.join("ours"))?.len() as f64 / 1e6;
    let name = format!("{name}, {size:.1} MB");
    report.add(costs.line("large", &name, CPU, Bar::AtMost(0.05)));
    report.add(costs.line("large", &name, MEMORY, Bar::AtMost(THIRD)));
    Ok(())
}

/// Ours alone: the peer takes minutes for the first of these.
fn growth(plan: &Plan, thousand: &Path, dir: &Path, report: &mut Report) -> Result<()> {
    let ours = plan.sides()[0];
    let out = dir.join("ours");
    let many: &[usize] = if plan.quick { &[5000] } else { &[5000, 50_000] };
    for &count in many {
        say(&format!("{count} resources"));
        let root = dir.join(count.to_string());
        generate::overlay(&root, count)?;
        let (mut small, mut all) = (Vec::new(), Vec::new());
        for _ in 0..plan.rounds {
            small.push(cost(ours, thousand, &out)?);
            all.push(cost(ours, &root.join("overlay"), &out)?);
        }
        let costs = Costs {
            ours: median(&all),
            theirs: Some(median(&small)),
            name: "1,000",
            judged: !plan.quick,
        };
        let what = format!("{count} resources");
        if count > MANY {
            // Caches make no promises here; it is to take seconds.
            let line = Line::new("growth", format!("{what}, CPU"), costs.ours.cpu / 1e3, "s");
            report.add(line.bar(Bar::AtMost(10.0)));
        } else {
            let bar = Bar::AtMost(count as f64 / 1000.0 * 1.2);
            report.add(costs.line("growth", &what, CPU, bar));
            report.add(costs.line("growth", &what, WALL, bar));
        }
        let bar = Bar::AtMost(count as f64 / 1000.0 * 1.2);
        report.add(costs.line("growth", &what, MEMORY, bar));
        std::fs::remove_dir_all(root)?;
    }
    Ok(())
}

/// Name, unit and which of a cost it is.
type Figure = (&'static str, &'static str, fn(&Cost) -> f64);

const WALL: Figure = ("time", "ms", |it| it.wall);
const CPU: Figure = ("CPU", "ms", |it| it.cpu);
const MEMORY: Figure = ("memory", "MiB", |it| it.memory);

const THIRD: f64 = 1.0 / 3.0;

/// Medians of both sides.
struct Costs {
    ours: Cost,
    theirs: Option<Cost>,
    /// Of the other side.
    name: &'static str,
    judged: bool,
}

impl Costs {
    fn line(&self, row: &'static str, what: &str, (name, unit, of): Figure, bar: Bar) -> Line {
        let line = Line::new(row, format!("{what}, {name}"), of(&self.ours), unit);
        match &self.theirs {
            None => line,
            Some(theirs) if self.judged => line.against(self.name, of(theirs)).bar(bar),
            Some(theirs) => line.against(self.name, of(theirs)),
        }
    }
}

/// Both must print the same.
fn both(plan: &Plan, root: &Path, dir: &Path, repeats: usize) -> Result<Costs> {
    let sides = plan.sides();
    let files = [dir.join("ours"), dir.join("theirs")];
    let mut costs = vec![Vec::new(); sides.len()];
    for round in 0..plan.rounds {
        for turn in 0..sides.len() {
            let side = (turn + round) % sides.len();
            say(&format!("{}: {}", root.display(), sides[side].0.display()));
            for _ in 0..repeats {
                costs[side].push(cost(sides[side], root, &files[side])?);
            }
        }
    }
    if sides.len() > 1 {
        let same = std::fs::read(&files[0])? == std::fs::read(&files[1])?;
        ensure!(same, "{}: the outputs differ", root.display());
    }
    Ok(Costs {
        ours: median(&costs[0]),
        theirs: costs.get(1).map(|it| median(it)),
        name: plan.peer_name(),
        judged: !plan.quick,
    })
}

fn median(costs: &[Cost]) -> Cost {
    let of = |figure: fn(&Cost) -> f64| {
        let mut figures: Vec<f64> = costs.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
    };
    Cost {
        wall: of(|it| it.wall),
        cpu: of(|it| it.cpu),
        memory: of(|it| it.memory),
    }
}
