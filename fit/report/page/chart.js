// Pieces of the page: elements, downloads, tables that sort, charts that show values, zoom and can be saved.

// An element. Attributes that are functions become listeners of events. Texts are never read as HTML.
function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}
const svgSpace = document.getElementById('svg').namespaceURI;
function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(svgSpace, name), attributes, children);
}
function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(key, value);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat().filter(c => c !== null && c !== undefined && c !== false));
  return element;
}
const button = (text, label, click) => make('button', { type: 'button', title: label, 'aria-label': label, click }, text);
function choice(label, options, change) {
  const select = make('select', { 'aria-label': label, change: () => change(select.value) },
    options.map(([value, text]) => make('option', { value }, text)));
  return make('label', {}, label + ' ', select);
}
function checkbox(label, checked, change) {
  const input = make('input', { type: 'checkbox', change: () => change(input.checked) });
  input.checked = checked;
  return make('label', {}, input, ' ' + label);
}

// The content of a data element of the page.
const read = id => { const e = document.getElementById(id); return e ? JSON.parse(e.textContent) : null; };
const fileName = path => path.split('/').pop();
const note = (...text) => make('p', { class: 'note' }, ...text);

// Light or dark, as in the system, until the reader chooses.
function theme() {
  const root = document.documentElement, system = matchMedia('(prefers-color-scheme: dark)');
  let chosen = null;
  try { chosen = localStorage.getItem('dualbragg-theme'); } catch { /* not allowed here */ }
  const b = button('', 'change between light and dark', () => {
    chosen = root.dataset.theme === 'dark' ? 'light' : 'dark';
    try { localStorage.setItem('dualbragg-theme', chosen); } catch { /* not allowed here */ }
    apply();
  });
  const apply = () => {
    root.dataset.theme = chosen || (system.matches ? 'dark' : 'light');
    b.textContent = root.dataset.theme === 'dark' ? '\u2600 light' : '\u263e dark';
  };
  system.addEventListener('change', apply);
  apply();
  return b;
}

// Names of saved files begin with the name of the page.
const baseName = () => (location.pathname.split('/').pop() || 'report').replace(/\.html?$/, '');
function save(name, type, text) {
  const link = make('a', { href: URL.createObjectURL(new Blob([text], { type })), download: decodeURIComponent(baseName()) +
      '_' + name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
const saveTable = (name, rows) => save(name + '.csv', 'text/csv', csvText(rows));
// Saves a picture with its colours on the page.
function saveSvg(name, svg) {
  const copy = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll('*')], to = [copy, ...copy.querySelectorAll('*')];
  const kept = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'opacity', 'font-size', 'font-family',
    'font-weight', 'text-anchor', 'display'];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const key of kept) to[i].style.setProperty(key, style.getPropertyValue(key));
    to[i].removeAttribute('class');
  });
  copy.style.background = getComputedStyle(document.querySelector('section')).backgroundColor;
  save(name + '.svg', 'image/svg+xml', new XMLSerializer().serializeToString(copy));
}

// A tip beside the pointer.
const tip = document.getElementById('tip');
function tell(lines, x, y) {
  tip.replaceChildren(...lines.map(line => make('div', {}, line)));
  tip.style.display = 'block';
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + 'px';
  tip.style.top = Math.max(4, y + 16 + box.height > innerHeight ? y - box.height - 12 : y + 16) + 'px';
}
const hush = () => { tip.style.display = 'none'; };

// A column of numbers; show: its value => text or element.
const numeric = (name, value, show = String, help) => ({ name, help, numeric: true, value, text: row => show(value(row)) });

