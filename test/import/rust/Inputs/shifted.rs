// Integers are not of their type's width: `(1i32 << 31) >> 28` is -8 in Rust. Expected: out = v - 8.
use furiosa_opt_std::prelude::*;
axes![V = 2048];
const TOP: i32 = 1 << 31;
const LOW: i32 = TOP >> 28;
#[device(chip = 1)]
pub fn shifted(ctx: &mut Context, v: &HbmTensor<i32, m![1], m![V]>) -> HbmTensor<i32, m![1], m![V]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![V / 8], m![V % 8]> = v.to_dm(&mut ctx.tdma);
    let r: DmTensor<i32, m![1], m![1 # 2], m![V / 8], m![V % 8]> = ctx
        .main
        .begin(d.view())
        .fetch::<m![1], m![V % 8]>()
        .collect::<m![1], m![V % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, LOW)
        .vector_final()
        .commit_trim::<m![V % 8]>()
        .commit();
    r.to_hbm(&mut ctx.tdma)
}
