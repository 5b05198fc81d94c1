//! The Transpose Engine (book 27): every configuration against the definition, its marks and its cycles.

use crate::{data, exec, flow};
use visa_engine::shadow::{Shadow, ShadowLog};
use visa_engine::{Engine, Flow};
use visa_hw::program::Exec;
use visa_machine::Machine;

/// The settings of the engine.
#[derive(Clone, Copy, Debug)]
struct Config {
    element: usize,
    rows: usize,
    columns: usize,
    kept: usize,
}

impl Config {
    fn flits_in(self) -> usize {
        self.rows * self.columns / 8
    }

    /// A run over `matrices` matrices of it; transposition is stage 2.
    fn exec(self, matrices: usize) -> Exec {
        let Self { element, rows, columns, kept } = self;
        let bits = 8 * element;
        let dtype = ["", "i8", "bf16", "", "i32"][element];
        let buffering = if columns <= 16 { "double" } else { "single" };
        exec(&format!(
            "hw.fetch {dtype}, packet 32, loops [{} : 1] : 32; hw.collect flits 1; hw.transpose {buffering}, bits \
             {bits}, rows {rows}, columns {columns}, kept {kept}; hw.commit bytes 8, loops [{} : 1] : 8 @ 65536",
            matrices * self.flits_in() * 32,
            matrices * kept * 8
        ))
    }
}

/// Every configuration, with few, most and all but one of the columns kept.
fn configs() -> Vec<Config> {
    let mut configs = Vec::new();
    for (element, most) in [(1, 8), (2, 4), (4, 2)] {
        for rows in 1..=most {
            for columns in [8, 16, 32] {
                configs.extend([1, columns - 1, columns].map(|kept| Config { element, rows, columns, kept }));
            }
        }
    }
    configs
}

/// Byte `at` of flit `flit` that goes out, from the flits that come in: column `flit` of its matrix, row by row,
/// then zeros.
fn expected(config: Config, input: &[u8], flit: usize, at: usize) -> u8 {
    let (matrix, column) = (flit / config.kept, flit % config.kept);
    let (row, byte) = (at / config.element, at % config.element);
    if row >= config.rows {
        return 0;
    }
    let packets = config.columns / 8;
    let from = matrix * config.flits_in() + row * packets + column / 8;
    input[from * 32 + column % 8 * config.element + byte]
}

#[test]
fn columns_go_out_as_flits() {
    for config in configs() {
        let input: Vec<u8> = (0..2 * config.flits_in() * 32).map(|at| (at % 251 + 1) as u8).collect();
        let stream = flow(&Machine::rngd(), &config.exec(2), &data(&input), 3, None);
        let wanted: Vec<u8> =
            (0..2 * config.kept * 32).map(|at| expected(config, &input, at / 32, at % 32)).collect();
        assert_eq!(stream.bytes, wanted, "{config:?}");
        assert_eq!(stream.packet, 32);
    }
}

/// The matrix of the book's picture: 4 rows of 4, of which the first 3 columns are kept.
#[test]
fn the_picture_of_the_book() {
    let mut input = vec![99; 4 * 32];
    (0..16).for_each(|at| input[at / 4 * 32 + at % 4] = at as u8);
    let config = Config { element: 1, rows: 4, columns: 8, kept: 3 };
    let stream = flow(&Machine::rngd(), &config.exec(1), &data(&input), 3, None);
    let flits: Vec<_> = stream.bytes.chunks(32).collect();
    assert_eq!(flits.len(), 3);
    for (flit, column) in flits.iter().zip([[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14]]) {
        assert_eq!((&flit[..4], &flit[4..]), (&column[..], &[0; 28][..]));
    }
}

#[test]
fn marks_move_with_their_elements() {
    let (machine, log) = (Machine::rngd(), ShadowLog::default());
    let config = Config { element: 2, rows: 3, columns: 8, kept: 7 };
    let mut memory = data(&[1; 3 * 32]);
    memory.dm.write_shadow(0, &[Shadow::DEFINED; 3 * 32]);
    // The high byte of row 2, column 5; the trimmed column 7 of row 0; and the byte after the columns of row 1.
    for at in [2 * 32 + 11, 14, 32 + 16] {
        memory.dm.write_shadow(at, &[Shadow::NEVER_WRITTEN]);
    }
    let stream = flow(&machine, &config.exec(1), &memory, 3, Some(&log));
    let marks = stream.shadow.unwrap_or_default();
    assert_eq!(marks.len(), stream.bytes.len());
    let undefined: Vec<_> = (0..marks.len()).filter(|&at| !marks[at].is_defined()).collect();
    assert_eq!(undefined, [5 * 32 + 5]);
    assert_eq!(log.chain(marks[5 * 32 + 5]), [0, 1, 2]);
}

/// The two buffers, flit by flit: a matrix comes in once the last one that its buffer held has gone out, and goes out
/// once it is in and the one before it is out.
fn simulated(config: Config, matrices: u64) -> u64 {
    let (flits_in, flits_out) = (config.flits_in() as u64, config.kept as u64);
    let buffers = if config.columns <= 16 { 2 } else { 1 };
    let (mut input_ends, mut outputs) = (0, vec![0; buffers]);
    for _ in 0..matrices {
        input_ends = outputs[outputs.len() - buffers].max(input_ends) + flits_in;
        outputs.push(outputs[outputs.len() - 1].max(input_ends) + flits_out);
    }
    outputs[outputs.len() - 1]
}

#[test]
fn cycles_are_those_of_the_buffers() {
    for config in configs() {
        for matrices in [1, 2, 3, 10] {
            let input = Flow { packets: matrices * config.flits_in() as u64, packet: 32 };
            let cost = config.exec(matrices as usize).stages[2].cost(&Machine::rngd(), input);
            assert_eq!(cost.cycles, simulated(config, matrices), "{config:?}, {matrices} matrices");
            assert_eq!(cost.out, Flow { packets: matrices * config.kept as u64, packet: 32 });
            assert_eq!((cost.engine, cost.latency, cost.macs), (Engine::TRANSPOSE, 0, 0));
        }
    }
}

#[test]
fn no_matrix_takes_no_cycle() {
    let config = Config { element: 1, rows: 8, columns: 8, kept: 8 };
    let cost = config.exec(1).stages[2].cost(&Machine::rngd(), Flow { packets: 0, packet: 32 });
    assert_eq!((cost.cycles, cost.out.packets), (0, 0));
}
