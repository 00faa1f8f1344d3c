// Parts of the report that only many shots have.

// The model of many shots: shared values, medians of the shots' own values, else values of the start.
function sharedModel() {
  const m = data.model, local = name => {
    const i = data.local.indexOf(name), values = i < 0 ? [] : data.shots.filter(s => s.used).map(s => s.refined[i]);
    return values.length ? digits(quantile(values, 0.5), 6) + ' (median)' : null;
  };
  const value = (name, given, count) => {
    const p = parameters.find(q => q.name === name);
    return p ? p.text : local(name) || (given === undefined ? null : decimals(given, count));
  };
  const cell = (m.cell || []).map((v, i) => value(['cell_a', 'cell_b', 'cell_c', 'cell_alpha', 'cell_beta', 'cell_gamma'][i], v,
    i < 3 ? 4 : 3));
  const fact = (title, text, unit, ...more) => text ? factRow(title, make('b', {}, text), unit, ...more) : null;
  return make('section', { class: 'model', id: 'model' }, make('dl', {},
    cell.length ? factRow('Cell', make('b', {}, cell.slice(0, 3).join('  ')), ' \u00c5', make('br'),
      make('b', {}, cell.slice(3).join('  ')), ' \u00b0') : null,
    factRow('Space group', m.symmetry || 'not given'), fact('Wavelength', value('wavelength', m.wavelength, 5), ' \u00c5'),
    fact('Distance', value('distance', m.distance, 3), ' mm'), factRow('Orientation', 'of each shot: table of shots')));
}

function excluded() {
  const rows = many ? data.shots.filter(s => !s.used) : [];
  if (!rows.length) return;
  section('excluded', `${rows.length} of ${data.shots.length} shots were excluded`, 'excluded',
    table({ name: 'excluded_shots', rows, most: 20,
      columns: [{ name: 'shot', value: s => s.name }, { name: 'reason', value: s => s.reason }] }),
    note('To find the cause, refine one excluded image alone with dualbragg fit, and read its report.'))
      .classList.add('warnings');
}

// Intensities that all shots share: their quality by resolution.
function amplitudeTables() {
  const a = data.intensities;
  if (!a) return;
  const range = s => `${decimals(s.d_max, 2)} to ${decimals(s.d_min, 2)} \u00c5`;
  const middle = s => (1 / (s.d_max * s.d_max) + 1 / (s.d_min * s.d_min)) / 2;
  const line = (name, key, count) => ({ name, kind: 'line', points: a.shells.map(s =>
    ({ x: middle(s), y: s[key], text: [range(s), `${name} ${decimals(s[key], count)}`] })) });
  const plot = (title, label, name, series, y = {}) => chart({ title, name, width: 360, height: 220, group: 'shells',
    x: { label: 'resolution (\u00c5)', ticks: resolutionTicks }, y: { label, ...y }, series });
  const column = (name, key, count, help) =>
      numeric(name, s => s[key], v => decimals(v, count), help);
  const o = a.overall, reference = o.reference_count > 0;
  section('intensities', `Intensities of ${o.measured} of ${o.possible} reflections to ${decimals(a.d_min, 2)} \u00c5, ` +
      `${a.space_group}${a.anomalous ? ', Bijvoet mates separate' : ''}`, 'intensities',
    make('div', { class: 'three' },
      plot('Correlation of two halves of the shots', 'CC', 'cc_half', [line('CC\u00bd', 'cc_half', 3),
        line('CC of Bijvoet differences', 'cc_anomalous', 3),
        ...(reference ? [line('CC with the reference', 'cc_reference', 3)] : [])], { high: 1 }),
      plot('Multiplicity', 'measurements', 'multiplicity', [line('multiplicity', 'multiplicity', 1)], { low: 0 }),
      plot('Signal', 'mean I/\u03c3', 'signal', [line('mean I/\u03c3', 'mean_i_over_sigma', 1)], { low: 0 })),
    table({ name: 'intensities', rows: [...a.shells, o], columns: [
      { name: 'resolution', value: s => s === o ? 'all' : range(s) },
      numeric('measured', s => s.measured),
      numeric('complete', s => s.completeness, v => percent(v)),
      column('multiplicity', 'multiplicity', 1), column('mean I/\u03c3', 'mean_i_over_sigma', 1),
      column('CC\u00bd', 'cc_half', 3, 'of the intensities of two halves of the shots'),
      column('CC*', 'cc_star', 3, 'estimate of the correlation with the truth'), column('R_split', 'r_split', 3),
      column('CC_ano', 'cc_anomalous', 3, 'of Bijvoet differences of two halves'),
      column('wCC\u00bd', 'cc_half_weighted', 3, 'CC\u00bd, in which uncertain reflections count little'),
      column('wCC_ano', 'cc_anomalous_weighted', 3, 'CC_ano, in which uncertain reflections count little'),
      ...(reference ? [column('CC_ref', 'cc_reference', 3, 'of the intensities with the reference'),
        column('R_ref', 'r_reference', 3, 'of the intensities against the reference, after its scale and B factor'),
        column('CC_ano_ref', 'cc_anomalous_reference', 3, 'of Bijvoet differences with the reference')] : [])] }),
    a.indexing ? note(`Indexing: ${a.indexing}.`) : '',
    a.crystals ? note(`Crystals: ${a.crystals}.`) : '',
    note('Bijvoet mates count as one reflection in the columns measured, complete and multiplicity, and separately in ' +
        'the others. A dash: not defined.'));
}

