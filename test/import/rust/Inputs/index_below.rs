//! In the first iteration `b - 1` is below 0: Rust panics.
use furiosa_opt_std::prelude::*;

axes![A = 512, B = 32];

type Chip = m![1];

#[device(chip = 1)]
pub fn shifted(ctx: &mut Context, input: &HbmTensor<i8, Chip, m![B, A]>) -> HbmTensor<i8, Chip, m![B, A]> {
    let mut output = HbmTensor::<i8, Chip, m![B, A]>::new();
    for b in 0..<m![B]>::SIZE {
        let from = input.view().tile::<m![B], 1, m![1 # 32, A]>(b - 1 + 1);
        let to = output.view_mut().tile::<m![B], 1, m![1 #{!} 32, A]>(b);
        from.to_hbm_view(&mut ctx.tdma, to);
    }
    output
}
