//! Mutations by bytes or by words, for libFuzzer.

use libfuzzer_sys::fuzzer_mutate;

use visa_campaigns::mutate::change;
use visa_support::Random;

/// Changes `data[..size]`, by bytes or by words as `seed` says; returns the new size, at most `max_size`.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Random(u64::from(seed));
    if random.below(3) > 0
        && let Ok(text) = std::str::from_utf8(&data[..size])
        && let Some(changed) = change(text, &mut random)
        && changed.len() <= max_size
    {
        data[..changed.len()].copy_from_slice(changed.as_bytes());
        return changed.len();
    }
    fuzzer_mutate(data, size, max_size)
}
