// The timeline: lanes of loops, tracks, what was measured elsewhere, and counters, from top to bottom on one canvas.

const AXIS = 22;
const UNFOLDED_RUNS = 2000;
const folded = new Set();
let lanes = [];
let lanesHeight = 0;
let barOf = []; // barOf[track]: from a run to its bar
let laneOf = []; // laneOf[track]
let unions = []; // unions[track]: a row of the times when it is busy

function startLanes() {
  if (D.runCount > UNFOLDED_RUNS) foldOutermost();
  unions = D.runsOnTrack.map((runs) => makeRow(union(runs)));
  layLanes();
  const canvas = byId('lanes');
  listenTo(canvas, { click: clickLanes, twice: fitLanes, tip: tipOfLanes });
  canvas.addEventListener('keydown', keyOnLanes);
  startOverview();
}

function foldOutermost() {
  T.loops.forEach((loop, i) => { if (loop.parent === null) folded.add(i); });
}

function union(runs) {
  const spans = [];
  for (const run of runs) {
    const [start, end] = [T.runs.start[run], T.runs.end[run]];
    const last = spans[spans.length - 1];
    if (last && start <= last.end) last.end = Math.max(last.end, end); else spans.push({ start, end });
  }
  return spans;
}

// Units of a track that are busy before a time.
function busyBefore(track, time) {
  const row = unions[track];
  const next = lowerBound(row.start, time);
  if (next === 0) return 0;
  return row.busy[next] - Math.max(0, row.items[next - 1].end - time);
}

// ---- what is in which lane

function layLanes() {
  lanes = [];
  if (D.instances.length) addLane({ kind: 'loops', name: 'loops', rows: loopRows(), rowHeight: 17 });
  barOf = T.tracks.map(() => new Map());
  T.tracks.forEach((track, i) => {
    const rows = packRows(barsOf(i));
    addLane({ kind: 'track', name: track.name, track: i, rows, rowHeight: rows.length > 2 ? 14 : 24 });
    if (T.compared) addLane({ kind: 'theirs', name: T.compared.with, rows: packRows(theirsOf(i)), rowHeight: 11 });
  });
  if (T.compared && T.compared.alone.length) {
    const items = T.compared.alone.map((span) => ({ start: span.start, end: span.end, alone: span }));
    addLane({ kind: 'theirs', name: `only ${T.compared.with}`, rows: packRows(items), rowHeight: 15 });
  }
  for (const counter of T.counters) addLane({ kind: 'counter', name: counter.name, counter, rows: [], rowHeight: 46 });
  let y = AXIS;
  for (const lane of lanes) {
    lane.y = y;
    lane.height = Math.max(1, lane.rows.length) * lane.rowHeight + 4;
    y += lane.height + (lane.kind === 'theirs' ? 4 : 2);
  }
  laneOf = T.tracks.map((_, track) => lanes.find((lane) => lane.kind === 'track' && lane.track === track));
  lanesHeight = Math.max(120, y + 4);
  byId('lanes').style.height = `${lanesHeight}px`;
}

// A track's measured lane is left out where it has nothing.
function addLane(lane) {
  if (lane.kind !== 'theirs' || lane.rows.length) lanes.push(lane);
}

function loopRows() {
  const depths = [];
  for (const instance of D.instances) {
    const around = D.chain[instance.loop].slice(0, -1);
    if (around.some((loop) => folded.has(loop))) continue;
    const depth = Math.min(instance.depth, MOST_ROWS - 1);
    while (depths.length <= depth) depths.push([]);
    depths[depth].push({ start: instance.start, end: instance.end, instance });
  }
  // Passages that follow each other may overlap, as tracks run ahead.
  return depths.flatMap((items) => packRows(items, 3));
}

