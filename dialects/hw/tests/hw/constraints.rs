//! Every numbered constraint, just inside and just outside.

use crate::{codes, exec_text};

/// Checks that a text verifies.
fn inside(text: &str) {
    assert_eq!(codes(text), Vec::<String>::new(), "{text}");
}

/// Checks that exactly `code` is wrong with a text.
fn outside(code: &str, text: &str) {
    assert_eq!(codes(text), [code], "{text}");
}

/// A run of the main context.
fn main(stages: &str) -> String {
    exec_text("main", stages)
}

/// A run that fetches and keeps the fetched bytes.
fn fetch(fetch: &str, flits: u64) -> String {
    main(&format!("hw.fetch {fetch}; hw.collect flits {flits}; hw.store_vrf at 0"))
}

fn sub_fetch(fetch: &str) -> String {
    exec_text("sub", &format!("hw.fetch {fetch}; hw.collect flits 1; hw.store_vrf at 0"))
}

#[test]
fn fetch_constraints() {
    inside(&fetch("i8, packet 32, loops [32 : 1] : 32", 1));
    outside("hw.fetch-C1", &fetch("i8, packet 64, loops [64 : 1] : 64", 2));
    inside(&sub_fetch("i8, packet 8, loops [8 : 1] : 8"));
    outside("hw.fetch-C1", &sub_fetch("i8, packet 8, loops [8 : 1] : 4"));
    outside("hw.fetch-C1", &sub_fetch("i8, packet 16, loops [16 : 1] : 16"));
    let entries = |ones: usize| format!("i8, packet 8, loops [{}8 : 1] : 8", "1 : 64, ".repeat(ones));
    inside(&fetch(&entries(7), 1));
    outside("hw.fetch-C2", &fetch(&entries(8), 1));
    inside(&fetch("i8, packet 32, loops [32 : 0] : 1", 1));
    outside("hw.fetch-C2", &fetch("i8, packet 32, loops [32 : 0] : 32", 1));
    outside("hw.fetch-C2", &fetch("i8, packet 8, loops [4 : 2147483648, 8 : 1] : 8", 1));
    outside("hw.fetch-C2", &fetch("i8, packet 8, loops [65536 : 0, 65536 : 0, 8 : 1] : 8", 1));
    inside(&fetch("i8, packet 32, loops [64 : 1] : 8", 1));
    outside("hw.fetch-C3", &fetch("i8, packet 36, loops [72 : 1] : 8", 2));
    outside("hw.fetch-C3", &fetch("i8, packet 32, loops [48 : 1] : 8", 1));
    outside("hw.fetch-C3", &fetch("i8, packet 0, loops [48 : 1] : 8", 1));
    outside("hw.fetch-C3", &fetch("f32, packet 6, loops [48 : 1] : 2", 1));
    inside(&fetch("i8, packet 8, loops [8 : 1] : 4", 1));
    outside("hw.fetch-C4", &fetch("i8, packet 12, loops [12 : 1] : 4", 1));
    inside(&fetch("i8, packet 2, to i32, loops [2 : 1] : 2", 1));
    outside("hw.fetch-C4", &fetch("f32, packet 8, to bf16, loops [8 : 1] : 8", 1));
    inside(&fetch("bf16, packet 16, to f32, loops [16 : 1] : 16", 1));
    outside("hw.fetch-C5", &fetch("bf16, packet 32, to f32, loops [32 : 1] : 32", 2));
    inside(&fetch("i8, packet 8, to i32, loops [8 : 1] : 8", 1));
    outside("hw.fetch-C5", &fetch("i8, packet 16, to i32, loops [16 : 1] : 16", 2));
    outside("hw.fetch-C5", &fetch("i8, packet 8, to f32, loops [8 : 1] : 8", 1));
    inside(&fetch("i8, packet 8, loops [8 : 1] : 8 @ 524280", 1));
    outside("hw.fetch-C6", &fetch("i8, packet 8, loops [8 : 1] : 8 @ 524281", 1));
    outside("hw.fetch-C6", &fetch("i8, packet 8, loops [8 : 1] : 8 @ -1", 1));
}

/// Each stage is built with its input wire.
#[test]
fn a_pipeline_is_followed_up_to_its_first_fault() {
    let fetched = "hw.fetch i8, packet 32, loops [32 : 1] : 32";
    // A stage that does not fit is reported, also where a stage after it is wrong in itself.
    let wrong_later =
        main(&format!("{fetched}; hw.collect flits 2; hw.store_trf full, rows 3, row_bytes 32"));
    assert_eq!(codes(&wrong_later), ["hw.collect-C1", "hw.store_trf-C1"]);
    // A stage that is wrong in itself ends it: nothing is known of the stream after it.
    let wrong_first =
        main(&format!("{fetched}; hw.collect flits 0; hw.store_trf full, rows 8, row_bytes 32"));
    outside("hw.collect-C1", &wrong_first);
    // A contraction takes rows and data from the aligner before it: there is none.
    outside("hw.exec-C2", &main(&format!("{fetched}; hw.collect flits 1; hw.contract i8, depth 5")));
}

