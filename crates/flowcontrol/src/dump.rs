//! Tables as the debug endpoints of kube-apiserver write them: values with commas behind them, in columns.

/// Go's `tabwriter` with cells of at least eight characters and one space between them.
const MIN_WIDTH: usize = 8;

/// Rows of the same length.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(headers: &[&str]) -> Self {
        let mut table = Self::default();
        table.push(headers.iter().map(|&it| it.to_owned()).collect());
        table
    }

    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let mut widths = vec![0; columns];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                // With the comma, and the space behind it.
                *width = MIN_WIDTH.max(cell.chars().count() + 2).max(*width);
            }
        }
        let mut out = String::new();
        for row in &self.rows {
            for (at, cell) in row.iter().enumerate() {
                if at + 1 == row.len() {
                    out.push_str(cell);
                    continue;
                }
                let written = format!("{cell},");
                out.push_str(&written);
                let padding = widths[at] - written.chars().count();
                out.extend(std::iter::repeat_n(' ', padding));
            }
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["PriorityLevelName", "Index", "Last"]);
        table.push(vec!["a".into(), "123456789".into(), "x".into()]);
        table.push(vec!["b".into(), "1".into(), String::new()]);
        let expected = "\
PriorityLevelName, Index,     Last
a,                 123456789, x
b,                 1,         
";
        assert_eq!(table.render(), expected);
        assert_eq!(Table::new(&["a", "b"]).render(), "a,      b\n");
    }
}
