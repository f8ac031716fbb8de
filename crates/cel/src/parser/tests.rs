use super::*;

fn options() -> Options {
    Options {
        macros: Macros {
            standard: true,
            two_variables: true,
            optionals: true,
            sort_by: true,
            ..Macros::default()
        },
        optional_syntax: true,
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("{}1{}", "(".repeat(251), ")".repeat(251));
    let error = parse(&deep, options()).unwrap_err().to_string();
    assert_eq!(
        error,
        "ERROR: <input>:-1:0: expression recursion limit exceeded: 250"
    );
    let fits = format!("{}1{}", "(".repeat(200), ")".repeat(200));
    assert!(parse(&fits, options()).is_ok());
}

#[test]
fn long_chains_of_logic_are_balanced() {
    let long = vec!["a"; 10_000].join(" || ");
    assert!(parse(&long, options()).is_ok());
}

#[test]
fn misused_macros_are_reported_where_they_are_misused() {
    let error = parse("[1].all(a.b, true)", options())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "ERROR: <input>:1:10: argument must be a simple name\n | [1].all(a.b, true)\n | .........^"
    );
}
