//! One token after the other, by its first character. Hot path.

use super::scan::{MAX_DEPTH, Result, Scanner, TOO_DEEP};
use super::tokens::{Data, Kind, SimpleKey};

impl Scanner<'_> {
    pub(super) fn fetch_content(&mut self, next: u8) -> Result {
        let flow = self.flow_level > 0;
        match next {
            b'[' => self.fetch_flow_start(Kind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(Kind::FlowMappingStart),
            b']' => self.fetch_flow_end(Kind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(Kind::FlowMappingEnd),
            b',' => {
                self.remove_simple_key()?;
                self.simple_key_allowed = true;
                self.fetch_indicator(Kind::FlowEntry);
                Ok(())
            }
            b'-' if self.is_blankz(1) => self.fetch_block_entry(),
            b'?' if flow || self.is_blankz(1) => self.fetch_key(),
            b':' if flow || self.is_blankz(1) => self.fetch_value(),
            b'*' => self.fetch_anchor(Kind::Alias),
            b'&' => self.fetch_anchor(Kind::Anchor),
            b'!' => {
                self.save_simple_key()?;
                self.simple_key_allowed = false;
                let (start, data) = self.scan_tag()?;
                self.push(Kind::Tag, start, data);
                Ok(())
            }
            b'|' | b'>' if !flow => {
                self.remove_simple_key()?;
                self.simple_key_allowed = true;
                let token = self.scan_block_scalar(next == b'|')?;
                self.tokens.push_back(token);
                Ok(())
            }
            b'\'' | b'"' => {
                self.save_simple_key()?;
                self.simple_key_allowed = false;
                let token = self.scan_quoted_scalar(next == b'\'')?;
                self.tokens.push_back(token);
                Ok(())
            }
            b'#' | b'|' | b'>' | b'%' | b'@' | b'`' | b'?' | b':' | b'\t' | b' ' => {
                self.plain_or_error(next, flow)
            }
            _ => self.fetch_plain(),
        }
    }

    fn plain_or_error(&mut self, next: u8, flow: bool) -> Result {
        if !flow && matches!(next, b'?' | b':') {
            return self.fetch_plain();
        }
        self.error(self.mark, "found character that cannot start any token")
    }

    fn fetch_plain(&mut self) -> Result {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let token = self.scan_plain_scalar()?;
        self.tokens.push_back(token);
        Ok(())
    }

    pub(super) fn fetch_stream_end(&mut self) -> Result {
        if self.mark.column != 0 {
            self.mark.column = 0;
            self.mark.line += 1;
        }
        self.reset()?;
        self.push(Kind::StreamEnd, self.mark, Data::None);
        Ok(())
    }

    pub(super) fn fetch_document_indicator(&mut self, kind: Kind) -> Result {
        self.reset()?;
        let start = self.mark;
        for _ in 0..3 {
            self.skip();
        }
        self.push(kind, start, Data::None);
        Ok(())
    }

    fn fetch_indicator(&mut self, kind: Kind) {
        let start = self.mark;
        self.skip();
        self.push(kind, start, Data::None);
    }

    fn fetch_flow_start(&mut self, kind: Kind) -> Result {
        self.save_simple_key()?;
        self.simple_keys.push(SimpleKey {
            number: self.next_number(),
            mark: self.mark,
            ..SimpleKey::default()
        });
        self.flow_level += 1;
        if self.flow_level > MAX_DEPTH {
            return self.error(self.mark, TOO_DEEP);
        }
        self.simple_key_allowed = true;
        self.fetch_indicator(kind);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: Kind) -> Result {
        self.remove_simple_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            if let Some(key) = self.simple_keys.pop() {
                self.stop_waiting(key.number);
            }
        }
        self.simple_key_allowed = false;
        self.fetch_indicator(kind);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                let what = "block sequence entries are not allowed in this context";
                return self.error(self.mark, what);
            }
            self.roll_indent(self.next_number(), Kind::BlockSequenceStart, self.mark)?;
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        self.fetch_indicator(Kind::BlockEntry);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return self.error(self.mark, "mapping keys are not allowed in this context");
            }
            self.roll_indent(self.next_number(), Kind::BlockMappingStart, self.mark)?;
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = self.flow_level == 0;
        self.fetch_indicator(Kind::Key);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result {
        let level = self.simple_keys.len() - 1;
        if self.is_key_valid(level)? {
            let key = self.simple_keys[level];
            self.insert(key.number, Kind::Key, key.mark);
            self.roll_indent(key.number, Kind::BlockMappingStart, key.mark)?;
            self.simple_keys[level].possible = false;
            self.stop_waiting(key.number);
            self.simple_key_allowed = false;
        } else {
            if self.flow_level == 0 {
                if !self.simple_key_allowed {
                    return self.error(self.mark, "mapping values are not allowed in this context");
                }
                self.roll_indent(self.next_number(), Kind::BlockMappingStart, self.mark)?;
            }
            self.simple_key_allowed = self.flow_level == 0;
        }
        self.fetch_indicator(Kind::Value);
        Ok(())
    }

    fn fetch_anchor(&mut self, kind: Kind) -> Result {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let (start, name) = self.scan_anchor()?;
        self.push(kind, start, Data::Name(name));
        Ok(())
    }
}
