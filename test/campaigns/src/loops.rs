//! Random loops over tiles, each written as a loop and written out: both give what the evaluator says, the same
//! results in the same cycles.

use crate::kernels::machines;
use crate::settings::Settings;
use crate::shared;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use visa_opt::{Io, Registry};
use visa_support::Random;

/// Slices of a cluster.
pub(crate) const SLICES: [u64; 2] = [8, 16];

/// A line of a kernel, or a loop or a branch over lines.
enum Node {
    Line(String),
    Loop(Loop),
    Branch(Branch),
}

/// A branch that changes a tensor.
struct Branch {
    /// The index of a loop, and the iterations in which its body runs.
    index: String,
    iterations: Range<u64>,
    /// What it looks at, and where that must be.
    number: String,
    bounds: String,
    /// What the tensor is called before it, and after.
    carried: [String; 2],
    body: Vec<Node>,
    yields: String,
}

/// A loop that carries a tensor.
struct Loop {
    times: u64,
    over: String,
    index: String,
    /// What the body calls the tensor, what it is before, and after.
    carried: [String; 3],
    body: Vec<Node>,
    yields: String,
}

/// How a tensor of [A, B] is cut into tiles.
struct Cut {
    /// The dimensions with their positions.
    along: Vec<(&'static str, u64)>,
    /// What a tile has on slices, and how many; in a slice, and in the time of a stream.
    slice: (&'static str, u64),
    element: &'static str,
    time: &'static str,
}

const A: u64 = 8;
const B: u64 = 32;

/// Cuts of A into rows and pairs of rows, of B into flits of 8 elements, and of both.
fn cuts() -> Vec<Cut> {
    let cut = |along: &[(&'static str, u64)], slice, element, time| Cut {
        along: along.to_vec(),
        slice,
        element,
        time,
    };
    vec![
        cut(&[("A", A)], ("1", 1), "B", "B / 8"),
        cut(&[("A / 2", A / 2)], ("A % 2", 2), "B", "B / 8"),
        cut(&[("A / 4", A / 4)], ("1", 1), "A % 4, B", "A % 4, B / 8"),
        cut(&[("B / 8", B / 8)], ("A", A), "B % 8", "1"),
        cut(&[("B / 16", B / 16)], ("A % 4", 4), "A / 4, B % 16", "A / 4, B / 8 % 2"),
        cut(&[("A", A), ("B / 8", B / 8)], ("1", 1), "B % 8", "1"),
        cut(&[("B / 16", B / 16), ("A / 2", A / 2)], ("A % 2", 2), "B % 16", "B / 8 % 2"),
    ]
}

/// Layouts of the tensors, in most of which tiles are evenly apart.
const LAYOUTS: [&str; 4] = ["A, B", "B / 8, A, B % 8", "A # 16, B", "B / 16, A, B % 16 # 24"];

/// Where tensors in data memory are, with a dimension on slices or clusters: what is on clusters, on slices, and in a
/// slice.
const SPREAD: [[&str; 3]; 5] = [
    ["1 # 2", "A", "B"],
    ["1 # 2", "A / 2", "A % 2, B"],
    ["1 # 2", "B / 8", "A, B % 8"],
    ["A / 4", "A % 4", "B"],
    ["A / 4", "B / 8", "A % 4, B % 8"],
];

/// Whether each dimension that is cut is in one dimension of a tensor there.
fn in_one(cut: &Cut, [cluster, slice, _]: [&str; 3]) -> bool {
    let splits = match (cluster, slice) {
        ("A / 4", _) => ["A", "A / 2"].as_slice(),
        (_, "A / 2") => &["A"],
        (_, _) => &[],
    };
    cut.along.iter().all(|(term, _)| !splits.contains(term))
}

/// Draws where a tensor in data memory is.
fn placed(random: &mut Random) -> [&'static str; 3] {
    match random.below(2) {
        0 => ["1 # 2", "1", random.of(&LAYOUTS)],
        _ => SPREAD[random.below(SPREAD.len())],
    }
}

/// The clauses of a place.
fn clauses([cluster, slice, element]: [&str; 3], slices: u64) -> String {
    format!("cluster [{cluster}], slice [{slice} # {slices}], element [{element}]")
}

/// What was done with a tile.
enum Made {
    /// It is at rest.
    Tensor(String),
    /// It is to be committed.
    Stream(String),
}

/// The tensors that tiles are read of and written to.
struct Ends<'a> {
    source: &'a str,
    /// Where both are in data memory, if they are there.
    places: [Option<[&'static str; 3]>; 2],
}

/// Names of the values of a kernel.
#[derive(Default)]
struct Names(usize);

impl Names {
    fn next(&mut self) -> String {
        self.0 += 1;
        format!("%v{}", self.0)
    }
}

/// A line that defines a number.
fn number(names: &mut Names, body: &mut Vec<Node>, text: &str) -> String {
    let name = names.next();
    body.push(Node::Line(format!("{name} = tm.{text}")));
    name
}

/// An index of a loop, as it is, counted from the end, or chosen. What is written has each number once.
fn index(
    random: &mut Random,
    names: &mut Names,
    (of, times): (&str, u64),
    writes: bool,
    body: &mut Vec<Node>,
) -> String {
    let last = times - 1;
    match random.below(4) {
        0 => number(names, body, &format!("affine {of} by [-1], plus {last}")),
        1 => number(names, body, &format!("affine {of}, {of} by [3, -2]")),
        2 => chosen(random, names, (of, times), writes, body),
        _ => of.to_owned(),
    }
}

/// A number that is chosen by an index.
fn chosen(
    random: &mut Random,
    names: &mut Names,
    (of, times): (&str, u64),
    writes: bool,
    body: &mut Vec<Node>,
) -> String {
    let at = random.below(times as usize) as u64;
    let end = at + 1 + random.below((times - at) as usize) as u64;
    match random.below(if writes { 3 } else { 5 }) {
        // The numbers of a range the other way round.
        0 => {
            let mirror = number(names, body, &format!("affine {of} by [-1], plus {}", at + end - 1));
            number(names, body, &format!("select {of}, {mirror}, {of} from {at}, below {end}"))
        }
        // One further, and the last one to the front.
        1 => {
            let (after, first) = (format!("affine {of} by [1], plus 1"), "affine by []".to_owned());
            let [after, first] = [after, first].map(|text| number(names, body, &text));
            number(names, body, &format!("select {of}, {after}, {first} below {}", times - 1))
        }
        // Two choices, the one of the other: the halves change places, or do not.
        2 => {
            let (half, whole) = (times / 2, times / 2 * 2);
            let ahead = number(names, body, &format!("affine {of} by [1], plus {half}"));
            let back = number(names, body, &format!("affine {of} by [1], plus -{half}"));
            let inner = number(names, body, &format!("select {of}, {back}, {ahead} from {half}"));
            number(names, body, &format!("select {of}, {inner}, {of} below {whole}"))
        }
        // An edge that stays.
        3 => {
            let before = number(names, body, &format!("affine {of} by [1], plus -{at}"));
            number(names, body, &format!("select {of}, {before}, {of} from {at}"))
        }
        // One too far, now and then.
        _ => {
            let before = number(names, body, &format!("affine {of} by [1], plus -{end}"));
            number(
                names,
                body,
                &format!("select {of}, {of}, {before} below {}", end - random.below(2) as u64),
            )
        }
    }
}

/// What is done with a tile between the memories.
fn work(
    random: &mut Random,
    names: &mut Names,
    cut: &Cut,
    slices: u64,
    (from, ends): (&str, &Ends<'_>),
    body: &mut Vec<Node>,
) -> Made {
    let place = format!("cluster [1 # 2], slice [{} # {slices}], element [{}]", cut.slice.0, cut.element);
    let mut line = |body: &mut Vec<Node>, text: String| {
        let name = names.next();
        body.push(Node::Line(format!("{name} = {text}")));
        name
    };
    if random.below(6) == 0 {
        return Made::Tensor(from.to_owned());
    }
    // A tile of data memory is fetched as it is, now and then.
    let fits =
        ends.places[0].is_some_and(|[_, slice, _]| (cut.slice.0 == "1") == (slice == "1") || slice == "A");
    let data = match fits && random.below(3) > 0 {
        true => from.to_owned(),
        // Buffers in turn, now and then: another iteration, another address.
        false => {
            let then = random.of(&["", "", "then [1024], ", "then [1024, 2048], "]);
            line(body, format!("tm.to_dm {from} at 0, {then}{place}"))
        }
    };
    if random.below(4) == 0 {
        return Made::Tensor(data);
    }
    let (time, packet) = (cut.time, "B % 8");
    let begun = line(body, format!("stream.begin main {data}"));
    let fetched = line(body, format!("stream.fetch {begun} time [{time}], packet [{packet}]"));
    let mut stream = line(body, format!("stream.collect {fetched} time [{time}], packet [{packet}]"));
    if random.below(2) == 0 {
        let first = line(body, format!("stream.vector_init {stream}"));
        let branch = line(body, format!("stream.vector_branch unconditional {first}"));
        let constant = random.below(100);
        let added = line(body, format!("stream.vector_fxp AddFxp {branch} constant {constant}"));
        stream = line(body, format!("stream.vector_final {added}"));
    }
    // A pipeline writes where it reads.
    let seldom = random.below(16) == 0;
    let stays = |slice: &str| data == from || slice == "1" && cut.slice.0 == "1" || seldom;
    if ends.places[1].is_some_and(|[_, slice, _]| stays(slice)) && random.below(3) > 0 {
        return Made::Stream(stream);
    }
    let element = cut.element;
    let committed = line(body, format!("stream.commit {stream} at 4096, element [{element}]"));
    // What is summed begins on the first slice.
    if random.below(3) > 0 || data == from {
        return Made::Tensor(committed);
    }
    Made::Tensor(summed(random, names, cut, (&committed, &place), body))
}

/// A loop that adds a tile to a tensor in data memory again and again.
fn summed(
    random: &mut Random,
    names: &mut Names,
    cut: &Cut,
    (data, place): (&str, &str),
    body: &mut Vec<Node>,
) -> String {
    let (time, element) = (cut.time, cut.element);
    // The sums are in one place, or in two in turn, of which the first iteration reads the second.
    let (before, then) = random.of(&[("8192", ""), ("8192", ""), ("9216", ", then [9216]")]);
    let zero = names.next();
    body.push(Node::Line(format!("{zero} = stream.fill 7, at {before}, dtype i32, {place}")));
    let (count, sum, total) = (names.next(), names.next(), names.next());
    let mut inner = Vec::new();
    let mut line = |text: String| {
        let name = names.next();
        inner.push(Node::Line(format!("{name} = {text}")));
        name
    };
    let begun = line(format!("stream.begin main {sum}"));
    let fetched = line(format!("stream.fetch {begun} time [{time}], packet [B % 8]"));
    let collected = line(format!("stream.collect {fetched} time [{time}], packet [B % 8]"));
    let register = line(format!("stream.to_vrf {collected} at 0, element [{element}]"));
    let begun = line(format!("stream.begin main {data}"));
    let fetched = line(format!("stream.fetch {begun} time [{time}], packet [B % 8]"));
    let collected = line(format!("stream.collect {fetched} time [{time}], packet [B % 8]"));
    let first = line(format!("stream.vector_init {collected}"));
    let branch = line(format!("stream.vector_branch unconditional {first}"));
    let added = line(format!("stream.vector_fxp AddFxp {branch}, {register}"));
    let last = line(format!("stream.vector_final {added}"));
    let next = line(format!("stream.commit {last} at 8192{then}, element [{element}]"));
    let times = 1 + random.below(3) as u64;
    body.push(Node::Loop(Loop {
        times,
        over: times.to_string(),
        index: count,
        carried: [sum, zero, total.clone()],
        body: inner,
        yields: next,
    }));
    total
}

/// The loops around a tile, one for each dimension that is cut; `filled` is the tensor before and after them.
fn around(
    random: &mut Random,
    names: &mut Names,
    cut: &Cut,
    slices: u64,
    ends: &Ends<'_>,
    [before, after]: [String; 2],
) -> Vec<Node> {
    let indices: Vec<String> = cut.along.iter().map(|_| names.next()).collect();
    let carried: Vec<String> = cut.along.iter().map(|_| names.next()).collect();
    let mut body = Vec::new();
    let mut place = |random: &mut Random, writes: bool| {
        let of = cut.along.iter().zip(&indices);
        let own = of.map(|((_, times), own)| index(random, names, (own, *times), writes, &mut body));
        own.collect::<Vec<_>>().join(", ")
    };
    // What is read and written is at the same number, now and then.
    let alike = random.below(2) == 0;
    let read = place(random, alike);
    let write = if alike { read.clone() } else { place(random, true) };
    let terms: Vec<&str> = cut.along.iter().map(|(term, _)| *term).collect();
    let along = terms.join(", ");
    let mut yields = carried[carried.len() - 1].clone();
    // Two branches fill a tile one way or the other.
    let branches = match random.below(3) {
        0 => {
            let at = random.below(indices.len());
            let times = cut.along[at].1;
            // `below 0` lets nothing run, and all does from 0 on.
            let turn = random.below(times as usize) as u64;
            let (of, mut number) = (&indices[at], indices[at].clone());
            let mut bounds = [format!("below {turn}"), format!("from {turn}, below {times}")];
            if random.below(3) == 0 {
                // The branch looks at a chosen number, which is larger from the turn on.
                let more = self::number(names, &mut body, &format!("affine {of} by [1], plus {times}"));
                number = self::number(names, &mut body, &format!("select {of}, {more}, {of} from {turn}"));
                bounds[1] = format!("from {}", turn + times);
            }
            let [first, second] = bounds;
            vec![(of.clone(), 0..turn, number.clone(), first), (of.clone(), turn..times, number, second)]
        }
        _ => Vec::new(),
    };
    for way in 0..branches.len().max(1) {
        let mut inside = Vec::new();
        let tile = names.next();
        inside.push(Node::Line(format!("{tile} = tm.tile {}, {read} along [{along}]", ends.source)));
        let made = work(random, names, cut, slices, (&tile, ends), &mut inside);
        let filled = names.next();
        let (op, made) = match &made {
            Made::Tensor(made) => ("tm.to_tile", made),
            Made::Stream(made) => ("stream.commit_tile", made),
        };
        inside.push(Node::Line(format!("{filled} = {op} {made}, {yields}, {write} along [{along}]")));
        let Some((index, iterations, number, bounds)) = branches.get(way).cloned() else {
            body.append(&mut inside);
            yields = filled;
            break;
        };
        let after = names.next();
        let carried = [yields, after.clone()];
        body.push(Node::Branch(Branch {
            index,
            iterations,
            number,
            bounds,
            carried,
            body: inside,
            yields: filled,
        }));
        yields = after;
    }
    for number in (0..cut.along.len()).rev() {
        let outer = if number == 0 { before.clone() } else { carried[number - 1].clone() };
        let result = if number == 0 { after.clone() } else { names.next() };
        let (term, times) = cut.along[number];
        let node = Loop {
            times,
            over: term.to_owned(),
            index: indices[number].clone(),
            carried: [carried[number].clone(), outer, result.clone()],
            body,
            yields,
        };
        (body, yields) = (vec![Node::Loop(node)], result);
    }
    body
}

/// The text of the nodes with their loops.
fn looped(nodes: &[Node], depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    for node in nodes {
        let _infallible = match node {
            Node::Line(line) => writeln!(out, "{indent}{line}"),
            Node::Loop(Loop { over, index, carried: [argument, before, after], body, yields, .. }) => {
                let _infallible =
                    writeln!(out, "{indent}{after} = tm.for [{over}]({index}, {argument}) {before} {{");
                looped(body, depth + 1, out);
                writeln!(out, "{indent}  tm.yield {yields}\n{indent}}}")
            }
            Node::Branch(Branch { number, bounds, carried: [before, after], body, yields, .. }) => {
                let _infallible = writeln!(out, "{indent}{after} = tm.if {number}, {before} {bounds} {{");
                looped(body, depth + 1, out);
                writeln!(out, "{indent}  tm.yield {yields}\n{indent}}}")
            }
        };
    }
}

/// What is known where nodes are written out.
#[derive(Default)]
struct Writing {
    /// What values are called.
    known: HashMap<String, String>,
    /// The iterations of the loops, by their indices.
    iterations: HashMap<String, u64>,
    /// The iteration of the innermost loop.
    innermost: Option<u64>,
    /// How many values there are.
    count: usize,
}

impl Writing {
    /// A new value.
    fn next(&mut self) -> String {
        self.count += 1;
        format!("%w{}", self.count)
    }

    /// The text of the nodes written out, an iteration after the other.
    fn nodes(&mut self, nodes: &[Node], out: &mut String) {
        for node in nodes {
            match node {
                Node::Line(line) => {
                    let (name, rest) = line.split_once(" = ").expect("a line defines a value");
                    let (value, rest) = (self.next(), self.turned(&renamed(rest, &self.known)));
                    let _infallible = writeln!(out, "  {value} = {rest}");
                    self.known.insert(name.to_owned(), value);
                }
                Node::Loop(repeat) => self.repeat(repeat, out),
                Node::Branch(Branch {
                    index, iterations, carried: [before, after], body, yields, ..
                }) => {
                    let runs = iterations.contains(&self.iterations[index]);
                    if runs {
                        self.nodes(body, out);
                    }
                    let becomes = renamed(if runs { yields } else { before }, &self.known);
                    self.known.insert(after.clone(), becomes);
                }
            }
        }
    }

    /// A line with the address of the current iteration in place of those in turn.
    fn turned(&self, line: &str) -> String {
        let parts = line.split_once(" at ").and_then(|(before, rest)| {
            let (first, rest) = rest.split_once(", then [")?;
            let (further, after) = rest.split_once(']')?;
            Some((before, first, further, after))
        });
        let Some((before, first, further, after)) = parts else { return line.to_owned() };
        let all: Vec<&str> = std::iter::once(first).chain(further.split(", ")).collect();
        let turn = self.innermost.expect("in a loop") as usize % all.len();
        format!("{before} at {}{after}", all[turn])
    }

    fn repeat(&mut self, repeat: &Loop, out: &mut String) {
        let Loop { times, index, carried: [argument, before, after], body, yields, .. } = repeat;
        let mut carried = renamed(before, &self.known);
        for iteration in 0..*times {
            let value = self.next();
            let _infallible = writeln!(out, "  {value} = tm.affine by [], plus {iteration}");
            self.known.insert(index.clone(), value);
            self.iterations.insert(index.clone(), iteration);
            self.known.insert(argument.clone(), carried);
            let around = self.innermost.replace(iteration);
            self.nodes(body, out);
            self.innermost = around;
            carried = renamed(yields, &self.known);
        }
        self.known.insert(after.clone(), carried);
    }
}

/// A text with its values called as `known` says.
fn renamed(text: &str, known: &HashMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, value) = rest.split_at(at);
        let end = value[1..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(value.len(), |end| end + 1);
        let (name, after) = value.split_at(end);
        // A remainder is no value.
        let name = if end > 1 { known.get(name).map_or(name, String::as_str) } else { name };
        out.push_str(before);
        out.push_str(name);
        rest = after;
    }
    out + rest
}

/// A kernel as a loop, and written out.
pub(crate) fn kernel(random: &mut Random, slices: u64) -> [String; 2] {
    let mut names = Names::default();
    let all = cuts();
    let (from, to) = (random.of(&LAYOUTS), random.of(&LAYOUTS));
    let (from_dm, to_dm) = (random.below(3) == 0, random.below(3) == 0);
    let place = placed(random);
    let other = if random.below(2) == 0 { place } else { placed(random) };
    let places = [from_dm.then_some(place), to_dm.then_some(other)];
    let mut nodes = vec![Node::Line(match to_dm {
        true => format!("%e = tm.empty dm, dtype i32, at 262144, {}", clauses(other, slices)),
        false => format!("%e = tm.empty hbm, dtype i32, at 65536, element [{to}]"),
    })];
    if from_dm {
        nodes.push(Node::Line(format!("%d = tm.to_dm %x at 131072, {}", clauses(place, slices))));
    }
    let ends = Ends { source: if from_dm { "%d" } else { "%x" }, places };
    let mut filled = "%e".to_owned();
    for _ in 0..1 + random.below(2) {
        let whole =
            |cut: &&Cut| places.iter().flatten().all(|place| in_one(cut, *place)) || random.below(16) == 0;
        let fitting: Vec<&Cut> = all.iter().filter(whole).collect();
        let Some(cut) = fitting.get(random.below(fitting.len().max(1))) else { continue };
        let after = names.next();
        nodes.extend(around(random, &mut names, cut, slices, &ends, [filled, after.clone()]));
        filled = after;
    }
    if to_dm {
        nodes.push(Node::Line(format!("%h = tm.to_hbm {filled} at 65536, element [A, B]")));
        filled = "%h".to_owned();
    }
    let head = format!(
        "visa 1\ntm.axes [A = {A}, B = {B}]\ntm.func @f(%x: !tm.hbm<i32, [1], [{from}]>) at [0], chips 1 {{\n"
    );
    let mut as_loop = head.clone();
    looped(&nodes, 1, &mut as_loop);
    let _infallible = writeln!(as_loop, "  tm.return {filled}\n}}");
    let (mut writing, mut out) = (Writing::default(), head);
    writing.nodes(&nodes, &mut out);
    let _infallible = writeln!(out, "  tm.return {}\n}}", renamed(&filled, &writing.known));
    [as_loop, out]
}

/// What visa-run prints of a kernel that checks; nothing if it is refused.
pub(crate) fn printed(text: &str, machine: &str, model: &str) -> Result<String, String> {
    let mut io = Io::buffered(text.to_owned(), ".");
    let flags = ["-", "--check", "--shadow", "--threads", "1", "--machine", machine, "--memory-model", model];
    let flags: Vec<String> = flags.into_iter().map(str::to_owned).collect();
    let code = visa_run::run(&Registry::standard(), &flags, &mut io);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if code == 0 { Ok(text(&io.stdout)) } else { Err(text(&io.stderr)) }
}

/// Draws kernels. Each is accepted both ways or refused both ways, and prints the same: results, elements compared,
/// cycles.
pub fn run(settings: &Settings<'_>) {
    let Settings { count, seed, .. } = *settings;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let machines = machines(folder.path(), &SLICES);
    let shares = shared::each_core(|numbers| {
        let numbers = numbers.take_while(|number| *number < count);
        numbers.filter(|number| run_case(&machines, (seed, *number))).count() as u64
    });
    let accepted: u64 = shares.iter().sum();
    println!(
        "loops, seed {seed}: {accepted} of {count} accepted and checked, as loops and written out alike"
    );
    assert!(accepted * 2 > count, "seed {seed}: more than half are refused");
}

/// Runs a case; whether it was accepted.
fn run_case(machines: &[PathBuf], (seed, case): (u64, u64)) -> bool {
    let random = &mut Random::of_case(seed, case);
    let which = random.below(SLICES.len());
    let machine = machines[which].to_str().expect("UTF-8").to_owned();
    let [as_loop, written_out] = kernel(random, SLICES[which]);
    let model = random.of(&["flat", "book", "detailed"]);
    match (printed(&as_loop, &machine, model), printed(&written_out, &machine, model)) {
        (Ok(one), Ok(other)) => {
            assert_eq!(one, other, "seed {seed}, case {case}, {model}\n{as_loop}\n{written_out}");
            assert!(one.contains(", 0 differ\n"), "seed {seed}, case {case}: {one}\n{as_loop}");
            true
        }
        (Err(one), Err(_)) => {
            assert!(
                !one.contains("error[check]") && !one.contains("error[shadow]"),
                "seed {seed}, case {case}: {one}\n{as_loop}"
            );
            false
        }
        // A single tile may be anywhere.
        (Err(refused), Ok(_)) if refused.contains("are not evenly apart") => false,
        // What a branch holds that never runs is checked, and not written out.
        (Err(_), Ok(_)) if as_loop.contains("below 0 ") => false,
        (Ok(_), Err(refused)) => {
            panic!("seed {seed}, case {case} is refused when it is written out: {refused}\n{written_out}")
        }
        (Err(refused), Ok(_)) => {
            panic!("seed {seed}, case {case} is refused as a loop: {refused}\n{as_loop}")
        }
    }
}