// A bar per run; runs in a folded loop have one bar for each passage through it.
function barsOf(track) {
  const bars = [];
  const ofInstance = new Map();
  for (const run of D.runsOnTrack[track]) {
    const [start, end, command] = [T.runs.start[run], T.runs.end[run], T.runs.command[run]];
    const instance = D.instancesOf[run].find((around) => folded.has(around.loop));
    if (!instance) {
      const bar = { start, end, run };
      bars.push(bar);
      barOf[track].set(run, bar);
      continue;
    }
    let bar = ofInstance.get(instance);
    if (!bar) {
      bar = { start, end, instance, first: run, runs: 0, busy: 0 };
      ofInstance.set(instance, bar);
      bars.push(bar);
    }
    bar.end = Math.max(bar.end, end);
    bar.runs += T.folded ? T.commands.runs[command] : 1;
    bar.busy += T.folded ? T.commands.cycles[command] * T.commands.runs[command] : end - start;
  }
  return bars;
}

// What else measured of a track's runs: the pair of its cluster, or of all clusters where it serves them together.
function theirsOf(track) {
  const cluster = /^dma cluster (\d+)$/.exec(T.tracks[track].name);
  const items = [];
  for (const run of D.runsOnTrack[track]) {
    const pairs = T.runs.theirs[run];
    const own = cluster && pairs.length > 1 ? [pairs[Number(cluster[1])]] : pairs;
    for (const pair of own) if (pair) items.push({ start: pair[0], end: pair[1], run, theirs: true });
  }
  return items;
}

function foldLoops(change) {
  change();
  layLanes();
  render();
}

function toggleLoop(loop) {
  foldLoops(() => { if (!folded.delete(loop)) folded.add(loop); });
}

function unfoldAround(run) {
  const around = D.instancesOf[run].filter((instance) => folded.has(instance.loop));
  if (around.length) foldLoops(() => around.forEach((instance) => folded.delete(instance.loop)));
}

// ---- drawing

function drawLanes() {
  const { pen, width, height, plot } = openCanvas(byId('lanes'), lanesHeight);
  const scale = scaleOf(width);
  lanes.forEach((lane, i) => {
    if (i % 2) return;
    pen.fillStyle = colours.band;
    pen.fillRect(0, lane.y - 1, width, lane.height);
  });
  clipped(pen, plot, 0, width - plot, height, () => {
    drawAxis(pen, scale, height, AXIS);
    for (const lane of lanes) drawLane(pen, scale, lane);
    drawSelection(pen, scale);
    drawEnd(pen, scale, height);
  });
  for (const lane of lanes) drawName(pen, lane, plot);
  pen.fillStyle = colours.edge;
  pen.fillRect(plot - 1, 0, 1, height);
  pen.fillRect(0, AXIS - 2, width, 1);
  pen.fillStyle = colours.quiet;
  pen.textAlign = 'left';
  pen.fillText(unitName(0), 8, AXIS / 2);
  if (D.runCount === 0) {
    pen.font = `14px ${FONT.slice(5)}`;
    pen.fillText('no commands', plot + 16, AXIS + 40);
  }
}

function drawName(pen, lane, plot) {
  const y = lane.y + Math.min(lane.height, 26) / 2;
  const share = lane.kind === 'track' && !T.folded && plot > 100 ? busyShare(lane.track) : '';
  pen.textAlign = 'right';
  pen.fillStyle = colours.quiet;
  if (share) pen.fillText(share, plot - 8, y);
  pen.textAlign = 'left';
  pen.fillStyle = lane.kind === 'track' ? colours.ink : colours.quiet;
  const name = plot > 100 ? lane.name : lane.name.replace(' cluster ', ' ');
  fillCut(pen, isolated(name), lane.kind === 'theirs' ? 16 : 8, y, plot - (share ? 44 : 14) - (lane.kind === 'theirs' ? 8 : 0));
  if (lane.kind === 'counter') {
    pen.fillStyle = colours.quiet;
    fillCut(pen, isolated(lane.counter.unit), 8, y + 14, plot - 14);
  }
}

