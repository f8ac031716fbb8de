//! Hostile expressions: each is compiled and evaluated in a process of its own, within the limits that a server has, and
//! must not take more than 50 ms of CPU time or 64 MiB of memory, compiling included.

use std::process::Command;

use cel::kubernetes::{self, Mode, PER_CALL_LIMIT};
use cel::{Env, Limits, Type, Value};

use crate::work::cpu;

const MAX_MILLISECONDS: f64 = 50.0;
const MAX_MEBIBYTES: f64 = 64.0;

/// Names and texts.
fn all() -> Vec<(String, String)> {
    let nested = |name: &str, open: &str, inner: &str, close: &str, depth: usize| {
        (format!("{name} x{depth}"), format!("{}{inner}{}", open.repeat(depth), close.repeat(depth)))
    };
    let mut all = vec![
        nested("parentheses", "(", "1", ")", 240),
        nested("parentheses", "(", "1", ")", 40_000),
        nested("lists", "[", "1", "]", 240),
        nested("maps", "{1:", "1", "}", 120),
        nested("all", "l.all(x, ", "true", ")", 6),
        nested("all", "l.all(x, ", "true", ")", 60),
        nested("map", "[1].map(x, ", "x", ")", 100),
        nested("conditionals", "true ? 1 : (", "1", ")", 100),
        nested("optMap", "optional.of(1).optMap(x, ", "x", ")", 40),
        ("long sum".to_owned(), "1 + ".repeat(20_000) + "1"),
        ("long and".to_owned(), "true && ".repeat(12_000) + "true"),
        ("long or of text".to_owned(), "s == 'x' || ".repeat(8_000) + "true"),
        ("long selection".to_owned(), "d".to_owned() + &".a".repeat(40_000)),
        ("long list".to_owned(), format!("[{}1].size() > 0", "1, ".repeat(30_000))),
        ("long list of lists".to_owned(), format!("[{}[1]].size() > 0", "[1], ".repeat(16_000))),
        ("long map".to_owned(), format!("{{{}0: 1}}.size() > 0", (1..9_000).map(|it| format!("{it}: 1, ")).collect::<String>())),
        ("huge text".to_owned(), format!("'{}' == s", "x".repeat(99_000))),
        ("huge text, escaped".to_owned(), format!("'{}' == s", "\\u00e9".repeat(16_000))),
        ("huge bytes".to_owned(), format!("b'{}' == b''", "\\xff".repeat(24_000))),
        ("huge number".to_owned(), "9".repeat(99_000)),
        ("huge name".to_owned(), "x".repeat(99_000)),
        ("many names".to_owned(), (0..9_000).map(|it| format!("x{it} + ")).collect::<String>() + "1"),
        ("garbage".to_owned(), "?.[{(:,".repeat(14_000)),
        ("unfinished".to_owned(), "f(".repeat(40_000)),
        ("signs".to_owned(), "!".repeat(90_000) + "true"),
        ("signs of a number".to_owned(), "-".repeat(90_000) + "1"),
        ("double a text".to_owned(), format!("['aaaaaaaa']{}.size() > 0", ".map(x, x + x)".repeat(100))),
        ("double a list".to_owned(), format!("[[1, 2]]{}.size() > 0", ".map(x, x + x)".repeat(100))),
        ("double and compare".to_owned(), format!("[[1, 2]]{}.all(x, x == x)", ".map(x, x + x)".repeat(60))),
        ("nest lists".to_owned(), format!("[1]{}.size() > 0", ".map(x, [x, x])".repeat(60))),
        ("nest maps".to_owned(), format!("[1]{}.size() > 0", ".map(x, {x: x})".repeat(60))),
        ("nest and compare".to_owned(), format!("[1]{}.all(x, x == x)", ".map(x, [x, x])".repeat(30))),
        ("replace all".to_owned(), "'aaaaaaaaaa'.replace('', s).replace('', s).size() > 0".to_owned()),
        ("replace twice".to_owned(), "s.replace('x', s).size() > 0".to_owned()),
        ("split and join".to_owned(), "s.split('').join(s).size() > 0".to_owned()),
        ("format".to_owned(), format!("'{}'.format([{}s]).size() > 0", "%s".repeat(2_000), "s, ".repeat(1_999))),
        ("format a nested list".to_owned(), "'%s'.format([l.map(x, l)]).size() > 0".to_owned()),
        ("wide format".to_owned(), "'%.1000f'.format([1.0]).size() > 0".to_owned()),
        ("quote".to_owned(), "l.map(x, strings.quote(s)).size() > 0".to_owned()),
        ("map of texts".to_owned(), "l.map(x, s + s).size() > 0".to_owned()),
        ("map of maps".to_owned(), "l.map(x, l.map(y, s)).size() > 0".to_owned()),
        ("text that grows".to_owned(), "l.map(x, s + string(x)).map(t, t + t).map(t, t + t).size() > 0".to_owned()),
        ("sets".to_owned(), "sets.contains(l, l.map(x, x))".to_owned()),
        ("equivalent sets".to_owned(), "sets.equivalent(l, l)".to_owned()),
        ("distinct".to_owned(), "l.distinct().size() > 0".to_owned()),
        ("sort".to_owned(), "l.sort().size() > 0".to_owned()),
        ("sort texts".to_owned(), "l.map(x, s).sort().size() > 0".to_owned()),
        ("flatten".to_owned(), "l.map(x, l).flatten(9).size() > 0".to_owned()),
        ("range".to_owned(), "lists.range(1000000000).size() > 0".to_owned()),
        ("range, many".to_owned(), "lists.range(900000).map(x, lists.range(900000)).size() > 0".to_owned()),
        ("slices".to_owned(), "l.map(x, l.slice(0, 1000)).size() > 0".to_owned()),
        ("transform".to_owned(), "l.transformMap(i, v, l.transformList(j, w, w)).size() > 0".to_owned()),
        ("regex, nested counts".to_owned(), "s.matches('(((x{100}){100}){100})')".to_owned()),
        ("regex, counts".to_owned(), "s.matches('x{1000}')".to_owned()),
        ("regex, many counts".to_owned(), format!("s.matches('{}')", "(x{0,1000})".repeat(10))),
        ("regex, backtracking".to_owned(), "s.matches('(x+x+)+y')".to_owned()),
        ("regex, alternatives".to_owned(), format!("s.matches('{}')", "(x|xx|xxx)*".repeat(2_000))),
        ("regex, classes".to_owned(), format!("s.matches('{}')", "\\\\pL\\\\pN".repeat(2_000))),
        ("regex, long".to_owned(), format!("s.matches('{}')", "x".repeat(90_000))),
        ("regex of data".to_owned(), "s.matches(s)".to_owned()),
        ("regex in a loop".to_owned(), "l.all(x, s.matches('x*' + string(x)))".to_owned()),
        ("find all".to_owned(), "s.findAll('x').size() > 0".to_owned()),
        ("quantities".to_owned(), "l.all(x, quantity(string(x) + 'Gi').isGreaterThan(quantity('1')))".to_owned()),
        ("huge quantity".to_owned(), format!("isQuantity('{}')", "9".repeat(90_000))),
        ("quantity exponent".to_owned(), "quantity('1e999999999').isGreaterThan(quantity('1'))".to_owned()),
        ("huge duration".to_owned(), format!("duration('{}')", "1h".repeat(40_000))),
        ("huge timestamp".to_owned(), format!("timestamp('2024-01-01T00:00:00.{}Z')", "9".repeat(90_000))),
        ("huge semver".to_owned(), format!("isSemver('{}')", "1.".repeat(40_000))),
        ("huge URL".to_owned(), format!("isURL('https://{}')", "a.".repeat(40_000))),
        ("huge address".to_owned(), format!("isIP('{}')", ":".repeat(90_000))),
        ("fold of folds".to_owned(), "l.exists(a, l.exists(b, l.exists(c, l.exists(d, a + b + c + d < 0))))".to_owned()),
        ("map lookups".to_owned(), "l.all(x, {1: 2, 3: 4}.exists(k, k == x) || true)".to_owned()),
    ];
    all.push(("deep data".to_owned(), "deep == deep".to_owned()));
    all.push(("deep data in loops".to_owned(), "l.all(x, deep == deep)".to_owned()));
    all
}

