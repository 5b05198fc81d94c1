//! Warnings about runs of the Tensor Unit: weights at odd addresses, and rings of the Switch Engine.

use crate::chip::warning::ChipWarning;
use visa_engine::words::TopologyName;
use visa_hw::ops::contract::Contract;
use visa_hw::ops::exec::Exec;
use visa_hw::ops::fetch::Fetch;
use visa_hw::ops::switch::Switch;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_machine::{Machine, ODD_UNIT, OddFetch};

/// The warnings about a run, with the ticks on `machine`.
///
/// # Errors
/// A clause that cannot be read.
pub(crate) fn warnings(exec: Exec<'_>, machine: Option<&Machine>) -> Result<Vec<ChipWarning>, Diagnostic> {
    let op: OpRef<'_> = *exec;
    let stages: Vec<OpRef<'_>> =
        op.regions().iter().flat_map(|&region| op.module.ops(region)).map(|&id| op.other(id)).collect();
    let fetch = stages.iter().find_map(|&stage| Fetch::cast(stage));
    let mut found = Vec::new();
    if let Some(fetch) = fetch
        && stages.iter().any(|&stage| Contract::cast(stage).is_some())
    {
        found.extend(odd_start(fetch, machine)?);
    }
    for switch in stages.iter().filter_map(|&stage| Switch::cast(stage)) {
        found.extend(partial_ring(switch, &exec.slices()?)?);
        if let Some(fetch) = fetch {
            found.extend(several_steps(switch, fetch)?);
        }
    }
    Ok(found)
}

/// S1.
fn odd_start(fetch: Fetch<'_>, machine: Option<&Machine>) -> Result<Option<ChipWarning>, Diagnostic> {
    let loops = fetch.loops()?;
    let (base, accesses) = (loops.base, loops.accesses());
    if !u64::try_from(base).is_ok_and(OddFetch::is_odd) {
        return Ok(None);
    }
    let ticks = || {
        let machine = machine?;
        let (measured, accesses) = (machine.measured.as_ref()?, accesses?);
        let odd = measured.odd_fetch.as_ref()?.ticks(accesses).round() as u64;
        let even = (accesses as f64 * measured.ticks_per_cycle.value).round() as u64;
        let (fetches, name) = (counted(accesses, "access"), &machine.name);
        Some(format!("on {name} its {fetches} take {odd} ticks, and {even} at an even multiple"))
    };
    let message = format!(
        "a contraction fetches from address {base} of data memory, an odd multiple of {ODD_UNIT} bytes: an author \
         reports 4,900 ticks for 2,100 (docs/errata.md)"
    );
    let fix = "start the weights at a multiple of 512 bytes; `at auto` with `--allocate` does on a calibrated machine";
    Ok(Some(ChipWarning { number: "S1", message, fix, note: ticks() }))
}

/// Slices of a ring of a switch; `None` if its size is open.
fn ring(switch: Switch<'_>) -> Result<Option<i64>, Diagnostic> {
    match switch.topology()? {
        TopologyName::Forwarding => Ok(Some(1)),
        TopologyName::Custom => switch.ring(),
        TopologyName::Broadcast01
        | TopologyName::Broadcast1
        | TopologyName::Transpose
        | TopologyName::InterTranspose
        | TopologyName::TransposedBroadcast1 => {
            let digits = [switch.slice1()?, switch.slice0()?].into_iter().flatten();
            Ok(Some(digits.fold(1, i64::saturating_mul)))
        }
    }
}

/// S4.
fn partial_ring(switch: Switch<'_>, slices: &[i64]) -> Result<Option<ChipWarning>, Diagnostic> {
    let Some(ring) = ring(switch)?.filter(|ring| *ring > 1) else { return Ok(None) };
    let active = |first: i64| -> i64 {
        let overlap = |range: &[i64]| (range[1].min(first + ring) - range[0].max(first)).max(0);
        slices.chunks_exact(2).map(overlap).sum()
    };
    // A ring with both has the first or the last slice of a range.
    let ends = slices.chunks_exact(2).flat_map(|range| [range[0], range[1] - 1]);
    let mut rings = ends.map(|slice| slice.div_euclid(ring) * ring);
    let Some(first) = rings.find(|&first| active(first) < ring) else { return Ok(None) };
    let message = format!(
        "the ring of slices {first} to {} has {} of {ring}: authors report that the device hangs where only a part \
         of a ring is live (docs/errata.md)",
        first + ring - 1,
        counted(active(first).unsigned_abs(), "active slice"),
    );
    let fix =
        "let the tensor hold data in all slices of each ring, for example copies, or choose a smaller ring";
    Ok(Some(ChipWarning { number: "S4", message, fix, note: None }))
}

/// S5.
fn several_steps(switch: Switch<'_>, fetch: Fetch<'_>) -> Result<Option<ChipWarning>, Diagnostic> {
    match switch.topology()? {
        TopologyName::Broadcast1 => {}
        TopologyName::Forwarding
        | TopologyName::Custom
        | TopologyName::Broadcast01
        | TopologyName::Transpose
        | TopologyName::InterTranspose
        | TopologyName::TransposedBroadcast1 => return Ok(None),
    }
    let (bytes, packet) = (fetch.loops()?.steps(), u64::try_from(fetch.packet()?).ok());
    let packets = bytes.zip(packet).and_then(|(bytes, packet)| bytes.checked_div(packet));
    let Some(packets) = packets.filter(|&packets| packets > 1) else { return Ok(None) };
    let message = format!(
        "`broadcast1` has {} of each slice: authors report that the chip keeps the first one only (docs/errata.md)",
        counted(packets, "packet"),
    );
    let fix = "fetch one packet of each slice, or use `broadcast01`";
    Ok(Some(ChipWarning { number: "S5", message, fix, note: None }))
}
