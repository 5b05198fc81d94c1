//! Names that nothing defines, each in a kernel of its own; and names that other crates may define.
use another_crate::Tuning;
use furiosa_opt_std::prelude::*;

axes![A = 512];

type Chip = m![1];
type Words = DmTensor<i32, Chip, m![1 # 2], m![A / 2], m![A % 2]>;
const AMOUNT: i32 = 3;

mod elsewhere {
    use another_crate::prelude::*;

    pub fn tuned() -> Other {
        Other::Default
    }
}

#[device(chip = 1)]
pub fn constant(ctx: &mut Context, input: &HbmTensor<i32, Chip, m![A]>) -> HbmTensor<i32, Chip, m![A]> {
    let x: Words = input.to_dm(&mut ctx.tdma);
    plus(ctx, &x, AMOUT).to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn enumeration(ctx: &mut Context, input: &HbmTensor<i32, Chip, m![A]>) -> HbmTensor<i32, Chip, m![A]> {
    let x: Words = input.to_dm(&mut ctx.tdma);
    plus(ctx, &x, FxpBinOp::AddFxp).to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn axis(ctx: &mut Context, input: &HbmTensor<i32, Chip, m![Q]>) -> HbmTensor<i32, Chip, m![A]> {
    input.to_dm(&mut ctx.tdma).to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn argument(ctx: &mut Context, input: &HbmTensor<i32, Chip, m![A]>) -> HbmTensor<i32, Chip, m![A]> {
    let x: Words = input.to_dm(&mut ctx.tdma);
    misspelt(ctx, &x).to_hbm(&mut ctx.tdma)
}

fn misspelt(ctx: &mut Context, x: &Wrds) -> Words {
    plus(ctx, x, AMOUNT)
}

#[device(chip = 1)]
pub fn limit(ctx: &mut Context, input: &HbmTensor<i32, Chip, m![A]>) -> HbmTensor<i32, Chip, m![A]> {
    let x: Words = input.to_dm(&mut ctx.tdma);
    plus(ctx, &x, i32::MAXIMUM).to_hbm(&mut ctx.tdma)
}

/// Nothing here is misspelt, as far as this file shows.
#[device(chip = 1)]
pub fn legal(ctx: &mut Context, input: &HbmTensor<i32, Chip, m![A]>) -> HbmTensor<i32, Chip, m![A]> {
    let x: Words = input.to_dm(&mut ctx.tdma);
    let _tuning: Option<Tuning> = Some(Tuning::Fast);
    let _other = elsewhere::tuned();
    generic::<Words>(&x);
    plus(ctx, &x, AMOUNT).to_hbm(&mut ctx.tdma)
}

fn generic<Anything>(_x: &Anything) {}

fn plus(ctx: &mut Context, x: &Words, amount: i32) -> Words {
    ctx.main
        .begin(x.view())
        .fetch::<m![1], m![A % 2]>()
        .collect::<m![1], m![A % 2 # 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, amount)
        .vector_final()
        .commit_trim::<m![A % 2]>()
        .commit()
}
