//! `hw.transpose`: the Transpose Engine (book 27).

use crate::build::{Build, verify};
use crate::clauses::{at_least, machine, one_of};
use visa_engine::place::rngd;
use visa_engine::shadow::Shadow;
use visa_engine::words::Buffering;
use visa_engine::{Engine, Flow, Map, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stream, Unit, Wire};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_machine::Machine;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&TRANSPOSE];

/// `hw.transpose`.
#[visa_ir::view(Transpose)]
pub static TRANSPOSE: OpDecl = OpDecl {
    name: "hw.transpose",
    summary: "swaps the rows and columns of matrices",
    doc: "Row after row, a matrix of `rows` x `columns` elements of `bits` bits comes in, 8 elements (16 of 4 bits) \
          at the start of each flit; the rest is dropped. Out go its first `kept` columns, a flit each: the \
          elements of all rows, filled up with zeros. The zeros are defined. With `double` buffering a matrix comes \
          in while the one before goes out; with `single` both buffers hold one matrix, and the engine takes turns \
          (book 27).",
    constraints: &[
        ("C1", "elements have 4, 8, 16 or 32 bits, as those of the stream, and are not i5 or i9"),
        ("C2", "a matrix has at most 16 rows of 4 bits, 8 of 8, 4 of 16 or 2 of 32 (book 27: in_rows)"),
        ("C3", "it has 8, 16 or 32 columns, 16 or 32 of 4 bits (book 27: in_cols)"),
        ("C4", "at least one column is kept, and at most all (book 27: out_rows)"),
        ("C5", "up to 16 columns are buffered twice, more of them once (book 27)"),
        ("C6", "whole matrices of flits flow in (book 27)"),
    ],
    clauses: &[
        ClauseDecl::lead("buffering", ClauseKind::word::<Buffering>(), "How the two buffers are used."),
        ClauseDecl::required("bits", ClauseKind::Int, "Bits of an element."),
        ClauseDecl::required("rows", ClauseKind::Int, "Rows of a matrix that comes in (`in_rows`)."),
        ClauseDecl::required("columns", ClauseKind::Int, "Its columns (`in_cols`)."),
        ClauseDecl::required("kept", ClauseKind::Int, "Columns that go out (`out_rows`)."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.transpose double, bits 8, rows 8, columns 8, kept 8",
    interfaces: &[Interface(&rngd::TRANSPOSE), Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?))))],
    ..OpDecl::BASE
};

struct TransposeUnit {
    double: bool,
    /// Bits of an element.
    bits: u64,
    rows: u64,
    /// Flits of a row.
    packets: u64,
    /// Elements taken of a flit.
    taken: u64,
    kept: u64,
    flit: u64,
}

fn read(op: OpRef<'_>) -> Result<TransposeUnit, Diagnostic> {
    let op = Transpose::of(op)?;
    let machine = machine(*op);
    let bits = one_of(*op, "C1", ("bits", op.bits()?), &[4, 8, 16, 32])?;
    let shape = machine.transpose(bits);
    let rows = at_least(*op, "C2", ("rows", op.rows()?), 1)?;
    if rows > shape.rows {
        let message = format!("`rows` is {rows}, expected at most {} of {bits} bits", shape.rows);
        return Err(op.clause_error("C2", "rows", message));
    }
    let columns = one_of(*op, "C3", ("columns", op.columns()?), &shape.columns)?;
    let kept = at_least(*op, "C4", ("kept", op.kept()?), 1)?;
    if kept > columns {
        return Err(op.clause_error(
            "C4",
            "kept",
            format!("`kept` is {kept}, expected at most the {}", counted(columns, "column")),
        ));
    }
    let double = machine.transposes_twice(columns);
    let (found, wanted) = (op.buffering()?, if double { Buffering::Double } else { Buffering::Single });
    if found != wanted {
        let message = format!("{} are buffered {found}, expected {wanted}", counted(columns, "column"));
        return Err(op.clause_error("C5", "buffering", message));
    }
    let (taken, flit) = (shape.elements, machine.limits.flit_bytes);
    Ok(TransposeUnit { double, bits, rows, packets: columns / taken, taken, kept, flit })
}

