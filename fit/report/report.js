// The viewer of the report: draws the images from the values in the page, all four at the same place.
(async () => {
'use strict';
const byId = id => document.getElementById(id);
const views = byId('views'), described = byId('data-viewer');
if (!described || !byId('data-measured') || typeof DecompressionStream === 'undefined') return;

// Values of a packed image: three bytes per number, bytes of one kind together; see report_packed.c.
async function unpack(id) {
  const element = byId(id), set = element.dataset, text = atob(element.textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const fast = +set.fast, slow = +set.slow, count = fast * slow;
  const offset = +set.offset, unit = +set.unit, logarithmic = +set.logarithmic, smooth = +set.smooth;
  const value = new Float32Array(count);
  for (let i = 0, last = 0; i < count; i++) {
    let number = bytes[i] | bytes[count + i] << 8 | bytes[2 * count + i] << 16;
    if (number === 0xffffff) { value[i] = NaN; continue; }
    if (smooth) number = last += number & 1 ? -(number + 1) / 2 : number / 2;
    value[i] = logarithmic ? 2 ** (offset + unit * number) : offset + unit * number;
  }
  return { fast, slow, value };
}

const about = JSON.parse(described.textContent);
const [measured, model, sigma] =
  await Promise.all(['data-measured', 'data-model', 'data-sigma'].map(unpack));
const fast = measured.fast, slow = measured.slow, block = about.block;
const boxes = about.boxes.map(b => ({
  hkl: b.slice(0, 3).join(' '), f0: b[3] / block, s0: b[4] / block, width: b[5] / block, height: b[6] / block,
  kind: b[7], outlier: b[8], strong: b[9], explained: b[10], d: b[11], fast: b[12] / block, slow: b[13] / block,
  intensity: b[14], esd: b[15], sigmaZ: b[16], worst: b[17], chi2: b[18], offset: [b[19], b[20]]
}));

// Levels of half the size each: maxima of measured and model; sums of differences and of variances.
function reduce(from) {
  const f = Math.ceil(from.fast / 2), s = Math.ceil(from.slow / 2), n = f * s;
  const to = { fast: f, slow: s, measured: new Float32Array(n), model: new Float32Array(n),
               difference: new Float32Array(n), variance: new Float32Array(n) };
  for (let y = 0; y < s; y++)
    for (let x = 0; x < f; x++) {
      let most = NaN, bragg = NaN, difference = 0, variance = 0;
      for (let k = 0; k < 4; k++) {
        const xx = 2 * x + (k & 1), yy = 2 * y + (k >> 1);
        if (xx >= from.fast || yy >= from.slow) continue;
        const i = yy * from.fast + xx, m = from.measured[i], c = from.model[i];
        if (!(most >= m)) most = m === m ? m : most;
        if (!(bragg >= c)) bragg = c === c ? c : bragg;
        if (from.difference) {
          difference += from.difference[i];
          variance += from.variance[i];
        } else if (m === m && c === c) {
          difference += m - c;
          variance += sigma.value[i] * sigma.value[i];
        }
      }
      const o = y * f + x;
      to.measured[o] = most; to.model[o] = bragg; to.difference[o] = difference; to.variance[o] = variance;
    }
  return to;
}
const levels = [{ fast, slow, measured: measured.value, model: model.value }];
while (levels[levels.length - 1].fast > 200) levels.push(reduce(levels[levels.length - 1]));

const value = {
  measured: (level, i) => level.measured[i],
  model: (level, i) => level.model[i],
  residual: (level, i) => level.difference ? (level.variance[i] > 0 ? level.difference[i] : NaN)
                                           : level.measured[i] - level.model[i],
  normalized: (level, i) => level.difference ? (level.variance[i] > 0 ? level.difference[i] / Math.sqrt(level.variance[i]) : NaN)
                                             : (level.measured[i] - level.model[i]) / sigma.value[i]
};

// Colours: 256 steps and one for pixels without a value, as numbers that ImageData takes.
function colours(hex) {
  const table = new Uint32Array(257), little = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
  for (let i = 0; i < 257; i++) {
    const rgb = parseInt(hex.substr(6 * i, 6), 16), r = rgb >> 16, g = rgb >> 8 & 255, b = rgb & 255;
    table[i] = little ? (255 << 24 | b << 16 | g << 8 | r) >>> 0 : (r << 24 | g << 16 | b << 8 | 255) >>> 0;
  }
  return table;
}
const grey = colours(about.grey), signed = colours(about.signed);

// What is shown: the middle (pixels of the data) and screen pixels per pixel; ends of the colour scales.
const shown = { fast: fast / 2, slow: slow / 2, scale: 0, high: about.high, reach: about.reach, spots: true, selected: -1, at: null };

// ---- The page around the canvases.
const residual = views.querySelector('[data-kind=normalized]').cloneNode(true);
residual.dataset.kind = 'residual';
residual.querySelector('b').textContent = 'Residual (measured \u2212 model)';
residual.querySelector('.legend').lastChild.textContent = ' counts';
views.insertBefore(residual, views.querySelector('[data-kind=normalized]'));
const canvases = [...views.querySelectorAll('figure')].map(figure => {
  const canvas = document.createElement('canvas');
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', figure.querySelector('b').textContent +
    ' image; arrow keys move, plus and minus zoom, 0 shows all');
  figure.querySelector('svg').replaceWith(canvas);
  return { kind: figure.dataset.kind, canvas, context: canvas.getContext('2d'), legend: figure.querySelector('.legend') };
});
views.classList.add('live');
document.documentElement.classList.add('live-page');
const note = byId('static-note');
if (note) note.textContent = 'Scroll or pinch over an image to zoom (after a click into it, or with Ctrl), drag to move, double click to come closer. ' +
  'Click a shoebox here, in the gallery or in a table for its figures. From far, pixels show the maximum of those they stand for, residuals their sum.' +
  (block > 1 ? ' One pixel stands for the mean of ' + block + ' \u00d7 ' + block + ' of the detector.' : '');

const tools = document.createElement('div');
tools.className = 'tools';
const button = (text, label, action) => {
  const b = document.createElement('button');
  b.type = 'button'; b.textContent = text; b.title = label; b.setAttribute('aria-label', label);
  b.addEventListener('click', action);
  tools.append(b);
};
const slider = (text, set) => {
  const label = document.createElement('label'), input = document.createElement('input');
  input.type = 'range'; input.min = -3; input.max = 6; input.step = 0.1; input.value = 0;
  input.addEventListener('input', () => { set(2 ** +input.value); draw(); });
  label.append(text, input);
  tools.append(label);
};
button('+', 'zoom in', () => zoom(2));
button('\u2212', 'zoom out', () => zoom(0.5));
button('whole', 'show the whole image', () => showAll());
button('1:1', 'one screen pixel per pixel', () => { shown.scale = ratio(); draw(); });
button('\u2039 box', 'previous shoebox', () => select(shown.selected > 0 ? shown.selected - 1 : boxes.length - 1, true));
button('box \u203a', 'next shoebox', () => select((shown.selected + 1) % boxes.length, true));
slider('counts to', factor => { shown.high = about.low + (about.high - about.low) * factor; });
slider('\u03c3 to', factor => { shown.reach = about.reach * factor; });
const check = document.createElement('label'), tick = document.createElement('input');
tick.type = 'checkbox'; tick.checked = true;
tick.addEventListener('change', () => { shown.spots = tick.checked; draw(); });
check.append(tick, 'shoeboxes');
tools.append(check);
views.before(tools);
const readout = document.createElement('div'), detail = document.createElement('div');
readout.className = 'readout'; readout.id = 'readout';
readout.textContent = 'Point at a pixel for its values.';
detail.className = 'detail'; detail.id = 'detail'; detail.setAttribute('role', 'status');
views.after(readout, detail);

// ---- Drawing.
const ratio = () => window.devicePixelRatio || 1;
function fit() {
  const width = canvases[0].canvas.clientWidth || 560;
  const height = Math.round(width * Math.min(1.1, Math.max(0.6, slow / fast)));
  for (const c of canvases) {
    c.canvas.style.height = height + 'px';
    c.canvas.width = Math.round(width * ratio());
    c.canvas.height = Math.round(height * ratio());
  }
}
const wholeScale = () => Math.min(canvases[0].canvas.width / fast, canvases[0].canvas.height / slow);
function showAll() {
  shown.fast = fast / 2; shown.slow = slow / 2; shown.scale = wholeScale();
  draw();
}
function limits(kind) {
  // Maxima of many pixels begin above single ones.
  if (kind === 'measured' || kind === 'model') return [shown.scale < 0.5 ? about.low : Math.min(about.dark, about.low), shown.high];
  const reach = kind === 'normalized' ? shown.reach : shown.reach * Math.sqrt(Math.max(1, shown.high)) / 2;
  return [-reach, reach];
}

function paint(c) {
  const { canvas, context, kind } = c, width = canvas.width, height = canvas.height;
  let l = 0;
  while (l + 1 < levels.length && shown.scale * 2 ** l < 0.75) l++;
  const level = levels[l], size = 2 ** l, step = 1 / shown.scale / size;
  const table = kind === 'measured' || kind === 'model' ? grey : signed, of = value[kind];
  const [low, high] = limits(kind), factor = 255 / (high - low);
  const image = context.createImageData(width, height), pixels = new Uint32Array(image.data.buffer);
  const x0 = (shown.fast - width / 2 / shown.scale) / size, y0 = (shown.slow - height / 2 / shown.scale) / size;
  const column = new Int32Array(width);
  for (let x = 0; x < width; x++) {
    const f = Math.floor(x0 + (x + 0.5) * step);
    column[x] = f >= 0 && f < level.fast ? f : -1;
  }
  for (let y = 0; y < height; y++) {
    const s = Math.floor(y0 + (y + 0.5) * step), row = s * level.fast;
    if (s < 0 || s >= level.slow) continue;
    for (let x = 0; x < width; x++) {
      if (column[x] < 0) continue;
      const v = of(level, row + column[x]), place = (v - low) * factor;
      pixels[y * width + x] = table[v === v ? (place > 0 ? (place < 255 ? place + 0.5 | 0 : 255) : 0) : 256];
    }
  }
  context.putImageData(image, 0, 0);
  c.legend.querySelector('.low').textContent = +low.toPrecision(3);
  c.legend.querySelector('.high').textContent = +high.toPrecision(3);
}

const place = (c, f, s) => [(f - shown.fast) * shown.scale + c.canvas.width / 2, (s - shown.slow) * shown.scale + c.canvas.height / 2];
const strokes = ['#0b72c4', '#d55e00', '#8a94a1'];
function overlay(c) {
  const { context, canvas } = c, dpr = ratio();
  if (shown.scale > 26 * dpr) numbers(c);
  context.font = 12 * dpr + 'px sans-serif';
  boxes.forEach((b, n) => {
    if (!shown.spots && n !== shown.selected) return;
    const [x, y] = place(c, b.f0, b.s0), w = b.width * shown.scale, h = b.height * shown.scale;
    if (x + w < 0 || y + h < 0 || x > canvas.width || y > canvas.height) return;
    const chosen = n === shown.selected;
    if (!chosen && c.kind !== 'measured' && shown.scale < 1.2 * dpr) return;
    context.strokeStyle = chosen ? '#000' : strokes[b.kind];
    context.lineWidth = (chosen ? 2.5 : b.outlier ? 2.2 : 1.2) * dpr;
    context.setLineDash(b.kind === 1 && !chosen ? [4 * dpr, 3 * dpr] : []);
    context.beginPath();
    if (w < 14 * dpr) context.arc(x + w / 2, y + h / 2, Math.max(3.5 * dpr, 0.6 * w), 0, 7);
    else context.rect(x, y, w, h);
    context.stroke();
    if (w > 60 * dpr) {
      context.setLineDash([]);
      context.lineWidth = 3 * dpr; context.strokeStyle = '#fff'; context.fillStyle = '#000';
      context.strokeText(b.hkl, x + 3 * dpr, y - 4 * dpr); context.fillText(b.hkl, x + 3 * dpr, y - 4 * dpr);
      const [px, py] = place(c, b.fast, b.slow), arm = 6 * dpr;
      context.strokeStyle = strokes[b.kind]; context.lineWidth = 1.4 * dpr;
      context.beginPath();
      context.moveTo(px - arm, py); context.lineTo(px + arm, py); context.moveTo(px, py - arm); context.lineTo(px, py + arm);
      context.stroke();
    }
  });
  context.setLineDash([]);
  if (!shown.at) return;
  const [x, y] = place(c, shown.at[0] + 0.5, shown.at[1] + 0.5), half = Math.max(4 * dpr, shown.scale / 2);
  context.strokeStyle = '#111'; context.lineWidth = dpr;
  context.strokeRect(x - half, y - half, 2 * half, 2 * half);
}
// From close by, the numbers themselves.
function numbers(c) {
  const { context, canvas } = c, halfWide = canvas.width / 2 / shown.scale, halfHigh = canvas.height / 2 / shown.scale;
  context.font = Math.min(13 * ratio(), shown.scale / 3.2) + 'px sans-serif';
  context.textAlign = 'center'; context.textBaseline = 'middle';
  const [low, high] = limits(c.kind), middle = c.kind === 'measured' || c.kind === 'model' ? low + (high - low) * 0.25 : NaN;
  for (let s = Math.max(0, Math.floor(shown.slow - halfHigh)); s < Math.min(slow, shown.slow + halfHigh); s++)
    for (let f = Math.max(0, Math.floor(shown.fast - halfWide)); f < Math.min(fast, shown.fast + halfWide); f++) {
      const v = value[c.kind](levels[0], s * fast + f);
      if (v !== v) continue;
      const [x, y] = place(c, f + 0.5, s + 0.5);
      context.fillStyle = v > middle || Math.abs(v) > high / 2 && middle !== middle ? '#fff' : '#000';
      context.fillText(Math.abs(v) < 100 && v % 1 ? v.toFixed(1) : Math.round(v), x, y);
    }
  context.textAlign = 'left'; context.textBaseline = 'alphabetic';
}
let waiting = false;
function draw() {
  views.dataset.scale = shown.scale.toPrecision(4);
  views.dataset.selected = shown.selected;
  if (waiting) return;
  waiting = true;
  setTimeout(() => {
    waiting = false;
    for (const c of canvases) { paint(c); overlay(c); }
    views.dataset.drawn = +(views.dataset.drawn || 0) + 1;
  }, 0);
}

// ---- Moving about.
function zoom(factor, f = shown.fast, s = shown.slow) {
  const scale = Math.min(80 * ratio(), Math.max(0.5 * wholeScale(), shown.scale * factor)), grown = scale / shown.scale;
  shown.fast = f + (shown.fast - f) / grown;
  shown.slow = s + (shown.slow - s) / grown;
  shown.scale = scale;
  draw();
}
function pixelAt(c, event) {
  const r = c.canvas.getBoundingClientRect(), dpr = c.canvas.width / r.width;
  return [shown.fast + ((event.clientX - r.left) * dpr - c.canvas.width / 2) / shown.scale,
          shown.slow + ((event.clientY - r.top) * dpr - c.canvas.height / 2) / shown.scale];
}
const boxAt = (f, s) => {
  let found = -1, nearest = Infinity;
  boxes.forEach((b, n) => {
    const reach = Math.max(0.5 * b.width, 6 * ratio() / shown.scale), away = Math.max(Math.abs(b.f0 + b.width / 2 - f), Math.abs(b.s0 + b.height / 2 - s));
    if (away < reach && away < nearest) { nearest = away; found = n; }
  });
  return found;
};
// Resolution at a point, from the grid of 1/d^2, which is nearly quadratic: three points each way.
function resolution(f, s) {
  const n = about.grid;
  const weights = x => {
    const first = Math.min(n - 2, Math.max(0, Math.round(x) - 1)), t = x - first;
    return [first, [(t - 1) * (t - 2) / 2, t * (2 - t), t * (t - 1) / 2]];
  };
  const [i, u] = weights(f / fast * n), [k, v] = weights(s / slow * n);
  let square = 0;
  for (let y = 0; y < 3; y++) for (let x = 0; x < 3; x++) square += u[x] * v[y] * about.resolution[(k + y) * (n + 1) + i + x];
  return square > 0 ? 1 / Math.sqrt(square) : Infinity;
}
// A place of the picture in pixels of the detector, and of the panel if there are several.
function whereabouts(f, s, digits) {
  f *= block; s *= block;
  if (!about.panels) return f.toFixed(digits) + ', ' + s.toFixed(digits);
  for (let p = 0; p < about.panels.length; p++) {
    const [x, y, fx, fy, sx, sy, nf, ns] = about.panels[p], det = fx * sy - fy * sx;
    const pf = ((f - x) * sy - (s - y) * sx) / det, ps = ((s - y) * fx - (f - x) * fy) / det;
    if (pf >= 0 && ps >= 0 && pf < nf && ps < ns)
      return (digits ? pf.toFixed(digits) : Math.floor(pf)) + ', ' + (digits ? ps.toFixed(digits) : Math.floor(ps)) + ' of panel ' + p;
  }
  return 'between panels';
}
const number = (v, digits) => v === null || v !== v ? '\u2013' : (+v).toFixed(digits);
const withSign = (v, digits) => v === null || v !== v ? '\u2013' : (v < 0 ? '\u2212' : '+') + Math.abs(v).toFixed(digits);
function tell(f, s) {
  if (f < 0 || s < 0 || f >= fast || s >= slow) return;
  const i = s * fast + f, m = measured.value[i], c = model.value[i], n = boxAt(f + 0.5, s + 0.5);
  const centre = about.panels ? 0.5 : 0;
  readout.textContent = 'pixel ' + whereabouts(f + centre, s + centre, 0) + '   ' + number(resolution(f + 0.5, s + 0.5), 2) + ' \u00c5   measured ' +
    (m === m ? +m.toPrecision(6) : 'not trusted') + '   model ' + number(c, 2) + '   residual ' + withSign(m - c, 2) + '   ' +
    withSign((m - c) / sigma.value[i], 1) + ' \u03c3' + (n >= 0 ? '   reflection ' + boxes[n].hkl : '');
}
function select(n, come) {
  shown.selected = n;
  const b = boxes[n];
  if (!b) { detail.textContent = ''; draw(); return; }
  detail.textContent = 'Reflection ' + b.hkl + ': ' + number(b.d, 2) + ' \u00c5, predicted at ' + whereabouts(b.fast, b.slow, 1) +
    ' \u00b7 I = ' + (+b.intensity).toPrecision(4) + (b.esd > 0 ? ' \u00b1 ' + b.esd.toPrecision(2) : '') + ' \u00b7 \u03c7\u00b2 per pixel ' + number(b.chi2, 2) +
    ' \u00b7 sigma Z ' + number(b.sigmaZ, 2) + (b.outlier ? ' (outlier)' : '') + ' \u00b7 farthest pixel ' + withSign(b.worst, 1) + ' \u03c3' +
    (b.offset[0] !== null ? ' \u00b7 observed minus model centroid ' + withSign(b.offset[0], 2) + ', ' + withSign(b.offset[1], 2) + ' px' : '') +
    ' \u00b7 strong pixels explained ' + b.explained + ' of ' + b.strong;
  if (come) {
    shown.fast = b.f0 + b.width / 2; shown.slow = b.s0 + b.height / 2;
    shown.scale = Math.min(canvases[0].canvas.width, canvases[0].canvas.height) / (1.6 * Math.max(b.width, b.height));
  }
  draw();
}
for (const c of canvases) {
  let held = null;
  const touches = new Map();
  c.canvas.addEventListener('pointerdown', e => {
    touches.set(e.pointerId, e);
    held = { x: e.clientX, y: e.clientY, moved: false };
    c.canvas.setPointerCapture(e.pointerId);
  });
  c.canvas.addEventListener('pointermove', e => {
    const [f, s] = pixelAt(c, e);
    if (touches.size === 2 && touches.has(e.pointerId)) { // two fingers: zoom by the change of their distance
      const other = [...touches.values()].find(t => t.pointerId !== e.pointerId), last = touches.get(e.pointerId);
      const span = t => Math.hypot(t.clientX - other.clientX, t.clientY - other.clientY);
      if (span(last) > 0) zoom(span(e) / span(last), f, s);
      touches.set(e.pointerId, e);
      return;
    }
    if (held && (held.moved || Math.hypot(e.clientX - held.x, e.clientY - held.y) > 3)) {
      const dpr = ratio();
      shown.fast -= (e.clientX - held.x) * dpr / shown.scale;
      shown.slow -= (e.clientY - held.y) * dpr / shown.scale;
      held = { x: e.clientX, y: e.clientY, moved: true };
      draw();
      return;
    }
    shown.at = [Math.floor(f), Math.floor(s)];
    tell(...shown.at);
    draw();
  });
  c.canvas.addEventListener('pointerup', e => {
    touches.delete(e.pointerId);
    if (held && !held.moved) {
      const [f, s] = pixelAt(c, e);
      select(boxAt(f, s), false);
    }
    held = null;
  });
  c.canvas.addEventListener('pointercancel', e => { touches.delete(e.pointerId); held = null; });
  c.canvas.addEventListener('pointerleave', () => { shown.at = null; draw(); });
  c.canvas.addEventListener('dblclick', e => zoom(3, ...pixelAt(c, e)));
  c.canvas.addEventListener('wheel', e => {
    if (!e.ctrlKey && document.activeElement !== c.canvas) return; // the page scrolls
    e.preventDefault();
    zoom(1.0015 ** -e.deltaY, ...pixelAt(c, e));
  }, { passive: false });
  c.canvas.addEventListener('keydown', e => {
    const stride = c.canvas.width / 8 / shown.scale;
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (move) { shown.fast += move[0] * stride; shown.slow += move[1] * stride; draw(); }
    else if (e.key === '+' || e.key === '=') zoom(1.5);
    else if (e.key === '-') zoom(1 / 1.5);
    else if (e.key === '0') showAll();
    else return;
    e.preventDefault();
  });
}
// Boxes of the gallery and rows of tables lead to their place in the images.
for (const e of document.querySelectorAll('[data-box]')) {
  const go = () => { select(+e.dataset.box, true); byId('images').scrollIntoView(); };
  e.tabIndex = 0;
  e.setAttribute('role', 'button');
  e.addEventListener('click', go);
  e.addEventListener('keydown', k => { if (k.key === 'Enter' || k.key === ' ') { k.preventDefault(); go(); } });
}
let width = 0;
function resized() {
  if (canvases[0].canvas.clientWidth === width) return;
  width = canvases[0].canvas.clientWidth;
  const whole = shown.scale === 0 || Math.abs(shown.scale / wholeScale() - 1) < 1e-6;
  fit();
  if (whole) showAll(); else draw();
}
window.addEventListener('resize', resized);
resized();
document.documentElement.dataset.ready = 'yes';
})();