#[test]
fn masks() {
    let masked = |mask: &str, loops: &str| format!("i8, packet 32, mask {mask}, loops {loops} : 32");
    let nested = "[4 : 64, 2 : 32, 32 : 1]";
    // C9: entries 0 and 1 are outside the innermost loop.
    inside(&fetch(&masked("[dim 1, valid [31]]", nested), 1));
    outside("hw.fetch-C9", &fetch(&masked("[dim 2, valid [31]]", nested), 1));
    inside(&fetch(&masked("[dim 0, by 1, valid [32, 31]]", nested), 1));
    outside("hw.fetch-C9", &fetch(&masked("[dim 0, by 2, valid [32, 31]]", nested), 1));
    outside("hw.fetch-C9", &fetch(&masked("[dim 1, by 1, valid [32, 31]]", nested), 1));
    outside("hw.fetch-C9", &fetch(&masked("[dim 0, valid [31]]", "[32 : 1]"), 1));
    // Elements of two bytes apart from each other: the innermost loop is the one above their bytes.
    let apart =
        |dim: u64| format!("bf16, packet 8, mask [dim {dim}, valid [3]], loops [2 : 64, 4 : 8, 2 : 1] : 2");
    inside(&fetch(&apart(0), 1));
    outside("hw.fetch-C9", &fetch(&apart(1), 1));
    // C10: as many counts as iterations, each within the innermost loop.
    inside(&fetch(&masked("[dim 1, left 32, valid [32]]", nested), 1));
    outside("hw.fetch-C10", &fetch(&masked("[dim 1, left 33, valid [32]]", nested), 1));
    inside(&fetch(&masked("[dim 1, valid [0]]", nested), 1));
    outside("hw.fetch-C10", &fetch(&masked("[dim 1, valid [33]]", nested), 1));
    outside("hw.fetch-C10", &fetch(&masked("[dim 1, valid [32, 31]]", nested), 1));
    outside("hw.fetch-C10", &fetch(&masked("[dim 1, by 0, valid [32, 31]]", nested), 1));
    let counts = |count: u64| {
        let valid = vec!["1"; count as usize].join(", ");
        masked(&format!("[dim 1, by 0, valid [{valid}]]"), &format!("[{count} : 32, 1 : 0, 32 : 1]"))
    };
    inside(&fetch(&counts(8), 1));
    outside("hw.fetch-C10", &fetch(&counts(9), 1));
    inside(&fetch(&masked("[dim 1, valid [31], value 255]", nested), 1));
    outside("hw.fetch-C10", &fetch(&masked("[dim 1, valid [31], value 256]", nested), 1));
    outside("hw.fetch-C10", &fetch("bf16, packet 8, mask [dim 0, valid [0]], loops [8 : 8, 3 : 1] : 1", 1));
    // C11: main, 256 bytes, counted after the conversion.
    outside("hw.fetch-C11", &sub_fetch("i8, packet 8, mask [dim 0, valid [7]], loops [1 : 0, 8 : 1] : 8"));
    let long = |to: &str, packet: u64, size: u64| {
        format!(
            "i8, packet {packet}{to}, mask [dim 0, valid [{packet}]], loops [1 : 0, {packet} : 1] : {size}"
        )
    };
    inside(&fetch(&long("", 256, 32), 8));
    outside("hw.fetch-C11", &fetch(&long("", 288, 32), 9));
    inside(&fetch(&long(", to i32", 64, 8), 8));
    outside("hw.fetch-C11", &fetch(&long(", to i32", 72, 8), 9));
}

/// At most 255 x 4 bits: 127 bytes, 63 elements of two bytes, 31 of four.
#[test]
fn masks_on_the_right_are_narrow() {
    for (dtype, width, most) in [("i8", 1, 127), ("bf16", 2, 63), ("f32", 4, 31), ("i32", 4, 31)] {
        let elements = 256 / width;
        let masked = |count: u64| {
            let valid = elements - count;
            format!("{dtype}, packet 256, mask [dim 0, valid [{valid}]], loops [1 : 0, 256 : 1] : 32")
        };
        inside(&fetch(&masked(most), 8));
        outside("hw.fetch-C10", &fetch(&masked(most + 1), 8));
        // One count an iteration has no such limit.
        let each = format!(
            "{dtype}, packet 256, mask [dim 1, by 0, valid [{elements}, 0]], loops [2 : 256, 1 : 0, 256 : 1] : 32"
        );
        inside(&fetch(&each, 8));
    }
}

/// `packets` packets of 32 bytes into a switch.
fn switch(packets: u64, switch: &str) -> String {
    let bytes = packets * 32;
    main(&format!(
        "hw.fetch i8, packet 32, loops [{bytes} : 1] : 32; hw.switch broadcast01, {switch}; hw.collect flits 1; \
         hw.store_vrf at 0"
    ))
}

#[test]
fn switch_constraints() {
    inside(&switch(1, "slice1 2, slice0 4, time0 1"));
    outside("hw.switch-C1", &switch(1, "slice1 2, slice0 3, time0 1"));
    outside("hw.switch-C1", &switch(1, "slice1 0, slice0 2, time0 1"));
    inside(&switch(1, "slice1 16, slice0 16, time0 1"));
    outside("hw.switch-C2", &switch(1, "slice1 32, slice0 16, time0 1"));
    outside("hw.switch-C2", &switch(1, "slice1 4611686018427387904, slice0 4, time0 1"));
    inside(&switch(6, "slice1 1, slice0 2, time0 6"));
    outside("hw.switch-C3", &switch(6, "slice1 1, slice0 2, time0 4"));
    outside("hw.switch-C3", &switch(6, "slice1 1, slice0 2, time0 0"));
}

#[test]
fn collect_constraints() {
    inside(&fetch("i8, packet 64, loops [64 : 1] : 8", 2));
    outside("hw.collect-C1", &fetch("i8, packet 64, loops [64 : 1] : 8", 1));
    outside("hw.collect-C1", &fetch("i8, packet 64, loops [64 : 1] : 8", 3));
    outside("hw.collect-C1", &fetch("i8, packet 72, loops [72 : 1] : 8", 2));
    outside("hw.collect-C1", &fetch("i8, packet 8, loops [8 : 1] : 8", 0));
}

fn store(bytes: u64, store: &str) -> String {
    main(&format!("hw.fetch i8, packet 32, loops [{bytes} : 1] : 32; hw.collect flits 1; {store}"))
}

