//! Random contractions through lowering, interpreter and logical evaluator: products of two tensors in any order
//! of axes, with any number of rows, one or two flits a packet, time broadcast, every depth of the tree, both
//! modes, every format, sums and maxima; and convolutions with stride and dilation, whose windows are shifted.
//! What the verifier accepts must check.

use crate::kernels::{Feature, Kernels};
use visa_numerics::DType;
use visa_support::Random;
use visa_support::kernel::{Kernel, list};

/// A format in data memory, what the fetch makes of it, and its elements in a flit.
#[derive(Clone, Copy)]
struct Format {
    memory: &'static str,
    fetch: &'static str,
    flit: u64,
}

impl Format {
    fn dtype(self) -> DType {
        DType::all().find(|dtype| dtype.to_string() == self.memory).expect("a format")
    }
}

const FORMATS: [Format; 7] = [
    Format { memory: "i4", fetch: "", flit: 64 },
    Format { memory: "i4", fetch: "dtype i5, ", flit: 64 },
    Format { memory: "i8", fetch: "", flit: 32 },
    Format { memory: "i8", fetch: "dtype i9, ", flit: 32 },
    Format { memory: "f8e4m3", fetch: "", flit: 32 },
    Format { memory: "f8e5m2", fetch: "", flit: 32 },
    Format { memory: "bf16", fetch: "", flit: 16 },
];

/// The accumulator of sums `[columns]` of rows N, of which there are `rows`: its line, and how the result is in
/// data memory.
fn accumulated(random: &mut Random, kept: &[&str], rows: u64, columns: &str, count: u64) -> (String, String) {
    let kept = list(kept);
    if random.below(2) == 0 {
        let lanes = if rows == 8 { "N".to_owned() } else { "N # 8".to_owned() };
        let line = format!("interleaved %x4 time [{kept}, {columns}], packet [{lanes}]");
        return (line, format!("{kept}, {columns}, {lanes}"));
    }
    let whole = count.next_multiple_of(8);
    let padded = if whole == count { format!("[{columns}]") } else { format!("[{columns}] # {whole}") };
    let line = format!("sequential %x4 time [{kept}, N, {padded} / 8], packet [{padded} % 8]");
    (line, format!("{kept}, N, {padded}"))
}

/// A product of tensors: M is the stream's only, C and T the register file's, T in time broadcast; R is summed
/// over time, G in the packet; O and D are kept; L is in the packet, of both or of the stream.
pub(crate) struct Product {
    format: Format,
    /// Elements of a packet.
    data: u64,
    flits: u64,
    /// Elements along each axis.
    sizes: Vec<(&'static str, u64)>,
    /// The axes of time, in order, without T.
    time: Vec<&'static str>,
    /// The axes of time of the result.
    kept: Vec<&'static str>,
    /// The layout of the stream's tensor.
    stream: Vec<&'static str>,
    /// The layout of the register file's tensor.
    file: Vec<&'static str>,
    /// Whether the greatest product is taken.
    pub(crate) max: bool,
    tiled: bool,
    /// The text of R in time: R itself, or its digits in another order.
    summed: &'static str,
}

impl Product {
    /// Draws one in which R has `summed` positions.
    pub(crate) fn draw(random: &mut Random, summed: u64) -> Self {
        let format = random.of(&FORMATS);
        let max = random.below(4) == 0;
        let (flits, rows) = (random.of(&[1, 2, 2]), if max { 1 } else { random.of(&[1, 2, 4, 8]) });
        let data = format.flit * flits;
        let group = 1 << random.below(data.ilog2() as usize + 1);
        let rest = data / group;
        let inner = 1 << random.below(rest.ilog2() as usize + 1);
        let (l, d) = (rest / inner, inner);
        let both = random.below(3) > 0 || l == 1;
        let mut time: Vec<&str> = ["M", "R", "O", "C"].into_iter().filter(|_| random.below(3) > 0).collect();
        random.shuffle(&mut time);
        let tiled = random.below(3) == 0;
        let mut computed = time.clone();
        computed.extend(tiled.then_some("T"));
        let kept: Vec<&str> = computed.iter().copied().filter(|axis| *axis != "R").collect();
        let mut stream: Vec<&str> = time.iter().copied().filter(|axis| *axis != "C").collect();
        random.shuffle(&mut stream);
        stream.extend(["L", "D", "G"]);
        let mut file: Vec<&str> = computed.iter().copied().filter(|axis| *axis != "M").collect();
        random.shuffle(&mut file);
        file.extend(both.then_some("L"));
        file.extend(["D", "G"]);
        let sizes = vec![
            ("S", 8),
            ("M", 3),
            ("R", summed),
            ("O", 2),
            ("C", 2),
            ("T", 5),
            ("L", l),
            ("D", d),
            ("G", group),
            ("N", rows),
        ];
        Self { format, data, flits, sizes, time, kept, stream, file, max, tiled, summed: "R" }
    }

