'use strict';
// The document, and what is computed from it once: who waits for whom, runs of a command, commands of a line, loops.
// T is the document; D is what is computed. Every other file reads both and writes neither.

let T = null;
const D = {};

async function readTimeline() {
  T = JSON.parse(await unpacked(document.getElementById('timeline').textContent));
  if (T.schema !== 'visa-timeline' || T.version !== 1) throw new Error('it is not a visa-timeline of version 1');
  D.runCount = T.runs.start.length;
  D.commandCount = T.commands.label.length;
  D.end = lastTime();
  readLoops();
  readCommands();
  readRuns();
  readInstances();
  D.memory = memoryBySpace();
  D.totals = totals();
}

// The document is packed, as many commands are much alike.
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

function lastTime() {
  let end = Math.max(1, T.total);
  for (const time of T.runs.end) end = Math.max(end, time);
  for (const time of T.memory.end) end = Math.max(end, time);
  if (!T.compared) return end;
  end = Math.max(end, T.compared.makespan);
  for (const span of T.compared.alone) end = Math.max(end, span.end);
  for (const pairs of T.runs.theirs) for (const pair of pairs) end = Math.max(end, pair[1]);
  return end;
}

// D.chain[loop]: the loops around it and itself, outermost first.
function readLoops() {
  D.chain = T.loops.map((_, loop) => {
    const chain = [];
    for (let at = loop; at !== null && !chain.includes(at); at = T.loops[at].parent) chain.unshift(at);
    return chain;
  });
}

function chainOf(command) {
  const loop = T.commands.loop[command];
  return loop === null ? [] : D.chain[loop];
}

function lineKey(text, line) { return text === null || line === null ? null : `${text}:${line}`; }

function readCommands() {
  D.commandsOfLine = new Map();
  D.runsOfCommand = Array.from({ length: D.commandCount }, () => []);
  for (let command = 0; command < D.commandCount; command++) {
    const key = lineKey(T.commands.text[command], T.commands.line[command]);
    if (key === null) continue;
    if (!D.commandsOfLine.has(key)) D.commandsOfLine.set(key, []);
    D.commandsOfLine.get(key).push(command);
  }
}

// Who waits for whom, and times: unitsOf are all of a command's runs, idle is from the run before on its track.
function readRuns() {
  D.waiters = new Map();
  D.written = listsOf(T.memory.writer.map((run) => [run]));
  D.read = listsOf(T.memory.readers);
  D.unitsOf = new Float64Array(D.commandCount);
  for (let run = 0; run < D.runCount; run++) {
    const command = T.runs.command[run];
    D.runsOfCommand[command].push(run);
    D.unitsOf[command] += T.folded ? T.commands.cycles[command] * T.commands.runs[command] : T.runs.end[run] - T.runs.start[run];
    for (const [partner, why] of T.runs.waits[run]) {
      if (!D.waiters.has(partner)) D.waiters.set(partner, []);
      D.waiters.get(partner).push([run, why]);
    }
  }
  D.runsOnTrack = T.tracks.map(() => []);
  for (let run = 0; run < D.runCount; run++) {
    for (const track of T.commands.tracks[T.runs.command[run]]) D.runsOnTrack[track].push(run);
  }
  D.idle = new Float64Array(D.runCount).fill(Infinity);
  for (const runs of D.runsOnTrack) {
    runs.sort((a, b) => T.runs.start[a] - T.runs.start[b] || a - b);
    let end = 0;
    for (const run of runs) {
      D.idle[run] = Math.min(D.idle[run], Math.max(0, T.runs.start[run] - end));
      end = Math.max(end, T.runs.end[run]);
    }
  }
}

// A map from a run to the positions whose list has it.
function listsOf(columns) {
  const lists = new Map();
  columns.forEach((runs, position) => {
    for (const run of runs) {
      if (!lists.has(run)) lists.set(run, []);
      lists.get(run).push(position);
    }
  });
  return lists;
}

