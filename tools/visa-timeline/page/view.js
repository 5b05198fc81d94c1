// The part of time in sight, what is selected, colours, and the drawing that timeline, overview and memory share.

const view = { from: 0, to: 1 };
const selection = { run: null, runs: new Set(), lines: [], instance: null };
let colours = {};
let lastRender = 0;
let waiting = 0;

const KINDS = ['main', 'sub', 'dual', 'dma', 'pcie'];
const FONT = '11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = ['panel', 'ink', 'quiet', 'edge', 'grid', 'band', 'accent', 'mark', 'select', 'on-bar', 'other', 'loop', 'area', 'theirs'];
  colours = Object.fromEntries([...names, ...KINDS].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

function kindColour(kind) { return colours[kind] && KINDS.includes(kind) ? colours[kind] : colours.other; }
function colourOfRun(run) { return kindColour(T.commands.kind[T.runs.command[run]]); }

// The least part of time that can be in sight: one unit, or what a float still tells apart.
function setView(from, to) {
  const least = Math.max(1, D.end * 1e-14);
  const length = Math.min(D.end, Math.max(least, to - from));
  const middle = (from + to) / 2;
  view.from = Math.min(D.end - length, Math.max(0, to - from < length ? middle - length / 2 : from));
  view.to = view.from + length;
}

function zoomBy(factor, at = (view.from + view.to) / 2) {
  setView(at - (at - view.from) * factor, at + (view.to - at) * factor);
  renderSoon();
}

function panBy(time) {
  const length = view.to - view.from;
  const from = Math.min(D.end - length, Math.max(0, view.from + time));
  setView(from, from + length);
  renderSoon();
}

function fit(start, end) {
  const margin = Math.max(1, (end - start) * 0.15);
  setView(start - margin, end + margin);
  renderSoon();
}

function showAll() { setView(0, D.end); renderSoon(); }

function renderSoon() {
  if (!waiting) waiting = requestAnimationFrame(render);
}

function render() {
  cancelAnimationFrame(waiting);
  waiting = 0;
  const before = performance.now();
  drawOverview();
  drawLanes();
  drawMemory();
  sayWindow();
  lastRender = performance.now() - before;
}

function sayWindow() {
  const length = view.to - view.from;
  byId('window').textContent = `${count(Math.round(view.from))} – ${count(Math.round(view.to))} (${units(Math.round(length))})`;
}

// A canvas of the page's own pixels. `pen` draws in CSS pixels; plot is where time goes, right of the lanes' names.
function openCanvas(canvas, height) {
  const width = canvas.clientWidth;
  const ratio = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) { canvas.width = across; canvas.height = down; }
  const pen = canvas.getContext('2d');
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = FONT;
  pen.textBaseline = 'middle';
  return { pen, width, height, plot: gutter(width) };
}

function gutter(width) { return width < 600 ? 76 : 132; }

function scaleOf(width) {
  const left = gutter(width);
  const perUnit = (width - left) / (view.to - view.from);
  return { left, right: width, perUnit, x: (time) => left + (time - view.from) * perUnit, time: (x) => view.from + (x - left) / perUnit };
}

function clipped(pen, x, y, width, height, draw) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  draw();
  pen.restore();
}

// Text that is cut to a width; nothing where not even three letters fit.
function fillCut(pen, text, x, y, width) {
  if (width < 18) return;
  const wide = pen.measureText(text).width;
  if (wide <= width) { pen.fillText(text, x, y); return; }
  const letters = Math.floor((text.length * (width - 8)) / wide);
  if (letters < 3) return;
  const mark = text.startsWith('\u2068') ? '…\u2069' : '…';
  pen.fillText(text.slice(0, letters) + mark, x, y, width);
}

// Steps of 1, 2 or 5 times a power of ten, as many as have room for their labels.
function ticks(scale, pen) {
  const widest = pen.measureText(count(Math.round(view.to))).width + 28;
  const least = widest / scale.perUnit;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const step = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least));
  const times = [];
  for (let time = Math.ceil(view.from / step) * step; time <= view.to && times.length < 100; time += step) times.push(time);
  return times;
}