    /// Elements along an axis.
    pub(crate) fn size(&self, axis: &str) -> u64 {
        self.sizes.iter().find(|(name, _)| *name == axis).expect("an axis").1
    }

    /// The format of both tensors in memory.
    pub(crate) fn dtype(&self) -> DType {
        self.format.dtype()
    }

    /// The layout of the stream's tensor in a slice.
    pub(crate) fn stream(&self) -> &[&'static str] {
        &self.stream
    }

    /// The layout of a row of the register file's tensor in a slice.
    pub(crate) fn file(&self) -> &[&'static str] {
        &self.file
    }

    /// The axes of time of the result.
    pub(crate) fn kept(&self) -> &[&'static str] {
        &self.kept
    }

    /// Returns true if R is summed.
    pub(crate) fn sums_over_time(&self) -> bool {
        self.time.contains(&"R")
    }

    /// Sums over R in this order of time.
    pub(crate) fn sum_in(&mut self, summed: &'static str) {
        self.summed = summed;
    }

    /// Elements along each of some axes.
    pub(crate) fn sized(&self, axes: &[&'static str]) -> Vec<(&'static str, u64)> {
        axes.iter().map(|&axis| (axis, self.size(axis))).collect()
    }

    /// The kernel, with the accumulator's mode drawn.
    pub(crate) fn text(&self, random: &mut Random) -> String {
        let Self { format, data, file, kept, .. } = self;
        let Format { memory, fetch, flit } = *format;
        let held: u64 = file.iter().map(|axis| self.size(axis)).product();
        let whole = held.next_multiple_of(flit);
        let padded =
            if whole == held { format!("[{}]", list(file)) } else { format!("[{}] # {whole}", list(file)) };
        let region = random.of(&["full", "first", "second"]);
        let op = if self.max { "op max, " } else { "" };
        let packet = if self.flits == 2 { "L, D, G".to_owned() } else { format!("[L, D, G] # {}", 2 * data) };
        let (line, result) =
            accumulated(random, kept, self.size("N"), "L, D", self.size("L") * self.size("D"));
        let in_time = |axis: &&'static str| if *axis == "R" { self.summed } else { *axis };
        let time: Vec<&str> = self.time.iter().map(in_time).collect();
        let mut computed = time.clone();
        computed.extend(self.tiled.then_some("T"));
        let (stream, file, time, computed, kept) =
            (list(&self.stream), list(file), list(&time), list(&computed), list(kept));
        let sizes: Vec<String> = self.sizes.iter().map(|(axis, size)| format!("{axis} = {size}")).collect();
        Kernel::new(&sizes.join(", "))
            .argument("x", memory, &format!("S, {stream}"), 0)
            .argument("w", memory, &format!("S, N, {file}"), 1 << 28)
            .to_dm("xd", "x", 0, "S", &stream)
            .to_dm("wd", "w", 65536, "S", &format!("N, {file}"))
            .lines(&format!(
                "%w0 = stream.begin main %wd
         %w1 = stream.fetch %w0 {fetch}time [N], packet [{padded}]
         %w2 = stream.collect %w1 time [N, {padded} / {flit}], packet [{padded} % {flit}]
         %w3 = stream.to_trf %w2 at {region}, row [N], element [{padded}]
         %x0 = stream.begin main %xd
         %x1 = stream.fetch %x0 {fetch}time [{time}], packet [L, D, G]
         %x2 = stream.collect %x1 time [{time}, [L, D, G] / {flit}], packet [[L, D, G] % {flit}]
         %x3 = stream.align %x2, %w3 time [{computed}], packet [{packet}]
         %x4 = stream.contract %x3 {op}packet [L, D]
         %x5 = stream.accumulate {line}
         %y = stream.commit %x5 at 131072, element [{result}]"
            ))
            .returns("y", 1 << 29, &format!("S, {kept}, N, L, D"))
    }
}

/// A convolution along W: stride and dilation 1 or 2, up to three flits, summed over F and sometimes A.
pub(crate) struct Convolution {
    format: Format,
    pub(crate) stride: u64,
    pub(crate) dilation: u64,
    rows: u64,
    /// Positions of F.
    taps: u64,
    /// Positions of W.
    columns: u64,
    /// The axes of time.
    pub(crate) time: Vec<&'static str>,
    /// Those that the result has.
    pub(crate) kept: Vec<&'static str>,
}

impl Convolution {
    /// Draws one.
    pub(crate) fn draw(random: &mut Random) -> Self {
        let format = random.of(&FORMATS);
        let Format { flit, .. } = format;
        let (stride, dilation, rows) = (random.of(&[1, 2]), random.of(&[1, 2]), random.of(&[1, 2, 4, 8]));
        let taps = if stride == 2 { random.of(&[2, 4, 6]) } else { random.of(&[2, 3, 4, 5]) };
        let most = (2 * flit / stride).min(32).min(3 * flit - dilation * (taps - 1)).max(2);
        let columns = 1 + random.below(most as usize) as u64;
        let mut time = vec!["A", "B"];
        random.shuffle(&mut time);
        let kept: Vec<&str> =
            time.iter().copied().filter(|axis| *axis == "B" || columns.is_multiple_of(2)).collect();
        Self { format, stride, dilation, rows, taps, columns, time, kept }
    }

