use std::fmt;

/// A path from the root of an object to a field. Extending it costs nothing: a path borrows the path above it, and
/// becomes text only when an error needs it.
///
/// ```
/// # use meta::field::Path;
/// let containers = Path::of(&["spec", "containers"]);
/// let ports = containers.index(0);
/// assert_eq!(ports.child("ports").key("http").to_string(), "spec.containers[0].ports[http]");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Root,
    Child(&'a str),
    Children(&'a [&'a str]),
    Index(usize),
    Key(&'a str),
}

impl Path<'static> {
    /// The object itself, which prints as `<nil>` as long as nothing is below it.
    pub const fn root() -> Self {
        Self {
            parent: None,
            step: Step::Root,
        }
    }
}

impl<'a> Path<'a> {
    pub const fn new(name: &'a str) -> Self {
        Self {
            parent: None,
            step: Step::Child(name),
        }
    }

    /// A root path of several names.
    pub const fn of(names: &'a [&'a str]) -> Self {
        Self {
            parent: None,
            step: Step::Children(names),
        }
    }

    #[must_use]
    pub fn child<'b>(&'b self, name: &'b str) -> Path<'b> {
        self.step(Step::Child(name))
    }

    /// Several names down at once.
    #[must_use]
    pub fn children<'b>(&'b self, names: &'b [&'b str]) -> Path<'b> {
        self.step(Step::Children(names))
    }

    #[must_use]
    pub fn index(&self, index: usize) -> Path<'_> {
        self.step(Step::Index(index))
    }

    #[must_use]
    pub fn key<'b>(&'b self, key: &'b str) -> Path<'b> {
        self.step(Step::Key(key))
    }

    pub fn is_root(&self) -> bool {
        matches!(self.step, Step::Root)
    }

    /// Goes down from the root: `None` stands for an item of a list or an entry of a map.
    pub fn walk<T>(
        &self,
        root: T,
        mut down: impl FnMut(T, Option<&str>) -> Option<T>,
    ) -> Option<T> {
        self.walk_from(root, &mut down)
    }

    fn walk_from<T>(
        &self,
        root: T,
        down: &mut dyn FnMut(T, Option<&str>) -> Option<T>,
    ) -> Option<T> {
        let at = match self.parent {
            Some(parent) => parent.walk_from(root, down)?,
            None => root,
        };
        match self.step {
            Step::Root => Some(at),
            Step::Child(name) => down(at, Some(name)),
            Step::Children(names) => names.iter().try_fold(at, |at, name| down(at, Some(name))),
            Step::Index(_) | Step::Key(_) => down(at, None),
        }
    }

    fn step<'b>(&'b self, step: Step<'b>) -> Path<'b> {
        Path {
            parent: (!self.is_root()).then_some(self),
            step,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.write(f)?;
        }
        let mut first = self.parent.is_none();
        let mut child = |name: &str, f: &mut fmt::Formatter<'_>| {
            let dot = if std::mem::take(&mut first) { "" } else { "." };
            if name.is_empty() {
                return f.write_str("[]");
            }
            f.write_str(dot)?;
            f.write_str(name)
        };
        match self.step {
            Step::Root => Ok(()),
            Step::Child(name) => child(name, f),
            Step::Children(names) => names.iter().try_for_each(|name| child(name, f)),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(key) => write!(f, "[{key}]"),
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return f.write_str("<nil>");
        }
        self.write(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_down_from_the_root() {
        let spec = Path::new("spec");
        let template = spec.children(&["template", "spec"]);
        let (containers, labels) = (template.child("containers"), spec.child("labels"));
        let down = |mut at: Vec<String>, name: Option<&str>| {
            at.push(name.unwrap_or("*").to_owned());
            (name != Some("labels")).then_some(at)
        };
        let walked = containers.index(3).walk(Vec::new(), down);
        let expected = ["spec", "template", "spec", "containers", "*"];
        assert_eq!(walked, Some(expected.map(str::to_owned).to_vec()));
        assert_eq!(labels.key("a").walk(Vec::new(), down), None);
        assert_eq!(Path::root().walk(Vec::new(), down), Some(Vec::new()));
    }

    #[test]
    fn prints_as_upstream() {
        let root = Path::root();
        let spec = Path::new("spec");
        let template = spec.children(&["template", "spec"]);
        let table = [
            (root.to_string(), "<nil>"),
            (root.child("spec").to_string(), "spec"),
            (root.index(1).to_string(), "[1]"),
            (root.key("a.b").child("c").to_string(), "[a.b].c"),
            (spec.child("").to_string(), "spec[]"),
            (
                template.child("containers").index(3).to_string(),
                "spec.template.spec.containers[3]",
            ),
            (
                template.child("x").index(0).child("y").key("k").to_string(),
                "spec.template.spec.x[0].y[k]",
            ),
            (
                Path::of(&["a", "b"]).index(0).index(2).to_string(),
                "a.b[0][2]",
            ),
        ];
        for (got, want) in table {
            assert_eq!(got, want);
        }
    }
}
