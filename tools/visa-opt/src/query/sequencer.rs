//! `sequencer`: the program that reads a buffer as a stream or writes a stream into it, from the entries that each
//! factor makes to accesses and cycles (book 07, 08, 09). The lowering passes ask the same functions.

use super::{Answer, NO, Query, YES, flags, input};
use crate::run::Refusal;
use clap::{Arg, ArgAction};
use serde_json::{Value, json};
use std::fmt::Write as _;
use visa_algebra::{Axes, AxisId, Expr};
use visa_ir::Word as _;
use visa_ir::diag::counted;
use visa_ir::span::Source;
use visa_loops::{Entry, Mask, Program, Stride};
use visa_machine::Machine;
use visa_mapping::Unit;
use visa_numerics::DType;
use visa_sequencer::access::{Accesses, Accessor};
use visa_stream::commit::Write;
use visa_stream::lower::{loops, origin};
use visa_stream::mask::Reading;
use visa_stream::ops::fetch::mask_registers;
use visa_stream::plan::{Loop, Plan};

/// The parameters of a question, in addition to the mappings.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub(super) dtype: Option<String>,
    pub(super) to: Option<String>,
    pub(super) context: Option<String>,
    pub(super) commit: bool,
}

/// `--dtype`, `--to`, `--context` and `--commit`.
pub(super) fn flags() -> Vec<Arg> {
    vec![
        flags::value("dtype", "DTYPE", "The number format in data memory").required(true),
        flags::value("to", "DTYPE", "The number format that the fetch adapter converts to"),
        flags::value("context", "main|sub|dual", "The context").default_value("main"),
        Arg::new("commit")
            .long("commit")
            .action(ArgAction::SetTrue)
            .help("Write the stream instead of reading it"),
    ]
}

/// The flags.
struct Access {
    from: DType,
    to: Option<DType>,
    unit: Unit,
    commit: bool,
}

impl Access {
    fn read(asked: &Asked) -> Result<Self, Refusal> {
        let refuse = |flag: &str, text: &str, message: String| {
            input::refusal("flags", Some(Source::new(flag, text)), message)
        };
        let dtype = |flag: &str, text: &str| {
            let names: Vec<_> = DType::names().collect();
            let message =
                || format!("`{text}` is no number format, expected one of `{}`", names.join("`, `"));
            DType::parse(text).ok_or_else(|| refuse(flag, text, message()))
        };
        let named = asked.dtype.as_deref().unwrap_or_default();
        let from = dtype("--dtype", named)?;
        if !from.is_stored() {
            let message = format!("`{from}` has a sideband bit, which data memory does not hold");
            return Err(refuse("--dtype", named, message));
        }
        let to = asked.to.as_deref().map(|text| dtype("--to", text)).transpose()?;
        let unit = asked.context.as_deref().map_or(Ok(Unit::Main), |context| {
            let message = || format!("`{context}` is no context, expected `{}`", Unit::WORDS.join("`, `"));
            Unit::from_word(context).ok_or_else(|| refuse("--context", context, message()))
        })?;
        if let Some(to) = asked.to.as_deref().filter(|_| asked.commit) {
            return Err(refuse("--to", to, "a commit converts nothing".to_owned()));
        }
        Ok(Self { from, to: to.filter(|to| *to != from), unit, commit: asked.commit })
    }

    /// The loops over elements and the mask, as in the verifiers.
    fn plan(
        &self,
        [buffer, time, packet]: &[Expr; 3],
        axes: &Axes,
        machine: &Machine,
    ) -> Result<(Plan, Option<Mask>), String> {
        if let Some(to) = self.to.filter(|to| machine.fetch_cast(self.from, *to).is_none()) {
            return Err(machine.no_fetch_cast(self.from, to));
        }
        if self.commit {
            let write = Write {
                element: buffer,
                time,
                packet,
                dtype: self.from,
                zeros: false,
                unit: Some(self.unit),
                sizes: &machine.limits.commit_sizes,
                axes,
                into: None,
            };
            return Ok((write.plan()?, None));
        }
        let named = input::named(buffer, axes);
        let free = |axis: AxisId| !named.contains(&axis);
        let [element, time, packet] = [buffer, time, packet].map(Expr::clone);
        let formats = (self.from, self.to.unwrap_or(self.from));
        let unit = Some(self.unit);
        let places = Expr::Literal(1);
        let parts = std::rc::Rc::new(Ok(None));
        let fetch =
            Reading { element, time, packet, places, parts, formats, unit, free: &free, axes, machine };
        let (plan, mask) = fetch.plan().map_err(|refused| refused.message)?;
        Ok((plan, mask.map(|mask| mask_registers(mask, 0))))
    }

