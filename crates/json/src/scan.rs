//! Hot path. Finds fields in JSON text without building a tree.
//!
//! Meant for text that was parsed and written by this crate before, such as stored objects: it is not checked again.
//! On other text the answers mean nothing, but nothing panics, recursion is bounded by the path asked for, and each
//! byte is looked at no more than once for each key of a path.

mod cursor;

use std::borrow::Cow;
use std::ops::Range;

use self::cursor::Cursor;

/// Where the value below a path of keys stands. An empty path is the value as a whole.
pub fn field(text: &[u8], path: &[&str]) -> Option<Range<usize>> {
    let [found] = fields(text, [path]);
    found
}

/// Where the values below several paths stand, in one pass that ends with the last of them.
pub fn fields<const N: usize>(text: &[u8], paths: [&[&str]; N]) -> [Option<Range<usize>>; N] {
    let mut search = Search {
        cursor: Cursor::new(text),
        paths,
        found: [const { None }; N],
        left: N,
    };
    search.value([true; N], 0);
    search.found
}

/// The keys of an object, and where their values stand. Nothing if the text is no object.
pub fn members(text: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, Range<usize>)> {
    let mut cursor = Cursor::new(text);
    cursor.space();
    let mut open = cursor.eat(b'{');
    std::iter::from_fn(move || {
        let found = open.then(|| {
            let key = cursor.key()?;
            let value = cursor.value()?;
            cursor.comma();
            Some((key.text()?, value))
        });
        let found = found.flatten();
        open = found.is_some();
        found
    })
}

/// Where the items of an array stand. Nothing if the text is no array.
pub fn items(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut cursor = Cursor::new(text);
    cursor.space();
    let mut open = cursor.eat(b'[');
    std::iter::from_fn(move || {
        let found = open.then(|| cursor.value()).flatten();
        cursor.comma();
        open = found.is_some();
        found
    })
}

/// The string that the text of a value is, if it is one. Borrowed unless it has escapes.
pub fn string(text: &[u8]) -> Option<Cow<'_, str>> {
    crate::parse::unquote(text)
}

struct Search<'a, const N: usize> {
    cursor: Cursor<'a>,
    paths: [&'a [&'a str]; N],
    found: [Option<Range<usize>>; N],
    left: usize,
}

impl<const N: usize> Search<'_, N> {
    /// Reads one value to its end, unless all is found before. `alive` are the paths that led here.
    fn value(&mut self, alive: [bool; N], depth: usize) -> Option<()> {
        self.cursor.space();
        let start = self.cursor;
        let mut deeper = alive;
        let mut ends_here = false;
        for (index, alive) in deeper.iter_mut().enumerate() {
            let ends = self.paths[index].len() == depth;
            ends_here |= *alive && ends;
            *alive &= !ends;
        }
        if ends_here {
            let range = self.cursor.value()?;
            for (index, found) in self.found.iter_mut().enumerate() {
                if alive[index] && !deeper[index] && found.replace(range.clone()).is_none() {
                    self.left -= 1;
                }
            }
        }
        if deeper.contains(&true) && self.left > 0 {
            // Where a path and one that begins with it are both asked for, this is the second look.
            self.cursor = start;
            return self.object(deeper, depth);
        }
        Some(())
    }

    fn object(&mut self, mut wanted: [bool; N], depth: usize) -> Option<()> {
        if !self.cursor.eat(b'{') {
            return self.cursor.value().map(drop);
        }
        // A key comes once, so a path that had its key is done here.
        while wanted.contains(&true) {
            let Some(key) = self.cursor.key() else {
                return self.cursor.eat(b'}').then_some(());
            };
            let mut hit = wanted;
            for (index, hit) in hit.iter_mut().enumerate() {
                let wants = self.paths[index].get(depth);
                *hit = *hit && wants.is_some_and(|wants| key.is(wants));
                wanted[index] &= !*hit;
            }
            if hit.contains(&true) {
                self.value(hit, depth + 1)?;
                if self.left == 0 {
                    return None;
                }
            } else {
                self.cursor.value()?;
            }
            self.cursor.comma();
        }
        self.cursor.close(1)
    }
}

#[cfg(test)]
mod tests;