// f' and f'' of each kind of sites, with lines one error above and below.
function siteCurves() {
  const curves = data.curves, p = data.curve_priors;
  if (!curves || !curves.length) return;
  const point = (c, key, k, side) => ({ x: c.energy[k], y: c[key][k] + side * c[key + '_error'][k],
    text: [`${c.sites}: ${digits(c[key][k], 4)} \u00b1 ${digits(c[key + '_error'][k], 2)}`, `${digits(c.energy[k], 6)} eV`] });
  const line = (c, i, key, side) => ({ name: c.sites, kind: 'line', dots: !side, plain: side, silent: side,
    class: `s${i % 8}` + (side ? ' beside' : ''), points: c.energy.map((x, k) => point(c, key, k, side)) });
  const plot = (symbol, key) => chart({ title: symbol, name: key, width: 360, height: 240, group: 'site-curves',
    x: { label: 'energy (eV)', tight: true }, y: { label: symbol + ' (electrons)' },
    note: 'dashed: one error above and below',
    series: curves.flatMap((c, i) => [0, -1, 1].map(side => line(c, i, key, side))) });
  section('site-curves', 'f\u2032 and f\u2033 of sites', 'f\u2032, f\u2033',
    make('div', { class: 'three' }, plot('f\u2032', 'fp'), plot('f\u2033', 'fdp')),
    table({ name: 'edges', rows: curves, columns: [{ name: 'sites', value: c => c.sites },
      numeric('edge (eV)', c => c.edge, v => decimals(v, 1)), numeric('error (eV)', c => c.edge_error, v => digits(v, 2)),
      numeric('above the first (eV)', c => c.shift, v => decimals(v, 1)), numeric('error of this (eV)', c => c.shift_error, v => digits(v, 2))] }),
    note(`Standard deviations of the priors (electrons; 0: none): smoothness ${digits(p.smoothness, 2)}` +
        `, Kramers and Kronig ${digits(p.kramers_kronig, 2)}` +
        (p.calm > 0 ? `, both times ${digits(p.calm, 2)} away from the edge` : '') + '. Points nearby are correlated.'));
}

