//! Warns about transfers that the memories serve slowly: the rules of books 10 and 11.

use visa_hw::ops::dma::Dma;
use visa_ir::diag::{Diagnostic, Severity, counted};
use visa_loops::{PairedProgram, Program, SeqError};
use visa_machine::Machine;
use visa_mapping::facts::machine;
use visa_memory::{Access, Channels, HBM_UNIT, Medium};
use visa_pass::{Level, Pass, PassCx};

/// The pass.
pub static PASS: Pass = Pass {
    name: "lint-dma",
    summary: "warns about transfers that the memories serve slowly",
    doc: "Changes nothing. Each warning has a number:\n\n\
          - T1: writes to HBM are for a part of 256 bytes. HBM reads such a unit before it writes it, which takes \
          about 50 times as long (book 11).\n\
          - T2: a bit of the channel's number never changes, so that channels of HBM have nothing to do (book 10, \
          example 5).\n\
          - T3: reads of HBM go over a boundary of 256 bytes, and take two transfers each (book 11).\n\
          - T4: what is contiguous on both sides is shorter than 256 bytes: HBM moves 256 for each of them.\n\
          - T5: the same bytes of HBM are read again and again, for copies in several slices.\n\
          - T6: engines of the chip have nothing to do, while each of the others makes 256 requests or more.\n\
          - T7: the slices of a cluster have nothing to do, while those of the other take 64 KB or more.\n\n\
          `visa-run --memory-model book --report text` shows what each costs (docs/memory.md).",
    takes: Level::Hardware,
    gives: Level::Hardware,
    statistics: &[("warnings", "warnings given")],
    run,
    ..Pass::BASE
};

/// Requests below which a transfer takes hardly longer than its start.
const FEW_REQUESTS: u64 = 64;

/// Requests of an engine above which others could take some.
const MANY_REQUESTS: u64 = 256;

/// Bytes above which slices of the other cluster could take some.
const MANY_BYTES: u64 = 64 << 10;

fn run(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    let machine = machine(cx.ctx);
    for id in cx.module.walk_all() {
        let op = cx.module.op(cx.ctx, id);
        let Some(dma) = Dma::cast(op) else { continue };
        let span = op.span();
        for (number, message, fix) in warnings(dma, &machine).map_err(|error| vec![error])? {
            let mut warning =
                Diagnostic::error(format!("lint-{number}"), span, message).fix(Some(fix.to_owned()));
            warning.severity = Severity::Warning;
            cx.count("warnings", 1);
            cx.report(warning);
        }
    }
    Ok(())
}

/// A warning's number, what was found, and the fix.
type Warning = (&'static str, String, &'static str);

fn warnings(op: Dma<'_>, machine: &Machine) -> Result<Vec<Warning>, Diagnostic> {
    let medium = |clause: &str, word: &str| {
        Medium::named(word)
            .ok_or_else(|| op.clause_error("C1", clause, format!("there is no memory `{word}`")))
    };
    let (from, to) = (medium("from", &op.from()?)?, medium("to", &op.to()?)?);
    if from == Medium::Host || to == Medium::Host {
        return Ok(Vec::new());
    }
    let loops = op.loops()?;
    let asked = |program: &Program, access| {
        let refuse = |error: SeqError| op.clause_error("C5", "loops", error.message);
        Channels::of(program, access, machine).map_err(refuse)
    };
    let mut found = Vec::new();
    if to == Medium::Hbm {
        let written = asked(&loops.write(), Access::Write)?;
        found.extend(partial_writes(&written));
        found.extend(left_out(&written));
    }
    if from == Medium::Hbm {
        let read = asked(&loops.read(), Access::Read)?;
        found.extend(left_out(&read));
        found.extend(over_boundaries(&read));
        found.extend(copies(&loops));
    }
    if from == Medium::Hbm || to == Medium::Hbm {
        found.extend(short_runs(&loops));
    }
    found.extend(idle_engines(&loops, op.engines()?, machine));
    if to == Medium::Dm {
        found.extend(idle_cluster(&loops.write(), machine));
    }
    Ok(found)
}