#[test]
fn store_constraints() {
    inside(&store(256, "hw.store_trf full, rows 8, row_bytes 32"));
    outside("hw.store_trf-C1", &store(96, "hw.store_trf full, rows 3, row_bytes 32"));
    outside("hw.store_trf-C1", &store(512, "hw.store_trf full, rows 16, row_bytes 32"));
    inside(&store(8192, "hw.store_trf full, rows 1, row_bytes 8192"));
    inside(&store(65536, "hw.store_trf full, rows 1, row_bytes 65536"));
    inside(&store(65536, "hw.store_trf full, rows 4, row_bytes 16384"));
    outside("hw.store_trf-C2", &store(65536, "hw.store_trf full, rows 2, row_bytes 32800"));
    outside("hw.store_trf-C2", &store(65536, "hw.store_trf full, rows 8, row_bytes 8224"));
    for half in ["first", "second"] {
        for (rows, bytes) in [(1, 32768), (2, 16384), (4, 8192), (8, 4096)] {
            let text = |bytes| format!("hw.store_trf {half}, rows {rows}, row_bytes {bytes}");
            inside(&store(rows * bytes, &text(bytes)));
            outside("hw.store_trf-C2", &store(32768, &text(bytes + 32)));
        }
    }
    outside("hw.store_trf-C2", &store(32, "hw.store_trf full, rows 1, row_bytes 0"));
    outside("hw.store_trf-C3", &store(64, "hw.store_trf full, rows 1, row_bytes 32"));
    outside("hw.store_trf-C3", &store(64, "hw.store_trf full, rows 4, row_bytes 32"));
    inside(&store(8192, "hw.store_vrf at 0"));
    inside(&store(32, "hw.store_vrf at 8160"));
    outside("hw.store_vrf-C1", &store(32, "hw.store_vrf at 8161"));
    outside("hw.store_vrf-C1", &store(8224, "hw.store_vrf at 0"));
    outside("hw.store_vrf-C1", &store(32, "hw.store_vrf at -1"));
    outside("hw.store_vrf-C1", &store(32, "hw.store_vrf at 9223372036854775807"));
}

/// `flits` flits of `dtype` through aligner, contraction and accumulator to one packet a slot.
struct Contraction {
    dtype: &'static str,
    flits: u64,
    align: String,
    contract: &'static str,
    accumulate: String,
    /// Packets out.
    out: u64,
}

impl Contraction {
    /// Flits of i8, one a packet, all summed.
    fn reduced(flits: u64) -> Self {
        Self {
            dtype: "i8",
            flits,
            align: format!("full, flits 1, rows 1, data 32, loops [{flits} : 0, 32 : 1] : 32"),
            contract: "i8, depth 6",
            accumulate: format!("interleaved, rows 1, columns 1, slots [{flits} : 0] : 1"),
            out: 1,
        }
    }

    fn align(flits: u64, align: &str, rows: u64) -> Self {
        let accumulate = format!("interleaved, rows {rows}, columns 1, slots [1 : 1] : 1");
        Self { align: align.into(), accumulate, ..Self::reduced(flits) }
    }

    fn accumulate(flits: u64, accumulate: &str, out: u64) -> Self {
        Self { accumulate: accumulate.into(), out, ..Self::reduced(flits) }
    }

    fn text(&self) -> String {
        let Self { dtype, flits, align, contract, accumulate, out } = self;
        main(&format!(
            "hw.fetch {dtype}, packet 32, loops [{flits} : 0, 32 : 1] : 32; hw.collect flits 1; hw.align {align}; \
             hw.contract {contract}; hw.accumulate {accumulate}; hw.commit bytes 8, loops [{out} : 8, 8 : 1] : 8"
        ))
    }

    fn inside(&self) {
        inside(&self.text());
    }

    fn outside(&self, code: &str) {
        outside(code, &self.text());
    }
}

#[test]
fn align_constraints() {
    let align = Contraction::align;
    align(2, "full, flits 2, rows 1, data 64, loops [64 : 1] : 64", 1).inside();
    align(4, "full, flits 4, rows 1, data 64, loops [64 : 1] : 64", 1).outside("hw.align-C1");
    align(3, "full, flits 3, rows 1, data 64, loops [64 : 1] : 64", 1).outside("hw.align-C9");
    align(3, "full, flits 2, rows 1, data 64, loops [64 : 1] : 64", 1).outside("hw.align-C1");
    align(2, "full, flits 2, repeat 0, rows 1, data 64, loops [64 : 1] : 64", 1).outside("hw.align-C1");
    align(1, "full, flits 1, rows 8, data 32, loops [64 : 1] : 64", 8).inside();
    align(1, "full, flits 1, rows 5, data 32, loops [64 : 1] : 64", 8).outside("hw.align-C2");
    align(1, "full, flits 1, rows 1, data 33, loops [64 : 1] : 64", 1).outside("hw.align-C3");
    align(1, "full, flits 1, rows 1, data 0, loops [64 : 1] : 64", 1).outside("hw.align-C3");
    align(1, "full, flits 1, rows 1, data 32, loops [1 : 1] : 1", 1).inside();
    align(1, "full, flits 1, rows 1, data 32, loops [48 : 1] : 48", 1).outside("hw.align-C4");
    align(1, "full, flits 1, rows 1, data 32, loops [128 : 1] : 128", 1).outside("hw.align-C4");
    Contraction::reduced(65_536).inside();
    let long = "full, flits 1, rows 1, data 32, loops [65537 : 0, 32 : 1] : 32";
    align(1, long, 1).outside("hw.align-C5");
    align(1, "full, flits 1, rows 1, data 32, loops [64 : 1] : 64 @ 64", 1).inside();
    align(1, "full, flits 1, rows 1, data 32, loops [64 : 1] : 64 @ 32", 1).outside("hw.align-C6");
    align(1, "full, flits 1, rows 1, data 32, loops [2 : 32, 64 : 1] : 64", 1).outside("hw.align-C6");
    align(1, "full, flits 1, rows 1, data 32, loops [32 : 1] : 32 @ 32", 1).inside();
    align(1, "full, flits 1, rows 1, data 32, loops [64 : 1] : 64 @ 8128", 1).inside();
    align(1, "full, flits 1, rows 1, data 32, loops [64 : 1] : 64 @ 65472", 1).inside();
    align(1, "full, flits 1, rows 1, data 32, loops [64 : 1] : 64 @ 65536", 1).outside("hw.align-C7");
    align(1, "full, flits 1, rows 1, data 32, loops [32 : 1] : 32 @ 8160", 1).inside();
    align(1, "full, flits 1, rows 1, data 32, loops [32 : 1] : 32 @ 8176", 1).outside("hw.align-C7");
    align(1, "full, flits 1, rows 8, data 32, loops [64 : 1] : 64 @ 8192", 1).outside("hw.align-C7");
    align(1, "second, flits 1, rows 1, data 32, loops [64 : 1] : 64 @ 4032", 1).inside();
    align(1, "second, flits 1, rows 1, data 32, loops [64 : 1] : 64 @ 32704", 1).inside();
    align(1, "second, flits 1, rows 1, data 32, loops [64 : 1] : 64 @ 32768", 1).outside("hw.align-C7");
    align(1, "second, flits 1, rows 1, data 32, loops [32 : 1] : 32 @ 4065", 1).outside("hw.align-C7");
    align(1, "full, flits 1, rows 1, data 32, loops [1 : 1] : 1 @ -1", 1).outside("hw.align-C7");
    let repeated = |repeat: u64| Contraction {
        align: format!("full, flits 1, repeat {repeat}, rows 1, data 32, loops [6 : 0, 32 : 1] : 32"),
        accumulate: "interleaved, rows 1, columns 1, slots [6 : 0] : 1".into(),
        ..Contraction::reduced(2)
    };
    repeated(3).inside();
    repeated(2).outside("hw.align-C8");
    repeated(4).outside("hw.align-C8");
}

