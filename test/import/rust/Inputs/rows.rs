//! A kernel for each kind of method that the table of docs/import.md lists, each small enough to work out by hand.
use furiosa_opt_std::prelude::*;

axes![A = 64, B = 8, G = 2, N = 4, R = 16, T = 4];

type Chip = m![1];
type Cluster = m![1 # 2];
type Slice = m![1 # 256];
type Words = HbmTensor<i32, Chip, m![A]>;
type Floats = HbmTensor<f32, Chip, m![A]>;

/// 3 (x | 1), 100 at most: `vector_logic`, `vector_fxp` and `vector_clip`.
#[device(chip = 1)]
pub fn integers(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let y: DmTensor<i32, Chip, Cluster, Slice, m![A]> = ctx
        .main
        .begin(x.view())
        .fetch::<m![A / 8], m![A % 8]>()
        .collect::<m![A / 8], m![A % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_logic(LogicBinaryOpI32::BitOr, 1)
        .vector_fxp(FxpBinaryOp::MulInt, 3)
        .vector_clip(ClipBinaryOpI32::Min, 100)
        .vector_final()
        .commit_trim::<m![A % 8]>()
        .commit();
    y.to_hbm(&mut ctx.tdma)
}

/// (x + x) / 4 - 1, on four lanes: `vector_stash`, `vector_fp_binary`, `vector_fp_div`.
#[device(chip = 1)]
pub fn floats(ctx: &mut Context, x: &Floats) -> Floats {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let y: DmTensor<f32, Chip, Cluster, Slice, m![A]> = ctx
        .main
        .begin(x.view())
        .fetch::<m![A / 8], m![A % 8]>()
        .collect::<m![A / 8], m![A % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_narrow_split::<m![A / 4], m![A % 4]>()
        .vector_stash()
        .vector_fp_binary(FpBinaryOp::AddF, Stash)
        .vector_fp_div(4.0f32)
        .vector_widen_concat::<m![A / 8], m![A % 8]>()
        .vector_clip(ClipBinaryOpF32::Add, -1.0f32)
        .vector_final()
        .commit_trim::<m![A % 8]>()
        .commit();
    y.to_hbm(&mut ctx.tdma)
}

/// x where it is 4 or 5, 2 x + 10 elsewhere: `vector_intra_slice_tag`, `Branched`, a guard that does not match.
#[device(chip = 1)]
pub fn branches(ctx: &mut Context, x: &Floats) -> Floats {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let y: DmTensor<f32, Chip, Cluster, Slice, m![A]> = ctx
        .main
        .begin(x.view())
        .fetch::<m![A / 8], m![A % 8]>()
        .collect::<m![A / 8], m![A % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Comparison([
            Cmp::Less(4.0),
            Cmp::Greater(5.0),
            Cmp::False,
            Cmp::False,
        ]))
        .vector_narrow_split::<m![A / 4], m![A % 4]>()
        .vector_fp_ternary(
            FpTernaryOp::FmaF,
            Branched::imm(TagGuard::not_matches([Zero, Zero, Ignore, Ignore]), (2.0f32, 10.0f32)),
        )
        .vector_widen_concat::<m![A / 8], m![A % 8]>()
        .vector_final()
        .commit_trim::<m![A % 8]>()
        .commit();
    y.to_hbm(&mut ctx.tdma)
}

/// 1 - (-x): `vector_reinterpret` sets the sign's bit, and `_with_mode` turns the arguments.
#[device(chip = 1)]
pub fn bits(ctx: &mut Context, x: &Floats) -> Floats {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let y: DmTensor<f32, Chip, Cluster, Slice, m![A]> = ctx
        .main
        .begin(x.view())
        .fetch::<m![A / 8], m![A % 8]>()
        .collect::<m![A / 8], m![A % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_reinterpret::<i32>()
        .vector_logic(LogicBinaryOpI32::BitOr, i32::MIN)
        .vector_reinterpret::<f32>()
        .vector_narrow_split::<m![A / 4], m![A % 4]>()
        .vector_fp_binary_with_mode(FpBinaryOp::SubF, BinaryArgMode::Mode10, 1.0f32)
        .vector_widen_concat::<m![A / 8], m![A % 8]>()
        .vector_final()
        .commit_trim::<m![A % 8]>()
        .commit();
    y.to_hbm(&mut ctx.tdma)
}

/// Sums along A: `vector_intra_slice_reduce`, trimmed and padded packets, `vector_fxp_to_fp`.
#[device(chip = 1)]
pub fn sum(ctx: &mut Context, x: &Words) -> HbmTensor<f32, Chip, m![1 # 8]> {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let y: DmTensor<f32, Chip, Cluster, Slice, m![1 # 8]> = ctx
        .main
        .begin(x.view())
        .fetch::<m![A / 8], m![A % 8]>()
        .collect::<m![A / 8], m![A % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp_to_fp(31)
        .vector_narrow_split::<m![A / 4], m![A % 4]>()
        .vector_intra_slice_reduce::<A, m![1], m![1 # 4]>(IntraSliceReduceOpF32::Add)
        .vector_widen_pad::<m![1 # 8]>()
        .vector_final()
        .commit_trim::<m![1 # 8]>()
        .commit();
    y.to_hbm(&mut ctx.tdma)
}

/// Two tensors in one stream, and their sum: `begin_interleaved`, `vector_intra_slice_unzip`, `vector_fxp_zip`.
#[device(chip = 1)]
pub fn pairs(ctx: &mut Context, x: &Words, y: &Words) -> Words {
    let x = x.to_dm::<Cluster, m![A / 8 # 256], m![A % 8]>(&mut ctx.tdma);
    let y = y.to_dm::<Cluster, m![A / 8 # 256], m![A % 8]>(&mut ctx.tdma);
    let z: DmTensor<i32, Chip, Cluster, m![A / 8 # 256], m![A % 8]> = ctx
        .main
        .begin_interleaved::<G, _, _, _, _, _>(x.view(), y.view())
        .fetch::<m![G], m![A % 8]>()
        .collect::<m![G], m![A % 8]>()
        .vector_init()
        .vector_intra_slice_unzip::<G, m![1 # 2], m![1]>()
        .vector_fxp_zip(FxpBinaryOp::AddFxp)
        .vector_final()
        .commit_trim::<m![A % 8]>()
        .commit();
    z.to_hbm(&mut ctx.tdma)
}

/// f32 to bf16, negative numbers to 0: `commit_cast_relu`.
#[device(chip = 1)]
pub fn narrowed(ctx: &mut Context, x: &Floats) -> HbmTensor<bf16, Chip, m![A]> {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let y: DmTensor<bf16, Chip, Cluster, Slice, m![A]> = ctx
        .main
        .begin(x.view())
        .fetch::<m![A / 8], m![A % 8]>()
        .collect::<m![A / 8], m![A % 8]>()
        .commit_trim::<m![A % 8]>()
        .commit_cast_relu::<bf16>()
        .commit();
    y.to_hbm(&mut ctx.tdma)
}

/// Slices exchange parts: `switch`, `transpose`, slices that are padding afterwards, and a pipeline of the sub context
/// that computes.
#[device(chip = 1)]
pub fn gathered(ctx: &mut Context, x: &HbmTensor<i8, Chip, m![N, B]>) -> HbmTensor<i8, Chip, m![B, N]> {
    let x = x.to_dm::<Cluster, m![N # 256], m![B]>(&mut ctx.tdma);
    let y: DmTensor<i8, Chip, Cluster, m![1 # 256], m![N, B]> = ctx
        .main
        .begin(x.view())
        .fetch::<m![1], m![B]>()
        .switch::<m![1 # 256], m![N]>(SwitchConfig::Broadcast1 { slice1: 4, slice0: 1 })
        .collect::<m![N], m![B # 32]>()
        .commit_trim::<m![B]>()
        .commit();
    let z: DmTensor<i8, Chip, Cluster, m![1 # 256], m![B, N # 8]> = ctx
        .sub
        .begin(y.view())
        .fetch::<m![N], m![B]>()
        .collect::<m![N], m![B # 32]>()
        .transpose::<m![B], m![N # 32]>()
        .commit_trim::<m![N # 8]>()
        .commit();
    z.to_hbm(&mut ctx.tdma)
}

/// Other names for the same bytes, tiles of tiles, and a number that fills what nothing else writes.
#[device(chip = 1)]
pub fn views(ctx: &mut Context, x: &Words) -> HbmTensor<i32, Chip, m![N, R]> {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let mut y = DmTensor::<i32, Chip, Cluster, Slice, m![A]>::new();
    y.memset(7);
    x.view().tile::<m![A], 16, m![A = 16 # 64]>(32).to_dm_view(
        &mut ctx.tdma,
        y.view_mut()
            .tile::<m![A], 32, m![A = 32 #{!} 64]>(16)
            .tile::<m![A = 32 #{!} 64], 16, m![A = 16 #{!} 64]>(8),
    );
    let y: DmTensor<i32, Chip, Cluster, Slice, m![N, R]> = unsafe { y.reshape() };
    y.to_hbm(&mut ctx.tdma)
}

/// Rows of a table, by byte offsets: the index has the axis that the table has.
#[device(chip = 1)]
pub fn rows(
    ctx: &mut Context,
    table: &HbmTensor<i32, Chip, m![N, B]>,
    index: &HbmTensor<i32, Chip, m![N]>,
) -> HbmTensor<i32, Chip, m![N, B]> {
    const ROW: usize = <m![B]>::SIZE * size_of::<i32>();
    assert!(ROW == 32);
    let found: DmTensor<i32, Chip, Cluster, m![N # 256], m![B]> = table.dma_gather_scaled(index);
    found.to_hbm(&mut ctx.tdma)
}

/// Chips exchange their parts.
#[device(chip = 4)]
pub fn chips(ctx: &mut Context, x: &HbmTensor<i32, m![T], m![B]>) -> HbmTensor<i32, m![T], m![B]> {
    let x: DmTensor<i32, m![T], Cluster, Slice, m![B]> = x.to_dm(&mut ctx.tdma);
    let y = x.view().dm_chip_shuffle::<4>(&mut ctx.tdma, &[1, 2, 3, 0]);
    y.to_hbm(&mut ctx.tdma)
}

/// One scale for each block of 16, one factor for all: register files that lanes share.
#[device(chip = 1)]
pub fn scaled(
    ctx: &mut Context,
    x: &Floats,
    scales: &HbmTensor<f32, Chip, m![A / 16]>,
    factor: &HbmTensor<f32, Chip, m![1]>,
) -> Floats {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let scales: DmTensor<f32, Chip, Cluster, Slice, m![A / 16 # 8]> = scales.to_dm(&mut ctx.tdma);
    let scales: VrfTensor<f32, Chip, Cluster, Slice, m![A / 16 # 8]> = ctx
        .sub
        .begin(scales.view())
        .fetch::<m![1], m![A / 16 # 8]>()
        .collect::<m![1], m![A / 16 # 8]>()
        .to_vrf();
    let factor = factor.to_dm::<Cluster, Slice, m![1 # 8]>(&mut ctx.tdma);
    let factor: VrfTensor<f32, Chip, Cluster, Slice, m![1 # 8]> =
        ctx.sub.begin(factor.view()).fetch::<m![1], m![1 # 8]>().collect::<m![1], m![1 # 8]>().to_vrf();
    let y: DmTensor<f32, Chip, Cluster, Slice, m![A]> = ctx
        .main
        .begin(x.view())
        .fetch::<m![A / 8], m![A % 8]>()
        .collect::<m![A / 8], m![A % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_narrow_split::<m![A / 4], m![A % 4]>()
        .vector_fp_binary(FpBinaryOp::MulF(FpMulAlu::Mul0), &scales)
        .vector_fp_binary(FpBinaryOp::MulF(FpMulAlu::Mul1), &factor)
        .vector_widen_concat::<m![A / 8], m![A % 8]>()
        .vector_final()
        .commit_trim::<m![A % 8]>()
        .commit();
    y.to_hbm(&mut ctx.tdma)
}

/// Sums over slices: `vector_inter_slice_reduce`.
#[device(chip = 1)]
pub fn slices(ctx: &mut Context, x: &HbmTensor<i32, Chip, m![N, B]>) -> HbmTensor<i32, Chip, m![B]> {
    let x = x.to_dm::<Cluster, m![N # 256], m![B]>(&mut ctx.tdma);
    let y: DmTensor<i32, Chip, Cluster, m![1 # 256], m![B]> = ctx
        .main
        .begin(x.view())
        .fetch::<m![1], m![B]>()
        .collect::<m![1], m![B]>()
        .vector_init()
        .vector_inter_slice_reduce::<m![1 # 256], m![1]>(InterSliceReduceOpI32::AddSat)
        .vector_final()
        .commit_trim::<m![B]>()
        .commit();
    y.to_hbm(&mut ctx.tdma)
}

/// Rows to where the index says, in a table that stays; `dma_gather_unscaled` reads them back by their numbers.
#[device(chip = 1)]
pub fn scattered(
    ctx: &mut Context,
    x: &HbmTensor<i32, Chip, m![N, B]>,
    offsets: &HbmTensor<i32, Chip, m![N]>,
    numbers: &HbmTensor<i32, Chip, m![N]>,
    table: &mut HbmTensor<i32, Chip, m![R, B]>,
) -> HbmTensor<i32, Chip, m![N, B]> {
    let x: DmTensor<i32, Chip, Cluster, m![N # 256], m![B]> = x.to_dm(&mut ctx.tdma);
    x.dma_scatter::<m![R], _, _>(offsets, table);
    let numbers: DmTensor<i32, Chip, Cluster, m![N / 2 # 256], m![N % 2]> = numbers.to_dm(&mut ctx.tdma);
    let found: DmTensor<i32, Chip, Cluster, m![N # 256], m![B]> = table.dma_gather_unscaled(&numbers);
    found.to_hbm(&mut ctx.tdma)
}

/// Numbers of 4 bits by a table, then as f32; what is padded on the way is not written back.
#[device(chip = 1)]
pub fn decoded(ctx: &mut Context, x: &HbmTensor<f4e2m1, Chip, m![A]>) -> Floats {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let y: DmTensor<f32, Chip, Cluster, Slice, m![A]> = ctx
        .main
        .begin(x.view())
        .fetch::<m![1], m![A]>()
        .fetch_table_lookup::<f8e4m3>()
        .fetch_cast::<f32>()
        .collect::<m![A / 8], m![A % 8]>()
        .commit_trim::<m![A % 8]>()
        .commit();
    y.view().pad::<m![A # 128]>().unpad::<m![A]>().to_hbm(&mut ctx.tdma)
}

axes![C = 2, K = 6, P = 64, V = 32];

/// Sums of 6 numbers that are read as 8, the last two of them as zeros: `fetch_mask`.
#[device(chip = 1)]
pub fn masked(ctx: &mut Context, x: &HbmTensor<i32, Chip, m![N, K]>) -> HbmTensor<i32, Chip, m![N]> {
    let x = x.to_dm::<Cluster, Slice, m![N, K # 8]>(&mut ctx.tdma);
    let y: DmTensor<i32, Chip, Cluster, Slice, m![N, 1 # 2]> = ctx
        .main
        .begin(x.view())
        .fetch::<m![N], m![K # 8]>()
        .fetch_mask::<m![N], m![K #{0} 8]>()
        .collect::<m![N], m![K #{0} 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_narrow_split::<m![N, [K #{0} 8] / 4], m![[K #{0} 8] % 4]>()
        .vector_intra_slice_reduce::<m![K], m![N], m![1 # 4]>(IntraSliceReduceOpI32::AddSat)
        .vector_widen_pad::<m![1 # 8]>()
        .vector_final()
        .commit_trim::<m![1 # 2]>()
        .commit();
    y.to_hbm(&mut ctx.tdma)
}

/// The numbers above 39, without those below: `vector_filter`. 40 to 63 are left, 24 of them.
#[device(chip = 1)]
pub fn filtered(ctx: &mut Context, x: &Words) -> HbmTensor<i32, Chip, m![P = 24]> {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let y: DmTensor<i32, Chip, Cluster, Slice, m![P]> = ctx
        .main
        .begin(x.view())
        .fetch::<m![A / 8], m![A % 8]>()
        .collect::<m![A / 8], m![A % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Comparison([Cmp::Greater(39), Cmp::False, Cmp::False, Cmp::False]))
        .vector_filter::<m![P / 8]>(TagGuard::matches([One, Ignore, Ignore, Ignore]))
        .vector_final()
        .commit_trim::<m![A % 8]>()
        .commit();
    y.view().tile::<m![P], 24, m![P = 24 # 64]>(0).to_hbm(&mut ctx.tdma)
}

/// The first four of each eight numbers: `commit_valid_count_pack`.
#[device(chip = 1)]
pub fn packed(ctx: &mut Context, x: &Words) -> HbmTensor<i32, Chip, m![P = 32]> {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let y: DmTensor<i32, Chip, Cluster, Slice, m![P]> = ctx
        .sub
        .begin(x.view())
        .fetch::<m![A / 8], m![A % 8]>()
        .collect::<m![A / 8], m![A % 8]>()
        .commit_trim::<m![A % 8]>()
        .commit_valid_count_pack(4)
        .commit();
    y.view().tile::<m![P], 32, m![P = 32 # 64]>(0).to_hbm(&mut ctx.tdma)
}

/// Chips swap in pairs, through HBM: `chip_tile` of what is read and of what is written.
#[device(chip = 4)]
pub fn chip_tiles(ctx: &mut Context, x: &HbmTensor<i32, m![T], m![B]>) -> HbmTensor<i32, m![T], m![B]> {
    let mut y: HbmTensor<i32, m![T], m![B]> = HbmTensor::new();
    for i in 0..4 {
        let from = x.view().chip_tile::<m![T], 1, m![T = 1 # 4]>([1, 0, 3, 2][i]);
        let to = y.view_mut().chip_tile::<m![T], 1, m![T = 1 #{!} 4]>(i);
        from.to_hbm_view(&mut ctx.tdma, to);
    }
    y
}

/// Clusters swap their parts, once by tiles and once by name: `cluster_tile`, `dm_cluster_shuffle`.
#[device(chip = 1)]
pub fn clusters(ctx: &mut Context, x: &HbmTensor<i32, Chip, m![C, B]>) -> HbmTensor<i32, Chip, m![C, B]> {
    let x = x.to_dm::<m![C], Slice, m![B]>(&mut ctx.tdma);
    let mut y: DmTensor<i32, Chip, m![C], Slice, m![B]> = DmTensor::new();
    let first = x.view().cluster_tile::<m![C], 1, m![1 # 2]>(0);
    first.to_dm_view(&mut ctx.tdma, y.view_mut().cluster_tile::<m![C], 1, m![1 #{!} 2]>(1));
    let second = x.view().cluster_tile::<m![C], 1, m![1 # 2]>(1);
    second.to_dm_view(&mut ctx.tdma, y.view_mut().cluster_tile::<m![C], 1, m![1 #{!} 2]>(0));
    let z = y.view().dm_cluster_shuffle::<2>(&mut ctx.tdma, &[1, 0]);
    let z = z.view().dm_cluster_shuffle::<2>(&mut ctx.tdma, &[1, 0]);
    z.to_hbm(&mut ctx.tdma)
}

/// Each of four slices is read by itself and written in the reverse order: `slice_tile`.
#[device(chip = 1)]
pub fn slice_tiles(ctx: &mut Context, x: &HbmTensor<i32, Chip, m![N, B]>) -> HbmTensor<i32, Chip, m![N, B]> {
    let x = x.to_dm::<Cluster, m![N # 256], m![B]>(&mut ctx.tdma);
    let mut y: HbmTensor<i32, Chip, m![N, B]> = HbmTensor::new();
    for i in 0..4 {
        let own = x.view().slice_tile::<m![N], 1, m![N = 1 # 256]>(i);
        own.to_hbm_view(&mut ctx.tdma, y.view_mut().tile::<m![N], 1, m![N = 1 #{!} 4, B]>(3 - i));
    }
    y
}

/// Cluster 0 keeps the second half of its numbers, cluster 1 the first: `parallel_copy_cluster_slice`.
#[device(chip = 1)]
pub fn halves(ctx: &mut Context, x: &HbmTensor<i32, Chip, m![C, A]>) -> HbmTensor<i32, Chip, m![C, V]> {
    let x: DmTensor<i32, Chip, m![C], Slice, m![A / 32, A % 32]> = x.to_dm(&mut ctx.tdma);
    let y: DmTensor<i32, Chip, m![C], Slice, m![A % 32]> =
        ctx.sub.parallel_copy_cluster_slice::<2, m![A / 32], m![1 # 2, A % 32], m![A % 32], _, _, _, _, _>(
            x.view(),
            &[1, 0],
        );
    let y: DmTensor<i32, Chip, m![C], Slice, m![V]> = unsafe { y.reshape() };
    y.to_hbm(&mut ctx.tdma)
}

/// Each of four chips keeps another quarter of its numbers: `parallel_copy_chip_slice`.
#[device(chip = 4)]
pub fn quarters(ctx: &mut Context, x: &HbmTensor<i32, m![T], m![N, B]>) -> HbmTensor<i32, m![T], m![B]> {
    let x = x.to_dm::<Cluster, Slice, m![N, B]>(&mut ctx.tdma);
    let y: DmTensor<i32, m![T], Cluster, Slice, m![B]> = ctx
        .sub
        .parallel_copy_chip_slice::<4, m![N], m![1 # 4, B], m![B], _, _, _, _, _>(x.view(), &[3, 0, 1, 2]);
    y.to_hbm(&mut ctx.tdma)
}
