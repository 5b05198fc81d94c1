//! Host programs with tensors of the host, and numbers that they copy to HBM.
#![feature(register_tool)]
#![register_tool(furiosa_opt)]
use furiosa_opt_std::prelude::*;

axes![S = 8, D = 64];

type Chip = m![1];
type Row = HbmTensor<i32, Chip, m![D]>;
type Rows = HbmTensor<i32, Chip, m![S, D]>;
type HostRow = HostTensor<i32, m![D]>;
type HostRows = HostTensor<i32, m![S, D]>;

#[device(chip = 1)]
pub fn pick(device: &mut Device, rows: &Rows, at: &HbmScalar<usize>) -> Row {
    let at = at.to_spm(&mut device.tdma);
    let row: DmTensor<i32, Chip, m![1 # 2], m![1 # 256], m![D]> =
        rows.view().tile::<m![S], 1, m![1 # 8, D]>(at).to_dm(&mut device.tdma);
    row.to_hbm(&mut device.tdma)
}

/// The types of the variable and of the result give the mappings.
pub async fn chosen(device: &mut Device, rows: &HostRows) -> Result<HostRow, Error> {
    let rows: Rows = rows.to_hbm(&mut device.pdma).await?;
    let five = HbmScalar::<usize>::from_host(5, &mut device.pdma).await?;
    let row = device.launch(pick, (&rows, &five)).await?;
    row.to_host(&mut device.pdma).await
}

/// The last of the rows, which a loop picks.
pub async fn looped(device: &mut Device, rows: &HostRows) -> HostRow {
    let rows = rows.to_hbm::<Chip, m![S, D]>(&mut device.pdma).await.unwrap();
    let mut row: Row = HbmTensor::new();
    for i in 0..8 {
        let at = HbmScalar::from_host(i, &mut device.pdma).await.unwrap();
        device.launch(pick, (&rows, &at)).output(&mut row).await.unwrap();
    }
    row.to_host::<m![D]>(&mut device.pdma).submit().await.expect("a row")
}

async fn part(device: &mut Device, row: &HostRow) -> Result<Row, Error> {
    Ok(row.to_hbm(&mut device.pdma).await?)
}

/// The first row, after the row that is given.
pub async fn both(device: &mut Device, row: &HostRow, rows: &Rows) -> Result<(HostRow, Row), Error> {
    let mut own = part(device, row).await?;
    let first = HbmScalar::from_host(0, &mut device.pdma).await?;
    let other = device.launch(pick, (rows, &first)).await?;
    row.to_hbm(&mut device.pdma).output(&mut own).await?;
    Ok((own.to_host(&mut device.pdma).await?, other))
}

pub async fn no_mapping(device: &mut Device, row: &HostRow, rows: &Rows) -> Row {
    let _own = row.to_hbm(&mut device.pdma).await.unwrap();
    device.launch(pick, (rows, 0)).await.unwrap()
}

pub async fn not_awaited(device: &mut Device, row: &HostRow, rows: &Rows) -> Row {
    row.to_hbm::<Chip, m![D]>(&mut device.pdma)
}

pub async fn twice_in_hbm(device: &mut Device, rows: &Rows) -> Row {
    rows.to_hbm::<Chip, m![S, D]>(&mut device.pdma).await.unwrap()
}

pub async fn no_engine(device: &mut Device, row: &HostRow) -> Row {
    row.to_hbm::<Chip, m![D]>().await.unwrap()
}

pub async fn of_a_truth(device: &mut Device, rows: &Rows) -> Row {
    let at = HbmScalar::from_host(true, &mut device.pdma).await.unwrap();
    device.launch(pick, (rows, &at)).await.unwrap()
}

pub async fn to_the_device(device: &mut Device, rows: &HostRows) -> Row {
    device.launch(pick, (rows, &HbmScalar::from_host(1, &mut device.pdma).await.unwrap())).await.unwrap()
}

pub async fn changed(device: &mut Device, row: &mut HostRow, rows: &Rows) {
    device.launch(pick, (rows, 1)).await.unwrap().to_host(&mut device.pdma).output(row).await.unwrap();
}

pub async fn view_of(device: &mut Device, rows: &HostRows) -> Row {
    rows.tile::<m![S], 1, m![1 # 8, D]>(0).to_hbm(&mut device.pdma).await.unwrap()
}

pub async fn of_the_host(device: &mut Device, row: &HostRow) -> HostRow {
    row.to_host::<m![D]>(&mut device.pdma).await.unwrap()
}

pub async fn only_transfers(device: &mut Device, row: &HostRow) -> Row {
    row.to_hbm(&mut device.pdma).await.unwrap()
}
