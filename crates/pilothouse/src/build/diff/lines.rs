//! Two texts, line by line.

use std::fmt::Write as _;

use similar::TextDiff;

/// Appends hunks as `diff -u` has them.
pub(super) fn unified(out: &mut String, old: &str, new: &str) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let diff = TextDiff::configure()
        .newline_terminated(false)
        .diff_slices(&old, &new);
    _ = write!(out, "{}", diff.unified_diff());
}

#[cfg(test)]
mod tests {
    use super::unified;

    fn diff(old: &str, new: &str) -> String {
        let mut out = String::new();
        unified(&mut out, &old.replace(' ', "\n"), &new.replace(' ', "\n"));
        out.replace('\n', "|")
    }

    #[test]
    fn as_diff_u() {
        assert_eq!(diff("a b c", "a b c"), "");
        assert_eq!(diff("", "a b"), "@@ -0,0 +1,2 @@|+a|+b|");
        assert_eq!(diff("a", ""), "@@ -1 +0,0 @@|-a|");
        assert_eq!(
            diff("1 2 3 4 5 6 7 8 9", "1 2 3 4 x 6 7 8 9"),
            "@@ -2,7 +2,7 @@| 2| 3| 4|-5|+x| 6| 7| 8|"
        );
        let far = diff("a 1 2 3 4 5 6 7 8 b", "A 1 2 3 4 5 6 7 8 B");
        assert_eq!(
            far,
            "@@ -1,4 +1,4 @@|-a|+A| 1| 2| 3|@@ -7,4 +7,4 @@| 6| 7| 8|-b|+B|"
        );
        let near = diff("a 1 2 3 4 5 6 b", "A 1 2 3 4 5 6 B");
        assert_eq!(near.matches("@@ -").count(), 1, "{near}");
    }
}