function busyShare(track) {
  return percent(busyBefore(track, view.to) - busyBefore(track, view.from), view.to - view.from);
}

function drawLane(pen, scale, lane) {
  if (lane.kind === 'counter') { drawCounter(pen, scale, lane); return; }
  const painters = { loops: paintLoop, track: paintBar, theirs: paintTheirs };
  const paint = painters[lane.kind];
  lane.rows.forEach((row, i) => {
    const y = lane.y + i * lane.rowHeight + 1;
    const height = lane.rowHeight - 2;
    eachBar(row, scale, (item, x, width, share) => {
      const left = Math.max(x, scale.left - 2);
      const seen = Math.max(1, Math.min(x + width, scale.right + 2) - left);
      paint(pen, item, left, y, seen, height, share);
    });
  });
  pen.globalAlpha = 1;
}

function paintBar(pen, item, x, y, width, height, share) {
  if (item.instance) { paintFolded(pen, item, x, y, width, height); return; }
  pen.globalAlpha = 0.35 + 0.65 * share;
  pen.fillStyle = colourOfRun(item.run);
  // A gap of a pixel tells neighbours apart.
  pen.fillRect(x, y, width > 4 ? width - 1 : width, height);
  if (width < 24) return;
  pen.fillStyle = colours['on-bar'];
  fillCut(pen, isolated(titleOf(T.runs.command[item.run])), x + 5, y + height / 2 + 0.5, width - 10);
}

function paintFolded(pen, item, x, y, width, height) {
  const busy = item.end > item.start ? item.busy / (item.end - item.start) : 1;
  pen.globalAlpha = 1;
  pen.fillStyle = colours.panel;
  pen.fillRect(x, y, width, height);
  pen.fillStyle = colourOfRun(item.first);
  pen.globalAlpha = 0.3;
  pen.fillRect(x, y, width, height);
  pen.globalAlpha = 1;
  // The foot says at once what the label says in figures.
  pen.fillRect(x, y + height - 3, Math.max(1, (width - 1) * busy), 3);
  pen.fillRect(x, y, Math.min(2, width), height);
  pen.fillStyle = colours.ink;
  const label = `×${count(T.loops[item.instance.loop].times)}, ${percent(busy, 1)} busy`;
  fillCut(pen, `${label} · ${loopName(item.instance.loop)}`, x + 6, y + height / 2 - 0.5, width - 10);
}

function paintLoop(pen, item, x, y, width, height, share) {
  const { loop } = item.instance;
  pen.globalAlpha = folded.has(loop) ? 0.9 : 0.25 + 0.2 * share;
  pen.fillStyle = colours.loop;
  pen.fillRect(x, y, width > 4 ? width - 1 : width, height);
  pen.globalAlpha = 1;
  pen.fillStyle = folded.has(loop) ? colours['on-bar'] : colours.ink;
  fillCut(pen, `${folded.has(loop) ? '▸' : '▾'} ${loopName(loop)} ×${count(T.loops[loop].times)}`, x + 5, y + height / 2 + 0.5, width - 10);
}

function paintTheirs(pen, item, x, y, width, height, share) {
  pen.globalAlpha = item.alone ? 1 : 0.45 + 0.4 * share;
  pen.fillStyle = colours.theirs;
  pen.fillRect(x, y + 1, width > 4 ? width - 1 : width, height - 1);
  if (!item.alone || width < 24) return;
  pen.fillStyle = colours['on-bar'];
  fillCut(pen, isolated(item.alone.name), x + 4, y + height / 2 + 1, width - 8);
}

