//! Where an operation comes from, as MLIR's locations: text gives them as `loc(...)`, passes fuse them.
//!
//! A [`Span`] is the position of an operation in the text being read. Its location is its origin, which may be in
//! another file. An operation without a location has its span as location. The line and column are computed when it is
//! printed ([`Location::Written`]).

use crate::context::{Context, quote};
use crate::diag::{Diagnostic, FilePlace, Note};
use crate::module::Module;
use crate::parse::limits::{MAX_LOCATION_BYTES, MAX_LOCATION_DEPTH};
use crate::span::{Source, Span};
use rustc_hash::FxBuildHasher as Fast;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The most locations that a pass fuses into one; the others are [`MORE`].
pub const MAX_FUSED: usize = 64;
/// The name in a fused location that takes the place of those that are left out.
pub const MORE: &str = "and more";
/// The most places that a note lists.
const MAX_LISTED: usize = 8;

/// An interned location: equal ids are equal locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocId(u32);

/// A line and a column, both from 1.
pub type LineColumn = (u32, u32);

/// Where something comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// No known origin: `unknown`.
    Unknown,
    /// Where it is written in the text being read. Printed as a place in that file.
    Written(Span),
    /// A place in a file: `"gemv.visa":3:5`, or a range of it: `"gemv.visa":3:5 to 4:1`.
    File {
        /// The file's name.
        file: Rc<str>,
        /// Where it starts.
        start: LineColumn,
        /// Where it ends; the start where no end is given.
        end: LineColumn,
    },
    /// A name: `"fetch"`, or `"fetch"("gemv.visa":3:5)`.
    Name(Rc<str>, Option<LocId>),
    /// A place in a function, and where that is called: `callsite("exp" at "gemv.visa":3:5)`.
    CallSite {
        /// The place in the function.
        callee: LocId,
        /// Where it is called.
        caller: LocId,
    },
    /// Several locations: `fused["a", "b"]`. None of them is unknown, fused itself, or there twice.
    Fused(Rc<[LocId]>),
}

/// The printed size of a location.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    /// Bytes of its text.
    pub(crate) bytes: usize,
    /// Names and call sites around the innermost location.
    pub(crate) depth: usize,
}

/// The interned locations; part of a context.
#[derive(Default)]
pub(crate) struct Locations(RefCell<Interned>);

#[derive(Default)]
struct Interned {
    ids: HashMap<Location, LocId, Fast>,
    items: Vec<(Location, Extent)>,
}

impl Interned {
    fn extent(&self, id: LocId) -> Extent {
        self.items[id.0 as usize].1
    }

    /// The printed size of a location with interned parts.
    fn measure(&self, location: &Location) -> Extent {
        let around = |bytes: usize, parts: &[LocId]| {
            let parts = parts.iter().map(|&part| self.extent(part));
            parts.fold(Extent { bytes, depth: 1 }, |sum, part| Extent {
                bytes: sum.bytes.saturating_add(part.bytes),
                depth: sum.depth.max(part.depth + 1),
            })
        };
        match location {
            Location::Unknown => Extent { bytes: "unknown".len(), depth: 0 },
            Location::Written(_) => Extent::default(),
            Location::File { file, start, end } => {
                Extent { bytes: file_text(file, *start, *end).len(), depth: 0 }
            }
            Location::Name(name, None) => Extent { bytes: quote(name).len(), depth: 0 },
            Location::Name(name, Some(child)) => around(quote(name).len() + "()".len(), &[*child]),
            Location::CallSite { callee, caller } => around("callsite( at )".len(), &[*callee, *caller]),
            Location::Fused(parts) => {
                let all = around("fused[]".len() + parts.len() * ", ".len(), parts);
                // Fusing fused locations is flat, so that passes make nothing deeper than the text did.
                Extent { depth: all.depth - 1, ..all }
            }
        }
    }
}

impl Context {
    /// Interns a location. Fused ones are made by [`Context::fuse`].
    pub fn location(&self, location: Location) -> LocId {
        let mut interned = self.locations.0.borrow_mut();
        if let Some(&id) = interned.ids.get(&location) {
            return id;
        }
        let id = LocId(interned.items.len() as u32);
        let extent = interned.measure(&location);
        interned.items.push((location.clone(), extent));
        interned.ids.insert(location, id);
        id
    }

