//! Hot path. One pass over the text by recursive descent; paths and messages are made when something is wrong.

use super::Limits;
use super::error::{Fail, ParseError, invalid_utf8, out_of_range};
use super::scratch::Scratch;
use crate::{Object, Text, Value};

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) scratch: Scratch,
    depth_left: usize,
    duplicates: bool,
    /// Set where a function answers with `None`: the byte at `at` is wrong.
    pub(super) fail: Fail,
    /// The first number that no float64 holds. Errors of syntax come before it, wherever they are.
    pub(super) out_of_range: Option<(usize, usize)>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a [u8], limits: Limits) -> Result<Self, ParseError> {
        match std::str::from_utf8(text) {
            Ok(text) => Ok(Self::of(text, limits)),
            Err(error) => Err(Self::before_invalid(text, error, limits)),
        }
    }

    pub(super) fn of(text: &'a str, limits: Limits) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            scratch: Scratch::take(),
            depth_left: limits.depth,
            duplicates: false,
            fail: Fail::END,
            out_of_range: None,
        }
    }

    /// What is wrong before the text stops to be UTF-8 is said first: mostly then it was never meant to be JSON.
    #[cold]
    fn before_invalid(text: &'a [u8], error: std::str::Utf8Error, limits: Limits) -> ParseError {
        let (valid, _) = text.split_at(error.valid_up_to());
        match Self::new(valid, limits).map(|mut parser| parser.document()) {
            Ok(Err(error)) if error.offset < valid.len() => error,
            _ => invalid_utf8(valid.len()),
        }
    }

    pub(super) fn document(&mut self) -> Result<Value, ParseError> {
        let value = self.document_or_none();
        let value = value.ok_or_else(|| self.fail.at(self.bytes, self.at))?;
        match self.out_of_range {
            None => Ok(value),
            Some((from, to)) => Err(out_of_range(&self.text[from..to], from)),
        }
    }

    fn document_or_none(&mut self) -> Option<Value> {
        self.value::<ITEM>()?;
        match self.next_token() {
            None => self.scratch.items.pop(),
            Some(_) => self.unexpected("after top-level value"),
        }
    }

    pub(super) fn has_duplicates(&self) -> bool {
        self.duplicates
    }

    pub(super) fn give_back(self) {
        self.scratch.give_back();
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The next byte that is no space, not yet taken.
    #[inline]
    pub(super) fn next_token(&mut self) -> Option<u8> {
        match self.peek() {
            Some(byte) if byte > b' ' => Some(byte),
            _ => self.after_space(),
        }
    }

    fn after_space(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    /// What stands here does not fit between values.
    #[cold]
    pub(super) fn unexpected<T>(&mut self, context: &'static str) -> Option<T> {
        let ends = self.at >= self.bytes.len();
        self.fail = if ends { Fail::END } else { Fail(context) };
        None
    }

    /// What stands here does not fit inside a word, number or escape.
    #[cold]
    pub(super) fn unexpected_within<T>(&mut self, context: &'static str) -> Option<T> {
        self.fail = Fail(context);
        None
    }

    /// Reads a value to where its container keeps it.
    #[expect(clippy::inline_always, reason = "a tenth of the time to parse")]
    #[inline(always)]
    fn value<const IN: Place>(&mut self) -> Option<()> {
        match self.next_token() {
            Some(b'"') => {
                if let Some(text) = self.plain_string() {
                    self.put_text::<IN>(text);
                } else {
                    self.unescape()?;
                    let text = Text::from(self.scratch.unescaped.as_str());
                    self.put::<IN>(|| Value::String(text));
                }
            }
            Some(b'{') if self.bytes.get(self.at + 1) == Some(&b'}') && self.depth_left > 0 => {
                self.at += 2;
                self.put::<IN>(|| Value::Object(Object::new()));
            }
            Some(b'{') => self.object::<IN>()?,
            Some(b'[') => self.array::<IN>()?,
            Some(b'-' | b'0'..=b'9') => {
                let number = self.number()?;
                self.put::<IN>(|| Value::Number(number));
            }
            Some(b't') => self.word::<IN>(TRUE, Value::Bool(true))?,
            Some(b'f') => self.word::<IN>(FALSE, Value::Bool(false))?,
            Some(b'n') => self.word::<IN>(NULL, Value::Null)?,
            _ => return self.unexpected("looking for beginning of value"),
        }
        Some(())
    }

    /// Makes a value in its place.
    #[inline]
    fn put<const IN: Place>(&mut self, make: impl FnOnce() -> Value) {
        if IN == ITEM {
            // Other than `push`, this makes room before it makes the value.
            self.scratch.items.extend(std::iter::once_with(make));
        } else if let Some((_, place)) = self.scratch.pairs.last_mut() {
            // What is there is null: forgetting spares looking for something to drop.
            std::mem::forget(std::mem::replace(place, make()));
        }
    }

    #[inline]
    fn put_text<const IN: Place>(&mut self, text: &str) {
        self.put::<IN>(|| Value::String(Text::new()));
        let place = if IN == ITEM {
            self.scratch.items.last_mut()
        } else {
            self.scratch.pairs.last_mut().map(|(_, value)| value)
        };
        if let Some(Value::String(place)) = place {
            Scratch::fill(&mut self.scratch.seen, place, text);
        }
    }

    #[inline]
    fn enter(&mut self) -> Option<()> {
        let Some(left) = self.depth_left.checked_sub(1) else {
            return self.unexpected_within(Fail::TOO_DEEP.0);
        };
        self.depth_left = left;
        self.at += 1;
        Some(())
    }

    #[inline]
    fn leave(&mut self) {
        self.depth_left += 1;
        self.at += 1;
    }

    #[inline(never)]
    fn object<const IN: Place>(&mut self) -> Option<()> {
        self.enter()?;
        if self.next_token() == Some(b'}') {
            self.leave();
            self.put::<IN>(|| Value::Object(Object::new()));
            return Some(());
        }
        let start = self.scratch.pairs.len();
        let mut seen = Seen::default();
        loop {
            let fresh = self.key(&mut seen)?;
            self.value::<PAIR>()?;
            if !fresh {
                self.settle(start);
            }
            match self.next_token() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return self.unexpected("after object key:value pair"),
            }
            if self.scratch.pairs.len() - start == Object::SMALL {
                return self.large_object::<IN>(start);
            }
        }
        self.leave();
        let object = Object::of_few(self.scratch.pairs.split_off(start));
        self.put::<IN>(|| Value::Object(object));
        Some(())
    }

    /// Looks whether the last key was there before; then its value goes there.
    #[cold]
    fn settle(&mut self, start: usize) {
        let Some(((last, _), before)) = self.scratch.pairs[start..].split_last() else {
            return;
        };
        if let Some(same) = before.iter().position(|(key, _)| key == last) {
            self.duplicates = true;
            self.scratch.pairs.swap_remove(start + same);
        }
    }

    /// Goes on after a comma, with an index.
    #[cold]
    fn large_object<const IN: Place>(&mut self, start: usize) -> Option<()> {
        let mut object = Object::of_few(self.scratch.pairs.split_off(start));
        loop {
            self.key(&mut Seen::default())?;
            self.value::<PAIR>()?;
            if let Some((key, value)) = self.scratch.pairs.pop() {
                self.duplicates |= object.insert(key, value).is_some();
            }
            match self.next_token() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return self.unexpected("after object key:value pair"),
            }
        }
        self.leave();
        self.put::<IN>(|| Value::Object(object));
        Some(())
    }

    /// Begins a pair with its key, and takes the colon. True if the key certainly is new.
    #[inline]
    fn key(&mut self, seen: &mut Seen) -> Option<bool> {
        const EMPTY: (Text, Value) = (Text::new(), Value::Null);
        if self.next_token() != Some(b'"') {
            return self.unexpected("looking for beginning of object key string");
        }
        let plain = self.plain_string();
        if plain.is_none() {
            self.unescape()?;
        }
        let scratch = &mut self.scratch;
        let text = plain.unwrap_or(&scratch.unescaped);
        let fresh = seen.add(text.as_bytes());
        scratch.pairs.push(EMPTY);
        if let Some((place, _)) = scratch.pairs.last_mut() {
            Scratch::fill(&mut scratch.seen, place, text);
        }
        if self.next_token() != Some(b':') {
            return self.unexpected("after object key");
        }
        self.at += 1;
        Some(fresh)
    }

    #[inline(never)]
    fn array<const IN: Place>(&mut self) -> Option<()> {
        self.enter()?;
        if self.next_token() == Some(b']') {
            self.leave();
            self.put::<IN>(|| Value::Array(Vec::new()));
            return Some(());
        }
        let start = self.scratch.items.len();
        loop {
            self.value::<ITEM>()?;
            match self.next_token() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return self.unexpected("after array element"),
            }
        }
        self.leave();
        let items = self.scratch.items.split_off(start);
        self.put::<IN>(|| Value::Array(items));
        Some(())
    }

    fn word<const IN: Place>(&mut self, word: Word, value: Value) -> Option<()> {
        self.at += 1;
        for (letter, context) in word {
            if self.peek() != Some(*letter) {
                return self.unexpected_within(context);
            }
            self.at += 1;
        }
        self.put::<IN>(|| value);
        Some(())
    }
}

