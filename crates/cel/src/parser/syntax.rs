//! What is wrong with text that does not parse, in ANTLR's words.

use super::Options;
use crate::lexer::Token;
use crate::source::Issues;

pub(super) fn explain(text: &str, tokens: &[Token], _options: Options) -> Issues {
    let mut issues = Issues::new(text);
    crate::lexer::tokens(text, &mut issues);
    let at = tokens.first().map_or(0, |it| it.start);
    issues.report(at as usize, "Syntax error: unexpected input");
    issues
}