    /// The data of a location.
    #[must_use]
    pub fn location_data(&self, id: LocId) -> Location {
        self.locations.0.borrow().items[id.0 as usize].0.clone()
    }

    pub(crate) fn location_extent(&self, id: LocId) -> Extent {
        self.locations.0.borrow().extent(id)
    }

    /// The location of an operation that comes from all of `locations`: each once, in order. Of more than
    /// [`MAX_FUSED`], it has the first ones and [`MORE`].
    pub fn fuse(&self, locations: impl IntoIterator<Item = LocId>) -> LocId {
        let mut parts = self.distinct(locations, MAX_FUSED + 1);
        if parts.len() > MAX_FUSED {
            parts.truncate(MAX_FUSED - 1);
            let more = self.location(Location::Name(MORE.into(), None));
            parts.extend((!parts.contains(&more)).then_some(more));
        }
        self.fused(parts)
    }

    /// As [`Context::fuse`], of as many locations as a text gives.
    pub(crate) fn fuse_all(&self, locations: impl IntoIterator<Item = LocId>) -> LocId {
        let parts = self.distinct(locations, usize::MAX);
        self.fused(parts)
    }

    /// `location` under a name, as `"load %k"("gemv.visa":3:5)`. A location that has a name keeps it; where a name
    /// would make the location longer or deeper than a text may have it, it is left out.
    #[must_use]
    pub fn named(&self, name: &str, location: LocId) -> LocId {
        let child = match self.location_data(location) {
            Location::Name(..) => return location,
            Location::Unknown => None,
            Location::Written(_) | Location::File { .. } | Location::CallSite { .. } | Location::Fused(_) => {
                Some(location)
            }
        };
        let named = Location::Name(name.into(), child);
        let Extent { bytes, depth } = self.locations.0.borrow().measure(&named);
        let fits = bytes.saturating_add("loc()".len()) <= MAX_LOCATION_BYTES && depth <= MAX_LOCATION_DEPTH;
        if fits { self.location(named) } else { location }
    }

    fn fused(&self, parts: Vec<LocId>) -> LocId {
        match parts[..] {
            [] => self.location(Location::Unknown),
            [one] => one,
            _ => self.location(Location::Fused(parts.into())),
        }
    }

    /// The first locations, at most `most`, without those that are unknown or were there before; those that are
    /// fused in their parts.
    fn distinct(&self, locations: impl IntoIterator<Item = LocId>, most: usize) -> Vec<LocId> {
        let mut seen: HashSet<LocId, Fast> = HashSet::default();
        let mut parts = Vec::new();
        for id in locations {
            match self.location_data(id) {
                Location::Unknown => {}
                Location::Fused(inner) => parts.extend(inner.iter().filter(|&&part| seen.insert(part))),
                Location::Written(_)
                | Location::File { .. }
                | Location::Name(..)
                | Location::CallSite { .. } => {
                    parts.extend(seen.insert(id).then_some(id));
                }
            }
            if parts.len() >= most {
                parts.truncate(most);
                break;
            }
        }
        parts
    }

    /// A location as `loc(...)` holds it. `source` is the text that was read.
    pub(crate) fn location_text(&self, source: &Source, id: LocId) -> String {
        self.text_within(source, id, MAX_LOCATION_BYTES - "loc()".len())
    }

    /// The same in at most `most` bytes, if leaving out parts of fused locations is enough.
    fn text_within(&self, source: &Source, id: LocId, most: usize) -> String {
        let text = |id| self.text_within(source, id, most);
        let location = self.location_data(id);
        match &location {
            Location::Unknown => "unknown".into(),
            Location::Written(span) => {
                let (line, column) = source.position(span.range().start);
                // A source has fewer bytes than 32 bits count.
                let place = (line as u32, column as u32);
                file_text(&source.name, place, place)
            }
            Location::File { file, start, end } => file_text(file, *start, *end),
            Location::Name(name, None) => quote(name),
            Location::Name(name, Some(child)) => {
                let name = quote(name);
                let rest = most.saturating_sub(name.len() + "()".len());
                format!("{name}({})", self.text_within(source, *child, rest))
            }
            Location::CallSite { callee, caller } => {
                format!("callsite({} at {})", text(*callee), text(*caller))
            }
            Location::Fused(parts) => {
                let most = most.saturating_sub("fused[]".len());
                format!("fused[{}]", joined(parts.iter().map(|&part| text(part)), most))
            }
        }
    }
}