/// Where a value goes: into the last pair, or behind the last item.
type Place = bool;
const PAIR: Place = false;
const ITEM: Place = true;

/// The letters after the first, each with what is wrong if it is not there.
type Word = &'static [(u8, &'static str)];

const TRUE: Word = &[
    (b'r', "in literal true (expecting 'r')"),
    (b'u', "in literal true (expecting 'u')"),
    (b'e', "in literal true (expecting 'e')"),
];
const FALSE: Word = &[
    (b'a', "in literal false (expecting 'a')"),
    (b'l', "in literal false (expecting 'l')"),
    (b's', "in literal false (expecting 's')"),
    (b'e', "in literal false (expecting 'e')"),
];
const NULL: Word = &[
    (b'u', "in literal null (expecting 'u')"),
    (b'l', "in literal null (expecting 'l')"),
    (b'l', "in literal null (expecting 'l')"),
];

/// A filter over the keys of one object: most keys are known to be new without looking at the others.
#[derive(Default)]
struct Seen(u64);

impl Seen {
    /// False if the key may have been there.
    #[inline]
    fn add(&mut self, key: &[u8]) -> bool {
        let ends = match key {
            [first, .., last] => u32::from(*first) << 8 | u32::from(*last),
            [only] => u32::from(*only),
            [] => 0,
        };
        #[expect(clippy::cast_possible_truncation, reason = "it is only mixed in")]
        let mixed = (ends << 8 ^ key.len() as u32).wrapping_mul(0x9e37_79b1);
        let bit = 1 << (mixed >> 26);
        let fresh = self.0 & bit == 0;
        self.0 |= bit;
        fresh
    }
}