fn env() -> Env {
    kubernetes::environment(37, Mode::Stored)
        .variable("s", Type::String)
        .variable("l", Type::list(Type::Int))
        .variable("d", Type::Dyn)
        .variable("deep", Type::Dyn)
}

/// All of them, each in a process of its own.
pub(crate) fn run() {
    let program = std::env::current_exe().expect("a path");
    println!("{:<28} {:>10} {:>12} {:>10}  result", "expression", "compile", "evaluate", "memory");
    let mut missed = 0;
    for (number, (name, _)) in all().iter().enumerate() {
        let output = Command::new(&program).args(["hostile", &number.to_string()]).output().expect("this program");
        let text = String::from_utf8_lossy(&output.stdout);
        let parts: Vec<&str> = text.trim().splitn(4, '\t').collect();
        let [compile, evaluate, memory, result] = parts[..] else {
            println!("{name:<28} died: {} {}", output.status, String::from_utf8_lossy(&output.stderr));
            missed += 1;
            continue;
        };
        let number = |it: &str| it.parse::<f64>().unwrap_or(f64::INFINITY);
        let (compile, evaluate, memory) = (number(compile), number(evaluate), number(memory));
        let is_fine = compile <= MAX_MILLISECONDS && evaluate <= MAX_MILLISECONDS && memory <= MAX_MEBIBYTES;
        missed += usize::from(!is_fine);
        let verdict = if is_fine { "" } else { "  MISSED" };
        println!("{name:<28} {compile:>7.2} ms {evaluate:>9.2} ms {memory:>6.1} MiB  {result}{verdict}");
    }
    println!("{} expressions, {missed} beyond {MAX_MILLISECONDS} ms or {MAX_MEBIBYTES} MiB", all().len());
}

