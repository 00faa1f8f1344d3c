// The report of one image or of many shots: its parts in their order, drawn from the numbers in the page.
const data = read('data'), about = read('data-about'), many = !data.verdict;
const main = document.getElementById('main'), contents = document.getElementById('contents');
const parameters = data.parameters;
const unitText = unit => unit === '1' ? '' : unit === 'A' ? '\u00c5' : unit === 'A^2' ? '\u00c5\u00b2' : unit;
const own = parameters.filter(p => p.error !== null);

// Adds a part to the page, and a link to it.
function section(id, title, link, ...parts) {
  const kept = parts.flat().filter(p => p);
  if (!kept.length) return null;
  const element = make('section', { id, 'aria-labelledby': id + '-title' }, make('h2', { id: id + '-title' }, title), kept);
  main.append(element);
  if (link) contents.append(make('a', { href: '#' + id }, link));
  return element;
}
const good = (is, yes, no) => make('span', { class: is ? 'badge good' : 'badge warn' }, is ? yes : no);

function head() {
  const title = fileName(data.provenance.shots || data.provenance.image) || 'refinement';
  const state = data.converged ? good(true, 'converged') :
      good(false, '', many || data.verdict.usable ? 'not converged' : 'not to be used');
  const facts = many
      ? `${data.used} of ${data.shots.length} shots in use \u00b7 ${data.pixels} pixels in ${data.shoeboxes} shoeboxes ` +
      `\u00b7 ${data.history.length} joint evaluations in ` +
      `${decimals(data.seconds, 1)} s`
      : [about && `${about.fast_pixels} \u00d7 ${about.slow_pixels} pixels, ${about.format}`,
        `${data.evaluations} evaluations in ${decimals(data.seconds, 1)} s`]
      .filter(t => t).join(' \u00b7 ');
  document.title = title + ' \u2013 dualbragg fit';
  document.getElementById('head').replaceChildren(
    make('div', { class: 'title' }, make('h1', {}, title, state), make('div', { class: 'tools' }, theme(),
      button('JSON', 'save all numbers as JSON', () => save('data.json', 'application/json', JSON.stringify(data, null, 1))),
      button('print', 'print the page', () => print()))),
    data.use ? make('p', { class: 'use' }, make('b', {}, data.use)) : null, make('p', {}, data.reason), make('p', {}, facts + ' \u00b7 dualbragg ' + data.provenance.version));
}

