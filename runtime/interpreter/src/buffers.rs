//! Arguments into memory and results out of it, through their layout programs.

use visa_engine::shadow::Shadow;
use visa_engine::unwritten::Unwritten;
use visa_hw::program::Buffer;
use visa_numerics::{DType, store};

use crate::error::RunError;
use crate::memory::{ChipMemory, Chunk, Memories, PAGE_BYTES, resident};
use crate::runs::{Copy, Runs, layout_bytes};

/// Bytes of the whole C-order array.
pub(crate) fn array_bytes(buffer: &Buffer) -> Result<u64, RunError> {
    let elements = buffer.shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent));
    elements.and_then(|count| buffer.dtype.bytes(count)).ok_or_else(|| too_large(buffer))
}

/// Writes the array `data` to the positions of the buffer's layout.
pub(crate) fn load(buffer: &Buffer, data: &[u8], memories: &mut Memories) -> Result<(), RunError> {
    let runs = layout_runs(buffer, memories)?;
    let place = ChipMemory { space: buffer.space, chip: 0 };
    let mut chunk = Chunk::default();
    for copy in runs.copies() {
        chunk.clear();
        if is_half(buffer) {
            load_halves(buffer.dtype, copy, data, place, memories)?;
            continue;
        }
        let start = copy.read as usize;
        chunk.bytes.extend_from_slice(&data[start..start + copy.length]);
        if memories.shadow {
            chunk.marks.resize(copy.length, Shadow::DEFINED);
        }
        memories.write(place, copy.write, &chunk)?;
    }
    Ok(())
}

/// Returns true if the layout counts half bytes: that of formats of which two elements share a byte.
pub(crate) fn is_half(buffer: &Buffer) -> bool {
    buffer.dtype.bits() < 8
}

/// The bytes of memory that half bytes are in: the first, and how many.
fn bytes_of(first: u64, halves: usize) -> (u64, usize) {
    let end = (first + halves as u64).div_ceil(2);
    (first / 2, (end - first / 2) as usize)
}

/// Writes neighbouring half bytes; the other half of a byte at either end stays, and the byte counts as written.
fn load_halves(
    dtype: DType,
    copy: Copy,
    data: &[u8],
    place: ChipMemory,
    memories: &mut Memories,
) -> Result<(), RunError> {
    let (first, count) = bytes_of(copy.write, copy.length);
    let mut chunk = Chunk::default();
    memories.read(place, first, count, &mut chunk);
    for half in 0..copy.length {
        let value = visa_numerics::load(dtype, data, copy.read as usize + half);
        store(dtype, &mut chunk.bytes, (copy.write % 2) as usize + half, value);
    }
    chunk.marks.fill(Shadow::DEFINED);
    memories.write(place, first, &chunk)
}

/// Reads neighbouring half bytes. The mark of an array's byte is that of both its elements.
fn read_halves(dtype: DType, copy: Copy, place: ChipMemory, memories: &mut Memories, array: &mut Chunk) {
    let (first, count) = bytes_of(copy.write, copy.length);
    let mut chunk = Chunk::default();
    memories.read(place, first, count, &mut chunk);
    for half in 0..copy.length {
        let (from, to) = ((copy.write % 2) as usize + half, copy.read as usize + half);
        store(dtype, &mut array.bytes, to, visa_numerics::load(dtype, &chunk.bytes, from));
        if let (Some(mark), Some(&found)) = (array.marks.get_mut(to / 2), chunk.marks.get(from / 2)) {
            *mark = if *mark == Shadow::NEVER_WRITTEN { found } else { mark.or(found) };
        }
    }
}

/// Reads the array back, with its marks in shadow mode. Elements that the layout does not name were never written.
pub(crate) fn read(buffer: &Buffer, memories: &mut Memories) -> Result<Chunk, RunError> {
    let runs = layout_runs(buffer, memories)?;
    let total = array_bytes(buffer)?;
    memories.budget.check(resident(total, memories.shadow))?;
    let mut array = Chunk::default();
    Unwritten::STORED.extend(0, total as usize, &mut array.bytes);
    if memories.shadow {
        array.marks.resize(total as usize, Shadow::NEVER_WRITTEN);
    }
    let place = ChipMemory { space: buffer.space, chip: 0 };
    let mut chunk = Chunk::default();
    for copy in runs.copies() {
        chunk.clear();
        if is_half(buffer) {
            read_halves(buffer.dtype, copy, place, memories, &mut array);
            continue;
        }
        memories.read(place, copy.write, copy.length, &mut chunk);
        let range = copy.read as usize..copy.read as usize + copy.length;
        array.bytes[range.clone()].copy_from_slice(&chunk.bytes);
        if memories.shadow {
            array.marks[range].copy_from_slice(&chunk.marks);
        }
    }
    Ok(array)
}

fn layout_runs(buffer: &Buffer, memories: &Memories) -> Result<Runs, RunError> {
    let layout = layout_bytes(&buffer.layout, buffer.dtype.align()).ok_or_else(|| too_large(buffer))?;
    let units: u64 = if is_half(buffer) { 2 } else { 1 };
    let capacity = [array_bytes(buffer)?, memories.capacity(buffer.space, true)]
        .map(|bytes| bytes.saturating_mul(units));
    Runs::new(&layout, PAGE_BYTES as u64, capacity)
}

fn too_large(buffer: &Buffer) -> RunError {
    RunError::Address(format!(
        "buffer `{}` of shape {:?} has more bytes than 64 bits count, expected an array that fits a memory",
        buffer.name, buffer.shape
    ))
}
