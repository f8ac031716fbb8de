//! Paths of files.

use super::errors::Errors;
use super::field::Field;

pub(super) fn no_backsteps(e: &mut Errors, path: &Field) {
    if path.str().split('/').any(|part| part == "..") {
        e.invalid(path, "must not contain '..'");
    }
}

/// Relative, and not above where it starts.
pub(super) fn local_descending(e: &mut Errors, path: &Field) {
    if path.str().starts_with('/') {
        e.invalid(path, "must be a relative path");
    }
    no_backsteps(e, path);
}

/// And not beginning with what the kubelet keeps for itself.
pub(super) fn local_non_reserved(e: &mut Errors, path: &Field) {
    local_descending(e, path);
    if path.str().starts_with("..") && !path.str().starts_with("../") {
        e.invalid(path, "must not start with '..'");
    }
}
