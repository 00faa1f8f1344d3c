// The detector map: misfit of its regions, and displacements of spots.
function detectorMap(select) {
  if (many || !about || !data.regions.length) return;
  const [wide, high] = about.picture, side = Math.max(wide, high), far = 1.5,
      state = { key: 'chi2_reduced', part: 'after', stretch: 40, arrows: true, view: [0, 0, wide, high] };
  const corner = (panel, f, s) => {
    const [x, y, fx, fy, sx, sy] = about.panels[panel] || about.panels[0];
    return [x + f * fx + s * sx, y + f * fy + s * sy];
  };
  const svg = draw('svg', { class: 'map', role: 'img', tabindex: 0,
    'aria-label': 'detector map; plus and minus zoom, arrow keys move, 0 shows all' });
  const names = { chi2_reduced: '\u03c7\u00b2 per degree of freedom', residual: 'R of the pixels', correlation: 'correlation' };
  const ends = [make('span'), make('span', { class: 'strip' }), make('span')];
  function region(a, low, top) {
    const value = a[state.part][state.key], path = [[0, 0], [1, 0], [1, 1], [0, 1]]
        .map(([u, v]) => corner(a.panel, a.fast_start + u * a.fast_count,
          a.slow_start + v * a.slow_count).map(n => n.toFixed(1)).join(' ')).join('L');
    const empty = !isNumber(value),
        part = state.key === 'chi2_reduced' ? Math.log(Math.max(1, value)) / Math.log(Math.max(1.5, top)) :
        (value - low) / (top - low || 1);
    const rgb = colourScale('misfit')(state.key === 'correlation' ? 1 - part : part),
        [x, y] = corner(a.panel, a.fast_start, a.slow_start);
    const over = e => tell([`${a.panel ? `panel ${a.panel}, ` : ''}pixels ${a.fast_start}, ${a.slow_start}`,
      `${names[state.key]}: ${digits(a.after[state.key], 3)} (start ${digits(a.before[state.key], 3)})`,
      `${a.after.pixels} pixels, ${a.spots} spots`,
      a.shift[0] === null ? '' : `mean shift ${signed(a.shift[0], 2)}, ${signed(a.shift[1], 2)} px`].filter(t => t),
      e.clientX, e.clientY);
    return [draw('path', { d: `M${path}Z`, class: empty ? 'region empty' : 'region', fill: empty ? null : cssColour(rgb),
      'stroke-width': side / 500, pointermove: over, pointerleave: hush }),
      empty || data.regions.length > 150 ? '' :
        draw('text', { x: x + 0.006 * side, y: y + 0.022 * side, class: 'number', style: `font-size:${0.018 * side}px`,
          fill: isDark(rgb) ? '#fff' : '#1c2430' },
          decimals(value, 2))];
  }
  function arrow(b, index) {
    if (!isNumber(b.centroid_offset[0])) return '';
    const k = state.stretch * side / 1000, from = corner(b.panel, ...b.predicted),
        to = corner(b.panel, b.predicted[0] + k * b.centroid_offset[0], b.predicted[1] + k * b.centroid_offset[1]);
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]], length = Math.hypot(dx, dy) || 1,
        tipSize = Math.min(0.35 * length, side / 200), [ux, uy] = [dx / length * tipSize, dy / length * tipSize];
    const over = e => tell([`${b.hkl.join(' ')}, ${decimals(b.d_spacing, 2)} \u00c5`,
      `off by ${signed(b.centroid_offset[0], 2)}, ${signed(b.centroid_offset[1], 2)} px`], e.clientX, e.clientY);
    return draw('path', { class: offCentre(b) > far ? 'shift out' : 'shift', 'stroke-width': side / 700, pointermove: over,
      pointerleave: hush, click: () => select(index),
      d: `M${from.map(v => v.toFixed(1)).join(' ')}l${dx.toFixed(1)} ${dy.toFixed(1)}m${(-ux + 0.5 * uy).toFixed(1)} ` +
        `${(-uy - 0.5 * ux).toFixed(1)}` +
        `l${(ux - 0.5 * uy).toFixed(1)} ${(uy + 0.5 * ux).toFixed(1)}l${(-ux - 0.5 * uy).toFixed(1)} ` +
        `${(-uy + 0.5 * ux).toFixed(1)}` });
  }
  function show() {
    const all = data.regions.flatMap(a => [a.before[state.key], a.after[state.key]].slice(state.part === 'after' ? 1 :
        0)).filter(isNumber);
    const low = state.key === 'chi2_reduced' ? 1 : Math.min(...all), top = Math.max(...all), margin = 0.03 * side,
        unit = state.stretch * side / 1000;
    svg.setAttribute('viewBox', state.view.join(' '));
    svg.replaceChildren(...data.regions.flatMap(a => region(a, low, top)), ...(state.arrows ? data.shoeboxes.map(arrow) : []),
          ...(state.arrows ? [draw('path',
            { class: 'shift key', 'stroke-width': side / 400, d: `M${margin} ${high - margin}h${unit}` }),
            draw('text', { x: margin + unit + 0.01 * side, y: high - margin * 0.75, class: 'label',
              style: `font-size:${0.024 * side}px` }, '1 pixel')] : []));
    ends[0].textContent = decimals(state.key === 'correlation' ? top : low, 2);
    ends[2].textContent = decimals(state.key === 'correlation' ? low : top, 2);
  }
  function zoom(factor, px = 0.5, py = 0.5) {
    const [x, y, w, h] = state.view, nw = Math.min(wide, w / factor), nh = nw * high / wide;
    state.view = [Math.max(0, Math.min(wide - nw, x + px * (w - nw))), Math.max(0, Math.min(high - nh, y + py * (h - nh))), nw,
      nh];
    svg.setAttribute('viewBox', state.view.join(' '));
  }
  const move = (dx, dy) => {
    const [x, y, w, h] = state.view;
    state.view = [Math.max(0, Math.min(wide - w, x + dx * w)), Math.max(0, Math.min(high - h, y + dy * h)), w, h];
    svg.setAttribute('viewBox', state.view.join(' '));
  };
  const within = e => { const r = svg.getBoundingClientRect(); return [(e.clientX - r.left) / r.width,
    (e.clientY - r.top) / r.height]; };
  svg.addEventListener('dblclick', e => zoom(2, ...within(e)));
  svg.addEventListener('wheel', e => { if (e.ctrlKey ||
      document.activeElement === svg) { e.preventDefault(); zoom(1.0015 ** -e.deltaY, ...within(e)); } }, { passive: false });
  svg.addEventListener('keydown', e => {
    const step = { ArrowLeft: [-0.2, 0], ArrowRight: [0.2, 0], ArrowUp: [0, -0.2], ArrowDown: [0, 0.2] }[e.key];
    if (step) move(...step);
    else if (e.key === '+' || e.key === '=') zoom(1.5);
    else if (e.key === '-') zoom(1 / 1.5);
    else if (e.key === '0') zoom(0);
    else return;
    e.preventDefault();
  });
  const stretch = make('input', { type: 'range', min: 5, max: 200, value: 40, 'aria-label': 'length of the arrows',
    input: () => { state.stretch = +stretch.value; show(); } });
  show();
  section('detector', 'Over the detector', 'detector', make('div', { class: 'tools' },
    choice('colour', Object.entries(names), k => { state.key = k; show(); }),
    choice('of', [['after', 'refined model'], ['before', 'starting model']], k => { state.part = k; show(); }),
    make('span', { class: 'legend' }, ends),
    checkbox('arrows: observed minus model centroid', true, is => { state.arrows = is; show(); }),
    make('label', {}, 'length ', stretch),
    button('+', 'zoom in', () => zoom(1.5)), button('\u2212', 'zoom out', () => zoom(1 / 1.5)),
    button('all', 'show the whole detector', () => zoom(0)),
    button('SVG', 'save the map as SVG', () => saveSvg('detector', svg)),
    button('CSV', 'save the regions as CSV',
      () => saveTable('regions', [['panel', 'fast', 'slow', 'width', 'height', 'spots', 'shift_fast', 'shift_slow', 'pixels',
        'chi2', 'R', 'correlation'],
            ...data.regions.map(a => [a.panel, a.fast_start, a.slow_start, a.fast_count, a.slow_count, a.spots, ...a.shift,
              a.after.pixels, a.after.chi2_reduced, a.after.residual, a.after.correlation])]))), svg,
    note(`Arrows in one direction over a region show an error of geometry or orientation. Arrows in all directions show ` +
        `noise, and spots with other shapes than the model's. ` +
        `Orange: more than ${far} pixels. Double click to zoom in.`));
}
