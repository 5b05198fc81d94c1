// Addresses over time: a box per range, as high as its bytes and as long as they are kept.

const memory = { boxes: null, capacity: 0, least: 0, used: 0, low: 0, high: 1 };

function startMemory() {
  const spaces = [...new Set([...Object.keys(T.capacity), ...D.memory.keys()])].filter((space) => D.memory.has(space));
  const picker = byId('space');
  if (!spaces.length) {
    picker.append(make('option', {}, 'none'));
    picker.disabled = true;
    byId('whole').disabled = true;
    byId('memory-facts').textContent = 'no ranges of memory';
  } else {
    picker.append(...spaces.map((space) => make('option', { value: space }, cut(space, 40))));
    picker.addEventListener('change', () => { pickSpace(picker.value); render(); });
    byId('whole').addEventListener('change', () => { scaleMemory(); render(); });
    pickSpace(spaces[0]);
  }
  listenTo(byId('memory'), { click: clickMemory, twice: fitMemory, tip: tipOfMemory });
}

function pickSpace(space) {
  memory.boxes = D.memory.get(space);
  memory.capacity = Object.hasOwn(T.capacity, space) ? T.capacity[space] : 0;
  let [low, high] = [Infinity, 0];
  for (const { position } of memory.boxes.items) {
    low = Math.min(low, T.memory.bytes[position][0]);
    high = Math.max(high, T.memory.bytes[position][1]);
  }
  memory.used = high;
  memory.least = low;
  // Without a capacity there is nothing whole; a part that is too small to see is shown by itself first.
  byId('whole').disabled = !memory.capacity;
  byId('whole').checked = memory.capacity > 0 && high > memory.capacity / 4;
  scaleMemory();
}

function scaleMemory() {
  const whole = byId('whole').checked;
  memory.low = memory.capacity ? 0 : memory.least;
  memory.high = Math.max(memory.low + 1, whole ? Math.max(memory.capacity, memory.used) : memory.used);
  const ranges = `${count(memory.boxes.items.length)} ranges`;
  byId('memory-facts').textContent = memory.capacity
    ? `${ranges}, up to byte ${count(memory.used)} of ${count(memory.capacity)} in a slice (${percent(memory.used, memory.capacity)})`
    : `${ranges}, ${hex(memory.least)} to ${hex(memory.used)}`;
}

function memoryY(height, address) { return height - 6 - ((address - memory.low) / (memory.high - memory.low)) * (height - 18); }

function drawMemory() {
  const canvas = byId('memory');
  const { pen, width, height, plot } = openCanvas(canvas, canvas.clientHeight);
  const scale = scaleOf(width);
  if (memory.boxes) {
    drawAddresses(pen, width, height, plot);
    clipped(pen, plot, 0, width - plot, height, () => {
      drawAxis(pen, scale, height, 0);
      drawBoxes(pen, scale, height);
      drawCapacity(pen, scale, height);
    });
  }
  pen.fillStyle = colours.edge;
  pen.fillRect(plot - 1, 0, 1, height);
}

function drawAddresses(pen, width, height, plot) {
  pen.textAlign = 'right';
  for (let i = 0; i <= 4; i++) {
    const address = memory.low + Math.round(((memory.high - memory.low) * i) / 4);
    const y = Math.round(memoryY(height, address));
    pen.fillStyle = colours.grid;
    pen.fillRect(plot, y, width - plot, 1);
    pen.fillStyle = colours.quiet;
    pen.fillText(memory.capacity ? bytesShort(address) : hex(address), plot - 6, Math.min(height - 7, Math.max(8, y)), plot - 10);
  }
  pen.textAlign = 'left';
}

function drawCapacity(pen, scale, height) {
  if (!memory.capacity || memory.high < memory.capacity) return;
  const y = Math.round(memoryY(height, memory.capacity));
  pen.fillStyle = colours.select;
  for (let x = scale.left; x < scale.right; x += 8) pen.fillRect(x, y, 4, 1);
  pen.textAlign = 'right';
  pen.fillText(`capacity ${bytesShort(memory.capacity)}`, scale.right - 4, y + 8);
  pen.textAlign = 'left';
}

// Boxes that are narrower than a pixel and at the same place as another are drawn once.
function drawBoxes(pen, scale, height) {
  const seen = new Map();
  const { items, start, reach } = memory.boxes;
  for (let i = lowerBound(reach, view.from); i < items.length && start[i] <= view.to; i++) {
    const { end, position } = items[i];
    if (end < view.from) continue;
    const [low, high] = T.memory.bytes[position];
    const x = Math.max(scale.x(start[i]), scale.left - 2);
    const width = Math.min(scale.x(end), scale.right + 2) - x;
    const top = memoryY(height, high);
    const tall = Math.max(1, memoryY(height, low) - top);
    const marked = isMarked(position);
    if (width < 1 && !marked) {
      const place = Math.round(top) * 4096 + Math.round(tall);
      if (seen.get(place) === Math.floor(x)) continue;
      seen.set(place, Math.floor(x));
    }
    paintBox(pen, position, x, top, Math.max(1, width), tall, marked);
  }
}

function isMarked(position) {
  if (selection.run === null) return false;
  return T.memory.writer[position] === selection.run || T.memory.readers[position].includes(selection.run);
}

function paintBox(pen, position, x, y, width, height, marked) {
  const writer = T.memory.writer[position];
  pen.fillStyle = colourOfRun(writer);
  pen.globalAlpha = 0.45;
  pen.fillRect(x, y, width, height);
  pen.globalAlpha = 1;
  if (width > 3) { pen.fillRect(x, y, 1, height); pen.fillRect(x, y, width, 1); }
  if (marked) outline(pen, { x, y, width, height }, 2);
  if (width < 30 || height < 12) return;
  pen.fillStyle = colours.ink;
  fillCut(pen, isolated(T.memory.name[position]), x + 5, y + height / 2 + 0.5, width - 8);
}

function rangeAt(x, y) {
  if (!memory.boxes) return null;
  const canvas = byId('memory');
  const scale = scaleOf(canvas.clientWidth);
  if (x < scale.left) return null;
  const { items, start, reach } = memory.boxes;
  let best = null;
  for (let i = lowerBound(reach, scale.time(x - 2)); i < items.length && start[i] <= scale.time(x + 2); i++) {
    const [low, high] = T.memory.bytes[items[i].position];
    const inside = scale.x(items[i].end) >= x - 2 && memoryY(canvas.clientHeight, high) <= y + 1 && memoryY(canvas.clientHeight, low) >= y - 1;
    // Of ranges on top of each other the last is in sight.
    if (inside) best = items[i];
  }
  return best;
}

function clickMemory(x, y) {
  const range = rangeAt(x, y);
  if (!range) return;
  selectRun(T.memory.writer[range.position], { show: false });
}

function fitMemory(x, y) {
  const range = rangeAt(x, y);
  if (range) fit(range.start, range.end); else showAll();
}

function rangeText(position) {
  const [low, high] = T.memory.bytes[position];
  const [first, last] = T.memory.slices[position];
  return `${T.memory.space[position]} ${hex(low)} – ${hex(high)} (${bytesShort(high - low)}), slices ${count(first)} – ${count(last)}`;
}

function tipOfMemory(x, y) {
  const range = rangeAt(x, y);
  if (!range) return '';
  const { position } = range;
  const writer = T.memory.writer[position];
  return `${cut(T.memory.name[position], 200)}\n${rangeText(position)}\n${count(range.start)} – ${count(range.end)}: ${units(range.end - range.start)}\nwritten by ${runName(writer, 80)}, ${count(T.memory.readers[position].length)} readers`;
}
