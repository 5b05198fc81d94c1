//! What rustc's program would panic on, and constructs that are not read.
use furiosa_opt_std::prelude::*;

axes![A = 256];

type T = HbmTensor<i32, m![1], m![A]>;

macro_rules! kernel {
    ($name:ident, $($body:stmt);*) => {
        #[device(chip = 1)]
        pub fn $name(ctx: &mut Context, x: &T) -> T {
            $($body;)*
            let d: DmTensor<i32, m![1], m![1 # 2], m![1 # 256], m![A]> = x.to_dm(&mut ctx.tdma);
            d.to_hbm(&mut ctx.tdma)
        }
    };
}

kernel!(overflow, let x = 200u8; let y = x + 56);
kernel!(too_far, let x = 1i32; let y = x << 32);
kernel!(least, let x = i8::MIN; let y = -x);
kernel!(past_the_end, let x = [1, 2, 3]; let y = x[3]);
kernel!(unwrapped, let x: Option<i32> = None; let y = x.unwrap());
kernel!(too_large, let x: i8 = 128);
kernel!(printed, println!("{}", 1));
kernel!(unknown, let x = 3; let y = mystery!(x));
