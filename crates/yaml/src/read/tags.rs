//! Directives, anchors and tags.

use encoding::hex;

use super::comments::text_of;
use super::scan::{Result, Scanner};
use super::tokens::{Data, Kind, Mark};
use crate::chars::{is_alpha, width};

impl Scanner<'_> {
    pub(super) fn scan_directive(&mut self) -> Result<(Kind, Mark, Data)> {
        let start = self.mark;
        self.skip();
        let name = self.scan_name()?;
        if name.is_empty() {
            return self.error(start, "could not find expected directive name");
        }
        if !self.is_blankz(0) {
            return self.error(start, "found unexpected non-alphabetical character");
        }
        let (kind, data) = match name.as_str() {
            "YAML" => (Kind::VersionDirective, self.scan_version(start)?),
            "TAG" => (Kind::TagDirective, self.scan_tag_directive(start)?),
            _ => return self.error(start, "found unknown directive name"),
        };
        self.end_of_line(start)?;
        Ok((kind, start, data))
    }

    /// Blanks, a comment that is not kept, and the line break.
    fn end_of_line(&mut self, start: Mark) -> Result {
        self.skip_blanks()?;
        if self.at(0) == b'#' {
            self.skip_to_break()?;
        }
        if !self.is_breakz() {
            return self.error(start, "did not find expected comment or line break");
        }
        self.skip_line();
        Ok(())
    }

    fn scan_name(&mut self) -> Result<String> {
        let mut name = Vec::new();
        self.need(1)?;
        while is_alpha(self.at(0)) {
            self.read(&mut name);
            self.need(1)?;
        }
        Ok(text_of(name))
    }

    fn scan_version(&mut self, start: Mark) -> Result<Data> {
        self.skip_blanks()?;
        let major = self.scan_version_number(start)?;
        if self.at(0) != b'.' {
            return self.error(start, "did not find expected digit or '.' character");
        }
        self.skip();
        let minor = self.scan_version_number(start)?;
        Ok(Data::Version(major, minor))
    }

    fn scan_version_number(&mut self, start: Mark) -> Result<u8> {
        let (mut value, mut length) = (0, 0);
        self.need(1)?;
        while self.at(0).is_ascii_digit() {
            length += 1;
            if length > 2 {
                return self.error(start, "found extremely long version number");
            }
            value = value * 10 + (self.at(0) - b'0');
            self.skip();
            self.need(1)?;
        }
        if length == 0 {
            return self.error(start, "did not find expected version number");
        }
        Ok(value)
    }

    fn scan_tag_directive(&mut self, start: Mark) -> Result<Data> {
        self.skip_blanks()?;
        let handle = self.scan_tag_handle(true, start)?;
        self.need(1)?;
        if !self.is_blank() {
            return self.error(start, "did not find expected whitespace");
        }
        self.skip_blanks()?;
        let prefix = self.scan_tag_uri("", start)?;
        self.need(1)?;
        if !self.is_blankz(0) {
            return self.error(start, "did not find expected whitespace or line break");
        }
        Ok(Data::Tag(handle, prefix))
    }

    pub(super) fn scan_anchor(&mut self) -> Result<(Mark, String)> {
        let start = self.mark;
        self.skip();
        let name = self.scan_name()?;
        let ends = self.is_blankz(0)
            || matches!(
                self.at(0),
                b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`'
            );
        if name.is_empty() || !ends {
            let what = "did not find expected alphabetic or numeric character";
            return self.error(start, what);
        }
        Ok((start, name))
    }

    pub(super) fn scan_tag(&mut self) -> Result<(Mark, Data)> {
        let start = self.mark;
        self.need(2)?;
        let mut handle = String::new();
        let suffix;
        if self.at(1) == b'<' {
            self.skip();
            self.skip();
            suffix = self.scan_tag_uri("", start)?;
            if self.at(0) != b'>' {
                return self.error(start, "did not find the expected '>'");
            }
            self.skip();
        } else {
            let first = self.scan_tag_handle(false, start)?;
            if first.len() > 1 && first.ends_with('!') {
                suffix = self.scan_tag_uri("", start)?;
                handle = first;
            } else {
                let rest = self.scan_tag_uri(&first, start)?;
                // '!' alone is a whole tag.
                if rest.is_empty() {
                    suffix = first;
                } else {
                    (handle, suffix) = ("!".into(), rest);
                }
            }
        }
        self.need(1)?;
        if !self.is_blankz(0) {
            return self.error(start, "did not find expected whitespace or line break");
        }
        Ok((start, Data::Tag(handle, suffix)))
    }

    fn scan_tag_handle(&mut self, directive: bool, start: Mark) -> Result<String> {
        self.need(1)?;
        if self.at(0) != b'!' {
            return self.error(start, "did not find expected '!'");
        }
        self.skip();
        let mut handle = format!("!{}", self.scan_name()?);
        if self.at(0) == b'!' {
            self.skip();
            handle.push('!');
        } else if directive && handle != "!" {
            return self.error(start, "did not find expected '!'");
        }
        Ok(handle)
    }

    /// `head` was taken for a handle and is none.
    fn scan_tag_uri(&mut self, head: &str, start: Mark) -> Result<String> {
        let mut uri = head.get(1..).unwrap_or_default().as_bytes().to_vec();
        let mut found = !head.is_empty();
        self.need(1)?;
        while is_alpha(self.at(0)) || b";/?:@&=+$,.!~*'()[]%".contains(&self.at(0)) {
            if self.at(0) == b'%' {
                self.scan_uri_escapes(start, &mut uri)?;
            } else {
                self.read(&mut uri);
            }
            self.need(1)?;
            found = true;
        }
        if !found {
            return self.error(start, "did not find expected tag URI");
        }
        Ok(text_of(uri))
    }

    /// The escapes of one character.
    fn scan_uri_escapes(&mut self, start: Mark, uri: &mut Vec<u8>) -> Result {
        let mut left = None;
        while left != Some(0) {
            self.need(3)?;
            let (b'%', Some(octet)) = (self.at(0), hex::byte(self.at(1), self.at(2))) else {
                return self.error(start, "did not find URI escaped octet");
            };
            left = Some(match left {
                None if width(octet) == 0 => {
                    return self.error(start, "found an incorrect leading UTF-8 octet");
                }
                None => width(octet) - 1,
                Some(_) if octet & 0xC0 != 0x80 => {
                    return self.error(start, "found an incorrect trailing UTF-8 octet");
                }
                Some(left) => left - 1,
            });
            uri.push(octet);
            for _ in 0..3 {
                self.skip();
            }
        }
        Ok(())
    }
}