// ---- Results on top of the page.
const refinedText = (name, value, count) => {
  const p = parameters.find(q => q.name === name);
  return p ? p.text : decimals(value, count);
};
const factRow = (name, ...value) => make('div', {}, make('dt', {}, name), make('dd', {}, value));
function volume([a, b, c, alpha, beta, gamma]) {
  const [x, y, z] = [alpha, beta, gamma].map(v => Math.cos(v * Math.PI / 180));
  return a * b * c * Math.sqrt(Math.max(0, 1 - x * x - y * y - z * z + 2 * x * y * z));
}
function model() {
  const e = data.experiment, follow = i => (parameters.find(p => p.name === ['cell_a', 'cell_b', 'cell_c'][i]) || {}).follows;
  const edges = ['cell_a', 'cell_b', 'cell_c'].map((name, i) => follow(i) ? `${refinedText(follow(i), e.cell[i], 4)}` :
      refinedText(name, e.cell[i], 4));
  const angles = ['cell_alpha', 'cell_beta', 'cell_gamma'].map((name, i) => refinedText(name, e.cell[3 + i], 3));
  const turned = parameters.some(p => p.name.startsWith('misset_'));
  const misset = ['x', 'y', 'z'].map((axis, i) => refinedText('misset_' + axis, e.misset[i], 4));
  const rows = [0, 3, 6].map(k => make('tr', {},
    e.orientation.slice(k, k + 3).map(v => make('td', { class: 'n' }, decimals(v, 5)))));
  return make('section', { class: 'model', id: 'model' }, make('dl', {},
    factRow('Cell', make('b', {}, edges.join('  ')), ' \u00c5', make('br'), make('b', {}, angles.join('  ')), ' \u00b0',
      make('br'), make('span', { class: 'soft' }, `volume ${digits(volume(e.cell), 6)} \u00c5\u00b3`)),
    factRow('Space group', e.space_group || 'not given'),
    factRow('Wavelength', make('b', {}, refinedText('wavelength', e.wavelength, 5)), ' \u00c5', make('br'),
      make('span', { class: 'soft' }, energyText(e.wavelength))),
    factRow('Distance', make('b', {}, refinedText('distance', e.distance, 3)), ' mm', make('br'),
      make('span', { class: 'soft' }, `beam ${decimals(e.beam_centre[0], 2)}, ${decimals(e.beam_centre[1], 2)} px`)),
    factRow('Misset', make('b', {}, misset.join('  ')), ' \u00b0', make('br'),
      make('span', { class: 'soft' }, 'about x, y, z' + (turned ? '' : ', held'))),
    factRow('Orientation before misset',
      make('table', { class: 'matrix', 'aria-label': 'orientation matrix' }, make('tbody', {}, rows)))));
}
function card(title, before, after, explanation) {
  return make('div', { class: 'card' }, make('h3', {}, title),
    make('div', { class: 'figures' },
      before ? [make('span', { class: 'was' }, before), make('span', { class: 'arrow' }, '\u2192')] : null,
      make('span', { class: 'is' }, after)), explanation ? make('p', {}, explanation) : null);
}
function cards() {
  if (many) {
    const shared = own.slice(0, 4).map(p => card(p.name, null,
      [p.text, make('span', { class: 'unit' }, ' ' + unitText(p.unit))], p.meaning));
    return [card('Shots in use', null, `${data.used} of ${data.shots.length}`, 'the others are excluded, for the listed reason'),
      card('\u03c7\u00b2 per degree of freedom', decimals(data.chi2_reduced[0], 3), decimals(data.chi2_reduced[1], 3),
        'all shots; 1 if model and noise are right'),
      ...(isNumber(data.light_part) ? [card('Spots with the right brightness', null, percent(data.light_part),
        'in the model, within a factor of 1.5; intensities may be used from 67 % on')] : []), ...shared];
  }
  const { before: b, after: a } = data.statistics;
  return [card('\u03c7\u00b2 per degree of freedom', decimals(b.chi2_reduced, 3), decimals(a.chi2_reduced, 3),
    '1 if model and noise are right'),
    card('Strong pixels explained', percent(b.strong_explained), percent(a.strong_explained),
      'model has half to twice the measured counts above background'),
    card('Correlation', decimals(b.correlation, 3), decimals(a.correlation, 3),
      'model with measured, background removed'),
    card('Spot position error', decimals(b.centroid_rms, 2) + '\u202fpx', decimals(a.centroid_rms, 2) + '\u202fpx',
      'observed minus model centroid, rms')];
}
// The cell that was found, if the configuration had none.
function foundCell() {
  const c = data.found_cell;
  if (!c) return;
  section('found-cell', 'The cell was found', 'found cell',
    note(`${c.indexed} of ${c.spots} spots are near nodes of the lattice; by chance ${digits(c.by_chance, 2)} would be. ` +
        (c.searches > 1 ? `${c.agreeing} of ${c.images} searches, each of an image or a sweep, have found this cell. ` :
          c.images > 1 ? `The spots of ${c.images} images were searched together. ` : '') +
        `Reduced cell: ${c.reduced.map(v => digits(v, 5)).join(' ')}`),
    table({ name: 'lattices', rows: c.lattices, columns: [
      { name: 'lattice', value: l => l.symbol },
      { name: 'cell (\u00c5, \u00b0)', value: l => l.cell.map(v => digits(v, 5)).join(' ') },
      numeric('changed (%)', l => l.strain, v => decimals(100 * v, 1)),
      numeric('spots', l => l.indexed),
      numeric('misfit', l => l.misfit, v => decimals(v, 2)),
      { name: '', value: l => l === c.lattices[c.chosen] ? 'chosen' : l.fits ? 'possible' : 'no' }] }));
}
function warnings() {
  if (!data.warnings || !data.warnings.length) return;
  section('warnings', 'Before you use this result', 'warnings', make('ul', {}, data.warnings.map((text, i) =>
      make('li', {}, text, data.advice && data.advice[i] ? make('div', { class: 'advice' }, data.advice[i]) :
          null)))).classList.add('warnings');
}
function verdict() {
  if (many) return;
  const v = data.verdict,
      light = { meaning: 'part of the spots with the right brightness in the model, within 1.5 (for intensities)',
        found: v.light_part, least: 2 / 3, most: null, passed: v.intensities_usable };
  const asked = [...v.tests, light].filter(t => t.found !== null);
  section('verdict', 'May the model be used?', 'verdict',
    make('p', {}, `The tests use ${v.spots} spots that were found without a model, ${v.at} of them at reflections. `,
      v.reason ? make('b', { class: 'bad' }, v.reason) : null),
    table({ name: 'verdict', rows: asked, columns: [
      { name: 'test', value: t => t.meaning || t.name },
      numeric('found', t => t.found, v => digits(v, 3)),
      numeric('at least', t => t.least, v => v ? digits(v, 3) : ''),
      numeric('at most', t => t.most, v => isNumber(v) ? digits(v, 3) : ''),
      { name: 'result', value: t => t.passed ? 'passed' : 'failed',
        text: t => t.passed ? make('span', { class: 'fine' }, '\u2713 passed') :
          make('b', { class: 'bad' }, '\u2717 failed') }] }));
}

