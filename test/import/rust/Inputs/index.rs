//! Numbers made of loop indices: Rust's types decide where the loop stays and where it is unrolled.
use furiosa_opt_std::prelude::*;

axes![A = 512, B = 32];

type Chip = m![1];

/// `b - 30` wraps around for the first 30 iterations, so the last two rows alone are copied.
#[device(chip = 1)]
pub fn wraps(
    ctx: &mut Context,
    from: &HbmTensor<i8, Chip, m![B, A]>,
    to: &mut HbmTensor<i8, Chip, m![B, A]>,
) {
    for b in 0..32i32 {
        if ((b - 30) as u32) < 2 {
            let row = from.view().tile::<m![B], 1, m![1 # 32, A]>(b as usize);
            let output = to.view_mut().tile::<m![B], 1, m![1 #{!} 32, A]>(b as usize);
            row.to_hbm_view(&mut ctx.tdma, output);
        }
    }
}

/// As 8 bits, 98 to 127 stay and 128 and 129 are -128 and -127: the first 30 rows are copied.
#[device(chip = 1)]
pub fn narrow(
    ctx: &mut Context,
    from: &HbmTensor<i8, Chip, m![B, A]>,
    to: &mut HbmTensor<i8, Chip, m![B, A]>,
) {
    for b in 0..32i32 {
        if ((b + 98) as i8) > 0 {
            let row = from.view().tile::<m![B], 1, m![1 # 32, A]>(b as usize);
            let output = to.view_mut().tile::<m![B], 1, m![1 #{!} 32, A]>(b as usize);
            row.to_hbm_view(&mut ctx.tdma, output);
        }
    }
}

/// Each row but the first is the row before it: `b - 1` is computed only where `b` is positive.
#[device(chip = 1)]
pub fn shifted(ctx: &mut Context, input: &HbmTensor<i8, Chip, m![B, A]>) -> HbmTensor<i8, Chip, m![B, A]> {
    let mut output = HbmTensor::<i8, Chip, m![B, A]>::new();
    for b in 0..<m![B]>::SIZE {
        let row = if b > 0 { b - 1 } else { b };
        let from = input.view().tile::<m![B], 1, m![1 # 32, A]>(row);
        let to = output.view_mut().tile::<m![B], 1, m![1 #{!} 32, A]>(b);
        from.to_hbm_view(&mut ctx.tdma, to);
    }
    output
}