// A step function: its greatest value in each pixel.
function drawCounter(pen, scale, { counter, y, height }) {
  const { times, values, peak } = counter;
  const tops = new Float64Array(Math.ceil(scale.right - scale.left) + 1);
  for (let i = Math.max(0, lowerBound(times, view.from) - 1); i < times.length && times[i] <= view.to; i++) {
    const until = i + 1 < times.length ? times[i + 1] : T.total;
    const first = Math.max(0, Math.floor(scale.x(times[i]) - scale.left));
    const last = Math.min(tops.length, Math.max(first + 1, Math.ceil(scale.x(until) - scale.left)));
    for (let pixel = first; pixel < last; pixel++) if (values[i] > tops[pixel]) tops[pixel] = values[i];
  }
  const most = Math.max(peak, greatest(counter)) || 1;
  const foot = y + height - 2;
  const tall = height - 8;
  pen.fillStyle = colours.area;
  tops.forEach((value, pixel) => { if (value > 0) pen.fillRect(scale.left + pixel, foot - (value / most) * tall, 1, (value / most) * tall); });
  if (!(peak > 0)) return;
  const line = Math.round(foot - (peak / most) * tall);
  pen.fillStyle = colours.select;
  for (let x = scale.left; x < scale.right; x += 8) pen.fillRect(x, line, 4, 1);
  pen.fillStyle = colours.quiet;
  pen.textAlign = 'right';
  const name = `peak ${peak < 1e6 ? count(peak) : short(peak)} ${visible(counter.unit)}`;
  const wide = pen.measureText(name).width;
  pen.globalAlpha = 0.85;
  pen.fillStyle = colours.panel;
  pen.fillRect(scale.right - wide - 8, line + 2, wide + 8, 13);
  pen.globalAlpha = 1;
  pen.fillStyle = colours.quiet;
  pen.fillText(name, scale.right - 4, line + 9);
  pen.textAlign = 'left';
}

const greatestOf = new Map();
function greatest(counter) {
  if (!greatestOf.has(counter)) greatestOf.set(counter, counter.values.reduce((a, b) => Math.max(a, b), 0));
  return greatestOf.get(counter);
}

function drawEnd(pen, scale, height) {
  if (T.total >= D.end || T.total === 0) return;
  pen.fillStyle = colours.select;
  pen.globalAlpha = 0.6;
  pen.fillRect(Math.round(scale.x(T.total)), 0, 1, height);
  pen.globalAlpha = 1;
}

// ---- what is selected

function boxOf(run, track, scale) {
  const bar = barOf[track].get(run);
  if (!bar) return null;
  const lane = laneOf[track];
  const x = scale.x(bar.start);
  return { x, y: lane.y + bar.row * lane.rowHeight + 1, width: Math.max(1, scale.x(bar.end) - x), height: lane.rowHeight - 2 };
}

function boxesOf(run, scale) {
  return T.commands.tracks[T.runs.command[run]].map((track) => boxOf(run, track, scale)).filter(Boolean);
}

// Many runs may be marked, and few have a pixel of their own: each pixel of a lane is marked once.
function drawSelection(pen, scale) {
  const marked = new Set();
  for (const run of selection.runs) {
    if (run === selection.run || T.runs.end[run] < view.from || T.runs.start[run] > view.to) continue;
    for (const box of boxesOf(run, scale)) {
      const key = `${Math.floor(box.x)} ${Math.floor(box.width)} ${box.y}`;
      if (marked.has(key)) continue;
      marked.add(key);
      outline(pen, box, 1.5);
    }
  }
  if (selection.run === null) return;
  drawArrows(pen, scale);
  for (const box of boxesOf(selection.run, scale)) outline(pen, box, 2.5);
}

function outline(pen, { x, y, width, height }, thick) {
  const left = Math.max(x, -10);
  const wide = Math.max(2, Math.min(x + width, 1e5) - left);
  // A halo tells the outline from bars of a colour like its own.
  for (const [colour, more] of [[colours.panel, 2], [colours.select, 0]]) {
    pen.fillStyle = pen.strokeStyle = colour;
    pen.lineWidth = thick + more;
    if (wide <= 2 * thick) pen.fillRect(left - 0.5 - more / 2, y - 2, wide + more, height + 4); else pen.strokeRect(left, y, wide, height);
  }
}

