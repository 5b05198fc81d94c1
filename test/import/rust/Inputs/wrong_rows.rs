//! One mistake in each kernel: what a method needs and does not get.
use furiosa_opt_std::prelude::*;

axes![A = 64];

type Chip = m![1];
type Cluster = m![1 # 2];
type Slice = m![1 # 256];
type Words = HbmTensor<i32, Chip, m![A]>;

#[device(chip = 1)]
pub fn fetch_cast_format(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.fetch_cast();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn lookup_format(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.fetch_table_lookup();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn lookup_late(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.fetch_table_lookup::<f8e4m3>();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn points(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.fetch_zero_point_sub("three");
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn topology(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.switch::<Slice, m![A / 8]>(SwitchConfig::Sideways { slice1: 4 });
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn ring(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.switch::<Slice, m![A / 8]>(SwitchConfig::Broadcast1 { slice1: 4 });
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn cast_format(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.cast();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn transposed(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.transpose();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn weights(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.contract_outer::<m![1], m![A % 8], _, _, _>(4);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn tag(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_init().vector_intra_slice_tag(TagMode::Sometimes);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn comparison(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_init().vector_intra_slice_tag(TagMode::Comparison([Cmp::Near(4)]));
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn operation(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_init().vector_fxp(4);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn operand(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_init().vector_fxp(FxpBinaryOp::AddFxp);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn stash(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_init().vector_clip(ClipBinaryOpI32::Max, Stash);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn width(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_init().vector_fxp_to_fp();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn format(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_init().vector_reinterpret();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn reduced(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_init().vector_intra_slice_reduce(IntraSliceReduceOpI32::AddSat);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn over_slices(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_init().vector_inter_slice_reduce(InterSliceReduceOpI32::AddSat);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn seconds(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_init().vector_fp_ternary(
        FpTernaryOp::FmaF,
        Branched::imm(TagGuard::matches([One, Ignore, Ignore, Ignore]), (1.0f32, 2.0f32))
            .imm(TagGuard::all(), (1.0f32, 3.0f32)),
    );
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn guard(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_init().vector_clip(ClipBinaryOpI32::Max, Branched::imm(TagGuard::often(), 4));
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn narrow_format(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.commit_trim::<m![A % 8]>().commit_cast();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn narrow_late(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_init().vector_final().commit_trim::<m![A % 8]>().commit_cast_relu::<bf16>();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn kept(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.commit_cast::<bf16>();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn stored(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.commit();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn registers(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.to_vrf();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn no_such(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_sort();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn nobody(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.sorted();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn begun(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    ctx.main.begin();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn alternating(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    ctx.main.begin_interleaved(x.view(), x.view());
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn filled(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    x.memset();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn shuffled(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    x.view().dm_chip_shuffle::<4>(&mut ctx.tdma, 4);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn positions(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    x.view().tile::<m![A]>(4);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn chosen(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    x.dma_gather_scaled(&x);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn scattered(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    x.dma_scatter(&x);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn unnamed(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    size_of::<Chip>();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn half(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    size_of::<i4>();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn mask_late(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.fetch_mask::<m![A / 8], m![A % 8]>();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn mask_after(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>();
    s.fetch_cast::<f32>().fetch_mask::<m![A / 8], m![A % 8]>();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn mask_other(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>();
    s.fetch_mask::<m![A / 8], m![A % 4 #{0} 8]>();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn filter_guard(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_init().vector_filter::<m![A]>();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn filter_open(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.vector_init().vector_filter::<m![A]>(TagMode::Zero);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn pack_count(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    s.commit_trim::<m![A % 8]>().commit_valid_count_pack();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn pack_view(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s = ctx.main.begin(x.view()).fetch::<m![A / 8], m![A % 8]>().collect::<m![A / 8], m![A % 8]>();
    let mut y: DmTensor<i32, Chip, Cluster, Slice, m![A]> = DmTensor::new();
    s.commit_trim::<m![A % 8]>().commit_valid_count_pack(4).commit_view(y.view_mut());
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn chip_size(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    x.view().chip_tile::<m![1], m![1]>(0);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn cluster_size(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    x.view().cluster_tile::<m![1 # 2], 1, m![1]>(0);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn slice_begin(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    x.view().slice_tile::<m![1 # 256], 1, m![1 # 256]>();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn cluster_order(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    x.view().dm_cluster_shuffle::<2>(&mut ctx.tdma, 1);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn cluster_outside(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    x.view().dm_cluster_shuffle::<2>(&mut ctx.tdma, &[1, 0, 1]);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn cluster_short(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    ctx.sub.parallel_copy_cluster_slice::<1, m![A / 32], m![1 # 2, A % 32], m![A % 32]>(x.view(), &[1]);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn chip_main(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    ctx.main.parallel_copy_chip_slice::<1, m![A / 32], m![1 # 2, A % 32], m![A % 32]>(x.view(), &[1]);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn chip_axis(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    ctx.sub.parallel_copy_chip_slice::<1>(x.view(), &[1]);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn copy_tensor(ctx: &mut Context, x: &Words) -> Words {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    ctx.sub.parallel_copy_chip_slice::<1>(&[1]);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 4)]
pub fn chips_all(ctx: &mut Context, x: &HbmTensor<i32, m![A / 16], m![A % 16]>) {
    x.view().chip_tile::<m![A / 16], 1, m![A / 16]>(0);
}
