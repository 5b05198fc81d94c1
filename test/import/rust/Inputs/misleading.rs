use furiosa_opt_std::prelude::*;

axes![A = 512];

mod other {
    axes![A = 512];
    pub type Same = m![A];
}

#[device(chip = 1)]
pub fn two_axes(
    ctx: &mut Context,
    x: &HbmTensor<i32, m![1], m![A]>,
    y: &HbmTensor<i32, m![1], other::Same>,
) -> HbmTensor<i32, m![1], m![A]> {
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn captured(ctx: &mut Context, x: &HbmTensor<i32, m![1], m![A]>) -> HbmTensor<i32, m![1], m![A]> {
    let mut n = 0;
    let mut count = || n += 1;
    count();
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn fails(ctx: &mut Context, x: &HbmTensor<i32, m![1], m![A]>) -> HbmTensor<i32, m![1], m![A]> {
    assert_eq!(<m![A]>::SIZE, 511);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn always(ctx: &mut Context, x: &HbmTensor<i32, m![1], m![A]>) -> HbmTensor<i32, m![1], m![A]> {
    for i in 0..4 {
        assert!(i < 4);
    }
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn watched(ctx: &mut Context, x: &HbmTensor<i32, m![1], m![A]>) -> HbmTensor<i32, m![1], m![A]> {
    for i in 0..4 {
        assert!(i < 3);
    }
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn copied(ctx: &mut Context, x: &HbmTensor<i32, m![1], m![A]>) -> HbmTensor<i32, m![1], m![A]> {
    x.clone().to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn no_format(ctx: &mut Context, x: &HbmTensor<i32, m![1], m![A]>) -> HbmTensor<i32, m![1], m![A]> {
    let mut y = DmTensor::<_, m![1], m![1 # 2], m![A / 2], m![A % 2]>::new();
    y.view().to_dm_view(&mut ctx.tdma, y.view_mut());
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn no_size(ctx: &mut Context, x: &HbmTensor<i32, m![1], m![A]>) -> HbmTensor<i32, m![1], m![A / 2]> {
    x.view().tile::<m![A / 2], m![A / 2]>(0).to_hbm(&mut ctx.tdma)
}

pub struct Within<'a> {
    pub more: &'a Within<'a>,
}

#[device(chip = 1)]
pub fn endless(ctx: &mut Context, x: Within<'_>) {
    x.more;
}
