//! Addresses of old versions: tensors at the same bytes, and tensors that are named by an address alone.
use furiosa_opt_std::prelude::*;

axes![V = 2048];

type Chip = m![1];
type Cluster = m![1 # 2];
type Words = DmTensor<i32, Chip, Cluster, m![V / 8], m![V % 8]>;

/// The number plus one, stored at an address.
fn one_more(ctx: &mut Context, of: &Words, to: u64) -> Words {
    ctx.main
        .begin(of.view())
        .fetch::<m![1], m![V % 8]>()
        .collect::<m![1], m![V % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, 1)
        .vector_final()
        .commit_trim::<m![V % 8]>()
        .commit(to)
}

/// 2 v + 1 - v: both tensors are at 0, and are two.
#[device(chip = 1)]
pub fn same_place(ctx: &mut Context, v: &HbmTensor<i32, Chip, m![V]>) -> HbmTensor<i32, Chip, m![V]> {
    let d: Words = v.to_dm(&mut ctx.tdma, 0);
    let e = one_more(ctx, &d, 0);
    let x: VrfTensor<i32, Chip, Cluster, m![V / 8], m![V % 8]> =
        ctx.sub.begin(e.view()).fetch::<m![1], m![V % 8]>().collect::<m![1], m![V % 8]>().to_vrf(0);
    let r: Words = ctx
        .main
        .begin(d.view())
        .fetch::<m![1], m![V % 8]>()
        .collect::<m![1], m![V % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, &x)
        .vector_final()
        .commit_trim::<m![V % 8]>()
        .commit(0);
    r.to_hbm(&mut ctx.tdma, 1 << 28)
}

/// v + 1: a tensor that is named by its address, and written whole.
#[device(chip = 1)]
pub fn placed(ctx: &mut Context, v: &HbmTensor<i32, Chip, m![V]>, out: &mut HbmTensor<i32, Chip, m![V]>) {
    let d: Words = v.to_dm(&mut ctx.tdma, 0);
    let mut r: Words = unsafe { DmTensor::from_addr(1 << 12) };
    ctx.main
        .begin(d.view())
        .fetch::<m![1], m![V % 8]>()
        .collect::<m![1], m![V % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, 1)
        .vector_final()
        .commit_trim::<m![V % 8]>()
        .commit_view(r.view_mut());
    r.view().to_hbm_view(&mut ctx.tdma, out.view_mut());
}

/// v + 2: the tensor at 64 is the one that was stored there last.
#[device(chip = 1)]
pub fn read_back(ctx: &mut Context, v: &HbmTensor<i32, Chip, m![V]>) -> HbmTensor<i32, Chip, m![V]> {
    let d: Words = v.to_dm(&mut ctx.tdma, 64);
    let e = one_more(ctx, &d, 64);
    let back = unsafe { DmTensor::<i32, Chip, Cluster, m![V / 8], m![V % 8]>::from_addr(64) };
    let f = one_more(ctx, &back, 0);
    f.to_hbm(&mut ctx.tdma, 0)
}

axes![Row = 256, Word = 8];

/// v: the same bytes under other names.
#[device(chip = 1)]
pub fn read_as(ctx: &mut Context, v: &HbmTensor<i32, Chip, m![V]>) -> HbmTensor<i32, Chip, m![Row, Word]> {
    let d: Words = v.to_dm(&mut ctx.tdma, 0);
    let back: DmTensor<i32, Chip, Cluster, m![Row], m![Word]> = unsafe { DmTensor::from_addr(0) };
    back.to_hbm(&mut ctx.tdma, 0)
}

/// v + 1: a change of the tensor through its address is one of the tensor.
#[device(chip = 1)]
pub fn changed(ctx: &mut Context, v: &HbmTensor<i32, Chip, m![V]>) -> HbmTensor<i32, Chip, m![V]> {
    let d: Words = v.to_dm(&mut ctx.tdma, 0);
    let mut back: Words = unsafe { DmTensor::from_addr(0) };
    let e = one_more(ctx, &back, 64);
    e.view().to_dm_view(&mut ctx.tdma, back.view_mut());
    d.to_hbm(&mut ctx.tdma, 0)
}

/// Bytes that another tensor had, written in parts: a new tensor.
#[device(chip = 1)]
pub fn in_parts(ctx: &mut Context, v: &HbmTensor<i32, Chip, m![V]>) -> HbmTensor<i32, Chip, m![V]> {
    let d: Words = v.to_dm(&mut ctx.tdma, 0);
    let mut halves: Words = unsafe { DmTensor::from_addr(0) };
    for half in 0..2 {
        let part = d.view().tile::<m![V / 4 % 2], 1, m![V / 4 % 2 = 1 # 2, V % 4]>(half);
        part.to_dm_view(
            &mut ctx.tdma,
            halves.view_mut().tile::<m![V / 4 % 2], 1, m![V / 4 % 2 = 1 #{!} 2, V % 4]>(half),
        );
    }
    halves.to_hbm(&mut ctx.tdma, 0)
}

/// Nothing is stored there.
#[device(chip = 1)]
pub fn nothing_there(ctx: &mut Context, v: &HbmTensor<i32, Chip, m![V]>) -> HbmTensor<i32, Chip, m![V]> {
    let d: Words = v.to_dm(&mut ctx.tdma, 0);
    let other: Words = unsafe { DmTensor::from_addr(32) };
    other.to_hbm(&mut ctx.tdma, 0)
}

/// A buffer that the host filled.
#[device(chip = 1)]
pub fn of_the_host(ctx: &mut Context) -> HbmTensor<i32, Chip, m![V]> {
    let v: HbmTensor<i32, Chip, m![V]> = unsafe { HbmTensor::from_addr(0xc000) };
    let d: Words = v.to_dm(&mut ctx.tdma, 0);
    d.to_hbm(&mut ctx.tdma, 0)
}
