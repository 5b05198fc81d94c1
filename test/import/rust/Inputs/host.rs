//! A host program: functions that launch kernels over tensors in HBM.
use furiosa_opt_std::prelude::*;

axes![S = 8, D = 64];

type Chip = m![1];
type Row = HbmTensor<i32, Chip, m![D]>;
type Rows = HbmTensor<i32, Chip, m![S, D]>;
type Held = DmTensor<i32, Chip, m![1 # 2], m![D / 8 # 256], m![D % 8]>;

fn plus(ctx: &mut Context, x: &Held, amount: i32) -> Held {
    ctx.main
        .begin(x.view())
        .fetch::<m![1], m![D % 8]>()
        .collect::<m![1], m![D % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, amount)
        .vector_final()
        .commit()
}

/// A row and the one after it.
#[device(chip = 1)]
pub fn two_more(ctx: &mut Context, rows: &Rows, at: usize) -> (Row, Row) {
    let row = rows.view().tile::<m![S], 1, m![1 # 8, D]>(at);
    let held: Held = row.to_dm(&mut ctx.tdma);
    (plus(ctx, &held, 1).to_hbm(&mut ctx.tdma), plus(ctx, &held, 2).to_hbm(&mut ctx.tdma))
}

#[device(chip = 1)]
pub fn append(ctx: &mut Context, row: &Row, cache: &mut Rows, at: usize) {
    row.view().to_hbm_view(&mut ctx.tdma, cache.view_mut().tile::<m![S], 1, m![1 #{!} 8, D]>(at));
}

#[device(chip = 1)]
pub fn copied(ctx: &mut Context, row: &Row) -> Row {
    let held: Held = row.to_dm(&mut ctx.tdma);
    held.to_hbm(&mut ctx.tdma)
}

async fn step(ctx: &mut Context, rows: &Rows, cache: &mut Rows, at: usize) -> Row {
    let (one, two) = launch(two_more, (&mut *ctx, rows, at)).await;
    launch(append, (&mut *ctx, &one, cache, at)).await;
    two
}

/// Every row of the cache is filled; the last one comes back.
pub async fn decode(ctx: &mut Context, rows: &Rows, cache: &mut Rows) -> Row {
    for at in 0..<m![S]>::SIZE - 1 {
        step(ctx, rows, cache, at).await;
    }
    let last = step(ctx, rows, cache, 7).await;
    launch(copied, (ctx, &last)).await
}

/// Not asked for: data of the host.
pub async fn main() {
    let mut ctx = Context::acquire();
    let row = HostTensor::<i32, m![D]>::zero().to_hbm(&mut ctx.pdma).await;
    launch(copied, (&mut ctx, &row)).await;
}