const MOST_ARROWS = 200;

function drawArrows(pen, scale) {
  const here = boxesOf(selection.run, scale)[0];
  if (!here) return;
  for (const [partner] of T.runs.waits[selection.run].slice(0, MOST_ARROWS)) {
    const there = boxesOf(partner, scale)[0];
    if (there) arrow(pen, there.x + there.width, there, here.x, here, colours.select);
  }
  for (const [partner] of (D.waiters.get(selection.run) || []).slice(0, MOST_ARROWS)) {
    const there = boxesOf(partner, scale)[0];
    if (there) arrow(pen, here.x + here.width, here, there.x, there, colours.accent);
  }
}

function arrow(pen, fromX, from, toX, to, colour) {
  const [fromY, toY] = [from.y + from.height / 2, to.y + to.height / 2];
  const bend = Math.min(60, Math.max(16, Math.abs(toX - fromX) / 2));
  pen.strokeStyle = colour;
  pen.fillStyle = colour;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(fromX, fromY);
  pen.bezierCurveTo(fromX + bend, fromY, toX - bend, toY, toX - 4, toY);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(toX, toY);
  pen.lineTo(toX - 7, toY - 4);
  pen.lineTo(toX - 7, toY + 4);
  pen.fill();
}

// Where a run's bar is on the page, as far as it is in sight: null in a folded loop, or outside.
function barAt(run) {
  const canvas = byId('lanes');
  const scale = scaleOf(canvas.clientWidth);
  const box = D.instancesOf[run] && boxesOf(run, scale)[0];
  if (!box || box.x + box.width <= scale.left || box.x >= scale.right) return null;
  const left = Math.max(box.x, scale.left);
  const frame = canvas.getBoundingClientRect();
  return {
    x: frame.left + window.scrollX + left,
    y: frame.top + window.scrollY + box.y + box.height / 2,
    width: Math.min(box.x + box.width, scale.right) - left,
  };
}

// ---- mouse and keys

function atPoint(x, y) {
  const scale = scaleOf(byId('lanes').clientWidth);
  const lane = lanes.find((one) => y >= one.y && y < one.y + one.height);
  if (!lane || x < scale.left) return { lane: lane || null, item: null, scale };
  const row = lane.rows[Math.min(lane.rows.length - 1, Math.floor((y - lane.y) / lane.rowHeight))];
  return { lane, scale, item: row ? itemAt(row, scale, x) : null };
}

function clickLanes(x, y) {
  const { lane, item } = atPoint(x, y);
  if (!item) { selectNothing(); return; }
  if (lane.kind === 'loops') toggleLoop(item.instance.loop);
  else if (item.instance) selectInstance(item.instance);
  else if (item.run !== undefined) selectRun(item.run, { show: false });
}

function fitLanes(x, y) {
  const { lane, item } = atPoint(x, y);
  // The first of the two clicks on a loop has folded it, the second has unfolded it.
  if (item && lane.kind !== 'counter') fit(item.start, item.end); else showAll();
}

function tipOfLanes(x, y) {
  const { lane, item, scale } = atPoint(x, y);
  if (!lane) return '';
  if (lane.kind === 'counter') return x < scale.left ? cut(lane.name, 200) : counterTip(lane.counter, scale.time(x));
  if (!item) return x < scale.left ? cut(lane.name, 200) : '';
  const span = `${count(item.start)} – ${count(item.end)}: ${units(item.end - item.start)}`;
  if (item.alone) return `${cut(item.alone.kind, 40)} ${cut(item.alone.name, 200)}\n${span}\nonly in ${cut(T.compared.with, 60)}`;
  if (item.run === undefined) return instanceTip(item, span);
  return `${runName(item.run, 200)}\n${item.theirs ? `${cut(T.compared.with, 60)}: ` : ''}${span}`;
}