impl TransposeUnit {
    /// Flits that a matrix comes in.
    fn flits_in(&self) -> u64 {
        self.rows * self.packets
    }

    /// The columns of each matrix, filled up with `pad`; `copy` copies an element. `items` are one a byte, or for
    /// 4-bit elements one an element.
    fn columns<T: Copy>(&self, items: &[T], pad: T, mut copy: impl FnMut(&[T], &mut [T])) -> Vec<T> {
        let (element, per_byte) = if self.bits == 4 { (1, 2) } else { (self.bits as usize / 8, 1) };
        let (taken, flit) = (self.taken as usize, self.flit as usize * per_byte);
        let row = self.packets as usize * flit;
        let matrices = items.chunks_exact(self.rows as usize * row);
        let mut out = vec![pad; matrices.len() * self.kept as usize * flit];
        let mut flits = out.chunks_exact_mut(flit);
        for matrix in matrices {
            for (column, out) in (0..self.kept as usize).zip(&mut flits) {
                let at = column / taken * flit + column % taken * element;
                let rows = matrix.chunks_exact(row);
                rows.zip(out.chunks_exact_mut(element))
                    .for_each(|(row, out)| copy(&row[at..at + element], out));
            }
        }
        out
    }
}

impl Unit for TransposeUnit {
    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        input.stored("C1", "bits")?;
        if u64::from(input.dtype.bits()) != self.bits {
            let message = format!("`bits` is {}, but the stream's elements are {}", self.bits, input.dtype);
            return Err(Mismatch::new("C1", "bits", message));
        }
        if input.packet != self.flit || !input.packets.is_multiple_of(self.flits_in()) {
            let message = format!(
                "{} of {} flow in, expected a multiple of {} of {} ({} of {})",
                counted(input.packets, "packet"),
                counted(input.packet, "byte"),
                counted(self.flits_in(), "flit"),
                self.flit,
                counted(self.rows, "row"),
                self.packets
            );
            return Err(Mismatch::new("C6", "rows", message));
        }
        // At most 8 elements of a flit become a flit each, and the input is bounded.
        let packets = (input.packets / self.flits_in()).saturating_mul(self.kept);
        Ok(Wire { packets, ..input })
    }

    /// Book 27. Twice buffered: the first matrix comes in, then each goes out while the next comes in, then the
    /// last goes out. Once buffered, each comes in and goes out by itself. The fill is in these cycles, so there
    /// is no latency.
    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        let (flits_in, flits_out) = (self.flits_in(), self.kept);
        let matrices = input.packets / flits_in;
        let cycles = match (self.double, matrices.checked_sub(1)) {
            (_, None) => 0,
            (true, Some(between)) => flits_in + between * flits_in.max(flits_out) + flits_out,
            (false, Some(_)) => matrices * (flits_in + flits_out),
        };
        let out = Flow { packets: matrices * self.kept, packet: self.flit };
        StageCost { engine: Engine::TRANSPOSE, cycles, latency: 0, macs: 0, out }
    }
}

impl Map for TransposeUnit {
    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, input: Stream) -> Stream {
        let copy = |element: &[u8], out: &mut [u8]| out.copy_from_slice(element);
        let bytes = match self.bits {
            4 => {
                let halves: Vec<u8> = input.bytes.iter().flat_map(|byte| [byte & 0xf, byte >> 4]).collect();
                self.columns(&halves, 0, copy).chunks(2).map(|pair| pair[0] | pair[1] << 4).collect()
            }
            _ => self.columns(&input.bytes, 0, copy),
        };
        let shadow = cx.marker().zip(input.shadow).map(|(mut marker, marks)| {
            let mut through = |marks: &[Shadow], out: &mut [Shadow]| {
                marks.iter().zip(out).for_each(|(&mark, out)| *out = marker.through(mark));
            };
            match self.bits {
                4 => {
                    let halves: Vec<_> = marks.iter().flat_map(|&mark| [mark; 2]).collect();
                    self.columns(&halves, Shadow::DEFINED, &mut through).chunks(2).map(Shadow::all).collect()
                }
                _ => self.columns(&marks, Shadow::DEFINED, &mut through),
            }
        });
        Stream { bytes, shadow, ..input }
    }
}