#[test]
fn contract_constraints() {
    let contract = |dtype, contract| Contraction { dtype, contract, ..Contraction::reduced(1) };
    contract("i8", "i8, depth 6").inside();
    contract("bf16", "bf16, depth 5").inside();
    contract("bf16", "i8, depth 5").outside("hw.contract-C1");
    contract("i8", "bf16, depth 5").outside("hw.contract-C1");
    contract("i32", "i32, depth 4").outside("hw.contract-C1");
    contract("f32", "f32, depth 4").outside("hw.contract-C1");
    contract("i8", "i8, depth 7").outside("hw.contract-C2");
    contract("bf16", "bf16, depth 6").outside("hw.contract-C2");
    contract("i8", "i8, depth -1").outside("hw.contract-C2");
    contract("i4", "i4, depth 7").inside();
    contract("i4", "i4, depth 8").outside("hw.contract-C2");
    contract("f8e4m3", "f8e4m3, depth 6").inside();
    contract("f8e4m3", "f8e4m3, depth 7").outside("hw.contract-C2");
    contract("f8e5m2", "f8e5m2, depth 6").inside();
    contract("f8e5m2", "f8e5m2, depth 7").outside("hw.contract-C2");
    contract("i4", "i4, depth 2").inside();
    contract("i4", "i4, depth 1").outside("hw.contract-C3");
    contract("i8", "i8, depth 1").inside();
    contract("i8", "i8, depth 0").inside();
    contract("bf16", "bf16, depth 0").inside();
    let odd = |align: &str| Contraction {
        dtype: "bf16",
        contract: "bf16, depth 5",
        ..Contraction::align(1, align, 1)
    };
    odd("full, flits 1, rows 1, data 30, loops [2 : 1] : 2").inside();
    odd("full, flits 1, rows 1, data 31, loops [2 : 1] : 2").outside("hw.contract-C4");
    odd("full, flits 1, rows 1, data 30, loops [1 : 1] : 1").outside("hw.contract-C4");
}

#[test]
fn accumulate_constraints() {
    let one = Contraction::accumulate;
    one(16, "interleaved, rows 1, columns 1, slots [2 : 0, 8 : 1] : 1", 8).inside();
    one(16, "interleaved, rows 1, columns 1, slots [2 : 0, 4 : 1] : 1", 4).outside("hw.accumulate-C1");
    one(16, "interleaved, rows 1, columns 1, slots [2 : 0, 8 : 1] : 2", 8).outside("hw.accumulate-C1");
    one(16, "interleaved, rows 1, columns 1, slots [2 : 0, 8 : 2] : 1", 8).outside("hw.accumulate-C2");
    one(16, "interleaved, rows 1, columns 1, slots [2 : 0, 8 : 1] : 1 @ 1", 8).outside("hw.accumulate-C2");
    one(16, "interleaved, rows 1, columns 1, slots [8 : -1, 2 : 0] : 1", 8).outside("hw.accumulate-C2");
    one(16, "interleaved, rows 1, columns 1, slots [4 : 1, 4 : 1] : 1", 16).outside("hw.accumulate-C2");
    one(16, "interleaved, rows 1, columns 1, slots [4 : 1, 4 : 4] : 1", 16).inside();
    one(1, "interleaved, rows 2, columns 1, slots [1 : 1] : 1", 1).outside("hw.accumulate-C3");
    one(1, "interleaved, rows 3, columns 1, slots [1 : 1] : 1", 1).outside("hw.accumulate-C3");
    one(1, "interleaved, rows 1, columns 2, slots [1 : 1] : 1", 2).outside("hw.accumulate-C4");
    one(1, "interleaved, rows 1, columns 0, slots [1 : 1] : 1", 1).outside("hw.accumulate-C4");
    let shallow = |columns: u64| Contraction {
        contract: "i8, depth 1",
        ..one(1, &format!("interleaved, rows 1, columns {columns}, slots [1 : 1] : 1"), columns)
    };
    shallow(32).inside();
    shallow(33).outside("hw.accumulate-C4");
}