// A table. columns: { name, value: row => number or text, text: row => text or element, numeric, help }. Its heads sort it.
// It shows `most` rows, and has a button for all. row: attributes of a row.
function table({ columns, rows, name, most = 1000, sorted = -1, row: attributes = () => ({}), caption }) {
  const body = make('tbody'), heads = [], state = { column: sorted, down: true, all: false };
  const order = () => {
    if (state.column < 0) return rows;
    const value = columns[state.column].value, sign = state.down ? -1 : 1, rank = v => isNumber(v) || typeof v === 'string';
    return [...rows].sort((a, b) => {
      const x = value(a), y = value(b);
      if (!rank(x) || !rank(y)) return rank(y) - rank(x);
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
  };
  const more = button('', 'show all rows', () => { state.all = true; show(); });
  function show() {
    const list = order(), shown = state.all ? list : list.slice(0, most);
    body.replaceChildren(...shown.map(row => make('tr', attributes(row), columns.map((c, i) =>
        make(i === 0 ? 'th' : 'td', { class: c.numeric ? 'n' : c.class, scope: i === 0 ? 'row' : null },
          c.text ? c.text(row) : String(c.value(row)))))));
    more.textContent = `all ${list.length} rows`;
    more.hidden = shown.length === list.length;
    heads.forEach((head, i) => head.setAttribute('aria-sort', i !== state.column ? 'none' : state.down ? 'descending' :
        'ascending'));
  }
  columns.forEach((c, i) => heads.push(make('th', { class: c.numeric ? 'n' : '', scope: 'col', title: c.help },
    button(c.name, `sort by ${c.name}`, () => {
      state.down = state.column === i ? !state.down : !!c.numeric;
      state.column = i;
      show();
  }))));
  show();
  const save = button('CSV', 'save this table as CSV',
    () => saveTable(name, [columns.map(c => c.name), ...order().map(row => columns.map(c => c.value(row)))]));
  return make('div', { class: 'table' },
    make('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': caption || name },
      make('table', {}, make('thead', {}, make('tr', {}, heads)), body)),
    make('div', { class: 'tools' }, more, save));
}

// Charts of one group show the same point.
const groups = {};

// A chart. x, y: { label, log (has a switch), logarithmic (at the start), low, high, ticks };
// series: [{ name, kind: 'line', 'dots' or 'bars', points: [{ x, y, text, breaks }], class, click }];
// bands: [{ from, to, name }]; levels: [{ y, name }]; band: [low, high] of y.
function chart({ title, name, x, y, series, bands = [], levels = [], band, width = 560, height = 280, group, note }) {
  const left = 62, right = width - 10, top = bands.some(b => b.name) ? 26 : 14, bottom = height - 38;
  const state = { logX: !!x.logarithmic, logY: !!y.logarithmic, view: null, hidden: new Set(), at: null };
  const svg = draw('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', tabindex: 0,
    'aria-label': `${title}: ${y.label} against ${x.label}; ` +
      'arrow keys go from point to point, plus and minus zoom, 0 shows all' });
  const clip = 'clip' + (chart.count = (chart.count || 0) + 1);
  let axes, places = [];
  const shownSeries = () => series.filter(s => !state.hidden.has(s));

  function whole() {
    const points = shownSeries().flatMap(s => s.points), bars = series.some(s => s.kind === 'bars');
    const xs = bars ? points.flatMap(p => [p.from, p.to]) : points.map(p => p.x);
    const ys = [...points.map(p => p.y), ...levels.map(l => l.y), ...(band || []), y.low, bars && !state.logY ? 0 : undefined];
    const rangeX = limits(xs, state.logX, bars || x.tight ? 0 : 0.02), rangeY = limits(ys.filter(isNumber), state.logY);
    if (bars && !state.logY) rangeY[0] = 0;
    if (bars && state.logY) rangeY[0] = 0.7;
    return { x: [x.low ?? rangeX[0], x.high ?? rangeX[1]], y: rangeY };
  }
  function frame() {
    const range = state.view || whole();
    axes = { x: axis(...range.x, left, right, state.logX), y: axis(...range.y, bottom, top, state.logY) };
    const grid = draw('g');
    for (const t of (x.ticks || (a => ticks(a, width < 400 ? 5 : 9)))(axes.x)) {
      const at = axes.x.place(t.value);
      grid.append(draw('path', { class: 'grid', d: `M${at} ${top}V${bottom}` }),
        draw('text', { class: 'tick', x: at, y: bottom + 15, 'text-anchor': 'middle' }, t.text));
    }
    for (const t of ticks(axes.y, height < 200 ? 4 : 6, y.integer ? 1 : 0)) {
      const at = axes.y.place(t.value);
      grid.append(draw('path', { class: 'grid', d: `M${left} ${at}H${right}` }),
        draw('text', { class: 'tick', x: left - 6, y: at + 3.5, 'text-anchor': 'end' }, t.text));
    }
    grid.append(draw('text', { class: 'label', x: (left + right) / 2, y: height - 6, 'text-anchor': 'middle' }, x.label),
      draw('text', { class: 'label', transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`,
        'text-anchor': 'middle' },
        y.label + (state.logY ? ' (log)' : '')));
    return grid;
  }
  function line(points) {
    let path = '', open = false;
    for (const p of points) {
      const usable = isNumber(p.x) && isNumber(p.y) && (!state.logY || p.y > 0) && (!state.logX || p.x > 0);
      if (usable) path += (open && !p.breaks ? 'L' : 'M') + axes.x.place(p.x).toFixed(1) + ' ' + axes.y.place(p.y).toFixed(1);
      open = usable;
    }
    return path;
  }
  function plot() {
    const area = draw('g', { 'clip-path': `url(#${clip})` });
    bands.forEach((b, i) => area.append(
      draw('rect', { class: 'band' + i % 2, x: axes.x.place(b.from), y: top,
        width: Math.max(0, axes.x.place(b.to) - axes.x.place(b.from)), height: bottom - top }),
      b.name && axes.x.place(b.to) - axes.x.place(b.from) > 24 ?
        draw('text', { class: 'stage', x: axes.x.place(b.from) + 4, y: top - 6 }, b.name) : ''));
    if (band && (!state.logY || band[0] > 0)) area.append(draw('rect',
      { class: 'error', x: left, y: axes.y.place(band[1]), width: right - left,
        height: Math.max(1, axes.y.place(band[0]) - axes.y.place(band[1])) }));
    for (const l of levels) if (!state.logY || l.y > 0)
      area.append(draw('path', { class: 'level', d: `M${left} ${axes.y.place(l.y)}H${right}` }, draw('title', {}, l.name)));
    places = [];
    series.forEach((s, index) => {
      if (state.hidden.has(s)) return;
      const style = 'series ' + (s.class || 's' + index % 8);
      if (s.kind === 'bars') for (const p of s.points) {
        if (!(p.y > 0)) continue;
        const from = axes.x.place(p.from), to = axes.x.place(p.to), at = axes.y.place(p.y),
            floor = axes.y.place(state.logY ? axes.y.low : Math.max(0, axes.y.low));
        area.append(draw('rect', { class: style + ' bar', x: from, y: at, width: Math.max(0.6, to - from - 0.8),
          height: Math.max(0, floor - at) }));
      }
      if (s.kind === 'line' || !s.kind) area.append(draw('path', { class: style + ' curve', d: line(s.points) }));
      for (const p of s.points) {
        if (!isNumber(p.x) || !isNumber(p.y) || (state.logY && p.y <= 0) || (state.logX && p.x <= 0)) continue;
        const at = { s, p, x: axes.x.place(p.x), y: axes.y.place(p.y) };
        if (!s.silent) places.push(at);
        if (s.kind === 'dots' || (s.kind !== 'bars' && s.dots)) area.append(draw('circle',
          { class: style + ' dot', cx: at.x, cy: at.y, r: 2.8 }));
      }
    });
    return area;
  }
  const mark = draw('g', { class: 'mark' });
  function show() {
    svg.replaceChildren(draw('clipPath', { id: clip },
      draw('rect', { x: left, y: top - 24, width: right - left, height: bottom - top + 24 })),
      frame(), plot(), draw('path', { class: 'axes', d: `M${left} ${top}V${bottom}H${right}` }), mark);
    mark.replaceChildren();
    svg.dataset.view = JSON.stringify([axes.x.low, axes.x.high, axes.y.low, axes.y.high].map(v => +v.toPrecision(5)));
  }

  // Pointing.
  function point(at, quiet) {
    state.at = at;
    mark.replaceChildren();
    if (!at) { hush(); return; }
    mark.append(draw('path', { class: 'cross', d: `M${at.x} ${top}V${bottom}` }),
      draw('circle', { class: 'here', cx: at.x, cy: at.y, r: 4.5 }));
    if (quiet) return;
    const box = svg.getBoundingClientRect(), k = box.width / width;
    tell(at.p.text || [`${at.s.name || y.label}: ${digits(at.p.y, 5)}`, `${x.label}: ${digits(at.p.x, 5)}`],
      box.left + at.x * k, box.top + at.y * k);
    for (const other of groups[group] || []) if (other !== follow) other(at.p.x);
  }
  function follow(value) {
    const near = places.filter(q => Math.abs(q.p.x - value) < 1e-9)[0];
    point(near || null, true);
  }
  if (group) (groups[group] = groups[group] || []).push(follow);
  const place = event => {
    const box = svg.getBoundingClientRect();
    return [(event.clientX - box.left) * width / box.width, (event.clientY - box.top) * height / box.height];
  };
  function nearest(px, py) {
    let best = null, least = Infinity;
    const flat = series.every(s => s.kind === 'bars' || s.kind === 'line' || !s.kind);
    for (const q of places) {
      if (q.x < left - 1 || q.x > right + 1) continue;
      const away = flat ? Math.abs(q.x - px) + 0.05 * Math.abs(q.y - py) : Math.hypot(q.x - px, q.y - py);
      if (away < least) { least = away; best = q; }
    }
    return least < (flat ? 60 : 40) ? best : null;
  }
  let from = null;
  svg.addEventListener('pointerdown',
    e => { if (e.pointerType === 'mouse') { from = place(e); svg.setPointerCapture(e.pointerId); } });
  svg.addEventListener('pointermove', e => {
    const at = place(e);
    if (!from) { point(nearest(...at)); return; }
    mark.replaceChildren(draw('rect', { class: 'rubber', x: Math.min(from[0], at[0]), y: Math.min(from[1], at[1]),
      width: Math.abs(at[0] - from[0]), height: Math.abs(at[1] - from[1]) }));
    hush();
  });
  svg.addEventListener('pointerup', e => {
    const at = place(e), start = from;
    from = null;
    if (!start) return;
    const near = nearest(...at);
    if (Math.abs(at[0] - start[0]) < 6) { if (near && near.s.click) near.s.click(near.p); point(near); return; }
    const range = { x: [start[0], at[0]].map(v => axes.x.value(Math.min(right, Math.max(left, v)))).sort((a, b) => a - b),
      y: [axes.y.low, axes.y.high] };
    if (Math.abs(at[1] - start[1]) > 20)
      range.y = [start[1], at[1]].map(v => axes.y.value(Math.min(bottom, Math.max(top, v)))).sort((a, b) => a - b);
    state.view = range;
    show();
  });
  svg.addEventListener('pointerleave',
    () => { if (!from) { point(null); for (const other of groups[group] || []) other(NaN); } });
  svg.addEventListener('blur', () => point(null));
  svg.addEventListener('dblclick', () => { state.view = null; show(); });
  function zoom(factor) {
    const centre = state.at ? state.at.x : (left + right) / 2;
    state.view = { x: [left, right].map(p => axes.x.value(centre + (p - centre) / factor)), y: [axes.y.low, axes.y.high] };
    show();
  }
  svg.addEventListener('keydown', e => {
    const same = places.filter(q => !state.at || q.s === state.at.s), i = same.findIndex(q => state.at && q.p === state.at.p);
    const lines = shownSeries().filter(s => !s.silent);
    if (e.key === 'ArrowRight') point(same[Math.min(same.length - 1, i + 1)]);
    else if (e.key === 'ArrowLeft') point(same[Math.max(0, i - 1)]);
    else if ((e.key === 'ArrowUp' || e.key === 'ArrowDown') && state.at && lines.length > 1) {
      const s = lines[(lines.indexOf(state.at.s) + (e.key === 'ArrowUp' ? 1 : lines.length - 1)) % lines.length];
      point(places.filter(q => q.s === s).sort((a, b) => Math.abs(a.x - state.at.x) - Math.abs(b.x - state.at.x))[0] ||
          state.at);
    } else if (e.key === '+' || e.key === '=') zoom(1.5);
    else if (e.key === '-') zoom(1 / 1.5);
    else if (e.key === '0') { state.view = null; show(); }
    else if (e.key === 'Escape') point(null);
    else if (e.key === 'Enter' && state.at && state.at.s.click) state.at.s.click(state.at.p);
    else return;
    e.preventDefault();
  });

  // Around it: legend, switches, downloads.
  const named = series.filter(s => s.name && !s.plain);
  const legend = named.length > 1 ? named.map(s => {
    const b = make('button', { type: 'button', class: 'entry', 'aria-pressed': 'true', title: `show or hide ${s.name}`,
      click: () => {
        if (state.hidden.has(s)) state.hidden.delete(s); else state.hidden.add(s);
        b.setAttribute('aria-pressed', String(!state.hidden.has(s)));
        state.view = null;
        show();
    } }, draw('svg', { class: 'key', viewBox: '0 0 20 10', 'aria-hidden': 'true' },
      draw('path', { class: `series ${s.class || 's' + series.indexOf(s) % 8} ${s.kind === 'dots' ? 'curve thick' : 'curve'}`,
        d: 'M1 5H19' })), s.name);
    return b;
  }) : [];
  const columns = [x.label, ...series.map(s => s.name || y.label)];
  const tools = make('div', { class: 'tools small' }, legend, make('span', { class: 'gap' }),
    y.log && checkbox('log', state.logY, on => { state.logY = on; state.view = null; show(); }),
    x.log && checkbox(`log ${x.label}`, state.logX, on => { state.logX = on; state.view = null; show(); }),
    button('all', 'show the whole chart', () => { state.view = null; show(); }),
    button('SVG', `save ${title} as SVG`, () => { point(null); saveSvg(name, svg); }),
    button('CSV', `save the numbers of ${title} as CSV`, () => {
      if (series.every(s => s.kind === 'dots')) {
        saveTable(name, [[x.label, y.label], ...series.flatMap(s => s.points.map(p => [p.x, p.y]))]);
        return;
      }
      const at = [...new Set(series.flatMap(s => s.points.map(p => p.x)))].sort((a, b) => a - b);
      saveTable(name, [columns, ...at.map(v => [v, ...series.map(s => (s.points.find(p => p.x === v) || {}).y)])]);
  }));
  show();
  return make('figure', { class: 'plot' },
    make('figcaption', {}, make('b', {}, title), note ? make('span', { class: 'soft' }, ' ' + note) : null), svg, tools);
}
