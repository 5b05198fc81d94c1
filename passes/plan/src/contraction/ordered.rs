//! Results of a slice in the order of the array. Flits of sums hold rows or columns, and the batch is around them.
//! Where the batch is innermost in the array, or flits end with padding, another pipeline makes longer runs for the
//! store.

use crate::array::whole_groups;
use crate::contraction::emit::{Planned, divided, up_to};
use crate::contraction::layout::{FLIT_BYTES, Layout, elements, in_memory, position};
use crate::contraction::{Choice, Contraction, Gather};
use crate::cut::{Cut, Part, side_by_side};
use crate::writer::{Writer, new};
use visa_algebra::Expr;
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_stream::ops::commit::Commit;

/// Results in the order of the array.
pub struct OrderedResults {
    /// The parts of the axes that a slice holds, slowest first.
    terms: Vec<Expr>,
    /// Their positions.
    pub count: u64,
    /// Elements of a packet.
    pub packet: u64,
}

impl Layout {
    /// The results of a slice in the order of the array; `None` if the plan leaves them in another one, or if they are
    /// no whole packets, or padding is between them.
    #[must_use]
    pub fn ordered(&self, problem: &Contraction, choice: &Choice) -> Option<OrderedResults> {
        let out = &problem.out;
        let cuts = [&self.batch, &self.rows, &self.stream];
        let long = cuts.iter().filter(|cut| cut.group().size > 1);
        let row = long.max_by_key(|cut| position(out, cut))?.group().last;
        let images = problem.operands.iter().any(|array| array.image.is_some());
        if choice.gather != Gather::Own || out.pitch(row) != row || images {
            return None;
        }
        let except = choice.held_elsewhere();
        let mut cuts = cuts.map(|cut| (position(out, cut), cut));
        cuts.sort_by_key(|(position, _)| *position);
        let (mut terms, mut count) = (Vec::new(), 1);
        for (_, cut) in cuts {
            let (map, held) = held(cut, except)?;
            terms.push(map);
            count *= held;
        }
        let flits = std::iter::successors(Some(elements(FLIT_BYTES, out.dtype)), |packet| Some(packet / 2));
        // A packet is a part of a row, or whole rows.
        let divides = |packet: &u64| {
            let rows = row.is_multiple_of(*packet) || packet.is_multiple_of(row);
            count.is_multiple_of(*packet) && rows
        };
        let packet = flits.take_while(|packet| *packet > 0).find(divides)?;
        (whole_groups(packet, out.dtype) == packet).then_some(OrderedResults { terms, count, packet })
    }
}

/// The part of a cut that a slice holds, without padding, and its positions.
fn held(cut: &Cut, except: &[Part]) -> Option<(Expr, u64)> {
    let parts = || cut.parts().iter();
    let divided = parts().any(|(part, count)| except.contains(part) && *count > 1);
    let is_padded = cut.group().row.is_some() || divided && cut.padded() != cut.size();
    if cut.tiles() > 1 || is_padded {
        return None;
    }
    if !divided {
        return Some((cut.group().mapping(), cut.group().size));
    }
    let count = parts().filter(|(part, _)| !except.contains(part)).map(|(_, count)| count).product();
    Some((side_by_side(cut.rest(except)), count))
}

impl Planned<'_> {
    /// The layout of results in the order of the array, if the plan has that.
    pub(super) fn ordered_layout(&self) -> Option<Expr> {
        let ordered = self.layout.ordered(self.problem, self.choice)?;
        Some(in_memory(ordered.terms, self.problem.out.dtype, self.axes))
    }

    /// Puts the results of each slice in the order of the array, if the plan has that.
    pub(super) fn in_order(&self, writer: &mut Writer<'_>, results: ValueId) -> Result<ValueId, Diagnostic> {
        let Some(ordered) = self.layout.ordered(self.problem, self.choice) else { return Ok(results) };
        let out = &self.problem.out;
        self.why_gather().iter().for_each(|why| writer.part(why));
        let element = in_memory(ordered.terms.clone(), out.dtype, self.axes);
        let [time, packet] = divided(side_by_side(ordered.terms), ordered.count, ordered.packet);
        let time = self.dimension([time]);
        let stream = writer.fetch(results, [time.clone(), self.tidy(packet.clone())], &out.name)?;
        let flit = up_to(packet, ordered.packet, elements(FLIT_BYTES, out.dtype));
        let stream = writer.collect(stream, [time, self.tidy(flit)], &out.name)?;
        let op = new!(writer, Commit, [stream]).at_auto().element(element);
        writer.value(op, &format!("{}_ordered", out.name))
    }
}