// An instance is one passage through a loop: a stretch of runs, in program order, in one iteration of the loops around.
// D.instancesOf[run]: the instances it is in, outermost first; neighbours share the array.
function readInstances() {
  D.instances = [];
  D.instancesOf = new Array(D.runCount);
  let open = [];
  let before = -1;
  for (let run = 0; run < D.runCount; run++) {
    const chain = chainOf(T.runs.command[run]);
    const shared = before < 0 ? 0 : sharedDepth(open, chain, T.runs.iteration[before], T.runs.iteration[run]);
    if (shared !== open.length || shared !== chain.length) {
      open = open.slice(0, shared);
      for (const loop of chain.slice(shared)) open.push(newInstance(loop, run, open.length));
    }
    for (const instance of open) widen(instance, run);
    D.instancesOf[run] = open;
    before = run;
  }
}

function sharedDepth(open, chain, before, now) {
  let depth = 0;
  while (depth < open.length && depth < chain.length && open[depth].loop === chain[depth]) {
    if (depth > 0 && before[depth - 1] !== now[depth - 1]) break;
    depth++;
  }
  return depth;
}

function newInstance(loop, run, depth) {
  const instance = { loop, depth, first: run, last: run, start: T.runs.start[run], end: T.runs.end[run] };
  D.instances.push(instance);
  return instance;
}

function widen(instance, run) {
  instance.last = run;
  instance.start = Math.min(instance.start, T.runs.start[run]);
  instance.end = Math.max(instance.end, T.runs.end[run]);
}

function memoryBySpace() {
  const spaces = new Map();
  T.memory.space.forEach((space, position) => {
    if (!spaces.has(space)) spaces.set(space, []);
    spaces.get(space).push({ start: T.memory.start[position], end: T.memory.end[position], position });
  });
  for (const [space, items] of spaces) spaces.set(space, makeRow(items));
  return spaces;
}

// Sums over the columns. Columns of commands count one run; a folded document has one run for all of a command's.
function totals() {
  const sums = { units: 0, runs: 0, macs: 0, hbmBytes: 0, busyPerTrack: T.tracks.map(() => 0) };
  for (const end of T.runs.end) sums.units = Math.max(sums.units, end);
  for (let command = 0; command < D.commandCount; command++) {
    const runs = T.commands.runs[command];
    const bytes = T.commands.bytes[command];
    sums.runs += runs;
    sums.macs += T.commands.macs[command] * runs;
    sums.hbmBytes += (bytes[0] + bytes[1]) * runs;
    for (const track of T.commands.tracks[command]) sums.busyPerTrack[track] += D.unitsOf[command];
  }
  return sums;
}

// Rows of a lane: items that do not overlap, by start. `reach` is the greatest end so far, which makes the first visible
// item a binary search even where items overlap; `busy` has sums of lengths.
function makeRow(items) {
  items.sort((a, b) => a.start - b.start || a.end - b.end);
  const count = items.length;
  const row = { items, start: new Float64Array(count), reach: new Float64Array(count), busy: new Float64Array(count + 1), overlaps: false };
  let reach = -1;
  items.forEach((item, i) => {
    if (item.start < reach) row.overlaps = true;
    reach = Math.max(reach, item.end);
    row.start[i] = item.start;
    row.reach[i] = reach;
    row.busy[i + 1] = row.busy[i] + item.end - item.start;
  });
  return row;
}

const MOST_ROWS = 8;

// Spreads overlapping items over rows, at most so many; what is left over goes into the last.
function packRows(items, most = MOST_ROWS) {
  items.sort((a, b) => a.start - b.start || a.end - b.end);
  const rows = [];
  const ends = [];
  for (const item of items) {
    let row = ends.findIndex((end) => end <= item.start);
    if (row < 0) row = Math.min(rows.length, most - 1);
    if (row === rows.length) { rows.push([]); ends.push(0); }
    item.row = row;
    rows[row].push(item);
    ends[row] = Math.max(ends[row], item.end);
  }
  return rows.map(makeRow);
}

// The first position whose value is at least `value`.
function lowerBound(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}