/// Book 19: 128 values inside the outermost reduced loop if interleaved, 32 if sequential.
#[test]
fn accumulator_buffer() {
    let one = Contraction::accumulate;
    one(256, "interleaved, rows 1, columns 1, slots [2 : 0, 128 : 1] : 1", 128).inside();
    one(258, "interleaved, rows 1, columns 1, slots [2 : 0, 129 : 1] : 1", 129).outside("hw.accumulate-C5");
    // Sums that are kept outside the reduced loop, or with nothing reduced, do not count.
    one(258, "interleaved, rows 1, columns 1, slots [129 : 1, 2 : 0] : 1", 129).inside();
    one(258, "interleaved, rows 1, columns 1, slots [258 : 1] : 1", 258).inside();
    one(64, "sequential, rows 1, columns 1, slots [2 : 0, 32 : 1] : 1", 32).inside();
    one(66, "sequential, rows 1, columns 1, slots [2 : 0, 33 : 1] : 1", 33).outside("hw.accumulate-C5");
    let rows = |kept: u64| Contraction {
        align: format!("full, flits 1, rows 8, data 32, loops [{} : 0, 32 : 1] : 32", 2 * kept),
        ..one(2 * kept, &format!("sequential, rows 8, columns 1, slots [2 : 0, {kept} : 1] : 1"), 8 * kept)
    };
    rows(4).inside();
    rows(5).outside("hw.accumulate-C5");
    let columns = |columns: u64| Contraction {
        contract: "i8, depth 3",
        ..one(64, &format!("interleaved, rows 1, columns {columns}, slots [2 : 0, 32 : 1] : 1"), 32 * columns)
    };
    columns(4).inside();
    columns(5).outside("hw.accumulate-C5");
}

/// A packet of `dtype` through `stages`, written whole.
fn pass(dtype: &str, stages: &str) -> String {
    main(&format!(
        "hw.fetch {dtype}, packet 32, loops [64 : 1] : 32; hw.collect flits 1; {stages}; hw.commit bytes 32, \
         loops [64 : 1] : 32 @ 64"
    ))
}

#[test]
fn vector_constraints() {
    let vector = |operand: &str| pass("i32", &format!("hw.vector AddFxp{operand}"));
    inside(&vector(", constant 1"));
    outside("hw.vector-C1", &vector(""));
    outside("hw.vector-C1", &vector(", constant 1, vrf [64 : 1] : 32"));
    inside(&vector(", constant 2147483647"));
    outside("hw.vector-C2", &vector(", constant 2147483648"));
    inside(&vector(", constant -2147483648"));
    outside("hw.vector-C2", &vector(", constant -2147483649"));
    outside("hw.vector-C3", &pass("f32", "hw.vector AddFxp, constant 1"));
    inside(&vector(", vrf [64 : 1] : 32"));
    inside(&vector(", vrf [32 : 1] : 16"));
    inside(&vector(", vrf [8 : 1] : 4"));
    outside("hw.vector-C4", &vector(", vrf [24 : 1] : 12"));
    outside(
        "hw.vector-C4",
        &vector(", vrf [1 : 1, 1 : 1, 1 : 1, 1 : 1, 1 : 1, 1 : 1, 1 : 1, 2 : 32, 32 : 1] : 32"),
    );
    inside(&vector(", vrf [2 : 0, 32 : 1] : 32 @ 8160"));
    outside("hw.vector-C5", &vector(", vrf [2 : 0, 32 : 1] : 32 @ 8161"));
    outside("hw.vector-C6", &vector(", vrf [32 : 1] : 32"));
    outside("hw.vector-C6", &vector(", vrf [96 : 1] : 32"));
}

#[test]
fn cast_constraints() {
    inside(&pass("i32", "hw.cast i8"));
    inside(&pass("f32", "hw.cast bf16"));
    outside("hw.cast-C1", &pass("i32", "hw.cast f32"));
    outside("hw.cast-C1", &pass("f32", "hw.cast i32"));
    outside("hw.cast-C2", &pass("f32", "hw.cast i8"));
    outside("hw.cast-C2", &pass("i32", "hw.cast bf16"));
    outside("hw.cast-C2", &pass("bf16", "hw.cast bf16"));
}

fn commit_in(context: &str, commit: &str) -> String {
    let stages =
        format!("hw.fetch i8, packet 32, loops [64 : 1] : 8; hw.collect flits 1; hw.commit {commit}");
    exec_text(context, &stages)
}

fn commit(text: &str) -> String {
    commit_in("main", text)
}

#[test]
fn commit_constraints() {
    inside(&commit("bytes 24, loops [2 : 32, 24 : 1] : 24"));
    outside("hw.commit-C1", &commit("bytes 20, loops [2 : 32, 20 : 1] : 20"));
    outside("hw.commit-C1", &commit("bytes 40, loops [80 : 1] : 8"));
    outside("hw.commit-C2", &commit("bytes 8, loops [2 : 8, 8 : 1] : 4"));
    inside(&commit_in("sub", "bytes 32, loops [64 : 1] : 8"));
    outside("hw.commit-C2", &commit_in("sub", "bytes 32, loops [64 : 1] : 16"));
    inside(&commit("bytes 24, loops [48 : 1] : 8"));
    outside("hw.commit-C3", &commit("bytes 24, loops [48 : 1] : 16"));
    outside("hw.commit-C4", &commit("bytes 8, loops [2 : 8, 4 : 1, 2 : 8] : 8"));
    outside("hw.commit-C4", &commit("bytes 8, loops [2 : 8, 8 : 0] : 8"));
    inside(&commit("bytes 8, loops [2 : 16, 8 : 1] : 8 @ 8"));
    outside("hw.commit-C5", &commit("bytes 8, loops [2 : 16, 8 : 1] : 8 @ 4"));
    outside("hw.commit-C5", &commit("bytes 8, loops [2 : 12, 8 : 1] : 8"));
    inside(&commit("bytes 8, loops [2 : -8, 8 : 1] : 8 @ 8"));
    outside("hw.commit-C6", &commit("bytes 8, loops [2 : 0, 8 : 1] : 8"));
    inside(&commit("bytes 32, loops [64 : 1] : 32 @ 524224"));
    outside("hw.commit-C7", &commit("bytes 32, loops [64 : 1] : 32 @ 524232"));
    outside("hw.commit-C7", &commit("bytes 8, loops [2 : -8, 8 : 1] : 8"));
    outside("hw.commit-C8", &commit("bytes 8, loops [8 : 1] : 8"));
    outside("hw.commit-C8", &commit("bytes 8, loops [3 : 8, 8 : 1] : 8"));
}

