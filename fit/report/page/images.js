// The images: four views of one place, drawn from the values in the page; and the gallery of shoeboxes.

// Kind of a shoebox, which selects its mark.
const boxKind = b => b.strong_pixels === 0 ? 'weak' : 2 * b.strong_explained >= b.strong_pixels ? 'found' : 'missed';
const kindMeaning = { found: 'found', missed: 'most of its strong pixels are not explained', weak: 'no strong pixels' };
const kindColour = { found: '#0b72c4', missed: '#d55e00', weak: '#8a94a1' };

// The next level, half as large: maxima of measured and model; sums of differences and of variances.
function halved(from, sigma) {
  const f = Math.ceil(from.fast / 2), s = Math.ceil(from.slow / 2), n = f * s;
  const to = { fast: f, slow: s, measured: new Float32Array(n), model: new Float32Array(n), difference: new Float32Array(n),
    variance: new Float32Array(n) };
  for (let o = 0; o < n; o++) {
    let most = NaN, bragg = NaN, difference = 0, variance = 0;
    for (let k = 0; k < 4; k++) {
      const x = 2 * (o % f) + (k & 1), y = 2 * Math.floor(o / f) + (k >> 1);
      if (x >= from.fast || y >= from.slow) continue;
      const i = y * from.fast + x, m = from.measured[i], c = from.model[i];
      if (!(most >= m)) most = m === m ? m : most;
      if (!(bragg >= c)) bragg = c === c ? c : bragg;
      if (from.difference) {
        difference += from.difference[i];
        variance += from.variance[i];
      } else if (m === m && c === c) {
        difference += m - c;
        variance += sigma[i] * sigma[i];
      }
    }
    to.measured[o] = most; to.model[o] = bragg; to.difference[o] = difference; to.variance[o] = variance;
  }
  return to;
}