/// The parts of a fused location, in at most `most` bytes: where files have long names, the rest is [`MORE`].
fn joined(parts: impl Iterator<Item = String>, most: usize) -> String {
    let more = format!(", {}", quote(MORE));
    let most = most.saturating_sub(more.len());
    let mut out = String::new();
    for part in parts {
        if !out.is_empty() && out.len() + ", ".len() + part.len() > most {
            return out + &more;
        }
        out.push_str(if out.is_empty() { "" } else { ", " });
        out.push_str(&part);
    }
    out
}

fn file_text(file: &str, start: LineColumn, end: LineColumn) -> String {
    let place = format!("{}:{}:{}", quote(file), start.0, start.1);
    match end {
        _ if end == start => place,
        (line, column) if line == start.0 => format!("{place} to :{column}"),
        (line, column) => format!("{place} to {line}:{column}"),
    }
}

/// The operations of a text that come from another file: their spans and their locations.
#[derive(Debug, Default)]
pub struct Origins(Vec<(Span, LocId)>);

impl Origins {
    /// Those of a module.
    #[must_use]
    pub fn of(ctx: &Context, module: &Module) -> Self {
        let ops = module.walk_all().into_iter().map(|id| module.op(ctx, id));
        let mut spans: Vec<_> = ops.filter_map(|op| Some((op.span(), op.given_location()?))).collect();
        spans.sort_by_key(|(span, _)| *span);
        Self(spans)
    }

    /// Adds a note with the origin to each finding about one of the operations.
    pub fn explain(&self, ctx: &Context, findings: &mut [Diagnostic]) {
        for finding in findings.iter_mut().filter(|_| !self.0.is_empty()) {
            let before = self.0.partition_point(|(span, _)| span.start <= finding.span.start);
            let found = before.checked_sub(1).map(|at| self.0[at]);
            if let Some((_, id)) = found.filter(|(span, _)| finding.span.start <= span.end) {
                explain(ctx, finding, id);
            }
        }
    }
}

/// Adds a note with the origin of its operation to a finding that lacks one.
pub(crate) fn explain(ctx: &Context, finding: &mut Diagnostic, id: LocId) {
    let (mut places, mut names) = (Vec::new(), Vec::new());
    collect(ctx, id, &mut places, &mut names);
    let mut listed: Vec<String> = places.iter().map(FilePlace::to_string).collect();
    if listed.is_empty() {
        listed = names;
    }
    if listed.is_empty() || finding.notes.iter().any(|note| !note.places.is_empty()) {
        return;
    }
    if listed.len() > MAX_LISTED {
        listed.truncate(MAX_LISTED);
        places.truncate(MAX_LISTED);
        listed.push("and more".into());
    }
    let message = format!("the operation comes from {}", listed.join(", "));
    finding.notes.push(Note { message, span: None, places });
}

/// The listed positions and names of a location, in order. One more entry stands for omitted ones.
fn collect(ctx: &Context, id: LocId, places: &mut Vec<FilePlace>, names: &mut Vec<String>) {
    if places.len() > MAX_LISTED || names.len() > MAX_LISTED {
        return;
    }
    match ctx.location_data(id) {
        Location::Unknown | Location::Written(_) => {}
        Location::File { file, start: (line, column), .. } => places.push(FilePlace { file, line, column }),
        Location::Name(name, child) => {
            names.push(quote(&name));
            child.into_iter().for_each(|child| collect(ctx, child, places, names));
        }
        Location::CallSite { callee, caller } => {
            [callee, caller].into_iter().for_each(|part| collect(ctx, part, places, names));
        }
        Location::Fused(parts) => parts.iter().for_each(|&part| collect(ctx, part, places, names)),
    }
}
