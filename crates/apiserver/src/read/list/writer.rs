//! Hot path. A list written piece by piece: what a client does not take is not made.

use std::sync::Arc;

use bytes::Bytes;
use meta::Status;
use store::Entry;
use tokio::sync::Semaphore;

use super::form::{Around, Form};
use super::share::{ListIdentity, Part, Place};
use super::{List, Page, STEP, chunk_pool};
use crate::transport::body::{Body, Upcoming};

/// How many entries are looked at for one piece of a list with selectors.
const LOOKS: usize = 4 * STEP;

impl List {
    /// All that is a part of the list, whether it was found before or not.
    pub(super) fn taken(&self, found: Option<Vec<Arc<Entry>>>) -> Vec<Arc<Entry>> {
        let mut entries = Entries::new(self, found);
        let all = std::iter::from_fn(|| entries.next(self)).collect();
        entries.count(self);
        all
    }

    /// In pieces if it is large, which only plain JSON may be here.
    pub(super) fn written(
        self,
        page: Page,
        shared: Option<Arc<ListIdentity>>,
    ) -> Result<Body, Status> {
        let form = Form::of(self.accepted);
        match form {
            Form::Plain => {
                let around = form.around(&self, page.metadata.clone())?;
                let mut writer = Writer::new(self, form, page, around);
                writer.shared = shared;
                Ok(writer.stream())
            }
            Form::Pretty | Form::Yaml => {
                let around = form.around(&self, page.metadata.clone())?;
                Ok(Writer::new(self, form, page, around).whole()?.into())
            }
            Form::Protobuf => Ok(self.protobuf(page)?.into()),
        }
    }

    /// Begins with a piece that was made for others.
    pub(super) fn behind(self, first: Bytes, part: Part) -> Body {
        Writer::behind(self, part).stream_from(first)
    }

    /// In pieces, whatever it is. Protobuf begins with the length of the whole: all pieces are kept as long as there is
    /// room for them among those that others have not taken yet, else they are made twice.
    pub(super) fn written_in_pieces(
        self,
        page: Page,
        held: &Arc<Semaphore>,
    ) -> Result<Body, Status> {
        let form = Form::of(self.accepted);
        if !matches!(form, Form::Protobuf) {
            let around = form.around(&self, page.metadata.clone())?;
            return Ok(Writer::new(self, form, page, around).stream());
        }
        let room = u32::try_from(self.bytes(&page, usize::MAX) >> 10).unwrap_or(u32::MAX);
        if let Ok(permit) = held.clone().try_acquire_many_owned(room) {
            let metadata = page.metadata.clone();
            let mut writer = Writer::new(self, form, page, Around::default());
            let items = writer.pieces()?;
            let length = items.iter().map(Bytes::len).sum();
            let (head, end) = writer.list.envelope(metadata, length)?;
            let held = |held| Upcoming { next: 0, held };
            return Ok(Body::chunks(held(length), move |out| async move {
                let _permit = permit;
                let mut left = length;
                for piece in [head.into()].into_iter().chain(items).chain([end.into()]) {
                    left = left.saturating_sub(piece.len());
                    out.send_before(piece, held(left)).await;
                }
            }));
        }
        let mut length = 0;
        let mut entries = Entries::new(&self, page.entries.clone());
        let mut item = Vec::new();
        while let Some(entry) = entries.next(&self) {
            item.clear();
            form.item(&self, &mut item, &entry, false)?;
            length += item.len();
        }
        let around = self.envelope(page.metadata.clone(), length)?;
        Ok(Writer::new(self, form, page, around).stream())
    }

    fn protobuf(self, page: Page) -> Result<Vec<u8>, Status> {
        let nothing = (Vec::new(), Vec::new());
        let metadata = page.metadata.clone();
        let mut writer = Writer::new(self, Form::Protobuf, page, nothing);
        let items = writer.whole()?;
        let (mut out, end) = writer.list.envelope(metadata, items.len())?;
        out.reserve_exact(items.len() + end.len());
        out.extend_from_slice(&items);
        out.extend_from_slice(&end);
        Ok(out)
    }
}

/// The entries of a list, in order.
struct Entries {
    /// All were found before; else they are taken from the snapshot as we go.
    is_found: bool,
    /// Found, and left for the next piece.
    next: Option<Arc<Entry>>,
    step: std::vec::IntoIter<Arc<Entry>>,
    after: Option<Vec<u8>>,
    /// The most that are still to be looked at.
    left: usize,
    /// How many objects were read, and how many of them matched, since that was last counted.
    seen: usize,
    taken: usize,
}