// about: places of panels, boxes and resolutions; boxes: shoeboxes of the result. Returns { element, select, resized }.
async function imageViewer(about, boxes) {
  const [measured, model, sigma] = await Promise.all(['data-measured', 'data-model', 'data-sigma'].map(unpack));
  const { fast, slow, bin } = about.frames;
  const levels = [{ fast, slow, measured, model }];
  while (levels[levels.length - 1].fast > 200) levels.push(halved(levels[levels.length - 1], sigma));
  const placed = about.boxes.map(([f, s, w, h, x, y], i) => ({
        ...boxes[i], kind: boxKind(boxes[i]), f0: f / bin, s0: s / bin, width: w / bin, height: h / bin,
    fast: x / bin,
    slow: y / bin }));
  const value = {
    measured: (level, i) => level.measured[i],
    model: (level, i) => level.model[i],
    residual: (level, i) => level.difference ? (level.variance[i] > 0 ? level.difference[i] : NaN) :
      level.measured[i] - level.model[i],
    normalized: (level, i) => level.difference ?
      (level.variance[i] > 0 ? level.difference[i] / Math.sqrt(level.variance[i]) : NaN)
        : (level.measured[i] - level.model[i]) / sigma[i]
  };
  // Ends of the scales: for single pixels, and for the maxima of many pixels in the whole image.
  const overview = levels.find(l => l.fast <= 800) || levels[levels.length - 1];
  const median = quantile(overview.measured, 0.5), dark = quantile(measured, 0.05), low = quantile(overview.measured, 0.05);
  const most = Math.max(quantile(overview.measured, 0.995), low + Math.max(1, 6 * (median - low))), reach = 6;
  const chosen = { high: most, reach, colours: 'grey', spots: true };

  const titles = { measured: ['Measured', 'counts'], model: ['Model', 'counts'],
    residual: ['Residual (measured \u2212 model)', 'counts'],
    normalized: ['Normalized residual', '\u03c3'] };
  const isCount = kind => kind === 'measured' || kind === 'model';
  function ends(kind, scale) {
    if (isCount(kind)) return [scale < 0.5 ? low : Math.min(dark, low), chosen.high];
    const r = kind === 'normalized' ? chosen.reach : chosen.reach * Math.sqrt(Math.max(1, chosen.high)) / 2;
    return [-r, r];
  }
  const views = Object.entries(titles).map(([kind, [title, unit]]) => ({ kind, title, unit, value: value[kind],
    ends: scale => ends(kind, scale), colours: () => isCount(kind) ? chosen.colours : 'signed' }));
  const detail = make('div', { class: 'detail', id: 'detail', role: 'status' });

  function marks(c) {
    const { context, canvas } = c, { shown, place } = viewer, dpr = viewer.ratio(), bright = viewer.isBright(c);
    placed.forEach((b, n) => {
      const isChosen = n === shown.selected;
      if (!chosen.spots && !isChosen) return;
      const [x, y] = place(c, b.f0, b.s0), w = b.width * shown.scale, h = b.height * shown.scale;
      if (x + w < 0 || y + h < 0 || x > canvas.width || y > canvas.height) return;
      if (!isChosen && c.kind !== 'measured' && shown.scale < 1.2 * dpr) return;
      context.strokeStyle = isChosen ? (bright ? '#fff' : '#000') : kindColour[b.kind];
      context.lineWidth = (isChosen ? 2.5 : b.outlier ? 2.2 : 1.2) * dpr;
      context.setLineDash(b.kind === 'missed' && !isChosen ? [4 * dpr, 3 * dpr] : []);
      context.beginPath();
      if (w < 14 * dpr) context.arc(x + w / 2, y + h / 2, Math.max(3.5 * dpr, 0.6 * w), 0, 7);
      else context.rect(x, y, w, h);
      context.stroke();
      if (w <= 60 * dpr) return;
      const label = b.hkl.join(' '), [px, py] = place(c, b.fast, b.slow), arm = 6 * dpr;
      context.setLineDash([]);
      context.lineWidth = 3 * dpr; context.strokeStyle = '#fff'; context.fillStyle = '#000';
      context.strokeText(label, x + 3 * dpr, y - 4 * dpr); context.fillText(label, x + 3 * dpr, y - 4 * dpr);
      context.strokeStyle = kindColour[b.kind]; context.lineWidth = 1.4 * dpr;
      context.beginPath();
      context.moveTo(px - arm, py); context.lineTo(px + arm, py); context.moveTo(px, py - arm); context.lineTo(px, py + arm);
      context.stroke();
    });
  }
  function select(n, come) {
    viewer.shown.selected = n;
    const b = placed[n];
    detail.textContent = b ? 'Reflection ' + reflectionText(b, viewer.whereabouts(b.fast, b.slow, 1)) : '';
    if (b && come) viewer.come(b.f0, b.s0, b.width, b.height);
    viewer.redraw();
  }
  function boxAt(f, s) {
    let found = -1, nearest = Infinity;
    placed.forEach((b, n) => {
      const size = Math.max(0.5 * b.width, 6 * viewer.ratio() / viewer.shown.scale),
          away = Math.max(Math.abs(b.f0 + b.width / 2 - f), Math.abs(b.s0 + b.height / 2 - s));
      if (away < size && away < nearest) { nearest = away; found = n; }
    });
    return found;
  }
  function tell(f, s) {
    const i = s * fast + f, m = measured[i], c = model[i], n = boxAt(f + 0.5, s + 0.5);
    return viewer.pixelText(f, s) + '   measured ' + (m === m ? digits(m, 6) : 'not trusted') + '   model ' + decimals(c, 2) +
        '   residual ' + signed(m - c, 2) + '   ' +
        signed((m - c) / sigma[i], 1) + ' \u03c3' + (n >= 0 ? '   reflection ' + placed[n].hkl.join(' ') : '');
  }
  const next = step => {
    const n = viewer.shown.selected + step;
    select(n < 0 ? placed.length - 1 : n % placed.length, true);
  };
  const viewer = zoomViewer(about, levels, views, { marks, tell, click: (f, s) => select(boxAt(f, s), false),
    buttons: redraw => [
      button('\u2039 box', 'previous shoebox', () => next(-1)), button('box \u203a', 'next shoebox', () => next(1)),
      factorSlider('counts to', factor => { chosen.high = low + (most - low) * factor; redraw(); }),
      factorSlider('\u03c3 to', factor => { chosen.reach = reach * factor; redraw(); }),
      colourChoice(name => { chosen.colours = name; redraw(); }),
      checkbox('shoeboxes', true, is => { chosen.spots = is; redraw(); })] });
  const key = Object.entries(kindMeaning).map(([kind, meaning]) => make('span', { class: 'entry' },
    draw('svg', { class: 'key', viewBox: '0 0 22 12', 'aria-hidden': 'true' },
      draw('circle', { cx: 11, cy: 6, r: 5, fill: 'none', stroke: kindColour[kind], 'stroke-width': 1.5,
        'stroke-dasharray': kind === 'missed' ? '3 2' : null })), meaning));
  const note = make('p', { class: 'note' },
    zoomNote + 'Click a shoebox here, in the gallery or in a table for its numbers. In a smaller image a screen pixel shows ' +
      'the maximum of its pixels, in residuals their sum. ' +
      (bin > 1 ? `A pixel shows the mean of ${bin} \u00d7 ${bin} pixels of the detector. ` : ''), 'Shoeboxes: ', key,
    ' Grey-blue: no trusted pixel. \u03c3 includes photons and readout noise, in shoeboxes also the model error.');
  viewer.element.append(detail, note);
  return { element: viewer.element, select, resized: viewer.resized };
}

