// The images: four views of the same place, drawn from the values in the page; and the gallery of shoeboxes.

const supportsPacked = typeof DecompressionStream !== 'undefined';
async function unpack(id) {
  const element = document.getElementById(id), set = element.dataset, text = atob(element.textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return unpackBytes(bytes, { count: set.fast * set.slow, offset: +set.offset, unit: +set.unit, logarithmic: +set.logarithmic,
    smooth: +set.smooth });
}

// Colours as numbers that ImageData takes: 256 steps, and one for pixels without a value.
function colourTable(name) {
  const scale = colourScale(name), table = new Uint32Array(257), bytes = new Uint8Array(table.buffer);
  for (let i = 0; i < 257; i++) bytes.set([...(i < 256 ? scale(i / 255) : [198, 216, 235]), 255], 4 * i);
  return table;
}
const colourTables = Object.fromEntries(Object.keys(colourStops).map(name => [name, colourTable(name)]));
const colourIndex = (value, low, high) => {
  if (value !== value) return 256;
  const place = (value - low) / (high - low) * 255;
  return place > 0 ? (place < 255 ? place + 0.5 | 0 : 255) : 0;
};

// How a shoebox is marked.
const boxKind = b => b.strong_pixels === 0 ? 'weak' : 2 * b.strong_explained >= b.strong_pixels ? 'found' : 'missed';
const kindMeaning = { found: 'found', missed: 'most of its strong pixels are not explained', weak: 'no strong pixels' };
const kindColour = { found: '#0b72c4', missed: '#d55e00', weak: '#8a94a1' };

// Levels of half the size each: maxima of measured and model; sums of differences and of variances.
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

// about: where panels, boxes and resolutions are; boxes: shoeboxes of the result. Returns { element, select }.
async function imageViewer(about, boxes) {
  const [measured, model, sigma] = await Promise.all(['data-measured', 'data-model', 'data-sigma'].map(unpack));
  const { fast, slow, block } = about.frames;
  const levels = [{ fast, slow, measured, model }];
  while (levels[levels.length - 1].fast > 200) levels.push(halved(levels[levels.length - 1], sigma));
  const placed = about.boxes.map(([f, s, w, h, x, y], i) => ({
        ...boxes[i], kind: boxKind(boxes[i]), f0: f / block, s0: s / block, width: w / block, height: h / block,
    fast: x / block,
    slow: y / block }));
  const value = {
    measured: (level, i) => level.measured[i],
    model: (level, i) => level.model[i],
    residual: (level, i) => level.difference ? (level.variance[i] > 0 ? level.difference[i] : NaN) :
      level.measured[i] - level.model[i],
    normalized: (level, i) => level.difference ?
      (level.variance[i] > 0 ? level.difference[i] / Math.sqrt(level.variance[i]) : NaN)
        : (level.measured[i] - level.model[i]) / sigma[i]
  };
  // Ends of the scales: of single pixels, and of the maxima that stand for many from far.
  const overview = levels.find(l => l.fast <= 800) || levels[levels.length - 1];
  const median = quantile(overview.measured, 0.5), dark = quantile(measured, 0.05), low = quantile(overview.measured, 0.05);
  const most = Math.max(quantile(overview.measured, 0.995), low + Math.max(1, 6 * (median - low))), reach = 6;
  const shown = { fast: fast / 2, slow: slow / 2, scale: 0, high: most, reach, spots: true, rings: false, colours: 'grey',
    selected: -1, at: null };
  const rings = ringLines(about);

  const views = make('div', { class: 'views', id: 'views' });
  const titles = { measured: ['Measured', 'counts'], model: ['Model', 'counts'],
    residual: ['Residual (measured \u2212 model)', 'counts'],
    normalized: ['Normalized residual', '\u03c3'] };
  const canvases = Object.entries(titles).map(([kind, [title, unit]]) => {
    const canvas = make('canvas', { tabindex: 0, role: 'img',
      'aria-label': title + ' image; arrow keys move, plus and minus zoom, 0 shows all' });
    const ends = [make('span', { class: 'low' }),
      make('canvas', { class: 'scale', width: 96, height: 1, 'aria-hidden': 'true' }), make('span', { class: 'high' })];
    views.append(make('figure', { 'data-kind': kind },
      make('figcaption', {}, make('b', {}, title), ' ', make('span', { class: 'legend' }, ends, ' ' + unit)), canvas));
    return { kind, canvas, context: canvas.getContext('2d'), ends };
  });
  const readout = make('div', { class: 'readout', id: 'readout' }, 'Point at a pixel for its values.');
  const detail = make('div', { class: 'detail', id: 'detail', role: 'status' });

  const ratio = () => window.devicePixelRatio || 1;
  const wholeScale = () => Math.min(canvases[0].canvas.width / fast, canvases[0].canvas.height / slow);
  const isCount = kind => kind === 'measured' || kind === 'model';
  function ends(kind) {
    if (isCount(kind)) return [shown.scale < 0.5 ? low : Math.min(dark, low), shown.high];
    const r = kind === 'normalized' ? shown.reach : shown.reach * Math.sqrt(Math.max(1, shown.high)) / 2;
    return [-r, r];
  }
  const tableOf = kind => colourTables[isCount(kind) ? shown.colours : 'signed'];
  function paint(c) {
    const { canvas, context, kind } = c, { width, height } = canvas;
    if (!width || !height) return;
    let l = 0;
    while (l + 1 < levels.length && shown.scale * 2 ** l < 0.75) l++;
    const level = levels[l], size = 2 ** l, step = 1 / shown.scale / size, colours = tableOf(kind), of = value[kind],
        [from, to] = ends(kind);
    const image = context.createImageData(width, height), pixels = new Uint32Array(image.data.buffer);
    const x0 = (shown.fast - width / 2 / shown.scale) / size, y0 = (shown.slow - height / 2 / shown.scale) / size;
    const column = Int32Array.from({ length: width }, (_, x) => Math.floor(x0 + (x + 0.5) * step));
    for (let y = 0; y < height; y++) {
      const s = Math.floor(y0 + (y + 0.5) * step);
      if (s < 0 || s >= level.slow) continue;
      for (let x = 0; x < width; x++)
        if (column[x] >= 0 && column[x] < level.fast) pixels[y * width +
            x] = colours[colourIndex(of(level, s * level.fast + column[x]), from, to)];
    }
    context.putImageData(image, 0, 0);
    c.ends[0].textContent = digits(from, 3);
    c.ends[2].textContent = digits(to, 3);
    const strip = c.ends[1].getContext('2d'), bar = strip.createImageData(96, 1);
    new Uint32Array(bar.data.buffer).forEach((_, i, all) => { all[i] = colours[colourIndex(i, 0, 95)]; });
    strip.putImageData(bar, 0, 0);
  }
  const place = (c, f, s) => [(f - shown.fast) * shown.scale + c.canvas.width / 2, (s - shown.slow) * shown.scale +
      c.canvas.height / 2];
  function overlay(c) {
    const { context, canvas } = c, dpr = ratio(), bright = c.kind === 'measured' ||
        c.kind === 'model' ? shown.colours !== 'grey' : false;
    if (shown.scale > 26 * dpr) numbers(c);
    context.font = 12 * dpr + 'px sans-serif';
    if (shown.rings) for (const { d, pieces } of rings) {
      context.strokeStyle = context.fillStyle = bright ? '#9fd0ff' : '#7a3fa0';
      context.lineWidth = dpr;
      context.beginPath();
      for (const [x0, y0, x1, y1] of pieces) {
        context.moveTo(...place(c, x0 * fast, y0 * slow));
        context.lineTo(...place(c, x1 * fast, y1 * slow));
      }
      context.stroke();
      const top = pieces.reduce((a, b) => b[1] < a[1] ? b : a);
      const [x, y] = place(c, top[0] * fast, top[1] * slow);
      context.fillText(d + ' \u00c5', x + 3 * dpr, Math.max(14 * dpr, y - 3 * dpr));
    }
    placed.forEach((b, n) => {
      const chosen = n === shown.selected;
      if (!shown.spots && !chosen) return;
      const [x, y] = place(c, b.f0, b.s0), w = b.width * shown.scale, h = b.height * shown.scale;
      if (x + w < 0 || y + h < 0 || x > canvas.width || y > canvas.height) return;
      if (!chosen && c.kind !== 'measured' && shown.scale < 1.2 * dpr) return;
      context.strokeStyle = chosen ? (bright ? '#fff' : '#000') : kindColour[b.kind];
      context.lineWidth = (chosen ? 2.5 : b.outlier ? 2.2 : 1.2) * dpr;
      context.setLineDash(b.kind === 'missed' && !chosen ? [4 * dpr, 3 * dpr] : []);
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
    context.setLineDash([]);
    if (!shown.at) return;
    const [x, y] = place(c, shown.at[0] + 0.5, shown.at[1] + 0.5), half = Math.max(4 * dpr, shown.scale / 2);
    context.strokeStyle = bright ? '#eee' : '#111'; context.lineWidth = dpr;
    context.strokeRect(x - half, y - half, 2 * half, 2 * half);
  }
  // From close by, the numbers themselves.
  function numbers(c) {
    const { context, canvas } = c, halfWide = canvas.width / 2 / shown.scale, halfHigh = canvas.height / 2 / shown.scale;
    const [from, to] = ends(c.kind), scale = colourScale(isCount(c.kind) ? shown.colours : 'signed');
    context.font = Math.min(13 * ratio(), shown.scale / 3.2) + 'px sans-serif';
    context.textAlign = 'center'; context.textBaseline = 'middle';
    for (let s = Math.max(0, Math.floor(shown.slow - halfHigh)); s < Math.min(slow, shown.slow + halfHigh); s++)
      for (let f = Math.max(0, Math.floor(shown.fast - halfWide)); f < Math.min(fast, shown.fast + halfWide); f++) {
        const v = value[c.kind](levels[0], s * fast + f);
        if (v !== v) continue;
        context.fillStyle = isDark(scale((v - from) / (to - from))) ? '#fff' : '#000';
        context.fillText(Math.abs(v) < 100 && v % 1 ? v.toFixed(1) : Math.round(v), ...place(c, f + 0.5, s + 0.5));
      }
    context.textAlign = 'left'; context.textBaseline = 'alphabetic';
  }
  let waiting = false;
  function paintAll() {
    waiting = false;
    for (const c of canvases) { paint(c); overlay(c); }
    views.dataset.drawn = +(views.dataset.drawn || 0) + 1;
  }
  function redraw() {
    views.dataset.scale = shown.scale.toPrecision(4);
    views.dataset.selected = shown.selected;
    if (!waiting) setTimeout(() => { if (waiting) paintAll(); }, 0);
    waiting = true;
  }

  function zoom(factor, f = shown.fast, s = shown.slow) {
    const scale = Math.min(80 * ratio(), Math.max(0.5 * wholeScale(), shown.scale * factor)), grown = scale / shown.scale;
    shown.fast = f + (shown.fast - f) / grown;
    shown.slow = s + (shown.slow - s) / grown;
    shown.scale = scale;
    redraw();
  }
  function showAll() { shown.fast = fast / 2; shown.slow = slow / 2; shown.scale = wholeScale(); redraw(); }
  function select(n, come) {
    shown.selected = n;
    const b = placed[n];
    detail.textContent = b ? 'Reflection ' + reflectionText(b, whereabouts(b.fast, b.slow, 1)) : '';
    if (b && come) {
      shown.fast = b.f0 + b.width / 2; shown.slow = b.s0 + b.height / 2;
      shown.scale = Math.min(canvases[0].canvas.width, canvases[0].canvas.height) / (1.6 * Math.max(b.width, b.height));
    }
    redraw();
  }
  // A place of the picture in pixels of the detector, and of the panel if there are several.
  function whereabouts(f, s, count) {
    const text = (a, b) => count ? a.toFixed(count) + ', ' + b.toFixed(count) : Math.floor(a) + ', ' + Math.floor(b);
    f *= block; s *= block;
    if (about.panels.length < 2) return text(f, s);
    for (let p = 0; p < about.panels.length; p++) {
      const [x, y, fx, fy, sx, sy, nf, ns] = about.panels[p], det = fx * sy - fy * sx;
      const pf = ((f - x) * sy - (s - y) * sx) / det, ps = ((s - y) * fx - (f - x) * fy) / det;
      if (pf >= 0 && ps >= 0 && pf < nf && ps < ns) return text(pf, ps) + ' of panel ' + p;
    }
    return 'between panels';
  }
  function boxAt(f, s) {
    let found = -1, nearest = Infinity;
    placed.forEach((b, n) => {
      const size = Math.max(0.5 * b.width, 6 * ratio() / shown.scale),
          away = Math.max(Math.abs(b.f0 + b.width / 2 - f), Math.abs(b.s0 + b.height / 2 - s));
      if (away < size && away < nearest) { nearest = away; found = n; }
    });
    return found;
  }
  function tellPixel(f, s) {
    if (f < 0 || s < 0 || f >= fast || s >= slow) return;
    const i = s * fast + f, m = measured[i], c = model[i], n = boxAt(f + 0.5, s + 0.5),
        centre = about.panels.length > 1 ? 0.5 : 0;
    const square = onGrid(about.resolution, about.grid, (f + 0.5) / fast, (s + 0.5) / slow);
    readout.textContent = 'pixel ' + whereabouts(f + centre, s + centre, 0) + '   ' +
        decimals(square > 0 ? 1 / Math.sqrt(square) : NaN, 2) +
        ' \u00c5   measured ' + (m === m ? digits(m, 6) : 'not trusted') + '   model ' + decimals(c, 2) + '   residual ' +
        signed(m - c, 2) + '   ' +
        signed((m - c) / sigma[i], 1) + ' \u03c3' + (n >= 0 ? '   reflection ' + placed[n].hkl.join(' ') : '');
  }
  const pixelAt = (c, event) => {
    const r = c.canvas.getBoundingClientRect(), dpr = c.canvas.width / r.width;
    return [shown.fast + ((event.clientX - r.left) * dpr - c.canvas.width / 2) / shown.scale,
      shown.slow + ((event.clientY - r.top) * dpr - c.canvas.height / 2) / shown.scale];
  };
  for (const c of canvases) {
    let held = null;
    const touches = new Map();
    const on = (type, action, options) => c.canvas.addEventListener(type, action, options);
    on('pointerdown', e => {
      touches.set(e.pointerId, e);
      held = { x: e.clientX, y: e.clientY, moved: false };
      c.canvas.setPointerCapture(e.pointerId);
    });
    on('pointermove', e => {
      const [f, s] = pixelAt(c, e);
      if (touches.size === 2 && touches.has(e.pointerId)) { // two fingers: zoom by the change of their distance
        const other = [...touches.values()].find(t => t.pointerId !== e.pointerId), last = touches.get(e.pointerId);
        const span = t => Math.hypot(t.clientX - other.clientX, t.clientY - other.clientY);
        if (span(last) > 0) zoom(span(e) / span(last), f, s);
        touches.set(e.pointerId, e);
        return;
      }
      if (held && (held.moved || Math.hypot(e.clientX - held.x, e.clientY - held.y) > 3)) {
        shown.fast -= (e.clientX - held.x) * ratio() / shown.scale;
        shown.slow -= (e.clientY - held.y) * ratio() / shown.scale;
        held = { x: e.clientX, y: e.clientY, moved: true };
      } else {
        shown.at = [Math.floor(f), Math.floor(s)];
        tellPixel(...shown.at);
      }
      redraw();
    });
    on('pointerup', e => {
      touches.delete(e.pointerId);
      if (held && !held.moved) select(boxAt(...pixelAt(c, e)), false);
      held = null;
    });
    on('pointercancel', e => { touches.delete(e.pointerId); held = null; });
    on('pointerleave', () => { shown.at = null; redraw(); });
    on('dblclick', e => zoom(3, ...pixelAt(c, e)));
    on('wheel', e => {
      if (!e.ctrlKey && document.activeElement !== c.canvas) return; // the page scrolls
      e.preventDefault();
      zoom(1.0015 ** -e.deltaY, ...pixelAt(c, e));
    }, { passive: false });
    on('keydown', e => {
      const stride = c.canvas.width / 8 / shown.scale;
      const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
      if (move) { shown.fast += move[0] * stride; shown.slow += move[1] * stride; redraw(); }
      else if (e.key === '+' || e.key === '=') zoom(1.5);
      else if (e.key === '-') zoom(1 / 1.5);
      else if (e.key === '0') showAll();
      else return;
      e.preventDefault();
    });
  }
  const slider = (text, set) => {
    const input = make('input', { type: 'range', min: -3, max: 6, step: 0.1, value: 0,
      input: () => { set(2 ** +input.value); redraw(); } });
    return make('label', {}, text + ' ', input);
  };
  const tools = make('div', { class: 'tools' },
    button('+', 'zoom in', () => zoom(2)), button('\u2212', 'zoom out', () => zoom(0.5)),
    button('whole', 'show the whole image', showAll),
    button('1:1', 'one screen pixel per pixel', () => { shown.scale = ratio(); redraw(); }),
    button('\u2039 box', 'previous shoebox', () => select(shown.selected > 0 ? shown.selected - 1 : placed.length - 1, true)),
    button('box \u203a', 'next shoebox', () => select((shown.selected + 1) % placed.length, true)),
    slider('counts to', factor => { shown.high = low + (most - low) * factor; }),
    slider('\u03c3 to', factor => { shown.reach = reach * factor; }),
    choice('colours', [['grey', 'grey'], ['inverted', 'inverted'], ['heat', 'heat']],
      name => { shown.colours = name; redraw(); }),
    checkbox('shoeboxes', true, is => { shown.spots = is; redraw(); }),
    checkbox('resolution rings', false, is => { shown.rings = is; redraw(); }),
    button('PNG', 'save the four views as PNG',
      () => canvases.forEach(c => c.canvas.toBlob(blob => save(c.kind + '.png', 'image/png', blob)))));
  let width = 0;
  function resized() {
    const wide = canvases[0].canvas.clientWidth;
    if (!wide || wide === width) return;
    const whole = shown.scale === 0 || Math.abs(shown.scale / wholeScale() - 1) < 1e-6;
    width = wide;
    const height = Math.round(width * Math.min(1.1, Math.max(0.6, slow / fast)));
    for (const { canvas } of canvases) {
      canvas.style.height = height + 'px';
      canvas.width = Math.round(width * ratio());
      canvas.height = Math.round(height * ratio());
    }
    if (whole) showAll(); else redraw();
    paintAll(); // at once: a canvas of another size is empty
  }
  addEventListener('resize', resized);
  const key = Object.entries(kindMeaning).map(([kind, meaning]) => make('span', { class: 'entry' },
    draw('svg', { class: 'key', viewBox: '0 0 22 12', 'aria-hidden': 'true' },
      draw('circle', { cx: 11, cy: 6, r: 5, fill: 'none', stroke: kindColour[kind], 'stroke-width': 1.5,
        'stroke-dasharray': kind === 'missed' ? '3 2' : null })), meaning));
  const note = make('p', { class: 'note' },
    'Scroll or pinch over an image to zoom (after a click into it, or with Ctrl), drag to move, double click to come ' +
      'closer. Click a shoebox here, in the gallery or in a table for its numbers. From far, a screen pixel shows the ' +
      'maximum of the pixels it stands for; ' +
      'residuals show their sum. ' +
      (block > 1 ? `One pixel stands for the mean of ${block} \u00d7 ${block} of the detector. ` : ''), 'Shoeboxes: ', key,
    ' Grey-blue: no trusted pixel. \u03c3: photons and readout noise; in shoeboxes also the model error.');
  return { element: make('div', {}, tools, views, readout, detail, note), select, resized };
}

// Rings of round resolutions that the picture crosses.
function ringLines({ resolution, grid }) {
  const n = 4 * grid, fine = Array.from({ length: (n + 1) ** 2 }, (_, i) =>
    onGrid(resolution, grid, i % (n + 1) / n, Math.floor(i / (n + 1)) / n));
  return [20, 10, 7, 5, 4, 3, 2.5, 2, 1.8, 1.6, 1.4, 1.2, 1, 0.9, 0.8]
    .map(d => ({ d, pieces: contour(fine, n, 1 / (d * d)) })).filter(r => r.pieces.length);
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

// Measured, model, residual of each shoebox, in the order asked for.
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
  const turn = button('\u2193', 'turn the order round',
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
