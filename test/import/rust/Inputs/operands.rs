//! Operands that the vector engine does not have.
use furiosa_opt_std::prelude::*;

axes![A = 512];

type Chip = m![1];
type Row<D> = DmTensor<D, Chip, m![1 # 2], m![A / 2], m![A % 2]>;
type Out<D> = HbmTensor<D, Chip, m![A]>;

#[device(chip = 1)]
pub fn nothing(ctx: &mut Context, input: &Out<i32>) -> Out<i32> {
    let x: Row<i32> = input.to_dm(&mut ctx.tdma);
    let y: Row<i32> = ctx
        .main
        .begin(x.view())
        .fetch::<m![1], m![A % 2]>()
        .collect::<m![1], m![A % 2 # 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, TagMode::Zero)
        .vector_final()
        .commit_trim::<m![A % 2]>()
        .commit();
    y.to_hbm(&mut ctx.tdma)
}