function reflectionText(b, at) {
  return b.hkl.join(' ') + ': ' + decimals(b.d_spacing, 2) + ' \u00c5, predicted at ' + at + ' \u00b7 I = ' +
      digits(b.intensity, 4) +
      (b.intensity_esd > 0 ? ' \u00b1 ' + digits(b.intensity_esd, 2) : '') + ' \u00b7 \u03c7\u00b2 per pixel ' +
      decimals(perPixel(b), 2) +
      ' \u00b7 sigma Z ' + decimals(b.sigma_z, 2) + (b.outlier ? ' (outlier)' : '') + ' \u00b7 farthest pixel ' +
      signed(b.worst_z, 1) + ' \u03c3' +
      (isNumber(b.centroid_offset[0]) ? ' \u00b7 observed minus model centroid ' + signed(b.centroid_offset[0], 2) + ', ' +
          signed(b.centroid_offset[1], 2) + ' px' : '') +
      ' \u00b7 strong pixels explained ' + b.strong_explained + ' of ' + b.strong_pixels;
}
const perPixel = b => b.pixels_used > 0 ? b.chi2 / b.pixels_used : NaN;
const strength = b => b.intensity_esd > 0 ? b.intensity / b.intensity_esd : NaN;
const offCentre = b => isNumber(b.centroid_offset[0]) ? Math.hypot(...b.centroid_offset) : NaN;