    /// The format of both tensors in memory.
    pub(crate) fn dtype(&self) -> DType {
        self.format.dtype()
    }

    /// Elements along X, in data memory.
    fn held(&self) -> u64 {
        let size = 1 + (self.columns - 1) * self.stride + (self.taps - 1) * self.dilation;
        size.next_multiple_of(self.format.flit)
    }

    /// Elements along Y.
    fn weight(&self) -> u64 {
        if (self.stride, self.dilation) == (2, 2) { self.format.flit / 2 } else { self.format.flit }
    }

    /// Elements along an axis.
    pub(crate) fn size(&self, axis: &str) -> u64 {
        match axis {
            "S" => 8,
            "A" => 2,
            "B" => 3,
            "X" => self.held(),
            "Y" => self.weight(),
            "W" => self.columns,
            "F" => self.taps,
            "N" => self.rows,
            _ => panic!("there is no axis `{axis}`"),
        }
    }

    /// The kernel, with the accumulator's mode drawn.
    pub(crate) fn text(&self, random: &mut Random) -> String {
        let Self { format, stride, dilation, rows, taps, columns, ref time, ref kept } = *self;
        let Format { memory, fetch, flit } = format;
        let size = 1 + (columns - 1) * stride + (taps - 1) * dilation;
        let (held, weight, places) = (self.held(), self.weight(), 2 * flit / stride);
        // Every second element of a window belongs to the next tap, or to none.
        let (shift, within, zeros) = match (stride, dilation) {
            (1, _) => ("F", String::new(), ""),
            (_, 1) => ("F / 2", ", F % 2".to_owned(), ""),
            _ => ("F", ", 1 # 2 {0}".to_owned(), ", 1 # 2 {0}"),
        };
        let kept_columns = places.min(32);
        let (line, result) = accumulated(random, kept, rows, &format!("W # {kept_columns}"), kept_columns);
        let (time, kept) = (list(time), list(kept));
        let window = format!("$(W:{stride}, F:{dilation}) # {held}");
        Kernel::new(&format!(
            "S = 8, A = 2, B = 3, X = {held}, Y = {weight}, W = {columns}, F = {taps}, N = {rows}"
        ))
        .argument("x", memory, "S, A, B, X", 0)
        .argument("w", memory, "S, N, A, Y", 1 << 28)
        .to_dm("xd", "x", 0, "S", "A, B, X")
        .line(&format!("%xp = tm.slice %xd element [A, B, X = {size} # {held}]"))
        .line(&format!("%xw = tm.window %xp element [A, B, {window}]"))
        .to_dm("wd", "w", 65536, "S", "N, A, Y")
        .lines(&format!(
            "%wp = tm.slice %wd element [N, A, Y = {taps} # {weight}]
         %wr = tm.reshape %wp element [N, A, F # {weight}]
         %w0 = stream.begin main %wr
         %w1 = stream.fetch %w0 {fetch}time [N, A], packet [F # {weight}{zeros}]
         %w2 = stream.collect %w1 time [N, A], packet [F # {weight}{zeros}]
         %w3 = stream.to_trf %w2 at full, row [N], element [A, F # {weight}{zeros}]
         %x0 = stream.begin main %xw
         %x1 = stream.fetch %x0 {fetch}time [{time}], packet [{window}]
         %x2 = stream.collect %x1 time [{time}, {window} / {flit}], packet [{window} % {flit}]
         %x3 = stream.align %x2, %w3 time [{time}, {shift}], packet [W # {places}{within}]
         %x4 = stream.contract %x3 packet [W # {kept_columns}]
         %x5 = stream.accumulate {line}
         %y = stream.commit %x5 at 131072, element [{result}]"
        ))
        .returns("y", 1 << 29, &format!("S, {kept}, N, W"))
    }
}

/// What a kernel can have, and the words in its text that show it.
const FEATURES: &[Feature] = &[
    ("of one row", &["N = 1]"]),
    ("of eight rows", &["N = 8]"]),
    ("interleaved", &["interleaved"]),
    ("sequential", &["sequential"]),
    ("maxima", &["op max"]),
    ("broadcast in time", &["T], packet [L"]),
    ("shifted by stride 2", &["$(W:2"]),
    ("with zeros in the register file", &["{0}"]),
];

/// Random contractions and convolutions.
pub const KERNELS: Kernels =
    Kernels { name: "contractions", slices: &[8], generate, features: FEATURES, one_in: 50 };

/// The slices are 8.
fn generate(random: &mut Random, _: u64) -> String {
    match random.below(4) {
        0 => Convolution::draw(random).text(random),
        _ => Product::draw(random, 2).text(random),
    }
}
