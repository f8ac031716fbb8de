//! Upstream's tables, and what upstream printed for texts that show its quirks.

use json::json;

use super::*;

type Row = (
    &'static str,
    &'static str,
    Format,
    Option<i64>,
    &'static str,
    &'static str,
    &'static str,
);

/// A text; how it is written again; its format; its int64; plus 1; minus 1Ki; negated.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("0", "0", Format::DecimalSI, Some(0), "1", "-1Ki", "0"),
    ("00", "0", Format::DecimalSI, Some(0), "1", "-1Ki", "0"),
    ("-0", "0", Format::DecimalSI, Some(0), "1", "-1Ki", "0"),
    ("+5", "+5", Format::DecimalSI, Some(5), "6", "-1019", "-5"),
    ("1.5", "1500m", Format::DecimalSI, None, "2500m", "-1022500m", "-1500m"),
    ("1.500", "1.500", Format::DecimalSI, None, "2500m", "-1022500m", "-1500m"),
    ("1.50", "1500m", Format::DecimalSI, None, "2500m", "-1022500m", "-1500m"),
    ("1E3", "1E3", Format::DecimalExponent, Some(1_000), "1001", "-24", "-1e3"),
    ("1e3", "1e3", Format::DecimalExponent, Some(1_000), "1001", "-24", "-1e3"),
    ("1e-3", "1e-3", Format::DecimalExponent, None, "1001e-3", "-1023999e-3", "-1e-3"),
    ("1E-3", "1E-3", Format::DecimalExponent, None, "1001e-3", "-1023999e-3", "-1e-3"),
    ("0.5", "500m", Format::DecimalSI, None, "1500m", "-1023500m", "-500m"),
    ("0.001", "1m", Format::DecimalSI, None, "1001m", "-1023999m", "-1m"),
    ("01", "01", Format::DecimalSI, Some(1), "2", "-1023", "-1"),
    ("01Ki", "01Ki", Format::BinarySI, Some(1_024), "1025", "0", "-1Ki"),
    ("1.234k", "1.234k", Format::DecimalSI, Some(1_234), "1235", "210", "-1234"),
    ("100.035k", "100.035k", Format::DecimalSI, Some(100_035), "100036", "99011", "-100035"),
    ("1000m", "1", Format::DecimalSI, None, "2", "-1023", "-1"),
    ("1000", "1k", Format::DecimalSI, Some(1_000), "1001", "-24", "-1k"),
    ("1024Ki", "1Mi", Format::BinarySI, Some(1_048_576), "1048577", "1023Ki", "-1Mi"),
    ("1028Ki", "1028Ki", Format::BinarySI, Some(1_052_672), "1052673", "1027Ki", "-1028Ki"),
    ("+12Ki", "+12Ki", Format::BinarySI, Some(12_288), "12289", "11Ki", "-12Ki"),
    ("+8Ki", "8Ki", Format::BinarySI, Some(8_192), "8193", "7Ki", "-8Ki"),
    ("12Ki", "12Ki", Format::BinarySI, Some(12_288), "12289", "11Ki", "-12Ki"),
    ("1.0Ki", "1Ki", Format::BinarySI, None, "1025", "0", "-1Ki"),
    ("0.5Mi", "512Ki", Format::BinarySI, None, "524289", "511Ki", "-512Ki"),
    ("100.035Ki", "102435840m", Format::BinarySI, None, "102436840m", "101411840m", "-102435840m"),
    ("0.05Gi", "53687091200m", Format::BinarySI, None, "53687092200m", "53686067200m", "-53687091200m"),
    ("9Ei", "9223372036854775807", Format::BinarySI, None, "8Ei", "9223372036854774783", "-9223372036854775807"),
    ("8Ei", "9223372036854775807", Format::BinarySI, None, "8Ei", "9223372036854774783", "-9223372036854775807"),
    ("7Ei", "7Ei", Format::BinarySI, None, "8070450532247928833", "7881299347898367Ki", "-7Ei"),
    ("1e21", "1e21", Format::DecimalExponent, None, "1000000000000000000001", "999999999999999998976", "-1e21"),
    ("1e30", "1e30", Format::DecimalExponent, None, "1000000000000000000000000000001", "999999999999999999999999998976", "-1e30"),
    ("12E", "12E", Format::DecimalSI, None, "12000000000000000001", "11999999999999998976", "-12E"),
    ("123456789012345678", "123456789012345678", Format::DecimalSI, Some(123_456_789_012_345_678), "123456789012345679", "123456789012344654", "-123456789012345678"),
    ("1234567890123456789", "1234567890123456789", Format::DecimalSI, None, "1234567890123456790", "1234567890123455765", "-1234567890123456789"),
    ("12345678901234567890", "12345678901234567890", Format::DecimalSI, None, "12345678901234567891", "12345678901234566866", "-12345678901234567890"),
    (".", "0", Format::DecimalSI, Some(0), "1", "-1Ki", "0"),
    ("-.", "0", Format::DecimalSI, Some(0), "1", "-1Ki", "0"),
    (".G", "0", Format::DecimalSI, Some(0), "1", "-1Ki", "0"),
    ("e3", "0", Format::DecimalExponent, Some(0), "1", "-1Ki", "0"),
    ("-", "0", Format::DecimalSI, Some(0), "1", "-1Ki", "0"),
    ("+", "0", Format::DecimalSI, Some(0), "1", "-1Ki", "0"),
    ("0.000000000001Ki", "2n", Format::DecimalSI, None, "1000000002n", "-1023999999998n", "-2n"),
    ("1.1E-9", "2e-9", Format::DecimalExponent, None, "1000000002e-9", "-1023999999998e-9", "-2e-9"),
    ("0.9n", "1n", Format::DecimalSI, None, "1000000001n", "-1023999999999n", "-1n"),
    ("-0.9n", "-1n", Format::DecimalSI, None, "999999999n", "-1024000000001n", "1n"),
    ("1e-10", "1e-9", Format::DecimalExponent, None, "1000000001e-9", "-1023999999999e-9", "-1e-9"),
    ("5n", "5n", Format::DecimalSI, None, "1000000005n", "-1023999999995n", "-5n"),
    ("0.00000012345", "124n", Format::DecimalSI, None, "1000000124n", "-1023999999876n", "-124n"),
    ("-9.01", "-9010m", Format::DecimalSI, None, "-8010m", "-1033010m", "9010m"),
    ("2000000000000000000", "2E", Format::DecimalSI, None, "2000000000000000001", "1999999999999998976", "-2E"),
    ("1e1", "10", Format::DecimalExponent, Some(10), "11", "-1014", "-10"),
    ("1e2", "100", Format::DecimalExponent, Some(100), "101", "-924", "-100"),
    ("10e1", "100", Format::DecimalExponent, Some(100), "101", "-924", "-100"),
    ("9223372036854775807", "9223372036854775807", Format::DecimalSI, None, "9223372036854775808", "9223372036854774783", "-9223372036854775807"),
    ("-9223372036854775808", "-9223372036854775808", Format::DecimalSI, None, "-9223372036854775807", "-9223372036854776832", "9223372036854775808"),
    ("9223372036854775808", "9223372036854775808", Format::DecimalSI, None, "9223372036854775809", "9223372036854774784", "-9223372036854775808"),
    ("-9Ei", "-9223372036854775807", Format::BinarySI, None, "-9223372036854775806", "-9223372036854776831", "9223372036854775807"),
    ("1Ei", "1Ei", Format::BinarySI, None, "1152921504606846977", "1125899906842623Ki", "-1Ei"),
    ("1023", "1023", Format::DecimalSI, Some(1_023), "1024", "-1", "-1023"),
    ("1Ti", "1Ti", Format::BinarySI, Some(1_099_511_627_776), "1099511627777", "1073741823Ki", "-1Ti"),
    ("-1Ki", "-1Ki", Format::BinarySI, Some(-1_024), "-1023", "-2Ki", "1Ki"),
    ("-1024", "-1024", Format::DecimalSI, Some(-1_024), "-1023", "-2048", "1024"),
    ("100000000000000Ki", "97656250000Mi", Format::BinarySI, None, "102400000000000001", "99999999999999Ki", "-97656250000Mi"),
    ("1e18", "1e18", Format::DecimalExponent, Some(1_000_000_000_000_000_000), "1000000000000000001", "999999999999998976", "-1e18"),
    ("9e18", "9e18", Format::DecimalExponent, Some(9_000_000_000_000_000_000), "9000000000000000001", "8999999999999998976", "-9e18"),
    ("10e18", "10e18", Format::DecimalExponent, None, "10000000000000000001", "9999999999999998976", "-10e18"),
    (".0000000000000000000000000000001", "1n", Format::DecimalSI, None, "1000000001n", "-1023999999999n", "-1n"),
    ("0e100", "0", Format::DecimalExponent, Some(0), "1", "-1Ki", "0"),
    ("0Ei", "0", Format::BinarySI, None, "1", "-1Ki", "0"),
    ("0Ki", "0", Format::BinarySI, Some(0), "1", "-1Ki", "0"),
    ("0.0", "0", Format::DecimalSI, None, "1", "-1Ki", "0"),
    ("-5m", "-5m", Format::DecimalSI, None, "995m", "-1024005m", "5m"),
    ("1500000000000000000m", "1500T", Format::DecimalSI, None, "1500000000000001", "1499999999998976", "-1500T"),
    ("3.0", "3", Format::DecimalSI, None, "4", "-1021", "-3"),
    ("3.000", "3", Format::DecimalSI, None, "4", "-1021", "-3"),
    ("30", "30", Format::DecimalSI, Some(30), "31", "-994", "-30"),
    ("300k", "300k", Format::DecimalSI, Some(300_000), "300001", "298976", "-300k"),
    ("1.0", "1", Format::DecimalSI, None, "2", "-1023", "-1"),
    ("10.035M", "10.035M", Format::DecimalSI, Some(10_035_000), "10035001", "10033976", "-10035k"),
    ("1E", "1E", Format::DecimalSI, Some(1_000_000_000_000_000_000), "1000000000000000001", "999999999999998976", "-1E"),
    ("1.5E", "1500P", Format::DecimalSI, Some(1_500_000_000_000_000_000), "1500000000000000001", "1499999999999998976", "-1500P"),
];

