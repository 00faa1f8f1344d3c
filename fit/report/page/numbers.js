// Numbers of the report: formats, axes, histograms, packed images. Nothing here needs a page.

const isNumber = v => typeof v === 'number' && Number.isFinite(v);
const dash = '\u2013';

// A number with `count` significant digits, without an exponent if it is short; a dash if it is not finite.
function digits(value, count = 4) {
  if (!isNumber(value)) return dash;
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return value.toExponential(Math.max(0, count - 1)).replace(/\.?0+e/, 'e');
  const text = value.toPrecision(count);
  return (text.includes('e') ? String(+text) : text.includes('.') ? text.replace(/\.?0+$/, '') : text).replace('-', '\u2212');
}
const decimals = (value, count) => isNumber(value) ? value.toFixed(count).replace('-', '\u2212') : dash;
const signed = (value, count) => isNumber(value) ? (value < 0 ? '' : '+') + decimals(value, count) : dash;
const percent = (value, count = 1) => isNumber(value) ? decimals(100 * value, count) + '\u202f%' : dash;

// The value below which the fraction `part` of the values lies; NaN does not count.
function quantile(values, part) {
  const sorted = Float64Array.from(values).filter(v => v === v).sort();
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] : NaN;
}

// The least of 1, 2 and 5 times powers of ten that is not below `least`.
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least)), digit = least / power;
  return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

// An axis: values from low to high are at places from start to end.
function axis(low, high, start, end, logarithmic = false) {
  const of = logarithmic ? Math.log10 : v => v, back = logarithmic ? v => 10 ** v : v => v;
  const a = of(low), b = of(high) === a ? a + 1 : of(high);
  return { low, high, start, end, logarithmic,
    place: v => start + (of(v) - a) / (b - a) * (end - start),
    value: p => back(a + (p - start) / (end - start) * (b - a)) };
}

// Limits with some room around the values; on a logarithmic axis only values above 0 count.
function limits(values, logarithmic, room = 0.06) {
  const good = values.filter(v => isNumber(v) && (!logarithmic || v > 0));
  if (!good.length) return logarithmic ? [0.1, 10] : [0, 1];
  let low = good.reduce((a, b) => Math.min(a, b)), high = good.reduce((a, b) => Math.max(a, b));
  if (logarithmic) {
    const more = high > low ? (high / low) ** room : 1.5;
    return [low / more, high * more];
  }
  const more = high > low ? (high - low) * room : Math.abs(low) * 1e-3 || 1;
  return [low - more, high + more];
}

// Round numbers along an axis, each with its text.
function ticks({ low, high, logarithmic }, wanted, leastStep = 0) {
  const list = [];
  if (logarithmic && Math.log10(high / low) > 0.7) {
    const decades = Math.log10(high / low), stride = Math.max(1, Math.ceil(decades / wanted));
    const steps = decades * 3 > wanted ? [1] : [1, 2, 5];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
      if (e % stride === 0 || steps.length > 1)
      for (const s of steps) {
        const value = +(s * 10 ** e).toPrecision(6);
        if (value >= low && value <= high) list.push({ value, text: digits(value, 3) });
      }
    return list;
  }
  const step = roundStep(Math.max(leastStep, (high - low) / wanted)), places = step < 1 ? Math.ceil(-Math.log10(step) - 1e-9) :
      0;
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-12) && list.length < 40; k++) {
    const value = k * step + 0;
    list.push({ value, text: Math.abs(high) >= 1e6 || places > 7 ? digits(value, 3) : decimals(value, places) });
  }
  return list;
}

// Round resolutions as ticks of an axis of 1/d^2.
function resolutionTicks({ low, high, place }) {
  const round = [50, 20, 10, 7, 5, 4, 3.5, 3, 2.7, 2.5, 2.3, 2.2, 2.1, 2, 1.9, 1.8, 1.7, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1, 0.9,
    0.8];
  let last = -Infinity;
  return round.map(d => ({ value: 1 / (d * d), text: String(d) })).filter(({ value }) => {
    const at = place(value);
    if (value < low || value > high || at - last < 34) return false;
    last = at;
    return true;
  });
}

// Counts of values in equal bins; the outermost bins include all values beyond them.
function histogram(values, low, high, bins) {
  const count = new Array(bins).fill(0);
  let total = 0;
  for (const v of values) {
    if (v !== v) continue;
    count[Math.min(bins - 1, Math.max(0, Math.floor((v - low) / (high - low) * bins)))]++;
    total++;
  }
  const width = (high - low) / bins;
  return { total, width, bars: count.map((n, i) =>
      ({ x: low + (i + 0.5) * width, y: n, from: low + i * width, to: low + (i + 1) * width })) };
}