function drawAxis(pen, scale, height, top) {
  pen.fillStyle = colours.quiet;
  pen.textAlign = 'left';
  for (const time of ticks(scale, pen)) {
    const x = Math.round(scale.x(time));
    pen.fillStyle = colours.grid;
    pen.fillRect(x, 0, 1, height);
    if (!top) continue;
    pen.fillStyle = colours.quiet;
    const label = count(time);
    if (x + pen.measureText(label).width + 4 < scale.right) pen.fillText(label, x + 4, top / 2);
  }
}

// Calls paint(item, x, width) for what a row has in sight. Items that are narrower than a pixel and start in the same
// one are painted as one: item is the first of them, and `share` says how much of the pixel they cover.
function eachBar(row, scale, paint) {
  const { items, start, reach, busy } = row;
  let drawnAt = NaN;
  let i = lowerBound(reach, view.from);
  while (i < items.length && start[i] <= view.to) {
    const x = scale.x(start[i]);
    const width = (items[i].end - start[i]) * scale.perUnit;
    if (width >= 1) {
      if (items[i].end >= view.from) paint(items[i], x, width, 1);
      i++;
      continue;
    }
    const pixel = Math.floor(x);
    if (row.overlaps) {
      if (pixel !== drawnAt) paint(items[i], pixel, 1, 1);
      drawnAt = pixel;
      i++;
      continue;
    }
    let next = Math.max(i + 1, lowerBound(start, scale.time(pixel + 1)));
    // The last that starts in this pixel may be a wide one.
    if (next > i + 1 && (items[next - 1].end - start[next - 1]) * scale.perUnit >= 1) next--;
    paint(items[i], pixel, 1, Math.min(1, (busy[next] - busy[i]) * scale.perUnit));
    i = next;
  }
}

// What is under the pointer: the item there, or else the nearest within three pixels.
function itemAt(row, scale, x) {
  let best = null;
  let distance = 3.5;
  const low = scale.time(x - 4);
  const high = scale.time(x + 4);
  for (let i = lowerBound(row.reach, low); i < row.items.length && row.start[i] <= high; i++) {
    const item = row.items[i];
    const away = Math.max(scale.x(item.start) - x, x - scale.x(item.end), 0);
    if (away < distance || (away === 0 && distance === 0 && item.end - item.start < best.end - best.start)) { best = item; distance = away; }
    if (!row.overlaps && away === 0) break;
  }
  return best;
}

function showTip(event, text) {
  const tip = byId('tip');
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - box.width - 4))}px`;
  tip.style.top = `${event.clientY + 18 + box.height > window.innerHeight ? Math.max(4, event.clientY - box.height - 10) : event.clientY + 18}px`;
}

// Wheel zooms at the pointer, dragging pans, a click or double click is the canvas's own.
function listenTo(canvas, { click, twice, tip }) {
  let held = null;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const scale = scaleOf(canvas.clientWidth);
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) panBy(sideways / scale.perUnit);
    else zoomBy(Math.exp(Math.max(-300, Math.min(300, event.deltaY)) * 0.002), scale.time(Math.max(scale.left, place(event)[0])));
  }, { passive: false });
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    held = { x: event.clientX, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!held) { showTip(event, tip(...place(event))); return; }
    const by = event.clientX - held.x;
    if (!held.moved && Math.abs(by) < 4) return;
    held = { x: event.clientX, moved: true };
    showTip(event, '');
    panBy(-by / scaleOf(canvas.clientWidth).perUnit);
  });
  canvas.addEventListener('pointerup', (event) => {
    if (held && !held.moved) click(...place(event));
    held = null;
  });
  canvas.addEventListener('pointercancel', () => { held = null; });
  canvas.addEventListener('pointerleave', (event) => showTip(event, ''));
  canvas.addEventListener('dblclick', (event) => twice(...place(event)));
}