impl Entries {
    fn new(list: &List, found: Option<Vec<Arc<Entry>>>) -> Self {
        Self {
            is_found: found.is_some(),
            next: None,
            step: found.unwrap_or_default().into_iter(),
            after: list.after.clone(),
            left: usize::MAX,
            seen: 0,
            taken: 0,
        }
    }

    /// The rest of a list without selectors.
    fn behind(list: &List, place: &Place) -> Self {
        let all = match list.limit {
            0 => usize::MAX,
            limit => limit,
        };
        Self {
            after: place.after.clone(),
            left: all.saturating_sub(place.taken),
            ..Self::new(list, None)
        }
    }

    /// How many bytes the next entry has at rest; zero if there is none.
    fn peek(&mut self, list: &List) -> usize {
        if self.next.is_none() {
            self.next = self.next(list);
        }
        self.next_bytes()
    }

    /// The same, as far as it is known without looking for it.
    fn next_bytes(&self) -> usize {
        let next = self.next.as_ref().or(self.step.as_slice().first());
        next.map_or(0, |it| it.value.len())
    }

    fn next(&mut self, list: &List) -> Option<Arc<Entry>> {
        if let Some(next) = self.next.take() {
            return Some(next);
        }
        if self.is_found {
            return self.step.next();
        }
        loop {
            let found = self.step.find(|it| list.filter.takes(&list.resource, it));
            if found.is_some() {
                self.taken += 1;
                return found;
            }
            if !self.load(list) {
                return None;
            }
        }
    }

    /// Looks for the next entry that a selector takes in the next few. True if it is found, or there is none.
    fn seek(&mut self, list: &List) -> bool {
        if self.is_found || list.filter.is_empty() || self.next.is_some() {
            return true;
        }
        self.next = self.step.find(|it| list.filter.takes(&list.resource, it));
        if self.next.is_some() {
            self.taken += 1;
            return true;
        }
        !self.load(list)
    }

    /// Takes the next entries from the snapshot, if there are any.
    fn load(&mut self, list: &List) -> bool {
        let step = STEP.min(self.left);
        let page = list.snapshot.page(&list.range, self.after.as_deref(), step);
        let Some(last) = page.entries.last() else {
            return false;
        };
        self.after = Some(last.key.to_vec());
        self.left -= page.entries.len();
        self.seen += page.entries.len();
        self.step = page.entries.into_iter();
        true
    }

    /// How many were looked at for this piece because of selectors.
    fn looks(&self, list: &List) -> usize {
        if list.filter.is_empty() { 0 } else { self.seen }
    }

    /// Counts the objects that were written since the last call. Those of a page are counted when they are found.
    fn count(&mut self, list: &List) -> usize {
        let (seen, taken) = (
            std::mem::take(&mut self.seen),
            std::mem::take(&mut self.taken),
        );
        if list.limit > 0 {
            return 0;
        }
        // Without selectors others may have looked at some of them instead.
        let seen = if list.filter.is_empty() { taken } else { seen };
        list.listing.add(seen, taken);
        taken
    }
}

struct Writer {
    list: List,
    form: Form,
    /// What others may take of it, and we of others'.
    shared: Option<Arc<ListIdentity>>,
    /// Of pieces, so far.
    number: usize,
    entries: Entries,
    last: Option<Arc<Entry>>,
    /// Objects to count with the next chunk.
    found: usize,
    out: Vec<u8>,
    place: Place,
}

impl Writer {
    fn new(list: List, form: Form, page: Page, (head, end): Around) -> Self {
        let mut out = chunk_pool::first();
        out.extend_from_slice(&head);
        Self {
            shared: None,
            number: 0,
            found: page.entries.as_ref().map_or(0, Vec::len),
            entries: Entries::new(&list, page.entries),
            last: None,
            form,
            out,
            place: Place {
                after: list.after.clone(),
                taken: 0,
                is_first: true,
                end: Some(end),
            },
            list,
        }
    }

    /// Goes on behind a first piece that others have made.
    fn behind(list: List, first: Part) -> Self {
        let mut writer = Self {
            shared: Some(first.list.clone()),
            number: 1,
            entries: Entries::new(&list, None),
            last: None,
            list,
            form: Form::Plain,
            found: 0,
            out: Vec::new(),
            place: first.behind.clone(),
        };
        writer.follow(first);
        writer
    }

