//! Numbers as Go prints them: what reads and compares our buckets knows them that way.

/// As `strconv.FormatFloat(value, 'g', -1, 64)`.
pub(super) fn go(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.into();
    }
    let written = format!("{value:e}");
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return format!("{value}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    #[test]
    fn as_go_has_them() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.005, "0.005"),
            (1.25, "1.25"),
            (131_072.0, "131072"),
            (1_000_000.0, "1e+06"),
            (2_592_000.0, "2.592e+06"),
            (1e-8, "1e-08"),
            (9.999_999_999_999_999e-6, "9.999999999999999e-06"),
            (0.0001, "0.0001"),
            (-1.5, "-1.5"),
            (f64::INFINITY, "+Inf"),
            (f64::NAN, "NaN"),
        ];
        for (value, expected) in cases {
            assert_eq!(super::go(value), expected);
        }
    }
}
