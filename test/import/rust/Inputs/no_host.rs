//! What a host program cannot have.
use furiosa_opt_std::prelude::*;

axes![S = 8, D = 64];

type Chip = m![1];
type Row = HbmTensor<i32, Chip, m![D]>;
type Rows = HbmTensor<i32, Chip, m![S, D]>;
type Held = DmTensor<i32, Chip, m![1 # 2], m![D / 8 # 256], m![D % 8]>;

#[device(chip = 1)]
pub fn copied(ctx: &mut Context, row: &Row) -> Row {
    let held: Held = row.to_dm(&mut ctx.tdma);
    held.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1, pe = 4)]
pub fn half(ctx: &mut Context, row: &Row) -> Row {
    let held: DmTensor<i32, Chip, m![1], m![D / 8 # 256], m![D % 8]> = row.to_dm(&mut ctx.tdma);
    held.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn broken(ctx: &mut Context, row: &Row) -> Row {
    row.sort()
}

pub fn number() -> i32 {
    1
}

pub async fn data_of_the_host(ctx: &mut Context, row: &Row) -> Row {
    let other: Row = HostTensor::<i32, m![D]>::zero().to_hbm(&mut ctx.pdma).await;
    launch(copied, (ctx, &other)).await
}

pub async fn back_to_the_host(ctx: &mut Context, row: &Row) {
    let out = launch(copied, (&mut *ctx, row)).await;
    out.to_host::<m![D]>(&mut ctx.pdma);
}

pub async fn asserts(ctx: &mut Context, row: &Row) -> Row {
    assert_eq!(1, 2);
    launch(copied, (ctx, row)).await
}

pub async fn never_awaited(ctx: &mut Context, row: &Row) -> Row {
    launch(copied, (ctx, row))
}

pub async fn called(ctx: &mut Context, row: &Row) -> Row {
    launch(copied, (&mut *ctx, row)).await;
    copied(ctx, row)
}

pub async fn no_kernel(ctx: &mut Context, row: &Row) -> Row {
    launch(number, (ctx, row)).await
}

pub async fn too_few(ctx: &mut Context, row: &Row) -> Row {
    launch(copied, ctx).await
}

pub async fn two_devices(ctx: &mut Context, row: &Row) -> Row {
    let one = launch(copied, (&mut *ctx, row)).await;
    launch(half, (ctx, &one)).await
}

pub async fn a_part(ctx: &mut Context, rows: &Rows) -> Row {
    launch(copied, (ctx, rows.view().tile::<m![S], 1, m![1 # 8, D]>(0))).await
}

pub async fn a_truth(ctx: &mut Context, row: &Row) -> Row {
    launch(copied, (true, row)).await
}

pub async fn of_a_broken_one(ctx: &mut Context, row: &Row) -> Row {
    launch(broken, (ctx, row)).await
}

async fn later(ctx: &mut Context, row: &Row) -> Row {
    launch(copied, (ctx, row)).await
}

pub async fn forgets(ctx: &mut Context, row: &Row) -> Row {
    later(ctx, row);
    launch(copied, (ctx, row)).await
}

pub async fn launches_nothing(ctx: &mut Context, row: &Row) -> Row {
    number();
    row
}