function shotCharts() {
  if (!many) return;
  const used = data.shots.filter(s => s.used);
  const quantities = [['\u03c7\u00b2 per degree of freedom', '', s => s.chi2_reduced[1]],
    ['spot position error', 'pixels', s => s.centroid_rms[1]], ['correlation', '', s => s.correlation[1]],
    ['shoeboxes', '', s => s.shoeboxes],
        ...data.local.map((name, i) => [name, unitText(data.local_units[i]), s => s.refined[i]]),
    ['number in the list', '', s => data.shots.indexOf(s) + 1]];
  const name = q => q[0] + (q[1] ? ` (${q[1]})` : '');
  const spread = q => {
    const values = used.map(q[2]).filter(isNumber);
    if (!values.length) return null;
    const [low, high] = limits(values, false, values.length > 1 ? 0 : 0.1),
        { bars } = histogram(values, low, high === low ? low + 1 : high, 30);
    for (const b of bars) b.text = [`${digits(b.from, 5)} to ${digits(b.to, 5)} ${q[1]}`, `${b.y} shots`];
    return chart({ title: q[0], note: `median ${digits(quantile(values, 0.5), 6)}, 80 % from ` +
        `${digits(quantile(values, 0.1), 6)} to ${digits(quantile(values, 0.9), 6)} ${q[1]}`, name: 'spread_' + q[0],
      width: 360, height: 200,
      x: { label: name(q), low, high: high === low ? low + 1 : high },
      y: { label: 'shots', log: true, integer: true }, series: [{ kind: 'bars', points: bars }] });
  };
  const compare = make('div'), pair = [0, Math.min(1, quantities.length - 1)];
  const shown = () => compare.replaceChildren(chart({ title: `${quantities[pair[1]][0]} against ${quantities[pair[0]][0]}`,
    name: 'compare', width: 820, height: 380,
    x: { label: name(quantities[pair[0]]), log: true }, y: { label: name(quantities[pair[1]]), log: true },
    series: [{ name: 'shots', kind: 'dots', click: p => findShot(p.shot),
      points: used.map(s => ({ shot: s, x: quantities[pair[0]][2](s), y: quantities[pair[1]][2](s),
        text: [fileName(s.name), ...pair.map(i => `${name(quantities[i])}: ${digits(quantities[i][2](s), 6)}`)] })) }] }));
  shown();
  const pickers = quantities.map((q, i) => [i, q[0]]), second = choice('up', pickers, i => { pair[1] = +i; shown(); });
  second.querySelector('select').value = pair[1];
  section('spreads', 'Values of each shot', 'spreads',
    make('div', { class: 'three' }, quantities.slice(0, -1).map(spread)));
  section('compare', 'Shots compared', 'compare',
    make('div', { class: 'tools' }, choice('to the right', pickers, i => { pair[0] = +i; shown(); }), second), compare,
    note('Each dot is a shot. Point at a dot for the shot\u2019s name; click it to find the shot in the table.'));
}
function findShot(shot) {
  const row = document.querySelector(`tr[data-shot="${data.shots.indexOf(shot)}"]`);
  if (!row) return;
  row.scrollIntoView({ block: 'center' });
  row.focus();
}
function shotTable() {
  if (!many) return;
  const pair = (title, key, k, count) =>
      numeric(title, s => s[key][k], v => decimals(v, count));
  section('shots', 'Shots', 'shots',
    table({ name: 'shots', rows: data.shots.filter(s => s.used), most: 500,
      row: s => ({ 'data-shot': data.shots.indexOf(s), tabindex: -1 }), columns: [
        numeric('number', s => data.shots.indexOf(s) + 1),
        { name: 'image', value: s => s.name, text: s => make('span', { title: s.name }, fileName(s.name)) },
        numeric('boxes', s => s.shoeboxes), pair('\u03c7\u00b2/dof at start', 'chi2_reduced', 0, 3),
        pair('refined', 'chi2_reduced', 1, 3),
        pair('position error at start (px)', 'centroid_rms', 0, 2), pair('position error (px)', 'centroid_rms', 1, 2),
        pair('correlation', 'correlation', 1, 3),
        ...(data.shots.some(s => isNumber(s.light_explained)) ? [{ name: 'light explained', numeric: true,
          value: s => s.light_explained, text: s => decimals(s.light_explained, 2) }] : []),
            ...data.local.map((title, i) =>
                ({ name: title, numeric: true, value: s => s.refined[i],
                  text: s => make('span', {}, s.text[i],
                    s.at_bound[i] !== 'no' ? make('b', { class: 'bad', title: 'at its ' + s.at_bound[i] + ' bound' },
                      ' |') : '') }))] }),
    note('Values have standard errors in units of the last digit, which include errors of the shared parameters. A bar ' +
        'marks a value at its bound.'));
}