// ---- Parameters.
// The place of a value between its bounds, as a mark on a line.
function boundsMark(p) {
  if (p.follows) return 'follows ' + p.follows;
  const bad = p.at_bound !== 'no' ? make('b', { class: 'bad' }, ' at bound') : '';
  if (p.min === null || p.max === null)
    return make('span', {}, [p.min !== null ? '\u2265 ' + digits(p.min, 6) : '', p.max !== null ? '\u2264 ' +
        digits(p.max, 6) : ''].filter(t => t).join(' '), bad);
  const at = 120 * Math.min(1, Math.max(0, (p.refined - p.min) / (p.max - p.min)));
  return make('span', { title: `${digits(p.min, 8)} to ${digits(p.max, 8)}` },
    draw('svg', { class: 'bounds', viewBox: '-5 0 130 12', role: 'img',
      'aria-label': `between ${digits(p.min, 8)} and ${digits(p.max, 8)}` },
      draw('path', { d: 'M0 6H120M0 2V10M120 2V10' }), draw('circle', { cx: at, cy: 6, r: 4, class: bad ? 'bad' : '' })),
    bad);
}
function parameterTable() {
  if (!parameters.length) return;
  const error = key => ({ numeric: true, value: p => p[key],
    text: p => p[key] === null ? (p.determined || p.follows ? dash : '?') : digits(p[key], 2) });
  const by = many ? 'shots' : 'spots', scale = many ? NaN : Math.sqrt(Math.max(0, data.statistics.after.chi2_reduced));
  const columns = [
    { name: 'parameter', class: 'short', value: p => p.name, text: p => make('b', {}, p.name) },
    numeric('start', p => p.start, v => digits(v, 7)),
    { name: 'refined', numeric: true, value: p => p.refined, text: p => make('b', {}, p.text) },
    { name: 'error by noise', help: 'from the variances of the pixels alone', ...error('error_unscaled') },
    { name: 'by misfit', help: 'error by noise times the root of \u03c7\u00b2 per degree of freedom, if it exceeds 1',
          ...error('error_scaled') },
    { name: 'by ' + by, help: `from the scatter between ${by}${many ? '' : ', or between regions of the detector'}`, ...error('error_robust') },
    { name: 'change', numeric: true, value: p => p.refined - p.start, text: p => (p.refined < p.start ? '' : '+') +
        digits(p.refined - p.start, 3) },
    { name: 'unit', value: p => unitText(p.unit) },
    { name: 'between its bounds', value: p => p.at_bound, text: boundsMark }];
  if (parameters.some(p => p.prior)) columns.push({ name: 'prior', numeric: true, value: p => p.prior ? p.prior[0] : null,
    text: p => p.prior ? `${digits(p.prior[0], 8)} \u00b1 ${digits(p.prior[1], 3)}` : '' });
  columns.push({ name: 'meaning', value: p => p.meaning, class: 'meaning' });
  section('parameters', many ? 'Shared by all shots' : 'Parameters', many ? 'shared' : 'parameters',
    table({ name: 'parameters', rows: parameters, columns }),
    note('Refined values have standard errors in units of the last digit. Errors by noise follow from the variances of the ' +
        'pixels alone. Errors by misfit are errors by noise ' +
        `times the root of \u03c7\u00b2 per degree of freedom${isNumber(scale) ? ` (${decimals(scale, 2)})` : ''}, if it ` +
        `exceeds 1. Errors by ${by} follow from the scatter between ` +
        `${many ? 'shots, or between their shoeboxes' : 'shoeboxes, or between regions of the detector'}. The value has the ` +
        'larger error by misfit or ' + by + '. No error includes faults that all data share.'));
}
function directions() {
  const rows = data.directions.slice(0, 8);
  const text = d => parameters.map((p, i) => Math.abs(d.component[i]) >= 0.2 && d.change[i] !== null
        ? `${p.name}\u00a0${d.change[i] < 0 ? '' : '+'}${digits(d.change[i], 2)}\u202f${unitText(p.unit)}` :
      '').filter(t => t).join(', ') || 'any change';
  section('directions', 'Worst determined combinations', 'determined?',
    rows.length ? [table({ name: 'directions', rows, columns: [
      numeric('condition', d => d.condition, v => v === null ? make('b', { class: 'bad' }, 'not determined') : digits(v, 3)),
      { name: 'combination of parameters', value: d => d.text },
      { name: 'raises \u03c7\u00b2 by only 1', value: text, class: 'meaning' }] }),
      note('Eigenvectors of the normal matrix. The unit of each parameter is its error if it alone were refined. Condition ' +
          'is the largest ' +
          'eigenvalue over this one: 1 to 100 is harmless; above 10 000, fix one of the parameters, tie them, or add data ' +
          'that distinguish them.')] : null);
}
function correlation() {
  const at = parameters.map((p, i) => i).filter(i => parameters[i].error !== null);
  if (at.length < 2) return;
  const cell = at.length > 24 ? 20 : 40, margin = 140, top = 110, size = at.length * cell, scale = colourScale('signed');
  const svg = draw('svg', { class: 'matrix', viewBox: `0 0 ${margin + size + 70} ${top + size + 4}`,
    style: `max-width:${margin + size + 70}px`, role: 'img', 'aria-label': 'correlation matrix' });
  at.forEach((i, y) => {
    svg.append(draw('text', { class: 'label', x: margin - 8, y: top + (y + 0.5) * cell + 4, 'text-anchor': 'end' },
      parameters[i].name),
      draw('text', { class: 'label', transform: `translate(${margin + (y + 0.5) * cell} ${top - 8}) rotate(-45)` },
        parameters[i].name));
    at.forEach((k, x) => {
      const value = data.correlation[i][k] ?? 0, rgb = scale(0.5 + 0.5 * value);
      const over = e => tell([`${parameters[i].name} with ${parameters[k].name}`, `correlation ${signed(value, 4)}`], e.clientX,
        e.clientY);
      svg.append(draw('rect', { x: margin + x * cell, y: top + y * cell, width: cell - 1, height: cell - 1,
        fill: cssColour(rgb), pointermove: over, pointerleave: hush }));
      if (cell > 30) svg.append(draw('text',
        { class: 'number', x: margin + (x + 0.5) * cell, y: top + (y + 0.5) * cell + 4, 'text-anchor': 'middle',
          fill: isDark(rgb) ? '#fff' : '#1c2430' }, x === y ? '1' : signed(value, 2)));
    });
  });
  const names = parameters.map(p => p.name);
  section('correlation', 'Correlation of the parameters', 'correlation', svg, make('div', { class: 'tools small' },
    button('SVG', 'save the matrix as SVG', () => saveSvg('correlation', svg)),
    button('CSV', 'save the matrix as CSV',
      () => saveTable('correlation', [['', ...names], ...data.correlation.map((row, i) => [names[i], ...row])]))));
}