function instanceTip(item, span) {
  const { loop } = item.instance;
  const busy = item.busy === undefined ? '' : `\n${count(item.runs)} runs, ${percent(item.busy, item.end - item.start)} busy`;
  const action = item.busy === undefined ? `\nclick ${folded.has(loop) ? 'unfolds' : 'folds'} it` : '';
  return `${loopName(loop)} ×${count(T.loops[loop].times)}\n${span}${busy}${action}`;
}

function counterTip(counter, time) {
  const at = lowerBound(counter.times, time + 1e-9) - 1;
  const value = at < 0 ? 0 : counter.values[at];
  const share = counter.peak > 0 ? ` (${percent(value, counter.peak)} of ${count(counter.peak)})` : '';
  return `${cut(counter.name, 100)} at ${count(Math.round(time))}\n${count(value)} ${visible(counter.unit)}${share}`;
}

function keyOnLanes(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { ArrowLeft: -0.15, ArrowRight: 0.15 }[event.key];
  if (!step) return;
  event.preventDefault();
  panBy(step * (view.to - view.from));
}

// The run before or after the selected one on its first track.
function stepOnLane(step) {
  if (selection.run === null) { if (D.runCount) selectRun(0); return; }
  const runs = D.runsOnTrack[T.commands.tracks[T.runs.command[selection.run]][0]] || [];
  const next = runs[runs.indexOf(selection.run) + step];
  if (next !== undefined) selectRun(next);
}

// ---- the overview: how busy each track is in all of the time, and which part of it is in sight

const overview = { canvas: document.createElement('canvas'), key: '' };

function startOverview() {
  const canvas = byId('overview');
  const go = (event) => {
    if (!(event.buttons & 1)) return;
    const width = canvas.clientWidth;
    const left = gutter(width);
    const time = ((event.clientX - canvas.getBoundingClientRect().left - left) / (width - left)) * D.end;
    panBy(time - (view.from + view.to) / 2);
  };
  canvas.addEventListener('pointerdown', (event) => { canvas.setPointerCapture(event.pointerId); go(event); });
  canvas.addEventListener('pointermove', go);
}

function drawOverview() {
  const height = 30;
  const { pen, width, plot } = openCanvas(byId('overview'), height);
  drawDensity(width, height, plot);
  pen.drawImage(overview.canvas, plot, 0, width - plot, height);
  const across = (width - plot) / D.end;
  const [x, wide] = [plot + view.from * across, Math.max(3, (view.to - view.from) * across)];
  pen.fillStyle = colours.quiet;
  pen.globalAlpha = 0.25;
  pen.fillRect(plot, 0, x - plot, height);
  pen.fillRect(x + wide, 0, width - x - wide, height);
  pen.globalAlpha = 1;
  pen.strokeStyle = colours.accent;
  pen.lineWidth = 1.5;
  pen.strokeRect(Math.min(x + 0.75, width - 3), 0.75, wide - 1.5, height - 1.5);
  pen.fillText('overview', 8, height / 2);
  pen.fillStyle = colours.edge;
  pen.fillRect(plot - 1, 0, 1, height);
}

function drawDensity(width, height, plot) {
  const wide = Math.max(1, Math.floor(width - plot));
  const key = `${wide} ${colours.panel}`;
  if (key === overview.key) return;
  overview.key = key;
  overview.canvas.width = wide;
  overview.canvas.height = height;
  const pen = overview.canvas.getContext('2d');
  const tall = (height - 4) / Math.max(1, T.tracks.length);
  T.tracks.forEach((_, track) => {
    const runs = D.runsOnTrack[track];
    if (!runs.length) return;
    pen.fillStyle = colourOfRun(runs[0]);
    for (let x = 0, before = 0; x < wide; x++) {
      const after = busyBefore(track, ((x + 1) * D.end) / wide);
      pen.globalAlpha = Math.min(1, ((after - before) * wide) / D.end);
      if (after > before) pen.fillRect(x, 2 + track * tall, 1, Math.max(1, tall - 1));
      before = after;
    }
  });
}
