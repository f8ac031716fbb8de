//! How records become bytes and back. Everything is little-endian; lengths come before what they measure.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::Entry;
use crate::engine::Record;

const PUT: u8 = 1;
const DELETE: u8 = 2;
const GRANT: u8 = 3;
const REVOKE: u8 = 4;
const COMPACT: u8 = 5;

pub(crate) fn encode(record: &Record, out: &mut Vec<u8>) {
    match record {
        Record::Put(entry) => {
            out.push(PUT);
            for number in [entry.modified, entry.created, entry.lease] {
                out.extend_from_slice(&number.to_le_bytes());
            }
            length(&entry.key, out);
            length(&entry.value, out);
            out.extend_from_slice(&entry.key);
            out.extend_from_slice(&entry.value);
        }
        Record::Delete { key, revision } => {
            out.push(DELETE);
            out.extend_from_slice(&revision.to_le_bytes());
            length(key, out);
            out.extend_from_slice(key);
        }
        Record::Grant { lease, ttl } => {
            out.push(GRANT);
            out.extend_from_slice(&lease.to_le_bytes());
            out.extend_from_slice(
                &u64::try_from(ttl.as_millis())
                    .unwrap_or(u64::MAX)
                    .to_le_bytes(),
            );
        }
        Record::Revoke { lease } => {
            out.push(REVOKE);
            out.extend_from_slice(&lease.to_le_bytes());
        }
        Record::Compact { revision } => {
            out.push(COMPACT);
            out.extend_from_slice(&revision.to_le_bytes());
        }
    }
}

fn length(data: &[u8], out: &mut Vec<u8>) {
    let length =
        u32::try_from(data.len()).expect("a request is far below 4 GiB, and so are its parts");
    out.extend_from_slice(&length.to_le_bytes());
}

/// Reads the next record off the front of `input`. `None` if it is not one.
pub(crate) fn decode(input: &mut &[u8]) -> Option<Record> {
    let [kind] = take(input, 1)?.try_into().ok()?;
    Some(match kind {
        PUT => {
            let (modified, created, lease) = (u64(input)?, u64(input)?, u64(input)?);
            let (key, value) = (u32(input)?, u32(input)?);
            // Own copies: a slice of the whole file would keep all of it in memory.
            let key = Bytes::copy_from_slice(take(input, key)?);
            let value = Bytes::copy_from_slice(take(input, value)?);
            Record::Put(Arc::new(Entry {
                key,
                value,
                created,
                modified,
                lease,
            }))
        }
        DELETE => {
            let revision = u64(input)?;
            let length = u32(input)?;
            Record::Delete {
                key: Bytes::copy_from_slice(take(input, length)?),
                revision,
            }
        }
        GRANT => Record::Grant {
            lease: u64(input)?,
            ttl: Duration::from_millis(u64(input)?),
        },
        REVOKE => Record::Revoke { lease: u64(input)? },
        COMPACT => Record::Compact {
            revision: u64(input)?,
        },
        _ => return None,
    })
}

pub(crate) fn take<'a>(input: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (front, rest) = input.split_at_checked(length)?;
    *input = rest;
    Some(front)
}

pub(crate) fn u64(input: &mut &[u8]) -> Option<u64> {
    take(input, 8)?.try_into().ok().map(u64::from_le_bytes)
}

fn u32(input: &mut &[u8]) -> Option<usize> {
    take(input, 4)?
        .try_into()
        .ok()
        .map(|bytes| u32::from_le_bytes(bytes) as usize)
}
