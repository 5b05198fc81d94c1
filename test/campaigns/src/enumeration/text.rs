//! The kernel of a plan, as text.

use crate::enumeration::problem::Problem;
use crate::enumeration::space::{Field, ORDERS, ROW_BYTES, TRANSPOSED, Values, divisors};

/// Slices of a cluster.
const SLICES: u64 = 256;

/// Rows of the register file that a packet meets.
const LANES: u64 = 8;

/// A part of an axis: `extent` positions of `stride` each.
#[derive(Clone, Copy)]
struct Digit {
    axis: &'static str,
    size: u64,
    stride: u64,
    extent: u64,
}

impl Digit {
    /// Its text, or `None` of a single position.
    fn text(self) -> Option<String> {
        let Self { axis, size, stride, extent } = self;
        if extent == 1 {
            return None;
        }
        let divided = if stride == 1 { String::new() } else { format!(" / {stride}") };
        let limited = if stride * extent == size { String::new() } else { format!(" % {extent}") };
        Some(format!("{axis}{divided}{limited}"))
    }

    /// The innermost positions, preceded by the others.
    fn cut(self, inner: u64) -> Option<[Self; 2]> {
        if inner == 0 || !self.extent.is_multiple_of(inner) {
            return None;
        }
        let outside = Self { stride: self.stride * inner, extent: self.extent / inner, ..self };
        Some([outside, Self { extent: inner, ..self }])
    }
}

/// Parts side by side, as a mapping.
fn map(parts: impl IntoIterator<Item = Option<String>>) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "[1]".to_owned() } else { format!("[{}]", parts.join(", ")) }
}

/// A part with padding to a multiple, filled with zeros if `zero`.
fn padded(digit: Digit, multiple: u64, zero: bool) -> Option<String> {
    let whole = digit.extent.next_multiple_of(multiple);
    if whole == digit.extent {
        return digit.text();
    }
    let text = digit.text().unwrap_or_else(|| "1".to_owned());
    Some(format!("{text} # {whole}{}", if zero { " {0}" } else { "" }))
}

/// An axis that a cluster and slices divide.
#[derive(Clone, Copy)]
struct Divided {
    cluster: Digit,
    slice: Digit,
    local: Digit,
}

/// Divides an axis; slices take positions in turn if `turns`.
fn divide(axis: &'static str, size: u64, [clusters, slices]: [u64; 2], turns: bool) -> Option<Divided> {
    if !size.is_multiple_of(clusters * slices) {
        return None;
    }
    let local = size / clusters / slices;
    let digit = |stride, extent| Digit { axis, size, stride, extent };
    let (slice, inside) = if turns {
        (digit(1, slices), digit(slices, local))
    } else {
        (digit(local, slices), digit(1, local))
    };
    Some(Divided { cluster: digit(local * slices, clusters), slice, local: inside })
}

/// A plan with its divided axes.
struct Plan<'a> {
    problem: &'a Problem,
    values: &'a Values,
    rows: Divided,
    columns: Divided,
    sums: Divided,
}

/// Results of the accumulator: the digits in time, slowest first, and that of the packet.
struct Results {
    time: Vec<Digit>,
    packet: Digit,
}

/// The kernel of a plan, or `None` if the fields contradict each other.
pub(super) fn text(problem: &Problem, values: &Values) -> Option<String> {
    let stationary = Field::Stationary.of(values);
    let (names, sizes) = problem.whole(Field::Whole.of(values));
    let clusters = [[1, 1], [2, 1], [1, 2]][Field::Cluster.of(values)];
    let axis = |name, size: u64, clusters, slices: usize, turns: usize| {
        divide(name, size, [clusters, *divisors(size).get(slices)?], turns == 1)
    };
    let [rows, columns] = [stationary, 1 - stationary];
    let rows =
        axis(names[rows], sizes[rows], clusters[0], Field::Rows.of(values), Field::RowsDigit.of(values))?;
    let columns = axis(
        names[columns],
        sizes[columns],
        clusters[1],
        Field::Columns.of(values),
        Field::ColumnsDigit.of(values),
    )?;
    let sums = axis("K", problem.sizes[2], 1, Field::Sums.of(values), Field::SumsDigit.of(values))?;
    Plan { problem, values, rows, columns, sums }.text()
}

