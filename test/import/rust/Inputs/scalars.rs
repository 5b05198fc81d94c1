//! Numbers that a kernel is given.
use furiosa_opt_std::prelude::*;

axes![S = 16, D = 64];

type Chip = m![1];
type Cache = HbmTensor<bf16, Chip, m![S, D]>;
type Row = HbmTensor<bf16, Chip, m![D]>;

#[derive(DeviceSend)]
pub struct Step<'a> {
    pub row: &'a Row,
    pub position: u32,
}

fn put(ctx: &mut Context, row: &Row, cache: &mut Cache, at: usize) {
    row.view().to_hbm_view(&mut ctx.tdma, cache.view_mut().tile::<m![S], 1, m![1 #{!} 16, D]>(at));
}

/// A row at a position of S.
#[device(chip = 1)]
pub fn append(ctx: &mut Context, step: Step<'_>, cache: &mut Cache) {
    put(ctx, step.row, cache, step.position as usize);
}

/// The four rows after the one that the number says: one of 12.
#[device(chip = 1)]
pub fn read(ctx: &mut Context, cache: &Cache, from: usize) -> HbmTensor<bf16, Chip, m![S = 4, D]> {
    let mut out = HbmTensor::<bf16, Chip, m![S = 4, D]>::new();
    for i in 0..4 {
        let row = cache.view().tile::<m![S], 1, m![1 # 16, D]>(from + i + 1);
        row.to_hbm_view(&mut ctx.tdma, out.view_mut().tile::<m![S = 4], 1, m![1 #{!} 4, D]>(i));
    }
    out
}

/// Rows up to the one that the number says.
#[device(chip = 1)]
pub fn until(ctx: &mut Context, row: &Row, cache: &mut Cache, n: usize) {
    put(ctx, row, cache, n);
    for i in 0..16 {
        if i < n {
            put(ctx, row, cache, i);
        }
    }
}

/// Every second row, in pairs: one of 8.
#[device(chip = 1)]
pub fn pairs(ctx: &mut Context, rows: &HbmTensor<bf16, Chip, m![S = 2, D]>, cache: &mut Cache, pair: i32) {
    let to = cache.view_mut().tile::<m![S], 2, m![S = 2 #{!} 16, D]>(2 * pair as usize);
    rows.view().to_hbm_view(&mut ctx.tdma, to);
}