const FETCH: &str = "hw.fetch i32, packet 32, loops [64 : 1] : 8";
const COMMIT: &str = "hw.commit bytes 32, loops [64 : 1] : 8";

fn sliced(slices: &str) -> String {
    main(&format!("{FETCH}; hw.collect flits 1; {COMMIT}")).replace("[0, 256]", slices)
}

#[test]
fn exec_slices() {
    for slices in ["[0, 512]", "[511, 512]", "[0, 1, 1, 2]", "[3, 5, 100, 300]"] {
        inside(&sliced(slices));
    }
    for slices in
        ["[]", "[0]", "[0, 513]", "[0, 0]", "[5, 4]", "[-1, 4]", "[0, 4, 3, 5]", "[4, 8, 0, 2]", "[0, 4, 8]"]
    {
        outside("hw.exec-C1", &sliced(slices));
    }
}

#[test]
fn exec_order_and_context() {
    let add = "hw.vector AddFxp, constant 1";
    inside(&main(&format!("{FETCH}; hw.collect flits 1; {add}; hw.cast i8; {COMMIT}")));
    for stages in [
        String::new(),
        FETCH.to_owned(),
        format!("{FETCH}; hw.collect flits 1"),
        format!("{FETCH}; {COMMIT}"),
        format!("hw.collect flits 1; {COMMIT}"),
        format!("{FETCH}; hw.collect flits 1; {COMMIT}; {COMMIT}"),
        format!("{FETCH}; hw.collect flits 1; hw.cast i8; {add}; {COMMIT}"),
        format!("{FETCH}; hw.collect flits 1; hw.contract i8, depth 6; {COMMIT}"),
        format!("{FETCH}; hw.collect flits 1; {add}; hw.store_trf full, rows 1, row_bytes 64"),
        format!("{FETCH}; hw.collect flits 1; hw.cast i8; hw.store_vrf at 0"),
        format!("{FETCH}; hw.collect flits 1; {add}; hw.cast i8; hw.store_vrf at 0"),
        format!("{FETCH}; {FETCH}; hw.collect flits 1; {COMMIT}"),
    ] {
        outside("hw.exec-C2", &main(&stages));
    }
    inside(&exec_text("sub", &format!("{FETCH}; hw.collect flits 1; {COMMIT}")));
    outside("hw.exec-C3", &exec_text("sub", &format!("{FETCH}; hw.collect flits 1; {add}; {COMMIT}")));
    outside(
        "hw.exec-C3",
        &exec_text("sub", &format!("{FETCH}; hw.collect flits 1; {add}; hw.store_vrf at 0")),
    );
    inside(&exec_text("sub", &format!("{FETCH}; hw.collect flits 1; hw.cast i8; {COMMIT}")));
    inside(&main(&format!("{FETCH}; hw.collect flits 1; {add}; hw.store_vrf at 0")));
    let kept = |at: u64| {
        main(&format!(
            "{FETCH}; hw.collect flits 1; hw.vector AddFxp, vrf [64 : 1] : 32; hw.store_vrf at {at}"
        ))
    };
    inside(&kept(64));
    outside("hw.exec-C9", &kept(60));
    outside("hw.exec-C9", &kept(0));
    let vectors =
        |ops: [&str; 2]| pass("i32", &ops.map(|op| format!("hw.vector {op}, constant 1")).join(";"));
    inside(&vectors(["AddFxp", "MulInt"]));
    // Book 21's case: AddFxp and SubFxp are the same ALU.
    outside("hw.exec-C4", &vectors(["AddFxp", "SubFxp"]));
}

/// An operation of the sequencer level has the position of its hw counterpart: one of the stage fxp not after one
/// of the stage clip.
#[test]
fn the_sequencer_level_keeps_the_order_of_stages() {
    let ctx = visa_ir::context::Context::new(&[&visa_hw::DIALECT, &visa_sequencer::DIALECT]);
    let found = |vectors: [&str; 2]| {
        let module = crate::parsed(&ctx, &pass("i32", &vectors.join(";")));
        let findings = visa_ir::verify::verify(&ctx, &module);
        findings.into_iter().map(|finding| finding.code).collect::<Vec<_>>()
    };
    let (add, most) = ("seq.vector \"AddFxp\", constant 1", "seq.vector \"Max\", stage clip, constant 0");
    assert_eq!(found([add, most]), Vec::<String>::new());
    assert_eq!(found([most, add]), ["hw.exec-C4"]);
}

/// 65536 packets of 64 bytes, each 64 times, are 2^28 bytes.
#[test]
fn exec_stream_bound() {
    let stages = |repeat: u64| {
        main(&format!(
            "hw.fetch i8, packet 8, loops [65536 : 0, 8 : 1] : 8; hw.collect flits 1; hw.align full, flits 1, \
             repeat {repeat}, rows 1, data 32, loops [65536 : 0, {repeat} : 0, 32 : 1] : 32; hw.contract i8, \
             depth 6; hw.accumulate interleaved, rows 1, columns 1, slots [65536 : 0, {repeat} : 0] : 1; \
             hw.commit bytes 8, loops [8 : 1] : 8"
        ))
    };
    inside(&stages(64));
    outside("hw.exec-C5", &stages(65));
}