fn q(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn as_upstream_printed() {
    let text = |it: Option<Quantity>| it.map(|it| it.to_string()).unwrap_or_default();
    for (given, written, format, int, plus, minus, negated) in ROWS {
        let it = q(given);
        assert_eq!(it.to_string(), *written, "{given}");
        assert_eq!(it.format(), *format, "{given}");
        assert_eq!(it.as_i64(), *int, "{given}");
        assert_eq!(text(it.checked_add(&q("1"))), *plus, "{given} + 1");
        assert_eq!(text(it.checked_sub(&q("1Ki"))), *minus, "{given} - 1Ki");
        assert_eq!(it.neg().to_string(), *negated, "-{given}");
        assert_eq!(q(written), it);
    }
}

#[test]
fn errors() {
    let table = [
        ("", QuantityError::Format),
        ("1.1.M", QuantityError::Format),
        ("1+1.0M", QuantityError::Format),
        ("0.1mi", QuantityError::Suffix),
        ("0.1am", QuantityError::Format),
        ("aoeu", QuantityError::Format),
        (".5i", QuantityError::Suffix),
        ("1i", QuantityError::Suffix),
        ("-3.01e-", QuantityError::Suffix),
        (" 1", QuantityError::Format),
        ("1 ", QuantityError::Format),
        ("1p", QuantityError::Format),
        ("1ki", QuantityError::Suffix),
        ("1KI", QuantityError::Format),
        ("1e", QuantityError::Suffix),
        ("1Ee3", QuantityError::Suffix),
        ("-Pi", QuantityError::Numeric),
        ("é", QuantityError::Format),
        // Ours: upstream would compute for a very long time, or overflow.
        ("1e2147483647", QuantityError::Suffix),
        ("1e-99999999999999999999", QuantityError::Suffix),
    ];
    for (text, want) in table {
        assert_eq!(Quantity::parse(text), Err(want), "{text}");
    }
    assert_eq!(
        Quantity::parse(&"9".repeat(37)),
        Err(QuantityError::Numeric)
    );
}

/// Each text is an amount of `value * 10^exponent`, with either sign.
#[test]
fn amounts() {
    let max = i64::MAX;
    let table = [
        ("0Ti", 0, 0),
        ("1Ki", 1024, 0),
        ("7Mi", 7 << 20, 0),
        ("5Ti", 5 << 40, 0),
        ("3Ei", 3 << 60, 0),
        ("5n", 5, -9),
        ("4u", 4, -6),
        ("50k", 5, 4),
        ("300T", 3, 14),
        ("1E", 1, 18),
        ("1E-3", 1, -3),
        ("1e14", 1, 14),
        ("100.035k", 100_035, 0),
        ("0.00050k", 5, -1),
        ("0.5e-2", 5, -3),
        ("1.2e3", 12, 2),
        ("1.3E+6", 13, 5),
        ("3.01e-1", 301, -3),
        ("1.1E-9", 2, -9),
        ("0.0000000001", 1, -9),
        ("0.00000012354", 124, -9),
        ("9Ei", max, 0),
        ("9223372036854775807Ki", max, 0),
        ("12E", 12, 18),
        ("0.025Ti", 274_877_906_944, -1),
        ("0.000000000001Ki", 2, -9),
        (".0001k", 100, -3),
        ("1.G", 1, 9),
        ("1e400", 1, 400),
    ];
    for (text, value, exponent) in table {
        let want = Quantity::scaled(value, exponent, Format::DecimalSI);
        assert_eq!(q(text), want, "{text}");
        assert_eq!(q(&format!("+{text}")), want, "+{text}");
        assert_eq!(q(&format!("-{text}")), want.neg(), "-{text}");
    }
    assert_eq!(
        q(&format!("{}Ki", "9".repeat(99))),
        Quantity::new(max, Format::BinarySI)
    );
    assert_eq!(
        q(&format!("0.{}1", "3".repeat(99))).to_string(),
        "333333334n"
    );
}

#[test]
fn canonical_texts() {
    let (binary, decimal, power) = (Format::BinarySI, Format::DecimalSI, Format::DecimalExponent);
    let table = [
        ((1 << 30, 0, binary), "1Gi"),
        ((300 << 20, 0, binary), "300Mi"),
        ((1001 << 30, 0, binary), "1001Gi"),
        ((5, 0, binary), "5"),
        ((500, -3, binary), "500m"),
        ((1_234_567, -3, binary), "1234567m"),
        ((1025, 0, binary), "1025"),
        ((1000, 6, decimal), "1G"),
        ((108, -2, decimal), "1080m"),
        ((10800, -4, decimal), "1080m"),
        ((1_234_567, 6, decimal), "1234567M"),
        ((108, -8, decimal), "1080n"),
        ((1, 9, power), "1e9"),
        ((80, -3, power), "80e-3"),
        ((3, 3, power), "3e3"),
        ((0, 0, power), "0"),
        ((1, 21, decimal), "1e21"),
    ];
    for ((value, exponent, format), want) in table {
        let it = Quantity::scaled(value, exponent, format);
        assert_eq!(it.to_string(), want);
        if value != 0 {
            assert_eq!(it.neg().to_string(), format!("-{want}"));
        }
    }
}

#[test]
fn order() {
    let rising = [
        "-1e400",
        "-9Ei",
        "-9.02",
        "-9.01",
        "-9",
        "-1n",
        "0",
        "1n",
        "50m",
        "100m",
        "1",
        "1000000001n",
        "100Gi",
        "10000T",
        "9223372036854775807",
        "9223372036854775808",
        "1e400",
    ];
    for (index, a) in rising.iter().enumerate() {
        for (other, b) in rising.iter().enumerate() {
            assert_eq!(q(a).cmp(&q(b)), index.cmp(&other), "{a} {b}");
        }
    }
    assert_eq!(q("0Ki"), q("0"));
}

#[test]
fn values_are_rounded_away_from_zero() {
    let table = [
        ("1.5", 2, 1500),
        ("-9.01", -10, -9010),
        ("1n", 1, 1),
        ("0.05Gi", 53_687_092, 53_687_091_200),
        ("1e3", 1000, 1_000_000),
        ("1e30", i64::MAX, i64::MAX),
        ("-1e30", i64::MIN, i64::MIN),
        ("7Ei", 7 << 60, i64::MAX),
    ];
    for (text, value, milli) in table {
        assert_eq!(q(text).value(), value, "{text}");
        assert_eq!(q(text).milli_value(), milli, "{text}");
    }
    assert_eq!(q("1").scaled_value(i32::MIN), i64::MAX);
    assert_eq!(q("-1").scaled_value(i32::MAX), -1);
    assert!((q("1.5").as_f64() - 1.5).abs() < 1e-12);
}

#[test]
fn sums_that_do_not_fit() {
    assert_eq!(q("1e400").checked_add(&q("1")), None);
    assert_eq!(q("1e400").checked_add(&q("0")), Some(q("1e400")));
    let most = q(&"9".repeat(36));
    assert_eq!(most.checked_add(&most), None);
}

#[test]
fn json_values() {
    let table = [(json!(" 1Gi "), "1Gi"), (json!(5), "5"), (json!(null), "0")];
    for (value, want) in table {
        let got = Quantity::from_value(&value).map(|it| it.to_string());
        assert_eq!(got.as_deref(), Ok(want));
    }
    assert_eq!(
        Quantity::from_value(&json!(true)),
        Err(QuantityError::Format)
    );
}