impl Plan<'_> {
    fn get(&self, field: Field) -> usize {
        field.of(self.values)
    }

    /// The slices, with other digits than those of the rows and of the sum if the plan has them.
    fn slices(&self, rows: Option<String>, sums: Option<String>) -> Option<String> {
        let divided = [
            (self.rows.slice, rows),
            (self.columns.slice, self.columns.slice.text()),
            (self.sums.slice, sums),
        ];
        let order = ORDERS[self.get(Field::Order)];
        let used: u64 = divided.iter().map(|(digit, _)| digit.extent).product();
        if used > SLICES {
            return None;
        }
        let present: Vec<usize> = order.into_iter().filter(|&part| divided[part].0.extent > 1).collect();
        if present.is_empty() {
            return Some(format!("[1 # {SLICES}]"));
        }
        let wide = *present.get(self.get(Field::Padded))?;
        if !SLICES.is_multiple_of(used / divided[wide].0.extent) {
            return None;
        }
        let whole = SLICES / (used / divided[wide].0.extent);
        let parts = present.iter().map(|&part| {
            let (digit, text) = &divided[part];
            let text = text.clone().unwrap_or_else(|| "1".to_owned());
            let to = if part == wide { whole } else { digit.extent };
            let is_full = to == digit.extent && text != "1";
            Some(if is_full { text } else { format!("{text} # {to}") })
        });
        Some(map(parts))
    }

    /// The innermost of the slices that divide something, by its number.
    fn innermost(&self) -> Option<usize> {
        let extents = [self.rows.slice, self.columns.slice, self.sums.slice].map(|digit| digit.extent);
        ORDERS[self.get(Field::Order)].into_iter().rfind(|&part| extents[part] > 1)
    }

    fn cluster(&self) -> String {
        let [rows, columns] = [self.rows.cluster, self.columns.cluster];
        let divided = [rows, columns].into_iter().find_map(Digit::text);
        format!("[{}]", divided.unwrap_or_else(|| "1 # 2".to_owned()))
    }

    /// A load.
    fn load(
        &self,
        operand: usize,
        slices: &str,
        [outer, inner]: [Digit; 2],
        layout: usize,
        queue: Field,
    ) -> Option<String> {
        let name = ["a", "b"][operand];
        let order = if layout == 0 { [outer, inner] } else { [inner, outer] };
        if !(self.run(operand, order) * self.problem.format.bytes).is_multiple_of(8) {
            return None;
        }
        let queue = self.queue(queue);
        let (cluster, element) = (self.cluster(), map(order.map(Digit::text)));
        Some(format!(
            "  %{name}_dm = tm.to_dm %{name} at auto, cluster {cluster}, slice {slices}, element {element}{queue}\n"
        ))
    }

    /// The clause of a queue.
    fn queue(&self, field: Field) -> String {
        self.get(field).checked_sub(1).map(|cluster| format!(", queue {cluster}")).unwrap_or_default()
    }

    /// The rows that a packet meets at once, preceded by the others.
    fn lanes(&self) -> Option<[Digit; 2]> {
        let lanes = LANES >> self.get(Field::Lanes);
        let rows = self.rows.local;
        let is_least = self.get(Field::Lanes) == 0;
        if lanes >= rows.extent && !is_least { None } else { rows.cut(rows.extent.min(lanes)) }
    }

    /// Elements of a packet of the stream: two flits, or fewer.
    fn packet(&self, digit: Digit) -> Option<[Digit; 2]> {
        let most = 2 * self.problem.format.flit();
        let narrow = self.get(Field::Packet);
        let wide = most >> narrow;
        if wide >= digit.extent && narrow > 0 { None } else { digit.cut(digit.extent.min(wide)) }
    }

    /// Elements of an operand that are contiguous in HBM and in data memory.
    fn run(&self, operand: usize, order: [Digit; 2]) -> u64 {
        let innermost = self.problem.axes(operand)[1];
        let present = order.iter().rev().find(|digit| digit.extent > 1);
        match present {
            Some(digit) if digit.axis.starts_with(innermost) && digit.stride == 1 => digit.extent,
            Some(_) | None => 1,
        }
    }

    /// The whole kernel.
    fn text(&self) -> Option<String> {
        let Problem { format, .. } = self.problem;
        let slices = self.slices(self.rows.slice.text(), self.sums.slice.text())?;
        let rows = self.register_file(&slices)?;
        let stream = self.stream(&slices)?;
        let results = self.results()?;
        let [a, b] = [0, 1].map(|operand| self.problem.stored(operand));
        let dtype = format.operands;
        Some(format!(
            "visa 1\ntm.axes [{}]\ntm.func @f(%a: !tm.hbm<{dtype}, [1], {a}>, %b: !tm.hbm<{dtype}, [1], {b}>) \
             at [0, 65536] {{\n{rows}{stream}{results}  tm.return %y\n}}\n",
            self.problem.declared()
        ))
    }

    /// The load and the rows of the register file.
    fn register_file(&self, slices: &str) -> Option<String> {
        let operand = self.get(Field::Stationary);
        let flit = self.problem.format.flit();
        let load = self.load(
            operand,
            slices,
            [self.rows.local, self.sums.local],
            self.get(Field::RowsLayout),
            Field::RowsQueue,
        )?;
        let sums = self.sums.local;
        let [outer, lanes] = self.lanes()?;
        let fills = self.get(Field::Filler) == 0 || sums.extent.is_multiple_of(flit);
        if !lanes.extent.is_power_of_two() || !fills {
            return None;
        }
        let whole = padded(sums, flit, true);
        let [beyond, packet] = if sums.extent.is_multiple_of(flit) {
            sums.cut(flit)?.map(Digit::text)
        } else if sums.extent < flit {
            [None, whole.clone()]
        } else {
            return None;
        };
        let context = ["main", "sub"][self.get(Field::Filler)];
        let name = ["a", "b"][operand];
        let (time, element) = (map([lanes.text(), outer.text()]), map([outer.text(), whole.clone()]));
        Some(format!(
            "{load}  %r0 = stream.begin {context} %{name}_dm\n  %r1 = stream.fetch %r0 time {time}, packet {}\n  \
             %r2 = stream.collect %r1 time {}, packet {}\n  \
             %r3 = stream.to_trf %r2 at full, row {}, element {element}\n",
            map([whole]),
            map([lanes.text(), outer.text(), beyond]),
            map([packet]),
            map([lanes.text()]),
        ))
    }

    /// The parts that slices of a ring load of the stream, and how they are in time: the loaded axes, the slices,
    /// the time after the exchange, the switch.
    fn shared(&self, slices: &str) -> Option<(Divided, String, Option<u64>)> {
        let along = if self.get(Field::Mode) == 0 { self.columns } else { self.sums };
        let ring = self.rows.slice.extent;
        let Some(way) = self.get(Field::Shared).checked_sub(1) else {
            return Some((along, slices.to_owned(), None));
        };
        if ring == 1 || self.innermost() != Some(0) {
            return None;
        }
        let rest = along.local.extent / ring;
        let [outer, inner] = along.local.cut(if way == 0 { rest } else { ring })?;
        let (part, kept) = if way == 0 { (outer, inner) } else { (inner, outer) };
        if part.extent != ring {
            return None;
        }
        let loaded = self.slices(part.text(), self.sums.slice.text())?;
        Some((Divided { slice: part, local: kept, ..along }, loaded, Some(ring)))
    }

    /// The load and the stream up to the accumulator.
    fn stream(&self, slices: &str) -> Option<String> {
        let operand = 1 - self.get(Field::Stationary);
        let tree = self.get(Field::Mode) == 0;
        let flit = self.problem.format.flit();
        let (part, loaded, ring) = self.shared(slices)?;
        let locals = if tree { [part.local, self.sums.local] } else { [self.columns.local, part.local] };
        let load =
            self.load(operand, &loaded, locals, self.get(Field::ColumnsLayout), Field::ColumnsQueue)?;
        let dual = self.get(Field::Streamer) == 1;
        // The packet: positions of the sum, or columns, of two flits at most.
        let (packed, stepped) =
            if tree { (self.sums.local, part.local) } else { (self.columns.local, part.local) };
        let [beyond, packet] = self.packet(packed)?;
        let outermost = if tree { None } else { beyond.text() };
        let fetched = if tree { beyond.text() } else { None };
        // One of the parts is exchanged around the others in time.
        let exchanged = ring.and_then(|_| part.slice.text());
        let [before, after] =
            if self.get(Field::Shared) == 1 { [exchanged, None] } else { [None, exchanged] };
        let inner = if self.get(Field::Shared) == 1 {
            stepped.extent * if tree { beyond.extent } else { 1 }
        } else if tree {
            beyond.extent
        } else {
            1
        };
        let time = [outermost.clone(), before, stepped.text(), after, fetched.clone()];
        let switched = match ring {
            None => String::new(),
            Some(ring) => format!(
                "  %s2 = stream.switch broadcast01 %s1 slice1 {ring}, slice0 1, time0 {inner}, \
                 slice {slices}, time {}\n",
                map(time.clone())
            ),
        };
        let from = if ring.is_some() { "s2" } else { "s1" };
        let zeros = padded(packet, flit, tree);
        let name = ["a", "b"][operand];
        let (collected, aligned) = self.flits(packet, dual)?;
        let context = if dual { "dual" } else { "main" };
        let [outer, _] = self.lanes()?;
        let computed = map(time.clone().into_iter().chain([outer.text()]));
        let product = if tree { "[1]".to_owned() } else { map([packet.text()]) };
        Some(format!(
            "{load}  %s0 = stream.begin {context} %{name}_dm\n  %s1 = stream.fetch %s0 time {}, packet {}\n{switched}\
             \x20 %s3 = stream.collect %{from} time {}, packet {}\n  %s4 = stream.align %s3, %r3 time {computed}, \
             packet {aligned}\n  %s5 = stream.contract %s4 packet {product}\n",
            map([outermost, stepped.text(), fetched]),
            map([zeros]),
            map(time.into_iter().chain([collected[0].clone()])),
            map([collected[1].clone()]),
        ))
    }

    /// The flits of a packet, and the packet of the contraction.
    fn flits(&self, packet: Digit, dual: bool) -> Option<([Option<String>; 2], String)> {
        let flit = self.problem.format.flit();
        let tree = self.get(Field::Mode) == 0;
        if packet.extent == 2 * flit {
            let whole = packet.text();
            let parts = if dual { [None, whole.clone()] } else { packet.cut(flit)?.map(Digit::text) };
            return Some((parts, map([whole])));
        }
        if dual || packet.extent > flit {
            return None;
        }
        let whole = padded(packet, flit, tree);
        let aligned = if tree {
            map([Some("1 # 2".to_owned()), whole.clone()])
        } else {
            map([padded(packet, 2 * flit, false)])
        };
        Some(([None, whole], aligned))
    }

    /// The accumulator, the sums between slices, the cast, the commit and the store.
    fn results(&self) -> Option<String> {
        let casts = self.problem.format.casts();
        let (mut lines, results) = self.sums()?;
        let mut from = "y0";
        if self.sums.slice.extent > 1 {
            let added = self.slices(self.rows.slice.text(), None)?;
            lines += &format!(
                "  %y1 = stream.vector_init %y0\n  %y2 = stream.vector_inter_slice_reduce Add %y1 slice {added}\n  \
                 %y3 = stream.vector_final %y2\n"
            );
            from = "y3";
        }
        if casts {
            let packet = map([padded(results.packet, self.columns_of_flit(), false)]);
            lines += &format!("  %y4 = stream.cast bf16 %{from} packet {packet}\n");
            from = "y4";
        }
        // The packet has to have the innermost axis of the result.
        if !results.packet.axis.starts_with('N') && self.needs_turn() && results.packet.extent > 1 {
            lines += &self.turned(from, &results)?;
            from = "y5";
        }
        lines += &self.stored(from);
        Some(lines)
    }

    /// Results of a flit.
    fn columns_of_flit(&self) -> u64 {
        if self.problem.format.casts() { 16 } else { LANES }
    }

    /// The accumulator, and its results.
    fn sums(&self) -> Option<(String, Results)> {
        let tree = self.get(Field::Mode) == 0;
        let ([outer, lanes], columns) = (self.lanes()?, self.columns.local);
        let (order, time, packet) = if self.get(Field::Accumulator) == 0 {
            let kept = if tree { self.kept() } else { vec![columns] };
            ("interleaved", kept.into_iter().chain([outer]).collect::<Vec<Digit>>(), lanes)
        } else if tree || outer.extent > 1 {
            return None;
        } else {
            let [beyond, inside] = self.packet(columns)?;
            let [steps, packet] = inside.cut(inside.extent.min(LANES))?;
            ("sequential", vec![beyond, lanes, steps], packet)
        };
        let line = format!(
            "  %y0 = stream.accumulate {order} %s5 time {}, packet {}\n",
            map(time.iter().map(|digit| digit.text())),
            map([padded(packet, LANES, false)])
        );
        Some((line, Results { time, packet }))
    }

    /// The exchange of the columns in time with the rows of the packet.
    fn turned(&self, from: &str, results: &Results) -> Option<String> {
        let innermost = columns_of(&results.time)?;
        let wide = TRANSPOSED[self.get(Field::Transposed)].min(innermost.extent);
        let [steps, turned] = innermost.cut(wide)?;
        let kept = results.time.iter().filter(|digit| !digit.axis.starts_with('N'));
        let time = kept.chain([&steps, &results.packet]).map(|digit| digit.text());
        let packet = map([padded(turned, self.columns_of_flit(), false)]);
        Some(format!("  %y5 = stream.transpose %{from} time {}, packet {packet}\n", map(time)))
    }

    /// The commit and the store.
    fn stored(&self, from: &str) -> String {
        let (rows, columns) = (self.rows.local, self.columns.local);
        let [m, n] = if self.get(Field::Stationary) == 0 { [rows, columns] } else { [columns, rows] };
        let (element, size) = (self.problem.format.result_bytes, self.problem.sizes[1]);
        let row = (size * element).next_multiple_of(ROW_BYTES[self.get(Field::Stored)]) / element;
        let pad = if row == size { String::new() } else { format!(" # {row}") };
        format!(
            "  %y6 = stream.commit %{from} at auto, element {}\n  \
             %y = tm.to_hbm %y6 at 131072, element [M, N{pad}]{}\n",
            map([m.text(), padded(n, 8 / element, false)]),
            self.queue(Field::StoreQueue)
        )
    }

    /// The columns in time after a tree, in their order.
    fn kept(&self) -> Vec<Digit> {
        let columns = self.columns.local;
        match self.get(Field::Shared) {
            0 => vec![columns],
            way => {
                let ring = self.rows.slice.extent;
                let rest = columns.extent / ring;
                let cut = columns.cut(if way == 1 { rest } else { ring });
                cut.map(Vec::from).unwrap_or_default()
            }
        }
    }

    /// True if the result has several columns in a slice.
    fn needs_turn(&self) -> bool {
        let columns = if self.get(Field::Stationary) == 0 { self.columns.local } else { self.rows.local };
        columns.extent > 1
    }
}

/// The columns in time, if they are one digit.
fn columns_of(time: &[Digit]) -> Option<Digit> {
    let mut all = time.iter().filter(|digit| digit.axis.starts_with('N') && digit.extent > 1);
    let only = all.next()?;
    all.next().is_none().then_some(*only)
}