/// Of a maximum the products themselves come out, two groups of 32: 256 bytes a packet. 65536 packets, each 16
/// times, are 2^28 bytes.
#[test]
fn contract_stream_bound() {
    let stages = |repeat: u64| {
        main(&format!(
            "hw.fetch i8, packet 8, loops [65536 : 0, 8 : 1] : 8; hw.collect flits 1; hw.align full, flits 1, \
             repeat {repeat}, rows 1, data 32, loops [65536 : 0, {repeat} : 0, 32 : 1] : 32; hw.contract i8, op \
             max, depth 5; hw.accumulate interleaved, op max, rows 1, columns 1, slots [65536 : 0, {repeat} : 0] \
             : 1; hw.commit bytes 8, loops [8 : 1] : 8"
        ))
    };
    inside(&stages(16));
    outside("hw.contract-C3", &stages(17));
}

fn dma_on(chips: u64, dma: &str) -> String {
    format!("visa 1\nhw.program @p, chips {chips} {{\nhw.dma {dma}\n}}\n")
}

fn dma(text: &str) -> String {
    dma_on(1, text)
}

#[test]
fn dma_constraints() {
    for (engine, from, to) in
        [("tensor", "hbm", "dm"), ("tensor", "dm", "hbm"), ("tensor", "dm", "dm"), ("tensor", "hbm", "hbm")]
    {
        inside(&dma(&format!("{engine}, from {from}, to {to}, loops [64 : 1 -> 1] : 64 @ 0 -> 4096")));
        outside("hw.dma-C1", &dma(&format!("pcie, from {from}, to {to}, loops [64 : 1 -> 1] : 64")));
    }
    inside(&dma("pcie, from host, to hbm, loops [64 : 1 -> 1] : 64"));
    outside("hw.dma-C1", &dma("tensor, from host, to hbm, loops [64 : 1 -> 1] : 64"));
    outside("hw.dma-C1", &dma("pcie, from host, to host, loops [64 : 1 -> 1] : 64"));
    inside(&dma("tensor, from hbm, to hbm, loops [4096 : 1 -> 1] : 4096 @ 0 -> 1073741824"));
    outside("hw.dma-C2", &dma("tensor, from hbm, to hbm, loops [4104 : 1 -> 1] : 4104 @ 0 -> 1073741824"));
    let entries = |ones: usize| {
        dma(&format!("tensor, from hbm, to dm, loops [{}8 : 1 -> 1] : 8", "1 : 8 -> 8, ".repeat(ones)))
    };
    inside(&entries(7));
    outside("hw.dma-C2", &entries(8));
    inside(&dma("tensor, from hbm, to hbm, loops [65536 : 8 -> 8, 8 : 1 -> 1] : 8 @ 0 -> 1073741824"));
    outside(
        "hw.dma-C2",
        &dma("tensor, from hbm, to hbm, loops [65537 : 8 -> 8, 8 : 1 -> 1] : 8 @ 0 -> 1073741824"),
    );
    outside("hw.dma-C2", &dma("tensor, from hbm, to hbm, loops [8 : 0 -> 1] : 8 @ 0 -> 1073741824"));
    // Packets of one byte have no innermost run.
    inside(&dma("tensor, from hbm, to hbm, loops [4 : 8 -> 8] : 1 @ 0 -> 1073741824"));
    inside(&dma("tensor, from hbm, to hbm, loops [2 : 2147483647 -> 8, 8 : 1 -> 1] : 8 @ 0 -> 1073741824"));
    outside(
        "hw.dma-C2",
        &dma("tensor, from hbm, to hbm, loops [2 : 2147483648 -> 8, 8 : 1 -> 1] : 8 @ 0 -> 1073741824"),
    );
    outside("hw.dma-C2", &dma("tensor, from hbm, to hbm, loops [] : 8"));
}

#[test]
fn dma_writes() {
    inside(&dma("tensor, from dm, to dm, loops [2 : 1 -> 8, 8 : 1 -> 1] : 8 @ 4099 -> 16"));
    outside("hw.dma-C3", &dma("tensor, from hbm, to dm, loops [2 : 1 -> 8, 8 : 1 -> 1] : 8 @ 8 -> 16"));
    outside("hw.dma-C3", &dma("tensor, from hbm, to dm, loops [2 : 8 -> 8, 8 : 1 -> 1] : 8 @ 3 -> 16"));
    inside(&dma("tensor, from hbm, to hbm, loops [2 : 1 -> 8, 8 : 1 -> 1] : 8 @ 4099 -> 16"));
    outside("hw.dma-C3", &dma("tensor, from hbm, to dm, loops [8 : 1 -> 1] : 8 @ 0 -> 4"));
    outside("hw.dma-C3", &dma("tensor, from hbm, to dm, loops [2 : 8 -> 12, 8 : 1 -> 1] : 8"));
    outside("hw.dma-C3", &dma("tensor, from hbm, to dm, loops [8 : 1 -> 1] : 4"));
    inside(&dma("tensor, from dm, to hbm, loops [2 : 3 -> 5, 1 : 1 -> 1] : 1 @ 1 -> 1"));
    inside(&dma("tensor, from hbm, to dm, loops [2 : 0 -> 8, 8 : 1 -> 1] : 8"));
    outside("hw.dma-C4", &dma("tensor, from hbm, to dm, loops [2 : 8 -> 0, 8 : 1 -> 1] : 8"));
    let overlapping = "[65536 : 0 -> 8, 65536 : 0 -> 8, 8 : 1 -> 1] : 8";
    outside("hw.dma-C4", &dma(&format!("tensor, from hbm, to dm, loops {overlapping}")));
    // 256 MiB of data memory, 48 GiB of HBM.
    inside(&dma("tensor, from hbm, to dm, loops [8 : 1 -> 1] : 8 @ 51539607544 -> 268435448"));
    outside("hw.dma-C5", &dma("tensor, from hbm, to dm, loops [16 : 1 -> 1] : 16 @ 51539607544 -> 0"));
    outside("hw.dma-C5", &dma("tensor, from hbm, to dm, loops [8 : 1 -> 1] : 8 @ 0 -> 268435456"));
    outside("hw.dma-C5", &dma("tensor, from hbm, to dm, loops [8 : 1 -> 1] : 8 @ -8 -> 0"));
}

