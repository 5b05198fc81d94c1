//! Numbers that a kernel cannot be given, but for `truth` and `only_under_a_condition`.
use furiosa_opt_std::prelude::*;

axes![S = 16, D = 64];

type Chip = m![1];
type Cache = HbmTensor<bf16, Chip, m![S, D]>;
type Row = HbmTensor<bf16, Chip, m![D]>;

fn put(ctx: &mut Context, row: &Row, cache: &mut Cache, at: usize) {
    row.view().to_hbm_view(&mut ctx.tdma, cache.view_mut().tile::<m![S], 1, m![1 #{!} 16, D]>(at));
}

#[device(chip = 1)]
pub fn float(ctx: &mut Context, row: &Row, scale: f32) -> Row {
    row.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn truth(ctx: &mut Context, row: &Row, first: bool) -> Row {
    row.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn unused(ctx: &mut Context, row: &Row, n: usize) -> Row {
    row.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn only_under_a_condition(ctx: &mut Context, row: &Row, cache: &mut Cache, n: usize) {
    if n < 8 {
        put(ctx, row, cache, n);
    }
}

#[device(chip = 1)]
pub fn two_together(ctx: &mut Context, row: &Row, cache: &mut Cache, n: usize, m: usize) {
    put(ctx, row, cache, n + m);
}

#[device(chip = 1)]
pub fn range(ctx: &mut Context, row: &Row, cache: &mut Cache, n: usize) {
    put(ctx, row, cache, n);
    for i in 0..n {
        put(ctx, row, cache, i);
    }
}

#[device(chip = 1)]
pub fn remainder(ctx: &mut Context, row: &Row, cache: &mut Cache, n: usize) {
    put(ctx, row, cache, n % 16);
}

#[device(chip = 1)]
pub fn element(ctx: &mut Context, row: &Row, cache: &mut Cache, n: usize) {
    let places = [3, 1, 2];
    put(ctx, row, cache, places[n]);
}

#[device(chip = 1)]
pub fn asserted(ctx: &mut Context, row: &Row, cache: &mut Cache, n: usize) {
    assert!(n < 8);
    put(ctx, row, cache, n);
}
