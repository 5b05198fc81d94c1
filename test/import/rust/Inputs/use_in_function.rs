// A `use` in a function body is ignored without a word: names that it brings in are looked up outside of the function.
// Rust: `N` is 5, `pick()` is 7, `Rows` is V / 8: out = v + 12.
use furiosa_opt_std::prelude::*;
axes![V = 2048];
mod inner {
    pub const N: i32 = 5;
    pub fn pick() -> i32 {
        7
    }
}
const N: i32 = 1;
fn pick() -> i32 {
    2
}
type D = DmTensor<i32, m![1], m![1 # 2], m![V / 8], m![V % 8]>;
fn plus(ctx: &mut Context, d: &D) -> D {
    use crate::inner::{N, pick};
    ctx.main
        .begin(d.view())
        .fetch::<m![1], m![V % 8]>()
        .collect::<m![1], m![V % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, const { N + pick() })
        .vector_final()
        .commit_trim::<m![V % 8]>()
        .commit()
}
#[device(chip = 1)]
pub fn shadowed(ctx: &mut Context, v: &HbmTensor<i32, m![1], m![V]>) -> HbmTensor<i32, m![1], m![V]> {
    let d: D = v.to_dm(&mut ctx.tdma);
    let r = plus(ctx, &d);
    r.to_hbm(&mut ctx.tdma)
}
