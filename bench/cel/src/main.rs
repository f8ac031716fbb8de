//! How much CPU time it takes to compile and to evaluate expressions: here, and through Kubernetes' own packages (the
//! program in `go`, which is built if there is a Go toolchain). Prints a table with ratios and the bars they are held to.
//! With `hostile`, how much expressions take that try to take much.

mod hostile;
mod peer;
mod work;

use std::path::PathBuf;

use work::Work;

/// What is measured, the bar of the ratio, and what it is called.
const ROWS: &[(&str, f64, &str)] = &[
    ("rule compile", 10.0, "(a) compile `self.replicas <= self.max`"),
    ("rule evaluate", 20.0, "(a) evaluate it"),
    ("route compile", 10.0, "(b) compile all rules of HTTPRoute"),
    ("route evaluate", 20.0, "(b) evaluate them on a route"),
    ("route schema", 0.0, "    validate the route by its OpenAPI schema"),
    ("policy compile", 10.0, "(c) compile 100 expressions as one policy"),
    ("policy evaluate", 20.0, "(c) evaluate them on a pod"),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [first] if first == "hostile" => return hostile::run(),
        [first, number] if first == "hostile" => return hostile::one(number.parse().expect("a number")),
        _ => {}
    }
    let gateway_api = std::env::var_os("GATEWAY_API").map_or_else(|| PathBuf::from("../../../peers/gateway-api"), PathBuf::from);
    let work = Work::load(&gateway_api);
    let ours = work.measure();
    let is_whole = std::env::args().len() == 1;
    let peers = if is_whole { peer::measure(&work) } else { Vec::new() };
    println!("{:<46} {:>14} {:>14} {:>8} {:>5}", "CPU time of one operation", "ours", "cel-go", "ratio", "bar");
    for (key, bar, title) in ROWS {
        let Some(own) = find(&ours, key) else { continue };
        let other = find(&peers, key);
        let ratio = other.map(|it| it / own);
        let shown = |it: Option<f64>| it.map_or("-".to_owned(), |it| format!("{:.2} us", it / 1000.0));
        let verdict = match ratio {
            Some(ratio) if *bar > 0.0 && ratio < *bar => "  MISSED",
            _ => "",
        };
        let bar = if *bar > 0.0 { format!("{bar:.0}x") } else { String::new() };
        let ratio = ratio.map_or(String::new(), |it| format!("{it:.1}x"));
        println!("{title:<46} {:>14} {:>14} {ratio:>8} {bar:>5}{verdict}", shown(Some(own)), shown(other));
    }
    // Both sides must have done the same.
    for key in ["rule cost", "route cost", "policy held"] {
        if let (Some(a), Some(b)) = (find(&ours, key), find(&peers, key)) {
            let verdict = if (a - b).abs() < 0.5 { "the same" } else { "DIFFERS" };
            println!("{key}: {a:.0} and {b:.0}, {verdict}");
        }
    }
}

fn find(all: &[(String, f64)], key: &str) -> Option<f64> {
    all.iter().find(|it| it.0 == key).map(|it| it.1)
}