// Measured, model, residual of each shoebox, in the selected order.
function gallery(about, boxes, pixels, select) {
  const keys = { chi2: ['\u03c7\u00b2 per pixel', perPixel], sigma: ['sigma Z', b => b.sigma_z],
    worst: ['farthest pixel', b => Math.abs(b.worst_z)],
    strength: ['I/\u03c3(I)', strength], offset: ['centroid offset', offCentre],
    d: ['resolution (low first)', b => b.d_spacing] };
  const filters = { all: ['all', () => true], outliers: ['outliers', b => b.outlier],
    missed: ['strong pixels missed', b => boxKind(b) === 'missed'],
    found: ['found', b => boxKind(b) === 'found'], weak: ['no strong pixels', b => boxKind(b) === 'weak'] };
  const state = { key: 'chi2', up: false, filter: 'all', count: 36 }, reach = 5, some = 36;
  const list = make('div', { class: 'gallery' }), told = make('span', { class: 'soft' }),
      more = button('more', 'show more shoeboxes', () => { state.count += 3 * some; show(); });
  function picture(b) {
    const { offset, fast, slow } = b.pixels, gap = 1,
        canvas = make('canvas', { width: 3 * fast + 2 * gap, height: slow, 'aria-hidden': 'true' });
    const context = canvas.getContext('2d'), image = context.createImageData(canvas.width, slow),
        out = new Uint32Array(image.data.buffer);
    const value = (k, i) => k === 0 ? (pixels.sigma[i] > 0 ? pixels.measured[i] : NaN) : k === 1 ? pixels.model[i]
        : pixels.sigma[i] > 0 ? (pixels.measured[i] - pixels.model[i]) / pixels.sigma[i] : NaN;
    let low = Infinity, high = -Infinity;
    for (let i = offset; i < offset + fast * slow; i++)
      for (let k = 0; k < 2; k++) { const v = value(k, i); if (v < low) low = v; if (v > high) high = v; }
    if (!(low < high)) { low = isNumber(low) ? low : 0; high = low + 1; }
    for (let s = 0; s < slow; s++)
      for (let k = 0; k < 3; k++)
      for (let f = 0; f < fast; f++)
      out[s * canvas.width + k * (fast + gap) + f] = k < 2 ?
        colourTables.grey[colourIndex(value(k, offset + s * fast + f), low, high)]
        : colourTables.signed[colourIndex(value(k, offset + s * fast + f),
          -reach, reach)];
    context.putImageData(image, 0, 0);
    return canvas;
  }
  function show() {
    const key = keys[state.key][1], sign = state.up ? 1 : -1, rank = b => isNumber(key(b)) ? sign * key(b) : Infinity;
    const chosen = boxes.map((b, index) => ({ ...b, index })).filter(filters[state.filter][1]).sort((a, b) =>
        rank(a) - rank(b) || a.index - b.index);
    list.replaceChildren(...chosen.slice(0,
      state.count).map(b => make('button',
        { type: 'button', class: 'box' + (b.outlier ? ' outlier' : ''), 'data-box': b.index,
          'aria-label': 'show reflection ' + b.hkl.join(' ') + ' in the images', click: () => select(b.index) },
        b.pixels ? picture(b) : null,
        make('span', {}, make('b', {}, b.hkl.join(' ')),
          ` \u00b7 ${decimals(b.d_spacing, 2)} \u00c5` +
            (isNumber(strength(b)) ? ` \u00b7 I/\u03c3 ${decimals(strength(b), 1)}` : '') +
            ` \u00b7 \u03c7\u00b2/px ${decimals(perPixel(b), 2)}`),
        state.key === 'chi2' || state.key === 'strength' || state.key === 'd' ? null :
          make('span', {}, `${keys[state.key][0]} ${decimals(key(b), 2)}`))));
    told.textContent = `${Math.min(state.count, chosen.length)} of ${chosen.length}`;
    more.hidden = chosen.length <= state.count;
  }
  const turn = button('\u2193', 'reverse the order',
    () => { state.up = !state.up; turn.textContent = state.up ? '\u2191' : '\u2193'; show(); });
  const tools = make('div', { class: 'tools' },
    choice('order by', Object.entries(keys).map(([k, [text]]) => [k, text]), k => { state.key = k; show(); }), turn,
    choice('show', Object.entries(filters).map(([k, [text]]) => [k, text]),
      k => { state.filter = k; state.count = some; show(); }), told, more,
    button('CSV', 'save all shoeboxes as CSV',
      () => saveTable('shoeboxes', [['h', 'k', 'l', 'd', 'panel', 'fast', 'slow', 'I', 'sigma_I', 'chi2', 'pixels',
        'sigma_Z', 'worst_Z', 'offset_fast', 'offset_slow', 'outlier', 'strong', 'explained'],
            ...boxes.map(b => [...b.hkl, b.d_spacing, b.panel, ...b.predicted,
              b.intensity, b.intensity_esd, b.chi2, b.pixels_used, b.sigma_z, b.worst_z, ...b.centroid_offset, +b.outlier,
              b.strong_pixels, b.strong_explained])])));
  show();
  return make('div', {}, tools, list);
}
