//! Hot path. A list written piece by piece: what a client does not take is not made.

use std::sync::Arc;

use bytes::Bytes;
use meta::Status;
use store::Entry;
use tokio::sync::Semaphore;

use super::form::{Around, Form};
use super::{List, Page, STEP, frame};
use crate::body::Body;

impl List {
    /// All that is a part of the list, whether it was found before or not.
    pub(super) fn taken(&self, found: Option<Vec<Arc<Entry>>>) -> Vec<Arc<Entry>> {
        let mut entries = Entries::new(self, found);
        let all = std::iter::from_fn(|| entries.next(self)).collect();
        entries.count(self);
        all
    }

    /// In pieces if it is large, which only plain JSON may be here.
    pub(super) fn written(self, page: Page) -> Result<Body, Status> {
        let form = Form::of(self.accepted);
        match form {
            Form::Plain => {
                let around = form.around(&self, page.metadata.clone())?;
                Ok(Writer::new(self, form, page, around).stream())
            }
            Form::Pretty | Form::Yaml => {
                let around = form.around(&self, page.metadata.clone())?;
                Ok(Writer::new(self, form, page, around).whole()?.into())
            }
            Form::Protobuf => Ok(self.protobuf(page)?.into()),
        }
    }

    /// In pieces, whatever it is. Protobuf begins with the length of the whole: it is kept as a whole as long as there
    /// is room for it among those that others have not taken yet, and else made twice.
    pub(super) fn written_aside(self, page: Page, held: &Arc<Semaphore>) -> Result<Body, Status> {
        let form = Form::of(self.accepted);
        if !matches!(form, Form::Protobuf) {
            let around = form.around(&self, page.metadata.clone())?;
            return Ok(Writer::new(self, form, page, around).stream());
        }
        let room = u32::try_from(self.bytes(&page, usize::MAX) >> 10).unwrap_or(u32::MAX);
        if let Ok(permit) = held.clone().try_acquire_many_owned(room) {
            let mut whole = Bytes::from(self.protobuf(page)?);
            return Ok(Body::chunks(|out| async move {
                let _permit = permit;
                while !whole.is_empty() {
                    let frame = whole.split_to(whole.len().min(frame::SIZE));
                    out.send(frame).await;
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
    step: std::vec::IntoIter<Arc<Entry>>,
    after: Option<Vec<u8>>,
    /// How many were looked at, and how many of them taken, since that was last told.
    seen: usize,
    taken: usize,
}

impl Entries {
    fn new(list: &List, found: Option<Vec<Arc<Entry>>>) -> Self {
        Self {
            is_found: found.is_some(),
            step: found.unwrap_or_default().into_iter(),
            after: list.after.clone(),
            seen: 0,
            taken: 0,
        }
    }

    fn next(&mut self, list: &List) -> Option<Arc<Entry>> {
        if self.is_found {
            return self.step.next();
        }
        loop {
            let found = self.step.find(|it| list.filter.takes(&list.resource, it));
            if found.is_some() {
                self.taken += 1;
                return found;
            }
            let page = list.snapshot.page(&list.range, self.after.as_deref(), STEP);
            self.after = Some(page.entries.last()?.key.to_vec());
            self.seen += page.entries.len();
            self.step = page.entries.into_iter();
        }
    }

    /// Those that were found before were told of then.
    fn count(&mut self, list: &List) {
        let (seen, taken) = (
            std::mem::take(&mut self.seen),
            std::mem::take(&mut self.taken),
        );
        list.listing.add(seen, taken);
    }
}

struct Writer {
    list: List,
    form: Form,
    entries: Entries,
    out: Vec<u8>,
    /// Gone when all is written.
    end: Option<Vec<u8>>,
    is_first: bool,
}

impl Writer {
    fn new(list: List, form: Form, page: Page, (head, end): Around) -> Self {
        let mut out = frame::first();
        out.extend_from_slice(&head);
        Self {
            entries: Entries::new(&list, page.entries),
            list,
            form,
            out,
            end: Some(end),
            is_first: true,
        }
    }

    fn stream(mut self) -> Body {
        // What fits one frame goes with its length known.
        let Some(first) = self.frame() else {
            return Body::empty();
        };
        if self.end.is_none() {
            return first.into();
        }
        Body::chunks(|out| async move {
            out.send(first).await;
            while let Some(frame) = self.frame() {
                out.send(frame).await;
            }
        })
    }

    fn frame(&mut self) -> Option<Bytes> {
        self.end.as_ref()?;
        if !self.is_first {
            self.out = frame::next();
        }
        // However large the objects are, no more than one of them goes beyond the frame. The answer has begun: an
        // object that cannot be read is left out, as nothing else can be said now.
        while self.out.len() < frame::SIZE && self.add().unwrap_or(true) {}
        self.entries.count(&self.list);
        Some(frame::full(std::mem::take(&mut self.out)))
    }

    fn whole(&mut self) -> Result<Bytes, Status> {
        while self.add()? {}
        self.entries.count(&self.list);
        Ok(frame::full(std::mem::take(&mut self.out)))
    }

    /// The next item, or the end; says whether there is more.
    fn add(&mut self) -> Result<bool, Status> {
        let Some(entry) = self.entries.next(&self.list) else {
            let end = self.end.take().unwrap_or_default();
            self.out.extend_from_slice(&end);
            return Ok(false);
        };
        let start = self.out.len();
        let added = self
            .form
            .item(&self.list, &mut self.out, &entry, self.is_first);
        match added {
            Ok(()) => self.is_first = false,
            Err(_) => self.out.truncate(start),
        }
        added.map(|()| true)
    }
}