/// One of them: prints milliseconds to compile and to evaluate it, mebibytes, and what came of it.
pub(crate) fn one(number: usize) {
    let text = all().swap_remove(number).1;
    let long = "x".repeat(100_000);
    let mut deep = json::Value::from(1);
    for _ in 0..400 {
        deep = json::Value::from(vec![deep.clone(), json::Value::from(2)]);
    }
    let env = env();
    drop(env.compile("true"));
    let (before, begin) = (peak(), cpu());
    let compiled = env.compile(&text).map_err(|it| it.to_string());
    let program = compiled.and_then(|it| {
        it.estimate(&());
        it.program().map_err(|it| it.to_string())
    });
    let compile = cpu() - begin;
    let begin = cpu();
    let result = match &program {
        Err(why) => format!("refused: {}", why.lines().next().unwrap_or_default().chars().take(60).collect::<String>()),
        Ok(program) => {
            let find = |name: &str| match name {
                "s" => Some(Value::string(&*long)),
                "l" => Some(Value::list((0..10_000).map(Value::Int).collect())),
                "deep" => Some(Value::from_json(&deep)),
                _ => Some(Value::Null),
            };
            let limits = Limits { cost: PER_CALL_LIMIT, interrupt: None };
            match program.evaluate(&find, limits) {
                (Ok(value), cost) => format!("{} for {cost}", value.as_bool().map_or("a value".to_owned(), |it| it.to_string())),
                (Err(error), cost) => format!("{} at {cost}", error.message().chars().take(50).collect::<String>()),
            }
        }
    };
    let evaluate = cpu() - begin;
    let memory = (peak().saturating_sub(before)) as f64 / 1024.0;
    println!("{:.2}\t{:.2}\t{memory:.1}\t{result}", compile as f64 / 1e6, evaluate as f64 / 1e6);
}

/// The most memory that the process had, in KiB.
fn peak() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = text.lines().find(|it| it.starts_with("VmHWM:")).expect("a line");
    line.split_whitespace().nth(1).and_then(|it| it.parse().ok()).expect("a number")
}
