// A macro that one module exports and another uses by its path, as `use crate::NAME`. Legal Rust (#[macro_export]
// puts it at the root). Expected: imports; out = v + 4.
use furiosa_opt_std::prelude::*;
axes![V = 2048];
type Chip = m![1];
type Rows = m![V / 8];
mod user {
    use super::{Chip, Rows, V};
    use crate::plus_fn;
    use furiosa_opt_std::prelude::*;
    plus_fn!(plus_four, 4);
}
mod shapes {
    #[macro_export]
    macro_rules! plus_fn {
        ($name:ident, $n:literal) => {
            pub fn $name(
                ctx: &mut Context,
    d: &DmTensor<i32, Chip, m![1 # 2], Rows, m![V % 8]>,
) -> DmTensor<i32, Chip, m![1 # 2], Rows, m![V % 8]> {
                ctx.main
                    .begin(d.view())
                    .fetch::<m![1], m![V % 8]>()
                    .collect::<m![1], m![V % 8]>()
                    .vector_init()
                    .vector_intra_slice_tag(TagMode::Zero)
                    .vector_fxp(FxpBinaryOp::AddFxp, $n)
                    .vector_final()
                    .commit_trim::<m![V % 8]>()
                    .commit()
            }
        };
    }
}
#[device(chip = 1)]
pub fn four_more(ctx: &mut Context, v: &HbmTensor<i32, Chip, m![V]>) -> HbmTensor<i32, Chip, m![V]> {
    let d: DmTensor<i32, Chip, m![1 # 2], Rows, m![V % 8]> = v.to_dm(&mut ctx.tdma);
    let r = user::plus_four(ctx, &d);
    r.to_hbm(&mut ctx.tdma)
}