    /// The reader or writer.
    fn accessor(&self, mask: Option<Mask>) -> Accessor {
        let unit = self.unit;
        if self.commit { Accessor::Commit { unit } } else { Accessor::Fetch { to: self.to, unit, mask } }
    }
}

/// The answer's parts.
struct SequencerPlan {
    plan: Plan,
    /// The program over elements, its entries merged where the mask leaves them free.
    merged: Program,
    /// The mask, in terms of the entries of `program`.
    mask: Option<Mask>,
    contiguous: u64,
    /// Bytes of a packet, or of its preserved part.
    packet: u64,
    /// The program in bytes that runs.
    program: Program,
}

/// A line an entry before merging, outermost first, then the consequences. Axes that the buffer does not name are
/// broadcast.
pub(super) fn answer(query: &Query) -> Result<Answer, Refusal> {
    let (axes, mappings) = query.mappings::<3>()?;
    let asked = Access::read(&query.asked)?;
    Ok(match found(&asked, &mappings, &axes) {
        Ok(found) => Answer { text: text(&asked, &found), json: json(&asked, &found), code: YES },
        Err(why) => {
            Answer { text: format!("{why}\n"), json: json!({ "answer": "no", "why": why }), code: NO }
        }
    })
}

fn found(asked: &Access, mappings: &[Expr; 3], axes: &Axes) -> Result<SequencerPlan, String> {
    let machine = Machine::rngd();
    let (plan, mask) = asked.plan(mappings, axes, &machine)?;
    let mut merged = loops::program(&plan, 0);
    let Accesses { program, mask, packet, contiguous } = asked
        .accessor(mask)
        .accesses(&merged, asked.from, &machine)
        .map_err(|error| format!("{}; {}", error.message(), origin::entries(&plan.loops, "elements")))?;
    if mask.is_none() {
        merged.merge();
    }
    Ok(SequencerPlan { plan, merged, mask, contiguous, packet, program })
}

impl SequencerPlan {
    /// Bytes that the engine transfers at once, and number of transfers for a packet.
    fn accesses(&self) -> (u64, u64) {
        let size = self.program.packet;
        (size, self.packet / size.max(1))
    }
}

fn text(asked: &Access, found: &SequencerPlan) -> String {
    let mut text = String::new();
    for Loop { entry: Entry { limit, stride }, factor } in &found.plan.loops {
        let _ = writeln!(text, "{limit} : {}  {factor}", stride.shortened());
    }
    let (size, count) = found.accesses();
    let SequencerPlan { plan, merged, mask, contiguous, packet, program } = found;
    let _ = writeln!(text, "merged: {merged}\ncontiguous: {}", counted(*contiguous, "byte"));
    let _ = match asked.commit {
        true => writeln!(
            text,
            "commit_in_size: {}\ncommit_size: {}\nwrites a packet: {count}",
            counted(*packet, "byte"),
            counted(size, "byte")
        ),
        false => writeln!(text, "fetch_size: {}\nfetches a packet: {count}", counted(size, "byte")),
    };
    if let Some(mask) = mask {
        let _ = writeln!(text, "mask: {mask}");
    }
    let cycles = program.accesses().map_or_else(|| "over 2^64".to_owned(), |cycles| cycles.to_string());
    let _ = writeln!(text, "in bytes: {program}\ncycles: {cycles}\nleft over: {}", plan.left_over);
    text
}

fn json(asked: &Access, found: &SequencerPlan) -> Value {
    let entries =
        found.plan.loops.iter().map(|Loop { entry: Entry { limit, stride }, factor }| match stride {
            Stride::Fixed(stride) => json!({ "factor": factor, "limit": limit, "stride": stride }),
            Stride::Table(table) => json!({ "factor": factor, "limit": limit, "table": table.as_ref() }),
        });
    let (size, count) = found.accesses();
    let mut json = json!({
        "answer": "yes",
        "entries": entries.collect::<Vec<_>>(),
        "merged": found.merged.to_string(),
        "contiguous_bytes": found.contiguous,
        "program": found.program.to_string(),
        "mask": found.mask.as_ref().map(Mask::to_string),
        "cycles": found.program.accesses(),
        "left_over": found.plan.left_over,
    });
    let sizes = match asked.commit {
        true => json!({ "commit_in_size": found.packet, "commit_size": size, "writes_per_packet": count }),
        false => json!({ "fetch_size": size, "fetches_per_packet": count }),
    };
    if let (Value::Object(json), Value::Object(sizes)) = (&mut json, sizes) {
        json.extend(sizes);
    }
    json
}