/// Chips are 2^40 bytes apart in HBM and data memory of a PCIe transfer, and only there.
#[test]
fn dma_chips() {
    let chips =
        |count: u64| format!("pcie, from host, to hbm, loops [{count} : 8 -> 1099511627776, 8 : 1 -> 1] : 8");
    inside(&dma_on(4, &chips(4)));
    outside("hw.dma-C5", &dma_on(4, &chips(5)));
    inside(&dma_on(2, "pcie, from hbm, to host, loops [8 : 1 -> 1] : 8 @ 1099511627776 -> 0"));
    outside("hw.dma-C5", &dma_on(2, "pcie, from hbm, to host, loops [8 : 1 -> 1] : 8 @ 2199023255552 -> 0"));
    outside("hw.dma-C1", &dma_on(2, "tensor, from hbm, to dm, loops [8 : 1 -> 1] : 8 @ 1099511627776 -> 0"));
    inside(&dma_on(2, "pcie, from hbm, to dm, loops [8 : 1 -> 1] : 8 @ 1099511627776 -> 0"));
    outside("hw.dma-C5", &dma_on(2, "pcie, from hbm, to dm, loops [8 : 1 -> 1] : 8 @ 2199023255552 -> 0"));
}

/// The messages of everything that is wrong with a text.
fn messages(text: &str) -> Vec<String> {
    let ctx = crate::context();
    let module = crate::parsed(&ctx, text);
    visa_ir::verify::verify(&ctx, &module).into_iter().map(|finding| finding.message).collect()
}

/// Where an address names no chip it counts bytes, or half bytes where elements are: 48 GiB are 103079215104 of them.
#[test]
fn what_is_touched_outside_is_named() {
    let one = |text: &str, touched: &str| {
        let messages = messages(text);
        assert!(matches!(&messages[..], [message] if message.contains(touched)), "{messages:?}");
    };
    one(
        &dma_on(1, "pcie, from hbm, to host, loops [8 : 1 -> 1] : 8 @ 1099511627776 -> 0"),
        "touches bytes 1099511627776 to 1099511627784",
    );
    one(
        &buffer("space hbm, dtype i4, shape [8], layout [8 : 1 -> 1] : 1 @ 0 -> 103079215104"),
        "touches half bytes 103079215104 to 103079215112",
    );
    // Chips are as far apart for half bytes: twice the number.
    inside(&buffer("space hbm, dtype i4, shape [8], layout [2 : 0 -> 2199023255552, 8 : 1 -> 1] : 1"));
    outside(
        "hw.buffer-C3",
        &buffer("space hbm, dtype i4, shape [8], layout [3 : 0 -> 2199023255552, 8 : 1 -> 1] : 1"),
    );
}

fn buffer(rest: &str) -> String {
    format!("visa 1\nhw.program @p, chips 2 {{\nhw.buffer \"b\", role arg, {rest}\n}}\n")
}

#[test]
fn program_and_buffer_constraints() {
    inside("visa 1\nhw.program @p, chips 8 {\n}\n");
    outside("hw.program-C1", "visa 1\nhw.program @p, chips 9 {\n}\n");
    outside("hw.program-C1", "visa 1\nhw.program @p, chips 0 {\n}\n");
    let one = "hw.buffer \"b\", role arg, space hbm, dtype i8, shape [8], layout [8 : 1 -> 1] : 1\n";
    outside("hw.program-C2", &format!("visa 1\nhw.program @p, chips 1 {{\n{one}{one}}}\n"));
    inside(&buffer("space hbm, dtype f32, shape [], layout [1 : 1 -> 4] : 1"));
    inside(&buffer("space hbm, dtype bf16, shape [2, 4], layout [8 : 1 -> 2] : 1"));
    outside("hw.buffer-C1", &buffer("space hbm, dtype bf16, shape [2, 0], layout [8 : 1 -> 2] : 1"));
    outside("hw.buffer-C1", &buffer("space hbm, dtype bf16, shape [-2], layout [8 : 1 -> 2] : 1"));
    outside(
        "hw.buffer-C1",
        &buffer("space hbm, dtype i8, shape [4294967296, 4294967296], layout [8 : 1 -> 1] : 1"),
    );
    outside("hw.buffer-C2", &buffer("space hbm, dtype i8, shape [8], layout [8 : 1 -> 1] : 8"));
    outside("hw.buffer-C2", &buffer("space hbm, dtype i8, shape [8], layout [9 : 1 -> 1] : 1"));
    outside("hw.buffer-C2", &buffer("space hbm, dtype i8, shape [8], layout [8 : 1 -> 1] : 1 @ -1 -> 0"));
    inside(&buffer("space hbm, dtype bf16, shape [8], layout [8 : 1 -> 2] : 1 @ 0 -> 51539607536"));
    outside(
        "hw.buffer-C3",
        &buffer("space hbm, dtype bf16, shape [8], layout [8 : 1 -> 2] : 1 @ 0 -> 51539607537"),
    );
    inside(&buffer("space hbm, dtype i8, shape [8], layout [2 : 0 -> 1099511627776, 8 : 1 -> 1] : 1"));
    outside(
        "hw.buffer-C3",
        &buffer("space hbm, dtype i8, shape [8], layout [3 : 0 -> 1099511627776, 8 : 1 -> 1] : 1"),
    );
    outside("hw.buffer-C4", &buffer("space hbm, dtype i8, shape [8], layout [7 : 1 -> 1] : 1"));
}

/// One entry: two that name one contiguous run are two.
#[test]
fn what_is_kept_is_one_run() {
    let kept = |loops: &str| {
        let stages =
            "hw.fetch i32, packet 32, loops [64 : 1] : 32; hw.collect flits 1; hw.filter keep [xxx1];";
        exec_text("main", &format!("{stages} hw.commit_packed most 8, loops {loops}"))
    };
    inside(&kept("[64 : 1] : 8"));
    outside("hw.commit_packed-C1", &kept("[1 : 1, 64 : 1] : 8"));
}