/// T1.
fn partial_writes(written: &Channels) -> Option<Warning> {
    let total = written.total();
    let message = format!(
        "{} of {} to HBM are for a part of {HBM_UNIT} bytes, which are read first (book 11)",
        total.partial,
        counted(total.transfers, "write")
    );
    let fix = "let at least 256 bytes be contiguous on both sides and start at a multiple of 256: gather rows in a \
               slice first, or pad them";
    (total.partial > 0).then_some(("T1", message, fix))
}

/// T2.
fn left_out(asked: &Channels) -> Option<Warning> {
    let idle = asked.requests >= FEW_REQUESTS && !asked.constant_bits().is_empty();
    let fix = "place the tensor so that neighbours in the transfer are 256 bytes apart, or pad its rows to an odd \
               multiple of 256 bytes";
    idle.then(|| ("T2", format!("{} (book 10)", asked.in_words()), fix))
}

/// T3.
fn over_boundaries(read: &Channels) -> Option<Warning> {
    let over = read.total().transfers.saturating_sub(read.requests);
    let message = format!(
        "{over} of {} of HBM go over a boundary of {HBM_UNIT} bytes, and take two transfers (book 11)",
        counted(read.requests, "read")
    );
    let fix = "start rows at multiples of 256 bytes: change the tensor's address, or pad its rows to such a multiple";
    (over > 0).then_some(("T3", message, fix))
}

/// T4.
fn short_runs(loops: &PairedProgram) -> Option<Warning> {
    let requests = loops.accesses()?;
    if loops.packet >= HBM_UNIT || requests < FEW_REQUESTS {
        return None;
    }
    let message = format!(
        "{} of {}: HBM moves {HBM_UNIT} bytes for each (book 11)",
        counted(requests, "request"),
        counted(loops.packet, "byte")
    );
    Some(("T4", message, "keep at least 256 bytes contiguous on both sides innermost in `element`"))
}

/// T5.
fn copies(loops: &PairedProgram) -> Option<Warning> {
    let still = loops.entries.iter().filter(|entry| entry.read.fixed() == Some(0));
    let copies: u64 = still.map(|entry| entry.limit).product();
    let bytes = loops.steps()?;
    let message = format!(
        "the same {} of HBM are read {copies} times: {bytes} bytes (book 10)",
        counted(bytes / copies.max(1), "byte")
    );
    let fix = "read them once, and let the Switch Engine broadcast them, or hold a part in each slice";
    (copies > 1 && bytes >= MANY_BYTES).then_some(("T5", message, fix))
}

/// T6.
fn idle_engines(loops: &PairedProgram, engines: Option<i64>, machine: &Machine) -> Option<Warning> {
    let all = machine.topology.dma_engines_per_chip;
    let used = engines.map_or(Some(1), |engines| u64::try_from(engines).ok()).filter(|&used| used < all)?;
    let packet = loops.packet.div_ceil(machine.limits.dma_request_bytes);
    let each = loops.accesses()?.saturating_mul(packet) / used.max(1);
    let message = format!(
        "{used} of {} of the chip {} to do, with {} each (book 10)",
        counted(all, "DMA engine"),
        if used == 1 { "has something" } else { "have something" },
        counted(each, "request")
    );
    let fix = "split the outermost loop by a factor of 8, and give it to `engines`";
    (each >= MANY_REQUESTS).then_some(("T6", message, fix))
}

/// T7.
fn idle_cluster(write: &Program, machine: &Machine) -> Option<Warning> {
    let bytes = (machine.topology.slices_per_cluster * machine.memory.dm_bytes_per_slice).cast_signed();
    let (first, end) = write.extent().ok()?;
    let (first, last) = (first / bytes, (end - 1).max(first) / bytes);
    let moved = write.steps()?;
    let one = machine.topology.clusters_per_chip > 1 && first == last && moved >= MANY_BYTES;
    let message =
        format!("all {} go to cluster {first}: the others have nothing to do", counted(moved, "byte"));
    one.then_some((
        "T7",
        message,
        "give an axis to `cluster`, so that each cluster holds and computes a part",
    ))
}
