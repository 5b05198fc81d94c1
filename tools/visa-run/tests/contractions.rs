//! Random contractions through lowering, interpreter and logical evaluator: products of two tensors in any order of axes, with any number of
//! rows, one or two flits a packet, time broadcast, every depth of the tree, both modes, every format, sums and maxima; and
//! convolutions with stride and dilation, whose windows are shifted. What the verifier accepts must check.

#[path = "random/numbers.rs"]
mod numbers;

use numbers::Random;
use std::path::PathBuf;
use visa_machine::Machine;
use visa_opt::Io;

/// A format in data memory, what the fetch makes of it, and its elements in a flit.
#[derive(Clone, Copy)]
struct Format {
    memory: &'static str,
    fetch: &'static str,
    flit: u64,
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

fn list(terms: &[&str]) -> String {
    if terms.is_empty() { "1".to_owned() } else { terms.join(", ") }
}

/// The accumulator of sums `[columns]` of rows N, of which there are `rows`: its line, and how the result lies in data memory.
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

/// A product of tensors: M is the stream's only, C and T the register file's, T in time broadcast; R is summed over time, G in the
/// packet; O and D are kept; L is in the packet, of both or of the stream.
fn product(random: &mut Random) -> String {
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
    let size = |axis: &str| match axis {
        "L" => l,
        "D" => d,
        "G" => group,
        "M" => 3,
        "T" => 5,
        _ => 2,
    };
    let held: u64 = file.iter().map(|axis| size(axis)).product();
    let whole = held.next_multiple_of(format.flit);
    let padded =
        if whole == held { format!("[{}]", list(&file)) } else { format!("[{}] # {whole}", list(&file)) };
    let (region, op) = (random.of(&["full", "first", "second"]), if max { "op max, " } else { "" });
    let packet = if flits == 2 { "L, D, G".to_owned() } else { format!("[L, D, G] # {}", 2 * data) };
    let (line, result) = accumulated(random, &kept, rows, "L, D", l * d);
    let Format { memory, fetch, flit } = format;
    let (stream, file, time, computed, kept) =
        (list(&stream), list(&file), list(&time), list(&computed), list(&kept));
    format!(
        "visa 1
tm.axes [S = 8, M = 3, R = 2, O = 2, C = 2, T = 5, L = {l}, D = {d}, G = {group}, N = {rows}]
tm.func @f(%x: !tm.hbm<{memory}, [1], [S, {stream}]>, %w: !tm.hbm<{memory}, [1], [S, N, {file}]>) at [0, 0x10000000] {{
  %xd = tm.to_dm %x at 0, cluster [1 # 2], slice [S], element [{stream}]
  %wd = tm.to_dm %w at 65536, cluster [1 # 2], slice [S], element [N, {file}]
  %w0 = stream.begin main %wd
  %w1 = stream.fetch %w0 {fetch}time [N], packet [{padded}]
  %w2 = stream.collect %w1 time [N, {padded} / {flit}], packet [{padded} % {flit}]
  %w3 = stream.to_trf %w2 at {region}, row [N], element [{padded}]
  %x0 = stream.begin main %xd
  %x1 = stream.fetch %x0 {fetch}time [{time}], packet [L, D, G]
  %x2 = stream.collect %x1 time [{time}, [L, D, G] / {flit}], packet [[L, D, G] % {flit}]
  %x3 = stream.align %x2, %w3 time [{computed}], packet [{packet}]
  %x4 = stream.contract %x3 {op}packet [L, D]
  %x5 = stream.accumulate {line}
  %y = stream.commit %x5 at 131072, element [{result}]
  %out = tm.to_hbm %y at 0x20000000, element [S, {kept}, N, L, D]
  tm.return %out
}}
"
    )
}

/// A convolution along W: stride and dilation 1 or 2, up to three flits, summed over F and sometimes A.
fn convolution(random: &mut Random) -> String {
    let Format { memory, fetch, flit } = random.of(&FORMATS);
    let (stride, dilation, rows) = (random.of(&[1, 2]), random.of(&[1, 2]), random.of(&[1, 2, 4, 8]));
    let taps = if stride == 2 { random.of(&[2, 4, 6]) } else { random.of(&[2, 3, 4, 5]) };
    let most = (2 * flit / stride).min(32).min(3 * flit - dilation * (taps - 1)).max(2);
    let columns = 1 + random.below(most as usize) as u64;
    let size = 1 + (columns - 1) * stride + (taps - 1) * dilation;
    let held = size.next_multiple_of(flit);
    let places = 2 * flit / stride;
    // Every second element of a window belongs to the next tap, or to none.
    let (shift, within, weight, zeros) = match (stride, dilation) {
        (1, _) => ("F", String::new(), flit, ""),
        (_, 1) => ("F / 2", ", F % 2".to_owned(), flit, ""),
        _ => ("F", ", 1 # 2 {0}".to_owned(), flit / 2, ", 1 # 2 {0}"),
    };
    let kept_columns = places.min(32);
    let mut time = vec!["A", "B"];
    random.shuffle(&mut time);
    let kept: Vec<&str> =
        time.iter().copied().filter(|axis| *axis == "B" || columns.is_multiple_of(2)).collect();
    let (line, result) = accumulated(random, &kept, rows, &format!("W # {kept_columns}"), kept_columns);
    let (time, kept) = (list(&time), list(&kept));
    let window = format!("$(W:{stride}, F:{dilation}) # {held}");
    format!(
        "visa 1
tm.axes [S = 8, A = 2, B = 3, X = {held}, Y = {weight}, W = {columns}, F = {taps}, N = {rows}]
tm.func @f(%x: !tm.hbm<{memory}, [1], [S, A, B, X]>, %w: !tm.hbm<{memory}, [1], [S, N, A, Y]>) at [0, 0x10000000] {{
  %xd = tm.to_dm %x at 0, cluster [1 # 2], slice [S], element [A, B, X]
  %xp = tm.slice %xd element [A, B, X = {size} # {held}]
  %xw = tm.window %xp element [A, B, {window}]
  %wd = tm.to_dm %w at 65536, cluster [1 # 2], slice [S], element [N, A, Y]
  %wp = tm.slice %wd element [N, A, Y = {taps} # {weight}]
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
  %y = stream.commit %x5 at 131072, element [{result}]
  %out = tm.to_hbm %y at 0x20000000, element [S, {kept}, N, W]
  tm.return %out
}}
"
    )
}

/// What a kernel can have, and the word in its text that shows it. One in fifty at least must have it and be accepted.
const FEATURES: [(&str, &str); 8] = [
    ("one row", "N = 1]"),
    ("eight rows", "N = 8]"),
    ("interleaved", "interleaved"),
    ("sequential", "sequential"),
    ("the greatest", "op max"),
    ("time broadcast", "T], packet [L"),
    ("shifted by stride 2", "$(W:2"),
    ("zeros of the register file", "{0}"),
];

/// Runs a case; its text, if it was accepted. Cases are seeded by their number, so that each can be run alone.
fn run_case(seed: u64, case: u64, machine: &str) -> Option<String> {
    let mut random = Random(seed.wrapping_shl(32) ^ case);
    let text = if random.below(4) == 0 { convolution(&mut random) } else { product(&mut random) };
    let mut io = Io::buffered(text.clone(), ".");
    let mut flags = vec!["-", "--check", "--threads", "1", "--machine", machine];
    flags.extend(case.is_multiple_of(4).then_some("--shadow"));
    let flags: Vec<String> = flags.into_iter().map(str::to_owned).collect();
    if visa_run::run(&flags, &mut io) == 0 {
        return Some(text);
    }
    // A refusal names a rule of the kernel, never a mistake of a pass, a mismatch, or what only the evaluator does not know.
    let said = String::from_utf8_lossy(&io.stderr).into_owned();
    let wrong = [
        "error[check]",
        "mistake in the pass",
        "error[pass]",
        "error[run]",
        "error[ragged]",
        "error[shadow]",
    ];
    let found = wrong.iter().find(|word| said.contains(*word));
    assert!(found.is_none(), "seed {seed}, case {case}: {said}\n{text}");
    None
}

/// A number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
#[expect(clippy::print_stdout, reason = "how many kernels were legal, for whoever runs more of them")]
fn what_the_verifier_accepts_contracts_to_the_same_values() {
    // `VISA_PIPELINES=1000000 VISA_SEED=7 cargo test -p visa-run --release --test contractions -- --nocapture` runs more.
    let (count, seed) = (setting("VISA_PIPELINES", 2_000), setting("VISA_SEED", 2026));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut machine = Machine::rngd();
    machine.topology.slices_per_cluster = 8;
    let path: PathBuf = folder.path().join("8.json");
    std::fs::write(&path, serde_json::to_string(&machine).expect("JSON")).expect("a file");
    let machine = path.to_string_lossy().into_owned();
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let share = |worker: u64| {
        let cases = (worker..count).step_by(workers as usize);
        cases.filter_map(|case| run_case(seed, case, &machine)).collect::<Vec<String>>()
    };
    let accepted: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|worker| scope.spawn(move || share(worker))).collect();
        running.into_iter().flat_map(|running| running.join().expect("a worker")).collect()
    });
    let shown = FEATURES.map(|(what, word)| {
        let found = accepted.iter().filter(|text| text.contains(word)).count() as u64;
        assert!(found * 50 >= count, "only {found} accepted kernels of {count} are {what}");
        format!("{found} {what}")
    });
    println!("{} of {count} accepted: {}", accepted.len(), shown.join(", "));
}
