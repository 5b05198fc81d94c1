// Heat maps: how evenly transfers use the channels of HBM, and commands the banks of data memory. A row per command,
// under a first row of all together; a cell's colour is its share over the row's even share.

const ROW = 16;
const STOPS = {
  light: [[0, '#eef1f5'], [0.5, '#b9d3ee'], [1, '#5b93d3'], [2, '#b45fb0'], [4, '#c2212b']],
  dark: [[0, '#1c222a'], [0.5, '#23456b'], [1, '#4a86c8'], [2, '#c06fc0'], [4, '#ff6b5e']],
};
const heats = [];

function startHeat() {
  const box = byId('heat');
  addHeat(box, 'HBM channels', 'channel', T.commands.channels);
  addHeat(box, 'Banks of data memory', 'bank', T.commands.banks);
  if (!heats.length) box.append(make('p', { class: 'quiet' }, 'No transfers of HBM and no accesses of banks.'));
}

function addHeat(box, title, part, column) {
  const commands = column.map((_, command) => command).filter((command) => column[command] && column[command].some((share) => share > 0));
  if (!commands.length) return;
  const wide = commands.reduce((most, command) => Math.max(most, column[command].length), 0);
  const all = new Array(wide).fill(0);
  for (const command of commands) column[command].forEach((share, i) => { all[i] += share * T.commands.runs[command]; });
  const heat = { title, part, column, commands, wide, all, rows: commands.length + 1, canvas: make('canvas', { role: 'img', 'aria-label': `${title}: ${unevenness(all)}` }) };
  heat.box = make('div', { class: 'heat', tabindex: '0', role: 'region', 'aria-label': `${title} by command` }, heat.canvas, make('div'));
  heat.scale = make('div', { class: 'scale' });
  box.append(make('h3', {}, `${title}: ${unevenness(all)}`), heat.scale, heat.box);
  heats.push(heat);
  heat.box.addEventListener('scroll', () => drawHeat(heat), { passive: true });
  heat.canvas.addEventListener('pointermove', (event) => showTip(event, tipOfHeat(heat, event)));
  heat.canvas.addEventListener('pointerleave', (event) => showTip(event, ''));
  heat.canvas.addEventListener('click', (event) => {
    const { row } = cellAt(heat, event);
    if (row > 0) selectCommand(heat.commands[row - 1]);
  });
  new ResizeObserver(() => drawHeat(heat)).observe(heat.box);
}

function stops() { return STOPS[document.documentElement.dataset.theme] || STOPS.light; }

function heatColour(times) {
  const list = stops();
  const after = list.findIndex(([at]) => at >= times);
  if (after <= 0) return list[after < 0 ? list.length - 1 : 0][1];
  const [[low, from], [high, to]] = [list[after - 1], list[after]];
  const part = (times - low) / (high - low);
  const mix = (i) => Math.round(parseInt(from.slice(i, i + 2), 16) * (1 - part) + parseInt(to.slice(i, i + 2), 16) * part);
  return `rgb(${mix(1)} ${mix(3)} ${mix(5)})`;
}

function heatRow(heat, row) { return row === 0 ? heat.all : heat.column[heat.commands[row - 1]]; }

function heatName(heat, row) {
  if (row === 0) return 'all';
  const command = heat.commands[row - 1];
  const line = T.commands.line[command];
  return `${line === null ? '' : `${line}: `}${commandName(command, 60)}`;
}

// The canvas is as high as what is in sight and stays there; the element after it makes the height that scrolls.
function drawHeat(heat) {
  if (!heat.box.clientWidth) return;
  const height = Math.min(340, heat.rows * ROW + ROW);
  heat.canvas.style.height = `${height}px`;
  heat.box.lastChild.style.height = `${Math.max(0, heat.rows * ROW + ROW - height)}px`;
  const { pen, width } = openCanvas(heat.canvas, height);
  const left = heatLeft(width);
  const cell = (width - left - 4) / heat.wide;
  const first = Math.floor(heat.box.scrollTop / ROW);
  for (let row = first; row < heat.rows && (row - first) * ROW < height; row++) {
    const y = ROW + row * ROW - heat.box.scrollTop;
    const shares = heatRow(heat, row);
    const even = shares.reduce((a, b) => a + b, 0) / shares.length;
    pen.fillStyle = row === 0 ? colours.ink : colours.quiet;
    fillCut(pen, isolated(heatName(heat, row)), 6, y + ROW / 2, left - 12);
    shares.forEach((share, i) => {
      pen.fillStyle = heatColour(even ? share / even : 0);
      pen.fillRect(left + i * cell, y, Math.max(1, cell - 1), ROW - (row === 0 ? 3 : 1));
    });
  }
  drawHeatHead(pen, heat, width, left, cell);
  heat.scale.replaceChildren(...stops().map(([times, colour], i, list) => {
    const mark = make('i');
    mark.style.background = colour;
    return make('span', {}, mark, times === 0 ? 'nothing' : times === 1 ? 'the even share' : `${times}×${i === list.length - 1 ? ' and more' : ''}`);
  }));
}

function drawHeatHead(pen, heat, width, left, cell) {
  pen.fillStyle = colours.panel;
  pen.fillRect(0, 0, width, ROW);
  pen.fillStyle = colours.quiet;
  pen.fillText(heat.part, 6, ROW / 2);
  const step = [1, 2, 4, 8, 16, 32].find((n) => n * cell > 22) || 64;
  for (let i = 0; i < heat.wide; i += step) pen.fillText(String(i), left + i * cell + 1, ROW / 2);
}

function heatLeft(width) { return width < 600 ? 110 : 230; }

function cellAt(heat, event) {
  const box = heat.canvas.getBoundingClientRect();
  const left = heatLeft(box.width);
  const row = Math.floor((event.clientY - box.top - ROW + heat.box.scrollTop) / ROW);
  const part = Math.floor(((event.clientX - box.left - left) / (box.width - left - 4)) * heat.wide);
  const inside = event.clientY - box.top >= ROW && row >= 0 && row < heat.rows;
  return { row: inside ? row : -1, part };
}

function tipOfHeat(heat, event) {
  const { row, part } = cellAt(heat, event);
  if (row < 0) return '';
  const shares = heatRow(heat, row);
  if (part < 0 || part >= shares.length) return heatName(heat, row);
  const even = shares.reduce((a, b) => a + b, 0) / shares.length;
  return `${heatName(heat, row)}\n${heat.part} ${part}: ${count(shares[part])}, ${count(even ? shares[part] / even : 0)} times the even share`;
}
