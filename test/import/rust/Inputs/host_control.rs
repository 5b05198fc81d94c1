//! Labels, conditional compilation and types of the host part, with the numbers that rustc gives.
use furiosa_opt_std::prelude::*;

axes![V = 2048];

type Chip = m![1];
type Row = DmTensor<i32, Chip, m![1 # 2], m![V / 8], m![V % 8]>;

const fn labelled() -> i32 {
    let mut sum = 0;
    let mut i = 0;
    'outer: while i < 5 {
        i += 1;
        let mut j = 0;
        loop {
            j += 1;
            if j == 3 {
                continue 'outer;
            }
            if i * j > 7 {
                break 'outer;
            }
            sum += i * 10 + j;
        }
    }
    sum
}

/// The first arm is not compiled, nor are the first of the statements.
fn chosen(x: i32) -> i32 {
    #[cfg(test)]
    let y = 100;
    #[cfg(not(test))]
    let y = 7;
    #[cfg(feature = "wide")]
    {
        return 5;
    }
    match x {
        #[cfg(windows)]
        2 => 1000,
        2 => y,
        _ => 0,
    }
}

/// The literal is a `u8`, as a branch that never runs says.
fn of_later_use() -> i32 {
    let x = 200;
    let shifted = x << 1;
    if false {
        let _: u8 = x;
    }
    shifted as i32
}

/// 0.1 in `f32` is more than 0.1 in `f64`: their product with 10^9 differs.
fn single() -> i32 {
    let x: f32 = 0.1;
    let y = 0.1;
    ((x as f64) * 1e9) as i32 - ((y * 1e9) as i32)
}

macro_rules! kernel {
    ($name:ident, $value:expr) => {
        #[device(chip = 1)]
        pub fn $name(ctx: &mut Context, v: &HbmTensor<i32, Chip, m![V]>) -> HbmTensor<i32, Chip, m![V]> {
            let d: Row = v.to_dm(&mut ctx.tdma);
            let r: Row = ctx
                .main
                .begin(d.view())
                .fetch::<m![1], m![V % 8]>()
                .collect::<m![1], m![V % 8]>()
                .vector_init()
                .vector_intra_slice_tag(TagMode::Zero)
                .vector_fxp(FxpBinaryOp::AddFxp, const { $value })
                .vector_final()
                .commit_trim::<m![V % 8]>()
                .commit();
            r.to_hbm(&mut ctx.tdma)
        }
    };
}

kernel!(labels, labelled());
kernel!(compiled, chosen(2));
kernel!(later_use, of_later_use());
kernel!(formats, single());