// ---- Goodness of fit by resolution, and residuals.
function resolution() {
  if (many || !data.shells.length) return;
  const one = (key, title, options) => {
    const points = part => data.shells.map(s => ({ x: 0.5 / s.d_max ** 2 + 0.5 / s.d_min ** 2, y: s[part][key],
      text: [`${decimals(s.d_max, 2)} to ${decimals(s.d_min, 2)} \u00c5, ${s[part].pixels} pixels`,
        `refined ${digits(s.after[key], 4)}`, `start ${digits(s.before[key], 4)}`] }));
    return chart({ title, name: 'resolution_' + key, width: 400, height: 250, group: 'resolution',
      x: { label: 'resolution (\u00c5)', ticks: resolutionTicks },
      y: { label: title, log: true, ...options },
      series: [{ name: 'start', class: 'before', points: points('before') },
        { name: 'refined', dots: true, class: 's0', points: points('after') }],
      levels: key === 'chi2_reduced' ? [{ y: 1, name: 'noise alone' }] : [] });
  };
  section('resolution', 'By resolution', 'resolution',
    make('div', { class: 'three' }, one('chi2_reduced', '\u03c7\u00b2 per degree of freedom', { logarithmic: true }),
      one('residual', 'R of the pixels', { low: 0 }), one('correlation', 'Correlation', { low: 0 })),
    note('Shells have equal numbers of pixels. Orange: noise alone. R is \u03a3|measured \u2212 model| / ' +
        '\u03a3|measured \u2212 background|. Correlation is between ' +
        'model and measured without background. R and correlation of pixels include noise, so do not compare them with ' +
        'values of merged intensities.'));
}
function residuals(pixels, select) {
  if (many || !data.shoeboxes.length) return;
  const parts = [];
  if (pixels) {
    const reach = 8, z = [];
    pixels.sigma.forEach((sigma, i) => { if (sigma > 0) z.push((pixels.measured[i] - pixels.model[i]) / sigma); });
    const { bars, total, width } = histogram(z, -reach, reach, 64), normal = [];
    for (const b of bars) b.text = [`${digits(b.from, 3)} to ${digits(b.to, 3)} \u03c3`, `${b.y} pixels`,
      `noise alone: ${digits(total * width * Math.exp(-b.x * b.x / 2) / Math.sqrt(2 * Math.PI), 3)}`];
    for (let x = -reach; x <= reach; x += 0.1) normal.push({ x,
      y: total * width * Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI) });
    parts.push(make('div', {}, chart({ title: 'Normalized residuals', name: 'residuals',
      note: `of ${total} pixels in shoeboxes`, x: { label: '(measured \u2212 model)/\u03c3', low: -reach, high: reach },
      y: { label: 'pixels', log: true, logarithmic: true },
      series: [{ name: 'pixels', kind: 'bars', class: 's0', points: bars },
        { name: 'noise alone', class: 'expected', silent: true, points: normal }] }),
      note('The outermost bars include all pixels beyond them. Wide wings show misfit or outliers; a histogram narrower than ' +
          'the curve shows overestimated noise.')));
  }
  const outliers = data.shoeboxes.filter(b => b.outlier).length, rows = data.shoeboxes.map((b, index) => ({ ...b, index }));
  const pick = b => ({ class: 'pick', 'data-box': b.index, tabindex: 0, role: 'button', click: () => select(b.index),
    keydown: e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); select(b.index); } } });
  const list = [make('h3', {}, 'Shoeboxes with the largest sigma Z'),
    note(`${outliers} of ${rows.length} are outliers` + (data.sigma_z_limit !== null
          ? `: sigma Z, the standard deviation of (measured \u2212 model)/\u03c3, above ${decimals(data.sigma_z_limit, 2)}; ` +
        `median ${decimals(data.sigma_z_median, 2)}.` : '.')),
    table({ name: 'outliers', rows, most: Math.max(8, Math.min(20, outliers)), sorted: 4, row: pick,
      columns: [{ name: 'h k l', class: 'short', value: b => b.hkl.join(' ') },
        numeric('d (\u00c5)', b => b.d_spacing, v => decimals(v, 2)),
        numeric('fast', b => b.predicted[0], v => decimals(v, 0)),
        numeric('slow', b => b.predicted[1], v => decimals(v, 0)),
        numeric('sigma Z', b => b.sigma_z, v => decimals(v, 2)),
        numeric('farthest pixel (\u03c3)', b => b.worst_z, v => signed(v, 1)),
        numeric('pixels', b => b.pixels_used)] })];
  if (data.distrusted.count) {
    const n = data.distrusted.count;
    list.push(make('h3', { id: 'distrusted' }, 'Pixels with little weight'),
      note(`${n} pixel${n === 1 ? '' : 's'} in use ${n === 1 ? 'differs' : 'differ'} by more than 5\u03c3 from the model. ` +
          'The target gives such pixels little weight (trust): zingers, hot pixels, spots of other crystals. The list begins ' +
          'with the least trust.'),
      table({ name: 'distrusted', rows: data.distrusted.pixels, most: 20,
        columns: [numeric('panel', p => p.panel), numeric('fast', p => p.fast), numeric('slow', p => p.slow),
          numeric('counts', p => p.counts, v => digits(v, 6)),
          numeric('model', p => p.model, v => digits(v, 4)),
          numeric('Z (\u03c3)', p => p.z, v => signed(v, 1)),
          numeric('trust', p => p.trust, v => digits(v, 2))] }));
  }
  section('outliers', 'Residuals and outliers', 'outliers', make('div', { class: 'columns' }, parts, make('div', {}, list)));
}