    fn stream(mut self) -> Body {
        match self.frame() {
            Some(first) => self.stream_from(first),
            None => Body::empty(),
        }
    }

    fn stream_from(mut self, first: Bytes) -> Body {
        // What fits one frame goes with its length known.
        if self.place.end.is_none() {
            return first.into();
        }
        let upcoming = Upcoming {
            next: 0,
            held: first.len(),
        };
        Body::chunks(upcoming, |out| async move {
            out.send_before(first, self.upcoming()).await;
            loop {
                while !self.entries.seek(&self.list) {
                    tokio::task::yield_now().await;
                }
                let Some(frame) = self.frame() else {
                    return;
                };
                out.send_before(frame, self.upcoming()).await;
            }
        })
    }

    fn upcoming(&self) -> Upcoming {
        Upcoming {
            next: self.entries.next_bytes().max(chunk_pool::SIZE),
            held: 0,
        }
    }

    fn frame(&mut self) -> Option<Bytes> {
        self.place.end.as_ref()?;
        let number = self.number;
        self.number += 1;
        if number > 0 {
            if let Some(found) = self.find(number) {
                return Some(found);
            }
            self.out = chunk_pool::next();
        }
        // The answer has begun: an object that cannot be read is left out, as nothing else can be said now.
        // The first piece is made in a CPU slot if that takes long; the others on a worker, which others need, too.
        let most = if number == 0 { usize::MAX } else { LOOKS };
        while self.out.len() < chunk_pool::SIZE
            && self.entries.looks(&self.list) < most
            && !self.is_large_next()
            && self.add().unwrap_or(true)
        {}
        let objects = std::mem::take(&mut self.found) + self.entries.count(&self.list);
        if let Some(last) = self.last.take() {
            self.place.after = Some(last.key.to_vec());
        }
        let part = self.shared.as_ref().map(|list| Part {
            list: list.clone(),
            number,
            objects,
            behind: self.place.clone(),
        });
        Some(chunk_pool::full(std::mem::take(&mut self.out), part))
    }

    /// Whether the next object is larger than a piece: then it is a piece alone.
    fn is_large_next(&mut self) -> bool {
        let is_begun = self.last.is_some();
        is_begun && self.entries.peek(&self.list) > chunk_pool::SIZE
    }

    /// A piece that others have made.
    fn find(&mut self, number: usize) -> Option<Bytes> {
        let (bytes, part) = chunk_pool::find(self.shared.as_deref()?, number)?;
        self.follow(part);
        Some(bytes)
    }

    fn follow(&mut self, part: Part) {
        self.list.listing.add(part.objects, part.objects);
        self.place = part.behind;
        self.entries = Entries::behind(&self.list, &self.place);
    }

    fn whole(&mut self) -> Result<Bytes, Status> {
        while self.add()? {}
        self.entries.count(&self.list);
        Ok(chunk_pool::full(std::mem::take(&mut self.out), None))
    }

    /// All of it before the first is sent. Never as one: the allocator keeps what such a block was made of.
    fn pieces(&mut self) -> Result<Vec<Bytes>, Status> {
        let mut pieces = Vec::new();
        let mut is_more = true;
        while is_more {
            while is_more && self.out.len() < chunk_pool::SIZE {
                is_more = self.add()?;
            }
            let next = if is_more {
                chunk_pool::next()
            } else {
                Vec::new()
            };
            pieces.push(chunk_pool::full(
                std::mem::replace(&mut self.out, next),
                None,
            ));
        }
        self.entries.count(&self.list);
        Ok(pieces)
    }

    /// The next item, or the end; says whether there is more.
    fn add(&mut self) -> Result<bool, Status> {
        let Some(entry) = self.entries.next(&self.list) else {
            let end = self.place.end.take().unwrap_or_default();
            self.out.extend_from_slice(&end);
            return Ok(false);
        };
        let start = self.out.len();
        let is_first = self.place.is_first;
        let added = self.form.item(&self.list, &mut self.out, &entry, is_first);
        match added {
            Ok(()) => self.place.is_first = false,
            Err(_) => self.out.truncate(start),
        }
        self.place.taken += 1;
        self.last = Some(entry);
        added.map(|()| true)
    }
}
