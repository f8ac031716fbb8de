//! W3C Baggage: what a privileged client wants its request's followers to know. Nobody here looks inside.

const MEMBERS: usize = 64;
const BYTES: usize = 8192;

pub const HEADER: &str = "baggage";

/// The members of all headers in one, each as it came. What is no member is left out; so is what is too much.
pub fn read<'a>(headers: impl Iterator<Item = &'a [u8]>) -> Option<String> {
    let mut carried = String::new();
    let mut count = 0;
    for header in headers {
        for member in header.split(|it| *it == b',') {
            let Some(member) = member_of(member) else {
                continue;
            };
            count += 1;
            if count > MEMBERS || carried.len() + 1 + member.len() > BYTES {
                return Some(carried);
            }
            if !carried.is_empty() {
                carried.push(',');
            }
            carried.push_str(member);
        }
    }
    (!carried.is_empty()).then_some(carried)
}

/// `key = value;property;key=value`, with white space around any of it.
fn member_of(text: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text.trim_matches([' ', '\t']);
    let (key, rest) = text.split_once('=')?;
    let mut parts = rest.split(';');
    let value = parts.next()?;
    let trim = |it: &str| is_value(it.trim_matches([' ', '\t']).as_bytes());
    let fine = is_token(key) && trim(value) && parts.all(is_property);
    fine.then_some(text)
}

fn is_property(text: &str) -> bool {
    match text.split_once('=') {
        Some((key, value)) => is_token(key) && is_value(value.trim_matches([' ', '\t']).as_bytes()),
        None => is_token(text),
    }
}

fn is_token(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']).as_bytes();
    let is_fine = |it: &u8| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(it);
    !text.is_empty() && text.iter().all(is_fine)
}

/// Printable ASCII but for space, quote, comma, semicolon and backslash; a percent sign begins two digits.
fn is_value(text: &[u8]) -> bool {
    let is_fine = |it: &u8| it.is_ascii_graphic() && !b"\",;\\".contains(it);
    text.iter().all(is_fine) && encoding::percent::decode(text).is_ok()
}
