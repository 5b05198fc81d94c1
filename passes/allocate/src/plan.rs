//! From a function to the addresses of its tensors.

use super::error::{no_half, no_room};
use super::given::AllocationInput;
use super::halves::{Resident, choose};
use super::pack::{Buffer, live_bytes};
use super::policy::{least, place};
use super::reach::reaches;
use super::space::Space;
use super::tensors::{PlacedTensor, Site, tensors};
use visa_engine::words::RegionName;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_machine::{Machine, Medium, ODD_UNIT};
use visa_mapping::{Dim, TRF, TensorKind};

/// Clauses to write, with their sites.
#[derive(Debug, Default)]
pub struct Plan {
    /// Addresses.
    pub addresses: Vec<(Site, u64)>,
    /// Parts of the tensor register file.
    pub halves: Vec<(Site, RegionName)>,
    /// Use of each memory.
    pub used: Vec<(Space, Used)>,
}

/// Use of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Bytes up to the highest that is used.
    pub end: u64,
    /// The most bytes that are needed at the same time: no packing ends lower.
    pub live: u64,
}

/// Addresses and halves for all clauses that a function leaves open. `demanded` returns the alignment that the address
/// of a tensor must have.
///
/// # Errors
/// Each memory whose tensors do not fit.
pub fn plan(
    func: OpRef<'_>,
    given: &AllocationInput<'_>,
    demanded: &mut dyn FnMut(&PlacedTensor) -> u64,
) -> Result<Plan, Vec<Diagnostic>> {
    let mut all = tensors(func, &given.axes.0).map_err(|error| vec![error])?;
    let reaches = reaches(func, &all, given);
    for placed in &mut all {
        placed.reach = reaches.get(&placed.value).copied().unwrap_or_default();
    }
    let of = |kind: &'static TensorKind| -> Vec<&PlacedTensor> {
        all.iter().filter(|placed| placed.tensor.is(kind)).collect()
    };
    let (mut plan, mut errors) = (Plan::default(), Vec::new());
    for space in Space::all() {
        if let Err(error) = memory(space, of(space.kind()), func, given, demanded, &mut plan) {
            errors.push(error);
        }
    }
    if let Err(error) = register_file(&of(&TRF), func, given, &mut plan) {
        errors.push(error);
    }
    if errors.is_empty() { Ok(plan) } else { Err(errors) }
}

/// One memory. A tensor that has neither an address nor an open one is none of the pass's affair.
fn memory(
    space: Space,
    mut placed: Vec<&PlacedTensor>,
    func: OpRef<'_>,
    given: &AllocationInput<'_>,
    demanded: &mut dyn FnMut(&PlacedTensor) -> u64,
    plan: &mut Plan,
) -> Result<(), Diagnostic> {
    placed.retain(|tensor| tensor.open.is_some() || tensor.address.is_some());
    let mut buffer = |tensor: &&PlacedTensor| Buffer {
        bytes: tensor.bytes,
        align: sites(tensor)
            .map(|site| demanded(&PlacedTensor { open: Some(site), ..(*tensor).clone() }))
            .fold(1, u64::max),
        live: tensor.live,
        fixed: tensor.address,
    };
    let buffers: Vec<_> = placed.iter().map(&mut buffer).collect();
    let reaches: Vec<_> = placed.iter().map(|tensor| tensor.reach).collect();
    let (capacity, roomy) = (space.capacity(given.machine), space.roomy(given.machine));
    let even = even_starts(space, &placed, &buffers, given.machine);
    let packing = even
        .and_then(|even| place(&even, &reaches, capacity, &roomy, given.reuse))
        .or_else(|| place(&buffers, &reaches, capacity, &roomy, given.reuse))
        .ok_or_else(|| no_room(space, &placed, &buffers, least(&buffers, &reaches), capacity, func.span()))?;
    let places = placed.iter().zip(&packing.addresses);
    let written =
        places.clone().flat_map(|(tensor, &address)| sites(tensor).map(move |site| (site, address)));
    plan.addresses.extend(written);
    let end = places.map(|(tensor, address)| address.saturating_add(tensor.bytes)).max().unwrap_or(0);
    plan.used.push((space, Used { end, live: live_bytes(&buffers) }));
    Ok(())
}

/// The buffers with the tensors that contractions fetch at even multiples of [`ODD_UNIT`]. `None` where odd ones take
/// no longer: in other memories, and on machines for which no such effect is reported.
fn even_starts(
    space: Space,
    placed: &[&PlacedTensor],
    buffers: &[Buffer],
    machine: &Machine,
) -> Option<Vec<Buffer>> {
    machine.measured.as_ref()?.odd_fetch.as_ref()?;
    let align = |(tensor, buffer): (&&PlacedTensor, &Buffer)| {
        let least = if tensor.is_contracted { 2 * ODD_UNIT } else { 1 };
        Buffer { align: buffer.align.max(least), ..*buffer }
    };
    (space == Space::Memory(Medium::Dm)).then(|| placed.iter().zip(buffers).map(align).collect())
}

/// Where the address of a tensor is written.
fn sites(tensor: &PlacedTensor) -> impl Iterator<Item = Site> {
    tensor.open.iter().chain(&tensor.also).copied()
}

/// The tensor register file.
fn register_file(
    placed: &[&PlacedTensor],
    func: OpRef<'_>,
    given: &AllocationInput<'_>,
    plan: &mut Plan,
) -> Result<(), Diagnostic> {
    // A mapping of rows without a size is refused by its verifier.
    let rows = |tensor: &PlacedTensor| tensor.tensor.dim(Dim::Row).size(&given.axes.0).ok();
    let fits = |tensor: &PlacedTensor| {
        rows(tensor).is_some_and(|rows| tensor.bytes <= given.machine.trf_half_bytes(rows))
    };
    let resident =
        |tensor: &&PlacedTensor| Resident { small: fits(tensor), live: tensor.live, fixed: tensor.half };
    let residents: Vec<_> = placed.iter().map(resident).collect();
    let chosen = choose(&residents).ok_or_else(|| no_half(placed, &fits, func.span()))?;
    plan.halves.extend(placed.iter().zip(chosen).filter_map(|(tensor, half)| Some((tensor.open?, half))));
    Ok(())
}
