//! The names of older versions, and addresses that the author gives.
use furiosa_visa_std::prelude::*;

axes![I = 256, J = 64, K = 64];

type Chip = m![1];
type Cluster = m![1 # 2];

/// x * w + 1 on the vector engine.
#[device(chip = 1)]
fn elementwise(
    ctx: &mut Context,
    x: &HbmTensor<i32, Chip, m![I, J]>,
    w: &HbmTensor<i32, Chip, m![J]>,
) -> HbmTensor<i32, Chip, m![I, J]> {
    let x_dm = x.to_dm::<Cluster, m![I], m![J]>(&mut ctx.tdma, 0);
    let w_dm = w.to_dm::<Cluster, m![I], m![J]>(&mut ctx.tdma, 1 << 12);
    let w_vrf: VrfTensor<i32, Chip, Cluster, m![I], m![J]> =
        ctx.sub.begin(w_dm.view()).fetch::<i32, m![1], m![J]>().collect::<m![J / 8], m![J % 8]>().to_vrf(512);
    let y = ctx
        .main
        .begin(x_dm.view())
        .fetch::<i32, m![1], m![J]>()
        .collect::<m![J / 8], m![J % 8]>()
        .vector_init()
        .vector_intra_slice_branch(BranchMode::Unconditional)
        .vector_fxp(FxpBinaryOp::MulInt, VeRhs::vrf(&w_vrf))
        .vector_clip(ClipBinaryOpI32::AddFxp, 1)
        .vector_final()
        .commit::<m![J]>(1 << 13);
    y.to_hbm(&mut ctx.tdma, 1 << 28)
}

/// A product, its weights in half of the register file.
#[device(chip = 1)]
fn product(
    ctx: &mut Context,
    a: &HbmTensor<bf16, Chip, m![I, K]>,
    b: &HbmTensor<bf16, Chip, m![J, K]>,
) -> HbmTensor<bf16, Chip, m![I, J]> {
    let a_dm: DmTensor<bf16, Chip, Cluster, m![I], m![K]> = a.to_dm_at(&mut ctx.tdma, 0);
    let b_dm: DmTensor<bf16, Chip, Cluster, m![I], m![J, K]> = b.to_dm_at(&mut ctx.tdma, 0x1000);
    let b_trf: TrfTensor<bf16, Chip, Cluster, m![I], m![J % 8], m![J / 8, K]> = ctx
        .sub
        .begin(b_dm.view())
        .fetch::<bf16, m![J % 8, J / 8], m![K]>()
        .collect::<m![J % 8, J / 8, K / 16], m![K % 16]>()
        .to_trf(TrfAddress::SecondHalf);
    let y: DmTensor<bf16, Chip, Cluster, m![I], m![J]> = ctx
        .main
        .begin(a_dm.view())
        .fetch::<bf16, m![J / 8], m![K]>()
        .collect::<m![J / 8, K / 16], m![K % 16]>()
        .align::<m![J / 8, K / 32], m![K % 32], _, _>(&b_trf)
        .contract::<m![1]>()
        .accumulate::<m![J / 8], m![J % 8]>(AccumulationKind::Interleaved)
        .cast::<bf16, m![J % 8 # 16]>()
        .commit_at(0x8000);
    y.to_hbm(&mut ctx.tdma, 1 << 28)
}
