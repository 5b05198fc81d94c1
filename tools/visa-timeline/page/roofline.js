// The roofline: operations per unit of time over operations per HBM byte, both on logarithmic scales.

const CHART = { width: 0, height: 380, left: 74, right: 24, top: 24, bottom: 52 };

function startRoofline() {
  const box = byId('roofline');
  const roof = T.roofline;
  const units = D.totals.units;
  if (!roof || !(roof.operations > 0) || !units) {
    box.append(make('p', { class: 'quiet' }, 'No roofline: the kernel counts no operations.'));
    return;
  }
  const rate = roof.operations / units;
  const ridge = roof.peak_operations / roof.peak_hbm_bytes;
  // A kernel that moves no HBM bytes has no intensity: it is drawn at the right edge.
  const moves = roof.hbm_bytes > 0;
  const intensity = moves ? roof.operations / roof.hbm_bytes : ridge * 100;
  const under = Math.min(roof.peak_operations, intensity * roof.peak_hbm_bytes);
  const chart = make('div');
  box.append(chart, make('p', {}, rooflineInWords(roof, rate, intensity, under, ridge, moves)));
  // Drawn as wide as there is room, so that letters keep their size.
  new ResizeObserver(() => {
    const width = Math.min(860, chart.clientWidth);
    if (!width || width === CHART.width) return;
    CHART.width = width;
    chart.replaceChildren(chartOf(axesOf(intensity, rate, ridge, roof), { roof, ridge, intensity, rate, under, moves }));
  }).observe(chart);
}

function axesOf(intensity, rate, ridge, roof) {
  const decade = (value, round) => 10 ** round(Math.log10(value));
  const x = [decade(Math.min(intensity, ridge) / 3, Math.floor), decade(Math.max(intensity, ridge) * 3, Math.ceil)];
  const y = [decade(Math.min(rate, x[0] * roof.peak_hbm_bytes * 30), Math.floor), decade(roof.peak_operations * 1.5, Math.ceil)];
  const along = (value, [low, high], from, to) => from + ((Math.log10(value) - Math.log10(low)) / (Math.log10(high) - Math.log10(low))) * (to - from);
  return {
    x, y,
    placeX: (value) => along(value, x, CHART.left, CHART.width - CHART.right),
    placeY: (value) => along(value, y, CHART.height - CHART.bottom, CHART.top),
  };
}

function chartOf(axes, { roof, ridge, intensity, rate, under, moves }) {
  const svg = drawn('svg', { class: 'drawing', width: CHART.width, height: CHART.height, role: 'img', 'aria-label': 'Roofline of the kernel' });
  drawGrid(svg, axes);
  const { placeX, placeY } = axes;
  const start = Math.max(axes.x[0], axes.y[0] / roof.peak_hbm_bytes);
  const corner = [placeX(ridge), placeY(roof.peak_operations)];
  const foot = [placeX(start), placeY(start * roof.peak_hbm_bytes)];
  svg.append(
    drawn('polyline', { class: 'roof', points: `${foot} ${corner} ${placeX(axes.x[1])},${corner[1]}` }),
    drawn('text', { x: (corner[0] + placeX(axes.x[1])) / 2, y: corner[1] - 8, 'text-anchor': 'middle' }, `compute ${short(roof.peak_operations)} per ${T.unit}`));
  const turn = (Math.atan2(corner[1] - foot[1], corner[0] - foot[0]) * 180) / Math.PI;
  const middle = [(foot[0] + corner[0]) / 2, (foot[1] + corner[1]) / 2];
  svg.append(drawn('text', { x: middle[0], y: middle[1] - 9, transform: `rotate(${turn} ${middle})`, 'text-anchor': 'middle' }, `HBM ${short(roof.peak_hbm_bytes)} bytes per ${T.unit}`));
  const [x, y] = [placeX(intensity), placeY(rate)];
  svg.append(
    drawn('line', { class: 'drop', x1: x, y1: placeY(under), x2: x, y2: y }),
    drawn('circle', { class: 'point', cx: x, cy: y, r: 6 }));
  const [label, below] = labelPlace(x);
  svg.append(
    drawn('text', { ...label, y: y + 1 + below, 'font-weight': 600 }, cut(T.program, below ? 20 : 40)),
    drawn('text', { ...label, y: y + 15 + below, class: 'quiet-text' }, `${short(rate)} per ${T.unit}, ${percent(rate, under)} of the roof${moves ? '' : ', no HBM bytes'}`));
  return svg;
}

// Beside the point where there is room, else below it.
function labelPlace(x) {
  if (CHART.width < 600) return [{ x: Math.min(CHART.width - 110, Math.max(CHART.left + 90, x)), 'text-anchor': 'middle' }, 20];
  return [x > CHART.width * 0.66 ? { x: x - 11, 'text-anchor': 'end' } : { x: x + 11, 'text-anchor': 'start' }, 0];
}

function drawGrid(svg, { x, y, placeX, placeY }) {
  const base = CHART.height - CHART.bottom;
  // At most about ten lines with labels on an axis.
  const powers = ([low, high]) => {
    const [first, last] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
    const step = Math.ceil((last - first) / 10) || 1;
    return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => 10 ** (first + i * step));
  };
  for (const value of powers(x)) {
    svg.append(drawn('line', { class: 'grid', x1: placeX(value), x2: placeX(value), y1: CHART.top, y2: base }));
    svg.append(drawn('text', { class: 'quiet-text', x: placeX(value), y: base + 16, 'text-anchor': 'middle' }, short(value)));
  }
  for (const value of powers(y)) {
    svg.append(drawn('line', { class: 'grid', x1: CHART.left, x2: CHART.width - CHART.right, y1: placeY(value), y2: placeY(value) }));
    svg.append(drawn('text', { class: 'quiet-text', x: CHART.left - 8, y: placeY(value) + 4, 'text-anchor': 'end' }, short(value)));
  }
  const middle = (CHART.top + base) / 2;
  svg.append(
    drawn('text', { class: 'quiet-text', x: (CHART.left + CHART.width) / 2, y: CHART.height - 12, 'text-anchor': 'middle' }, 'operations per HBM byte'),
    drawn('text', { class: 'quiet-text', x: 16, y: middle, 'text-anchor': 'middle', transform: `rotate(-90 16 ${middle})` }, `operations per ${T.unit}`));
}

function rooflineInWords(roof, rate, intensity, under, ridge, moves) {
  const side = !moves ? 'It moves no HBM bytes.'
    : intensity < ridge ? `With ${short(intensity)} operations per HBM byte (below ${short(ridge)}) HBM is its roof.`
      : `With ${short(intensity)} operations per HBM byte (above ${short(ridge)}) arithmetic is its roof.`;
  return `${count(roof.operations)} operations in ${units(D.totals.units)}: ${short(rate)} per ${T.unit}, ${percent(rate, roof.peak_operations)} of peak and ${percent(rate, under)} of its roof. ${side}`;
}
