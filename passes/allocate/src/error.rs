//! Errors if tensors do not fit: the tensors that are needed at the worst point, their sizes, and the excess.

use super::pack::{Buffer, live_bytes, worst_point};
use super::space::Space;
use super::tensors::PlacedTensor;
use visa_engine::words::RegionName;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::span::Span;

/// The code of the error of a memory whose tensors do not fit.
pub const NO_ROOM: &str = "allocate-memory";

/// Most tensors that are listed; of more, the largest are.
const LISTED: usize = 16;

/// The error of a memory whose tensors do not fit. `least` is the end of the best packing that was found.
pub(super) fn no_room(
    space: Space,
    placed: &[&PlacedTensor],
    buffers: &[Buffer],
    least: Option<u64>,
    capacity: u64,
    func: Span,
) -> Diagnostic {
    let (name, needed) = (space.title(), live_bytes(buffers));
    let message = if needed > capacity {
        let over = needed - capacity;
        format!(
            "{name} has {}, but tensors of {} are needed at the same time: {} over",
            counted(capacity, "byte"),
            counted(needed, "byte"),
            counted(over, "byte")
        )
    } else {
        let found = least.map_or_else(
            || "no memory is large enough".to_owned(),
            |least| {
                let over = counted(least.saturating_sub(capacity), "byte");
                format!("the least that was found is {least}: {over} over")
            },
        );
        format!(
            "{name} has {}; the {} that are needed at the same time would fit, but with alignments, explicit \
             addresses and reads beyond tensors, {found}",
            counted(capacity, "byte"),
            counted(needed, "byte"),
        )
    };
    let point = worst_point(buffers).map_or(0, |(point, _)| point);
    let live = placed.iter().copied().filter(|tensor| tensor.live.0 <= point && point <= tensor.live.1);
    listed(NO_ROOM, message, live, func)
}

/// The error of a tensor register file whose demand exceeds its two halves. `fits` returns true if a tensor fits one.
pub(super) fn no_half(
    placed: &[&PlacedTensor],
    fits: &dyn Fn(&PlacedTensor) -> bool,
    func: Span,
) -> Diagnostic {
    let live = |point: usize| {
        placed.iter().copied().filter(move |tensor| tensor.live.0 <= point && point <= tensor.live.1)
    };
    let halves =
        |tensor: &PlacedTensor| if !fits(tensor) || tensor.half == Some(RegionName::Full) { 2 } else { 1 };
    let load = |point: usize| live(point).map(halves).sum::<u64>();
    let points = placed.iter().map(|tensor| tensor.live.0);
    let worst = points.max_by_key(|&point| (load(point), std::cmp::Reverse(point)));
    let message = match worst.map_or(0, load) {
        halves @ 3.. => format!(
            "the tensor register file has two halves, but {halves} are needed at the same time: {} over",
            halves - 2
        ),
        _ => {
            "the explicit halves of the tensor register file leave none for a tensor that is needed at the same \
             time"
                .to_owned()
        }
    };
    listed("allocate-trf", message, worst.into_iter().flat_map(live), func)
}

fn listed<'a>(
    code: &str,
    message: String,
    live: impl Iterator<Item = &'a PlacedTensor>,
    func: Span,
) -> Diagnostic {
    let mut live: Vec<_> = live.collect();
    live.sort_by_key(|tensor| (std::cmp::Reverse(tensor.bytes), tensor.span));
    let last = live.iter().map(|tensor| tensor.span).max().unwrap_or(func);
    let mut error = Diagnostic::error(code, last, message);
    for tensor in live.iter().take(LISTED) {
        let written = match (tensor.address, &tensor.half) {
            (Some(address), _) => format!(", at {address} as written"),
            (None, Some(half)) => format!(", at {half} as written"),
            (None, None) => String::new(),
        };
        error = error.note(
            format!("{} takes {}{written}", tensor.name, counted(tensor.bytes, "byte")),
            Some(tensor.span),
        );
    }
    match live.len().saturating_sub(LISTED) {
        0 => error,
        more => error.note(format!("and {more} smaller ones"), None),
    }
}