// ---- Stages and evaluations.
const stages = [];
data.history.forEach((h, i) => {
  const last = stages[stages.length - 1];
  if (last && last.stage === h.stage) { last.to = i; return; }
  stages.push({ stage: h.stage, from: i, to: i, settings: data.settings.stages[h.stage] || {} });
});
const stageBands = stages.map(s => ({ from: s.from + 0.5, to: s.to + 1.5, name: s.settings.name || '' }));
const stageName = h => (data.settings.stages[h.stage] || {}).name || h.stage;
function convergence() {
  if (!data.history.length) return;
  const points = data.history.map((h, i) => ({ x: i + 1, y: h.target, breaks: i > 0 && data.history[i - 1].stage !== h.stage,
    text: [`evaluation ${i + 1}, stage ${stageName(h)}`,
      `target ${digits(h.target, 6)}`] }));
  const positive = points.every(p => p.y > 0); // the loss of moments may be negative
  const x = { label: 'evaluation', low: 0.5, high: data.history.length + 0.5 };
  section('convergence', 'Convergence', 'convergence',
    chart({ title: 'Target', name: 'convergence', width: 1080, height: 300, group: 'evaluations', x, bands: stageBands,
      y: { label: 'target', log: positive,
        logarithmic: positive && limits(points.map(p => p.y), true)[1] > 20 * limits(points.map(p => p.y), true)[0] },
      series: [{ dots: points.length < 200, points }] }),
    note('The target is \u03c7\u00b2 per degree of freedom, or the loss of spots in stages by moments. It jumps between stages, because ' +
      'stages differ in their data and in the width of the model\u2019s spots.'),
    table({ name: 'stages', rows: stages,
      columns: [{ name: 'stage', value: s => s.settings.name || s.stage },
        numeric('evaluations', s => s.to - s.from + 1),
        numeric('target at its start', s => data.history[s.from].target, v => decimals(v, 4)),
        { name: 'lowest', numeric: true, value: lowest, text: s => decimals(lowest(s), 4) },
        numeric('finest resolution (\u00c5)', s => s.settings.dmin, v => Math.max(v || 0, data.settings.data.dmin || 0) ?
            digits(Math.max(v || 0, data.settings.data.dmin || 0), 3) : 'all'),
        numeric('blur', s => s.settings.blur, v => digits(v, 3)),
        { name: 'method', value: s => s.settings.algorithm || '' }] }), note('End: ' + data.reason));
  const value = (i, k) => data.history[k].values[i];
  const one = (p, i) => {
    const points = data.history.map((h, k) =>
        ({ x: k + 1, y: value(i, k), text: [`${p.name} ${digits(value(i, k), 7)} ${unitText(p.unit)}`,
          `evaluation ${k + 1}`] }));
    const range = limits(points.map(q => q.y), false, 0), squeezed = p.error === null || p.error >= 2 * (range[1] - range[0]);
    return chart({ title: p.name, note: `${p.text} ${unitText(p.unit)}`, name: 'history_' + p.name, width: 360, height: 190,
      group: 'evaluations', x, y: { label: unitText(p.unit) || p.name },
      bands: stageBands.map(b => ({ ...b, name: '' })),
      band: squeezed ? null : [p.refined - p.error, p.refined + p.error], series: [{ points }] });
  };
  if (!parameters.length) return;
  const together = own.length > 1 ?
      chart({ title: 'All parameters together', name: 'history_all', note: 'distance from the refined value in standard errors',
        width: 1080, height: 300, group: 'evaluations', x, bands: stageBands,
        y: { label: '(value \u2212 refined)/error' },
        series: own.map(p => ({ name: p.name,
          points: data.history.map((h, k) => ({ x: k + 1, y: h.values[parameters.indexOf(p)] === null ? null
                : (h.values[parameters.indexOf(p)] - p.refined) / p.error })) })) }) : null;
  section('curves', 'Parameters over the evaluations', 'curves', together,
    make('div', { class: 'three' }, parameters.map(one)),
    note('The orange band is the refined value with its standard error.'));
}
const lowest = s => Math.min(...data.history.slice(s.from, s.to + 1).map(h => h.target ?? Infinity));
function starts() {
  if (many || data.starts.length < 2) return;
  const place = new Map(data.starts.map((s, i) => [s, i + 1])),
      turn = k => numeric('xyz'[k] + ' (\u00b0)', s => s.turn[k], v => decimals(v, 3));
  section('starts', 'Starts', 'starts',
    note(`${data.starts.length} orientations around the given one. A shortened first stage ran from each. The starts that ` +
        'explained most strong pixels then went through all stages, until one explained half of them.'),
    table({ name: 'starts', rows: data.starts, most: 12,
      columns: [numeric('place', s => place.get(s)), numeric('number', s => s.number), turn(0), turn(1), turn(2),
        numeric('explained after the first stage', s => s.explained, v => percent(v)),
        numeric('after all stages', s => s.refined_explained, v => v === null ? '' : percent(v)),
        { name: '', value: s => [s.number === 0 ? 'the given one' : '',
          s.chosen ? 'chosen' : ''].filter(t => t).join(', ') }] }));
}
function statistics() {
  if (many) return;
  const rows = [['shoeboxes', 'shoeboxes', 0], ['pixels', 'pixels', 0], ['\u03c7\u00b2', 'chi2', 0],
    ['\u03c7\u00b2 per degree of freedom', 'chi2_reduced', 4], ['rms residual (counts)', 'rms_residual', 3],
    ['strong pixels', 'strong_pixels', 0], ['strong pixels explained (fraction)', 'strong_explained', 3],
    ['correlation', 'correlation', 4],
    ['spot centroids, observed minus model, rms (pixels)', 'centroid_rms', 3]];
  const column = (name, part) =>
      ({ name, numeric: true, value: r => data.statistics[part][r[1]],
        text: r => decimals(data.statistics[part][r[1]], r[2]) });
  section('statistics', 'Statistics on the same data', 'statistics',
    table({ name: 'statistics', rows,
      columns: [{ name: 'quantity', value: r => r[0] }, column('start', 'before'), column('refined', 'after')] }));
}

