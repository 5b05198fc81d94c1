//! A product of matrices: a helper that is generic over mappings, numbers of the host, and names for mappings.
use furiosa_opt_std::prelude::*;

axes![I = 256, J = 64, K = 64];

type Chip = m![1];
type Cluster = m![1 # 2];
type Rows = m![I];

const FLIT: usize = 16;

fn weights<S: M>(
    ctx: &mut Context,
    b: &HbmTensor<bf16, Chip, m![J, K]>,
) -> TrfTensor<bf16, Chip, Cluster, S, m![J % 8], m![J / 8, K]> {
    let b: DmTensor<bf16, Chip, Cluster, S, m![J, K]> = b.to_dm(&mut ctx.tdma);
    ctx.sub
        .begin(b.view())
        .fetch::<m![J % 8, J / 8], m![K]>()
        .collect::<m![J % 8, J / 8, K / { FLIT }], m![K % { FLIT }]>()
        .to_trf()
}

#[device(chip = 1)]
pub fn product(
    ctx: &mut Context,
    a: &HbmTensor<bf16, Chip, m![I, K]>,
    b: &HbmTensor<bf16, Chip, m![J, K]>,
) -> HbmTensor<bf16, Chip, m![I, J]> {
    let rows: DmTensor<bf16, Chip, Cluster, Rows, m![K]> = a.to_dm(&mut ctx.tdma);
    let columns = weights::<Rows>(ctx, b);
    let out: DmTensor<bf16, Chip, Cluster, Rows, m![J]> = ctx
        .main
        .begin(rows.view())
        .fetch::<m![J / 8], m![K]>()
        .collect::<m![J / 8, K / 16], m![K % 16]>()
        .contract_outer::<m![J / 8, K / 32], m![K % 32], _, _, _>(&columns)
        .contract_packet::<m![1]>()
        .contract_time::<m![J / 8]>()
        .contract_lane::<m![J / 8], m![J % 8]>(LaneMode::Interleaved)
        .cast::<bf16, m![J % 8 # 16]>()
        .commit_trim::<m![J % 8]>()
        .commit();
    out.to_hbm(&mut ctx.tdma)
}
