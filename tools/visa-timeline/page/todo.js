// Advice: the lower bound of the kernel, part by part, the explanation of its plan, and advice.

function startTodo() {
  const box = byId('todo');
  const [plan, advice] = [true, false].map((planned) => T.advice.filter(({ from }) => (from === 'plan') === planned));
  box.append(...boundParts());
  if (plan.length) box.append(make('h3', {}, 'Plan'), make('ul', { class: 'advice plan' }, ...plan.map(adviceItem)));
  box.append(make('h3', {}, 'Advice'));
  if (!advice.length) { box.append(make('p', { class: 'quiet' }, 'No advice.')); return; }
  box.append(make('ul', { class: 'advice' }, ...advice.map(adviceItem)));
}

function boundParts() {
  const { cycles, times, parts } = T.bound;
  const total = D.totals.units;
  const title = total ? `At least ${units(cycles)}; the program takes ${count(times)} times as long` : 'no commands';
  const bars = [...parts].sort((a, b) => b.cycles - a.cycles).map((part) => partBar(part.of, part.cycles, total, part.cycles === cycles));
  if (total) bars.unshift(partBar('the program', total, total, false));
  return [make('h3', {}, title), ...bars];
}

function partBar(name, cycles, total, least) {
  const fill = make('div', { class: 'fill' });
  fill.style.width = `${total ? Math.min(100, (100 * cycles) / total) : 0}%`;
  return make('div', { class: least ? 'part least' : 'part' },
    bdi(name, 60), make('div', { class: 'track' }, fill), make('span', {}, `${count(cycles)} (${percent(cycles, total)})`));
}

function adviceItem({ from, message, text: inText, line }) {
  const item = make('li', {}, make('span', { class: 'from' }, cut(from, 20)));
  const at = lineLink(inText, line);
  if (at) item.append(at, ' ');
  item.append(bdi(message));
  return item;
}