function provenance() {
  const p = data.provenance, facts = [['program', `${p.program} ${p.version}`], ['built with', p.features],
    ['written', p.date],
    ['command', p.command], ['configuration', p.configuration],
    [many ? 'list of shots' : 'image', many ? p.shots : p.image], ['detector', about && about.detector],
    ['structure factors', p.structure_factors]];
  section('provenance', 'Provenance', 'provenance',
    make('table', {}, make('tbody', {},
      facts.filter(f => f[1]).map(([key, value]) => make('tr', {}, make('th', { scope: 'row' }, key),
        make('td', {}, make('code', {}, value)))))),
    about && about.configuration ? make('details', {}, make('summary', {}, 'Configuration in use'),
      make('pre', {}, about.configuration)) : null);
}

// Pixels of all shoeboxes; each shoebox gets the offset of its pixels in these lists.
async function boxPixels() {
  if (many || !supportsPacked || !document.getElementById('data-box-measured')) return null;
  const [measured, model, sigma] = await Promise.all(['data-box-measured', 'data-box-model', 'data-box-sigma'].map(unpack));
  let offset = 0;
  data.shoeboxes.forEach((b, i) => {
    const [fast, slow] = about.box_sizes[i];
    if (offset + fast * slow <= measured.length) b.pixels = { offset, fast, slow };
    offset += fast * slow;
  });
  return { measured, model, sigma };
}

