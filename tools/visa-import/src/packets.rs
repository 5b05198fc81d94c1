//! Orders and sizes of packets that the vendor's engines accept and those of the book do not, as the equivalent ones.

use crate::emit::new;
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, Stop};
use crate::map::{Map, Pad};
use crate::method::Call;
use crate::stream::FLIT_BYTES;
use crate::value::{Interleaved, Packets, Stream, Value};
use visa_machine::Machine;
use visa_stream::ops::collect::Collect;

/// Elements of one interleaved tensor that wait for the other one: the vendor's limit, 1 KiB of 32 bits.
const WAITING: u64 = 256;

impl Evaluator<'_> {
    /// A collect. The importer may still split its packets.
    pub(crate) fn collect(
        &mut self,
        frame: &Frame,
        mut stream: Stream,
        call: &Call,
        fetched: Option<Packets>,
    ) -> Eval<Value> {
        let time = self.wanted_map(frame, call, call.map(0), "its time")?;
        let packet = self.wanted_map(frame, call, call.map(1), "its packet")?;
        let new = new!(self.ctx, Collect, [self.value(&stream.name)]);
        let written = stream.written_time(&time);
        let new = new.time(self.mapping(&written)).packet(self.mapping(&packet));
        stream.name = self.made(frame, call.span, None, new);
        stream.passed(&time);
        let too_long = stream.interleaved.as_ref().and_then(|own| {
            self.too_long(own, (&time, &packet))
                .map(|(message, fix)| Error::new(frame.place(call.span), message).fix(fix))
        });
        stream.interleaved.iter_mut().for_each(|own| own.too_long.clone_from(&too_long));
        let collected = Packets { name: stream.name.clone(), time: written, packet };
        stream.collected = fetched.map(|fetched| (fetched, collected));
        Ok(Value::Stream(Box::new(stream)))
    }

    /// Splits packets of 16 elements, which the vendor's transpose engine takes whole, into two of 8.
    pub(crate) fn split_packets(
        &mut self,
        frame: &Frame,
        call: &Call,
        stream: &Stream,
        fetch: &Packets,
        collect: &Packets,
    ) {
        let flit = stream.dtype.elements(FLIT_BYTES);
        let taken = self.ctx.data::<Machine>().transpose(u64::from(stream.dtype.bits())).elements;
        let is_doubled = matches!(stream.dtype.bits(), 8 | 16)
            && fetch.packet.size(self) == Some(2 * taken)
            && fetch.packet.live(self).is_some_and(|live| live > taken)
            && fetch.time == collect.time
            && is_padded(&fetch.packet, &collect.packet, flit);
        if !is_doubled {
            return;
        }
        let whole = || fetch.packet.clone().into();
        let time = Map::List(vec![fetch.time.clone(), Map::Stride(whole(), taken)]);
        let packet = Map::Modulo(whole(), taken);
        let padded = Map::Padding(packet.clone().into(), flit, Pad::Top);
        for (name, packet) in [(&fetch.name, packet), (&collect.name, padded)] {
            let maps = [("time", self.mapping(&time)), ("packet", self.mapping(&packet))];
            maps.into_iter()
                .for_each(|(clause, map)| self.state.out.set_mapping(self.ctx, name, clause, map));
        }
        let message = "the engine takes 16 elements of a packet (doubled packing, since 0.7), and the one of the \
                       book 8: each packet is fetched as two, and the cost has both";
        self.state.remarks.push(Error::new(frame.place(call.span), message));
    }

    /// Lets the packets of two interleaved tensors alternate, as the vector engine of the book takes them: their axis
    /// becomes the innermost one in the time of each operation before.
    pub(crate) fn alternate(&mut self, interleaved: Interleaved) -> Eval<()> {
        if let Some(error) = interleaved.too_long {
            return Err(Stop::Error(error));
        }
        for (name, time) in &interleaved.times {
            if let Some(time) = interleaved.inward(time) {
                self.state.out.set_mapping(self.ctx, name, "time", self.mapping(&time));
            }
        }
        Ok(())
    }

    /// The message and the fix about groups that are too long: the first waits in the vector engine for the second.
    fn too_long(&self, of: &Interleaved, (time, packet): (&Map, &Map)) -> Option<(String, String)> {
        let (factors, at) = (time.factors(), of.outside(time)?);
        let inner = Map::List(factors[at + 1..].iter().copied().chain([packet]).cloned().collect());
        let size = inner.size(self).filter(|size| *size > WAITING)?;
        let axis = self.text(&of.axis);
        let message = format!(
            "a group of `{axis}` has {size} elements, which wait for the other one; expected at most {WAITING}"
        );
        Some((message, format!("move `{axis}` inward in the time of `fetch` and `collect`")))
    }
}

impl Interleaved {
    /// The factor of a time that is the axis, if it is outside of others.
    fn outside(&self, time: &Map) -> Option<usize> {
        let factors = time.factors();
        let at = factors.iter().position(|factor| self.axis.factors() == [*factor])?;
        (at + 1 < factors.len()).then_some(at)
    }

    /// A time with the axis innermost, if it is outside of others.
    pub(crate) fn inward(&self, time: &Map) -> Option<Map> {
        let at = self.outside(time)?;
        let mut factors: Vec<Map> = time.factors().into_iter().cloned().collect();
        factors[at..].rotate_left(1);
        Some(Map::List(factors))
    }
}

impl Stream {
    /// The time of the next operation, as it is written.
    pub(crate) fn written_time(&self, time: &Map) -> Map {
        let alternating = self.interleaved.as_ref().filter(|own| own.alternates);
        alternating.and_then(|own| own.inward(time)).unwrap_or_else(|| time.clone())
    }

    /// Notes the time of the operation that gives the stream, if it is of interleaved tensors.
    pub(crate) fn passed(&mut self, time: &Map) {
        let name = self.name.clone();
        if let Some(interleaved) = &mut self.interleaved {
            interleaved.times.push((name, time.clone()));
        }
    }
}

/// Returns true if a packet is another one, padded to a flit or equal to it.
fn is_padded(packet: &Map, flit: &Map, size: u64) -> bool {
    let own = packet.factors();
    flit.factors() == own
        || matches!(&*flit.factors(), [Map::Padding(of, to, Pad::Top)] if *to == size && of.factors() == own)
}
