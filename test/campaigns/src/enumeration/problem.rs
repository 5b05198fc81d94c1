//! Small products, as functions of the tensor level.

use visa_support::Random;

/// The format of both operands, and the bytes of results.
#[derive(Clone, Copy)]
pub(super) struct Format {
    /// The format of the operands.
    pub(super) operands: &'static str,
    /// Bytes of an element.
    pub(super) bytes: u64,
    /// Bytes of a result.
    pub(super) result_bytes: u64,
}

impl Format {
    /// Elements of a flit.
    pub(super) const fn flit(&self) -> u64 {
        32 / self.bytes
    }

    /// True if the sums are cast.
    pub(super) const fn casts(&self) -> bool {
        self.result_bytes == 2
    }
}

const FORMATS: [Format; 3] = [
    Format { operands: "bf16", bytes: 2, result_bytes: 2 },
    Format { operands: "i8", bytes: 1, result_bytes: 4 },
    Format { operands: "f8e4m3", bytes: 1, result_bytes: 2 },
];

/// Positions along each axis.
const SIZES: [u64; 8] = [3, 4, 6, 8, 12, 16, 24, 32];

/// Positions of a sum.
const DEPTHS: [u64; 6] = [8, 16, 32, 48, 64, 128];

/// A product `[M, K] x [K, N]`.
pub(super) struct Problem {
    /// M, N and K.
    pub(super) sizes: [u64; 3],
    /// The format.
    pub(super) format: Format,
    /// True if K is innermost in the left operand, and in the right one.
    pub(super) inner: [bool; 2],
}

impl Problem {
    /// Draws one.
    pub(super) fn draw(random: &mut Random) -> Self {
        let sizes = [random.of(&SIZES), random.of(&SIZES), random.of(&DEPTHS)];
        Self { sizes, format: random.of(&FORMATS), inner: [random.below(2) == 0, random.below(2) == 0] }
    }

    /// The axes of an operand, slowest first.
    pub(super) fn axes(&self, operand: usize) -> [&'static str; 2] {
        let free = ["M", "N"][operand];
        if self.inner[operand] { [free, "K"] } else { ["K", free] }
    }

    /// M and N with their positions, padded to multiples of eight if `way` is 1.
    pub(super) fn whole(&self, way: usize) -> ([&'static str; 2], [u64; 2]) {
        let [m, n, _] = self.sizes;
        let padded = |name: &'static str, texts: [&'static str; 2], size: u64| match size.next_multiple_of(8)
        {
            whole if way == 0 || whole == size => (name, size),
            8 => (texts[0], 8),
            16 => (texts[1], 16),
            whole => unreachable!("{whole} positions"),
        };
        let (m, rows) = padded("M", ["M # 8", "M # 16"], m);
        let (n, columns) = padded("N", ["N # 8", "N # 16"], n);
        ([m, n], [rows, columns])
    }

    /// An operand in HBM, with rows of whole groups of 8 bytes.
    pub(super) fn stored(&self, operand: usize) -> String {
        let [outer, inner] = self.axes(operand);
        let size = if inner == "K" { self.sizes[2] } else { self.sizes[operand] };
        let whole = (size * self.format.bytes).next_multiple_of(8) / self.format.bytes;
        if whole == size { format!("[{outer}, {inner}]") } else { format!("[{outer}, {inner} # {whole}]") }
    }

    /// The axes with their positions.
    pub(super) fn declared(&self) -> String {
        let [m, n, k] = self.sizes;
        format!("M = {m}, N = {n}, K = {k}")
    }

    /// Its axes, its format, and its innermost axes.
    pub(super) fn about(&self) -> String {
        let [left, right] = [self.axes(0)[1], self.axes(1)[1]];
        format!("{} of {}, {left} and {right} innermost", self.declared(), self.format.operands)
    }

    /// True if all orders of a sum have the same result.
    pub(super) const fn is_exact(&self) -> bool {
        !self.format.casts()
    }

    /// The function.
    pub(super) fn text(&self) -> String {
        let Format { operands, .. } = self.format;
        let [[a, b], [c, d]] = [self.axes(0), self.axes(1)];
        let cast =
            if self.format.casts() { "  %y = tm.cast bf16 %c\n  tm.return %y\n" } else { "  tm.return %c\n" };
        format!(
            "visa 1\ntm.axes [{}]\ntm.func @f(%a: !tm.tensor<{operands}, [{a}, {b}]>, \
             %b: !tm.tensor<{operands}, [{c}, {d}]>) {{\n  %c = tm.contract %a, %b over [K], free\n{cast}}}\n",
            self.declared()
        )
    }
}
