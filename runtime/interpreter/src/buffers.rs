//! Arguments into memory and results out of it, through their layout programs.

use visa_hw::program::Buffer;
use visa_hw::taint::Taint;

use crate::error::RunError;
use crate::memory::{Chunk, Memories, PAGE_BYTES, Place, resident};
use crate::runs::{Runs, layout_bytes};

/// Bytes of the whole C-order array.
pub(crate) fn array_bytes(buffer: &Buffer) -> Result<u64, RunError> {
    let elements = buffer.shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent));
    elements.and_then(|count| buffer.dtype.bytes(count)).ok_or_else(|| too_large(buffer))
}

/// Writes the array `data` where the buffer's layout says.
pub(crate) fn load(buffer: &Buffer, data: &[u8], memories: &mut Memories) -> Result<(), RunError> {
    let runs = layout_runs(buffer, memories)?;
    let place = Place { space: buffer.space, chip: 0 };
    let mut chunk = Chunk::default();
    for copy in runs.copies() {
        chunk.clear();
        let start = copy.read as usize;
        chunk.bytes.extend_from_slice(&data[start..start + copy.length]);
        if memories.shadow {
            chunk.marks.resize(copy.length, Taint::DEFINED);
        }
        memories.write(place, copy.write, &chunk)?;
    }
    Ok(())
}

/// Reads the array back, with its marks in shadow mode. What the layout does not name was never written.
pub(crate) fn read(buffer: &Buffer, memories: &mut Memories) -> Result<Chunk, RunError> {
    let runs = layout_runs(buffer, memories)?;
    let total = array_bytes(buffer)?;
    memories.budget.check(resident(total, memories.shadow))?;
    let mut array = Chunk { bytes: vec![0; total as usize], marks: Vec::new() };
    if memories.shadow {
        array.marks.resize(total as usize, Taint::NEVER_WRITTEN);
    }
    let place = Place { space: buffer.space, chip: 0 };
    let mut chunk = Chunk::default();
    for copy in runs.copies() {
        chunk.clear();
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
    let element = buffer.dtype.bytes(1).ok_or_else(|| too_large(buffer))?;
    let layout = layout_bytes(&buffer.layout, element).ok_or_else(|| too_large(buffer))?;
    let capacity = [array_bytes(buffer)?, memories.capacity(buffer.space, true)];
    Runs::new(&layout, PAGE_BYTES as u64, capacity)
}

fn too_large(buffer: &Buffer) -> RunError {
    RunError::Address(format!(
        "buffer `{}` of shape {:?} has more bytes than 64 bits count, expected an array that fits a memory",
        buffer.name, buffer.shape
    ))
}
