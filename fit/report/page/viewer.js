// Viewer for one or several images of one place, for the report and dualbragg view: zooms, moves, shows values of pixels.

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

// Colours as numbers for ImageData: 256 steps, then the colours of untrusted pixels: gap or no pixel, bad, overloaded.
const notTrusted = { gap: [198, 216, 235], bad: [214, 39, 140], overload: [255, 170, 0] };
function colourTable(name) {
  const scale = colourScale(name), bytes = new Uint8Array(4 * 259), special = Object.values(notTrusted);
  for (let i = 0; i < 259; i++) bytes.set([...(i < 256 ? scale(i / 255) : special[i - 256]), 255], 4 * i);
  return new Uint32Array(bytes.buffer);
}
const colourTables = Object.fromEntries(Object.keys(colourStops).map(name => [name, colourTable(name)]));
const colourIndex = (value, low, high) => {
  if (value !== value) return 256;
  const place = (value - low) / (high - low) * 255;
  return place > 0 ? (place < 255 ? place + 0.5 | 0 : 255) : 0;
};

// about: frames { fast, slow, bin }, panels, and resolution (or none): 1/d^2 on grids over parts of the picture.
// levels: the images in full size, in half the size, and so on; each { fast, slow, ... }.
// views: { kind, title, unit, value(level, index), ends(scale): values at the ends of the colours, colours(): name of the
// table of colours, index(level, index, low, high): entry of the table, if it does not follow from the value }.
// hooks: marks(c) draws over a view, tell(fast, slow) returns a text about a pixel, click(fast, slow) takes a click,
// buttons(redraw) returns tools after those for zooming.
function zoomViewer(about, levels, views, hooks) {
  const { fast, slow, bin } = about.frames;
  const shown = { fast: fast / 2, slow: slow / 2, scale: 0, rings: false, selected: -1, at: null };
  const rings = about.resolution ? ringLines(about) : [];
  const figures = make('div', { class: 'views' + (views.length === 1 ? ' single' : ''), id: 'views' });
  const canvases = views.map(view => {
    const canvas = make('canvas', { tabindex: 0, role: 'img',
      'aria-label': view.title + ' image; arrow keys move, plus and minus zoom, 0 shows all' });
    const ends = [make('span', { class: 'low' }),
      make('canvas', { class: 'scale', width: 96, height: 1, 'aria-hidden': 'true' }), make('span', { class: 'high' })];
    figures.append(make('figure', { 'data-kind': view.kind },
      make('figcaption', {}, make('b', {}, view.title), ' ', make('span', { class: 'legend' }, ends, ' ' + view.unit)), canvas));
    return { kind: view.kind, view, canvas, context: canvas.getContext('2d'), ends };
  });
  const readout = make('div', { class: 'readout', id: 'readout' }, 'Point at a pixel for its values.');
  const ratio = () => window.devicePixelRatio || 1;
  const wholeScale = () => Math.min(canvases[0].canvas.width / fast, canvases[0].canvas.height / slow);

  function paint(c) {
    const { canvas, context, view } = c, { width, height } = canvas;
    if (!width || !height) return;
    let l = 0;
    while (l + 1 < levels.length && shown.scale * 2 ** l < 0.75) l++;
    const level = levels[l], size = 2 ** l, step = 1 / shown.scale / size, colours = colourTables[view.colours()],
        [from, to] = view.ends(shown.scale);
    const index = view.index || ((at, i, low, high) => colourIndex(view.value(at, i), low, high));
    const image = context.createImageData(width, height), pixels = new Uint32Array(image.data.buffer);
    const x0 = (shown.fast - width / 2 / shown.scale) / size, y0 = (shown.slow - height / 2 / shown.scale) / size;
    const column = Int32Array.from({ length: width }, (_, x) => Math.floor(x0 + (x + 0.5) * step));
    for (let y = 0; y < height; y++) {
      const s = Math.floor(y0 + (y + 0.5) * step);
      if (s < 0 || s >= level.slow) continue;
      for (let x = 0; x < width; x++)
        if (column[x] >= 0 && column[x] < level.fast)
          pixels[y * width + x] = colours[index(level, s * level.fast + column[x], from, to)];
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
  const isBright = c => c.view.colours() !== 'grey' && c.view.colours() !== 'signed';
  function drawRings(c) {
    const { context } = c, dpr = ratio();
    for (const { d, pieces } of rings) {
      context.strokeStyle = context.fillStyle = isBright(c) ? '#9fd0ff' : '#7a3fa0';
      context.lineWidth = dpr;
      context.beginPath();
      for (const [x0, y0, x1, y1] of pieces) {
        context.moveTo(...place(c, x0, y0));
        context.lineTo(...place(c, x1, y1));
      }
      context.stroke();
      const top = pieces.reduce((a, b) => b[1] < a[1] ? b : a);
      const [x, y] = place(c, top[0], top[1]);
      context.fillText(d + ' \u00c5', x + 3 * dpr, Math.max(14 * dpr, y - 3 * dpr));
    }
  }
  function overlay(c) {
    const { context } = c, dpr = ratio();
    if (shown.scale > 26 * dpr) numbers(c);
    context.font = 12 * dpr + 'px sans-serif';
    if (shown.rings) drawRings(c);
    hooks.marks(c);
    context.setLineDash([]);
    if (!shown.at) return;
    const [x, y] = place(c, shown.at[0] + 0.5, shown.at[1] + 0.5), half = Math.max(4 * dpr, shown.scale / 2);
    context.strokeStyle = isBright(c) ? '#eee' : '#111'; context.lineWidth = dpr;
    context.strokeRect(x - half, y - half, 2 * half, 2 * half);
  }
  // Writes the values of the pixels, if they are large enough.
  function numbers(c) {
    const { context, canvas, view } = c, halfWide = canvas.width / 2 / shown.scale, halfHigh = canvas.height / 2 / shown.scale;
    const [from, to] = view.ends(shown.scale), scale = colourScale(view.colours());
    context.font = Math.min(13 * ratio(), shown.scale / 3.2) + 'px sans-serif';
    context.textAlign = 'center'; context.textBaseline = 'middle';
    for (let s = Math.max(0, Math.floor(shown.slow - halfHigh)); s < Math.min(slow, shown.slow + halfHigh); s++)
      for (let f = Math.max(0, Math.floor(shown.fast - halfWide)); f < Math.min(fast, shown.fast + halfWide); f++) {
        const v = view.value(levels[0], s * fast + f);
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
    figures.dataset.drawn = +(figures.dataset.drawn || 0) + 1;
  }
  function redraw() {
    figures.dataset.scale = shown.scale.toPrecision(4);
    figures.dataset.selected = shown.selected;
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
  // Shows a rectangle with its surroundings.
  function come(f, s, width, height) {
    shown.fast = f + width / 2; shown.slow = s + height / 2;
    shown.scale = Math.min(canvases[0].canvas.width, canvases[0].canvas.height) / (1.6 * Math.max(width, height));
    redraw();
  }
  // A place of the picture in pixels of the detector, and of the panel if there are several.
  function whereabouts(f, s, count) {
    const text = (a, b) => count ? a.toFixed(count) + ', ' + b.toFixed(count) : Math.floor(a) + ', ' + Math.floor(b);
    const [f0, s0] = about.frames.first || [0, 0];
    f = f * bin + f0; s = s * bin + s0;
    if (about.panels.length < 2) return text(f, s);
    for (let p = 0; p < about.panels.length; p++) {
      const [x, y, fx, fy, sx, sy, nf, ns] = about.panels[p], det = fx * sy - fy * sx;
      const pf = ((f - x) * sy - (s - y) * sx) / det, ps = ((s - y) * fx - (f - x) * fy) / det;
      if (pf >= 0 && ps >= 0 && pf < nf && ps < ns) return text(pf, ps) + ' of panel ' + p;
    }
    return 'between panels';
  }
  // Text of a pixel's place and resolution.
  function pixelText(f, s) {
    const centre = about.panels.length > 1 ? 0.5 : 0;
    const square = about.resolution ? squareAt(about, f + 0.5, s + 0.5) : NaN;
    return 'pixel ' + whereabouts(f + centre, s + centre, 0) +
      (about.resolution ? '   ' + decimals(square > 0 ? 1 / Math.sqrt(square) : NaN, 2) + ' \u00c5' : '');
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
        const [x, y] = shown.at = [Math.floor(f), Math.floor(s)];
        if (x >= 0 && y >= 0 && x < fast && y < slow) readout.textContent = hooks.tell(x, y);
      }
      redraw();
    });
    on('pointerup', e => {
      touches.delete(e.pointerId);
      if (held && !held.moved) hooks.click(...pixelAt(c, e));
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
  const tools = make('div', { class: 'tools' },
    button('+', 'zoom in', () => zoom(2)), button('\u2212', 'zoom out', () => zoom(0.5)),
    button('whole', 'show the whole image', showAll),
    button('1:1', 'one screen pixel per pixel', () => { shown.scale = ratio(); redraw(); }),
    hooks.buttons(redraw),
    rings.length ? checkbox('resolution rings', shown.rings, is => { shown.rings = is; redraw(); }) : null,
    button('PNG', views.length > 1 ? 'save the views as PNG' : 'save the view as PNG',
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
  return { element: make('div', {}, tools, figures, readout), shown, ratio, place, isBright, zoom, showAll, come, redraw,
    whereabouts, pixelText, resized };
}

// A slider that gives factors from 1/8 to 64.
function factorSlider(text, set) {
  const input = make('input', { type: 'range', min: -3, max: 6, step: 0.1, value: 0, input: () => set(2 ** +input.value) });
  return make('label', {}, text + ' ', input);
}
const colourChoice = change => choice('colours', [['grey', 'grey'], ['inverted', 'inverted'], ['heat', 'heat']], change);
const zoomNote = 'Scroll or pinch over an image to zoom (after a click into it, or with Ctrl), drag to move, double click to ' +
    'zoom in. ';

// 1/d^2 at a point of the view; NaN outside all parts of the picture.
const firstOf = ({ frames }) => frames.first || [0, 0];
function squareAt(about, x, y) {
  const { bin } = about.frames, [x0, y0] = firstOf(about), px = x * bin + x0, py = y * bin + y0;
  for (const { place: [cx, cy, ux, uy, vx, vy], steps, values } of about.resolution) {
    const dx = px - cx, dy = py - cy, det = ux * vy - uy * vx, u = (dx * vy - dy * vx) / det, v = (dy * ux - dx * uy) / det;
    if (u >= 0 && v >= 0 && u <= 1 && v <= 1) return onGrid(values, steps, u, v);
  }
  return NaN;
}

// Rings of round resolutions in the picture, part by part, in pixels of the view.
function ringLines(about) {
  const { bin } = about.frames, [x0, y0] = firstOf(about);
  const parts = about.resolution.map(({ place: [cx, cy, ux, uy, vx, vy], steps, values }) => {
    const n = 4 * steps;
    return { n, fine: Array.from({ length: (n + 1) ** 2 }, (_, i) =>
      onGrid(values, steps, i % (n + 1) / n, Math.floor(i / (n + 1)) / n)),
    seen: (u, v) => [(cx + u * ux + v * vx - x0) / bin, (cy + u * uy + v * vy - y0) / bin] };
  });
  return (about.rings || [20, 10, 7, 5, 4, 3, 2.5, 2, 1.8, 1.6, 1.4, 1.2, 1, 0.9, 0.8]).map(d => ({ d,
    pieces: parts.flatMap(({ n, fine, seen }) => contour(fine, n, 1 / (d * d))
      .map(([a, b, e, f]) => [...seen(a, b), ...seen(e, f)])) })).filter(r => r.pieces.length);
}
