//! Paths as Go's `path/filepath` treats them: plain text with slashes.

/// Without `.`, `..` and doubled slashes as far as the text alone tells.
pub(crate) fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => _ = parts.pop(),
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".into(),
        (false, false) => joined,
    }
}

/// Empty parts do not count; all empty is empty.
pub(crate) fn join(a: &str, b: &str) -> String {
    match (a.is_empty(), b.is_empty()) {
        (true, true) => String::new(),
        (true, false) => clean(b),
        (false, true) => clean(a),
        (false, false) => clean(&format!("{a}/{b}")),
    }
}

/// The directory that something is in; `.` if the path does not say.
pub(crate) fn dir(path: &str) -> String {
    match path.rsplit_once('/') {
        None => ".".into(),
        Some(("", _)) => "/".into(),
        Some((dir, _)) => clean(dir),
    }
}

pub(crate) fn base(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() {
        return if path.is_empty() { "." } else { "/" };
    }
    trimmed.rsplit('/').next().unwrap_or(trimmed)
}

/// The way from a directory to a path, both absolute and clean.
pub(crate) fn relative(from: &str, to: &str) -> String {
    let parts = |path: &str| -> Vec<String> {
        let parts = path.split('/').filter(|it| !it.is_empty());
        parts.map(str::to_owned).collect()
    };
    let (from, to) = (parts(from), parts(to));
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut way = vec![".."; from.len() - same];
    way.extend(to[same..].iter().map(String::as_str));
    clean(&way.join("/"))
}

/// Whether a directory is another one or below it.
pub(crate) fn is_within(dir: &str, root: &str) -> bool {
    root == "/"
        || dir == root
        || dir
            .strip_prefix(root)
            .is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn the_way_between_two_places() {
        let table = [
            ("/a/b", "/a/b", "."),
            ("/a/b", "/a/b/c/d", "c/d"),
            ("/a/b", "/a/c", "../c"),
            ("/", "/a", "a"),
            ("/a/b", "/", "../.."),
        ];
        for (from, to, wanted) in table {
            assert_eq!(relative(from, to), wanted, "{from} {to}");
        }
    }
}