async function page() {
  head();
  main.append(many ? sharedModel() : model());
  main.append(make('section', { class: 'cards' }, cards()));
  excluded();
  verdict();
  foundCell();
  warnings();
  const pixels = await boxPixels();
  let viewer = null;
  const select = index => {
    if (!viewer) return;
    viewer.select(index, true);
    document.getElementById('images').scrollIntoView();
  };
  if (!many && pixels) {
    viewer = await imageViewer(about, data.shoeboxes);
    section('images', 'Images', 'images', viewer.element);
    viewer.resized();
  } else if (!many)
  section('images', 'Images', 'images',
    note(supportsPacked ? 'This build of dualbragg has no PNG and zlib libraries, so the report has no images.' :
        'This browser cannot unpack images; a newer browser can.'));
  parameterTable();
  directions();
  correlation();
  resolution();
  detectorMap(select);
  residuals(pixels, select);
  if (!many && data.shoeboxes.length) section('shoeboxes', 'Shoeboxes', 'shoeboxes',
    note('Measured, model, and residual from \u22125 to 5 \u03c3. A click shows the shoebox in the images above.'),
    gallery(about, data.shoeboxes, pixels, select));
  starts();
  amplitudeTables();
  siteCurves();
  shotCharts();
  shotTable();
  convergence();
  statistics();
  provenance();
  const wanted = location.hash &&
      document.getElementById(location.hash.slice(1)); // the browser looked for it before the script made it
  if (wanted) wanted.scrollIntoView({ behavior: 'instant' });
  document.documentElement.dataset.ready = 'yes';
}
page();