// Values of a packed image, from its bytes; see fit/report/report.c.
function unpackBytes(bytes, { count, offset, unit, logarithmic, smooth }) {
  const values = new Float32Array(count);
  for (let i = 0, last = 0; i < count; i++) {
    let number = bytes[i] | bytes[count + i] << 8 | bytes[2 * count + i] << 16;
    if (number === 0xffffff) { values[i] = NaN; continue; }
    if (smooth) number = last += number & 1 ? -(number + 1) / 2 : number / 2;
    values[i] = logarithmic ? 2 ** (offset + unit * number) : offset + unit * number;
  }
  return values;
}

// Text of a table for spreadsheets: fields with commas, quotes or line ends are quoted, and no field looks like a formula.
function csvText(rows) {
  const field = v => {
    if (typeof v === 'number') return Number.isFinite(v) ? String(v) : '';
    let text = v === null || v === undefined ? '' : String(v);
    if (/^[=+@\t\r]|^-[^\d.]/.test(text)) text = '\u0027' + text;
    return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  };
  return rows.map(row => row.map(field).join(',')).join('\n') + '\n';
}

// Colours from 0 to 1, as [red, green, blue].
const colourStops = {
  grey: ['ffffff', '7f7f7f:0.25', '000000'],
  inverted: ['000000', '808080:0.25', 'ffffff'],
  heat: ['000004', '3b0f70:0.16', '8c2981:0.38', 'de4968:0.6', 'fe9f6d:0.8', 'fcfdbf'],
  signed: ['0a286e', '5a96cd:0.25', 'ffffff:0.5', 'e16e5a:0.75', '6e0019'],
  misfit: ['f4f8fc', 'b9d6ee:0.5', '6fa8d6']
};
function colourScale(name) {
  const stops = colourStops[name].map((text, i, all) => {
    const [hex, at] = text.split(':'), rgb = parseInt(hex, 16);
    return { at: at ? +at : i === 0 ? 0 : i === all.length - 1 ? 1 : i / (all.length - 1),
      rgb: [rgb >> 16, rgb >> 8 & 255, rgb & 255] };
  });
  return value => {
    const v = Math.min(1, Math.max(0, value)), next = Math.max(1, stops.findIndex(s => s.at >= v));
    const a = stops[next - 1], b = stops[next], t = (v - a.at) / (b.at - a.at);
    return a.rgb.map((c, k) => Math.round(c + t * (b.rgb[k] - c)));
  };
}
const cssColour = ([r, g, b]) => `rgb(${r},${g},${b})`;
const isDark = ([r, g, b]) => 0.3 * r + 0.59 * g + 0.11 * b < 140;

// The energy of photons with this wavelength; below 0.05 A, of electrons.
function energyText(wavelength) {
  const momentum = 12.398419843 / wavelength, rest = 510.99895; // keV
  return wavelength < 0.05 ? 'electrons of ' + decimals(momentum ** 2 / (Math.hypot(momentum, rest) + rest), 1) + ' keV' :
      decimals(momentum, 4) + ' keV';
}

// 1/d^2 at a point of the picture, interpolated on a grid of n x n steps by three points along x and y: it is nearly quadratic.
function onGrid(grid, n, x, y) {
  const weights = at => {
    const first = Math.min(n - 2, Math.max(0, Math.round(at) - 1)), t = at - first;
    return [first, [(t - 1) * (t - 2) / 2, t * (2 - t), t * (t - 1) / 2]];
  };
  const [i, u] = weights(x * n), [k, v] = weights(y * n);
  let sum = 0;
  for (let b = 0; b < 3; b++) for (let a = 0; a < 3; a++) sum += u[a] * v[b] * grid[(k + b) * (n + 1) + i + a];
  return sum;
}

// Lines on which the values of such a grid equal `level`: pieces [x0, y0, x1, y1], in fractions of the picture.
function contour(grid, n, level) {
  const pieces = [];
  for (let y = 0; y < n; y++)
    for (let x = 0; x < n; x++) {
      const corner = [[x, y], [x + 1, y], [x + 1, y + 1],
        [x, y + 1]].map(([a, b]) => ({ a, b, v: grid[b * (n + 1) + a] - level }));
      const cuts = [];
      for (let k = 0; k < 4; k++) {
        const p = corner[k], q = corner[(k + 1) % 4];
        if (p.v < 0 === q.v < 0) continue;
        const t = p.v / (p.v - q.v);
        cuts.push((p.a + t * (q.a - p.a)) / n, (p.b + t * (q.b - p.b)) / n);
      }
      for (let c = 0; c + 3 < cuts.length; c += 4) pieces.push(cuts.slice(c, c + 4));
    }
  return pieces;
}
