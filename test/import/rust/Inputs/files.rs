//! Register files: what a function gives back, what a vector pass leaves in one, and other names for one.
use furiosa_opt_std::prelude::*;

axes![S = 256, A = 64, T = 16, U = 16, C = 8, D = 8, M = 32, K = 32, N = 8, N1 = 2, N2 = 4];

type Chip = m![1];
type Cluster = m![1 # 2];
type Slice = m![S];

/// The type of the file is that of what the function gives back.
fn loaded(
    device: &mut Device,
    w: &HbmTensor<bf16, Chip, m![N, K]>,
) -> (TrfTensor<bf16, Chip, Cluster, Slice, m![N], m![K]>, DmTensor<bf16, Chip, Cluster, Slice, m![N, K]>) {
    let w: DmTensor<bf16, Chip, Cluster, Slice, m![N, K]> = w.to_dm(&mut device.tdma);
    let w_trf = device
        .sub
        .begin(w.view())
        .fetch::<m![N], m![K]>()
        .collect::<m![N, K / 16], m![K % 16]>()
        .to_trf(&mut device.sub);
    (w_trf, w)
}

/// The same of one alone, in a block.
fn alone(
    device: &mut Device,
    w: &DmTensor<bf16, Chip, Cluster, Slice, m![N, K]>,
) -> TrfTensor<bf16, Chip, Cluster, Slice, m![N], m![K]> {
    let file =
        device.sub.begin(w.view()).fetch::<m![N], m![K]>().collect::<m![N, K / 16], m![K % 16]>().to_trf();
    unsafe { file }
}

#[device(chip = 1)]
pub fn product(
    device: &mut Device,
    x: &HbmTensor<bf16, Chip, m![S, M, K]>,
    w: &HbmTensor<bf16, Chip, m![N, K]>,
) -> HbmTensor<f32, Chip, m![T, U, M, N1, N2]> {
    let (w_trf, w_dm) = loaded(device, w);
    let twice = alone(device, &w_dm);
    let renamed: &TrfTensor<bf16, Chip, Cluster, m![T, U], m![N1, N2], m![K]> =
        unsafe { std::mem::transmute(&w_trf) };
    let x: DmTensor<bf16, Chip, Cluster, Slice, m![M, K]> = x.to_dm(&mut device.tdma);
    let first: DmTensor<f32, Chip, Cluster, Slice, m![M, N]> = device
        .main
        .begin(x.view())
        .fetch::<m![M], m![K]>()
        .collect::<m![M, K / 16], m![K % 16]>()
        .contract_outer::<m![M], m![K], _, _, _>(&twice)
        .contract_packet::<m![1]>()
        .contract_time::<m![M]>()
        .contract_lane::<m![M], m![N]>(LaneMode::Interleaved)
        .commit();
    let x: DmTensor<bf16, Chip, Cluster, m![T, U], m![M, K]> = unsafe { x.reshape() };
    let second: DmTensor<f32, Chip, Cluster, m![T, U], m![M, N1, N2]> = device
        .main
        .begin(x.view())
        .fetch::<m![M], m![K]>()
        .collect::<m![M, K / 16], m![K % 16]>()
        .contract_outer::<m![M], m![K], _, _, _>(renamed)
        .contract_packet::<m![1]>()
        .contract_time::<m![M]>()
        .contract_lane::<m![M], m![N1, N2]>(LaneMode::Interleaved)
        .commit();
    second.to_hbm(&mut device.tdma)
}

/// x divided by the root of the mean of its squares, which stays in the register file, under other axes.
#[device(chip = 1)]
pub fn norm(device: &mut Device, x: &HbmTensor<f32, Chip, m![S, A]>) -> HbmTensor<f32, Chip, m![T, U, C, D]> {
    let x: DmTensor<f32, Chip, Cluster, Slice, m![A]> = x.to_dm(&mut device.tdma);
    let root: VrfTensor<f32, Chip, Cluster, Slice, m![1 # 8]> = device
        .main
        .begin(x.view())
        .fetch::<m![A / 8], m![A % 8]>()
        .collect::<m![A / 8], m![A % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_narrow_split::<m![A / 4], m![A % 4]>()
        .vector_stash()
        .vector_fp_binary(FpBinaryOp::MulF(FpMulAlu::Mul0), Stash)
        .vector_intra_slice_reduce::<A, m![1], m![1 # 4]>(IntraSliceReduceOpF32::Add)
        .vector_fp_div(64.0)
        .vector_widen_pad::<m![1 # 8]>()
        .vector_final()
        .to_vrf(&mut device.sub);
    let root: VrfTensor<f32, Chip, Cluster, m![T, U], m![1 # 8]> = unsafe { root.reshape() };
    let x: DmTensor<f32, Chip, Cluster, m![T, U], m![C, D]> = unsafe { x.reshape() };
    let y: DmTensor<f32, Chip, Cluster, m![T, U], m![C, D]> = device
        .main
        .begin(x.view())
        .fetch::<m![C], m![D]>()
        .collect::<m![C], m![D]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_narrow_split::<m![C, D / 4], m![D % 4]>()
        .vector_fp_binary(FpBinaryOp::DivF, &root)
        .vector_widen_concat::<m![C], m![D]>()
        .vector_final()
        .commit();
    y.to_hbm(&mut device.tdma)
}

/// The sub context casts; what it casts and transposes is main's, as what the vector engine works on.
#[device(chip = 1)]
pub fn narrowed(
    device: &mut Device,
    x: &HbmTensor<f8e4m3, Chip, m![S, A]>,
) -> HbmTensor<bf16, Chip, m![S, A]> {
    let x: DmTensor<f8e4m3, Chip, Cluster, Slice, m![A]> = x.to_dm(&mut device.tdma);
    let y: DmTensor<bf16, Chip, Cluster, Slice, m![A]> = device
        .sub
        .begin(x.view())
        .fetch::<m![A / 8], m![A % 8]>()
        .fetch_cast::<f32>()
        .collect::<m![A / 8], m![A % 8]>()
        .cast::<bf16, m![A % 8 # 16]>()
        .commit_trim::<m![A % 8]>()
        .commit();
    y.to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn narrowed_and_turned(
    device: &mut Device,
    x: &HbmTensor<f32, Chip, m![S, A]>,
) -> HbmTensor<bf16, Chip, m![S, A]> {
    let x: DmTensor<f32, Chip, Cluster, Slice, m![A]> = x.to_dm(&mut device.tdma);
    let y: DmTensor<bf16, Chip, Cluster, Slice, m![A / 32, A % 8, A / 8 % 4]> = device
        .sub
        .begin(x.view())
        .fetch::<m![A / 8], m![A % 8]>()
        .collect::<m![A / 8], m![A % 8]>()
        .cast::<bf16, m![A % 8 # 16]>()
        .transpose::<m![A / 32, A % 8], m![A / 8 % 4 # 16]>()
        .commit_trim::<m![A / 8 % 4]>()
        .commit();
    y.to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn narrowed_after_all(
    device: &mut Device,
    x: &HbmTensor<f32, Chip, m![S, A]>,
) -> HbmTensor<bf16, Chip, m![S, A]> {
    let x: DmTensor<f32, Chip, Cluster, Slice, m![A]> = x.to_dm(&mut device.tdma);
    let y: DmTensor<bf16, Chip, Cluster, Slice, m![A]> = device
        .sub
        .begin(x.view())
        .fetch::<m![A / 8], m![A % 8]>()
        .collect::<m![A / 8], m![A % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_final()
        .cast::<bf16, m![A % 8 # 16]>()
        .commit_trim::<m![A % 8]>()
        .commit();
    y.to_hbm(&mut device.tdma)
}
