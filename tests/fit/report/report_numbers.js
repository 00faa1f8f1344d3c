// node report_numbers.js FOLDER: checks the syntax of the report's script in FOLDER, and its functions of numbers.
'use strict';
const assert = require('assert'), fs = require('fs'), path = require('path'), vm = require('vm');
const folder = process.argv[2], source = name => fs.readFileSync(path.join(folder, name), 'utf8');
const all = ['numbers.js', 'chart.js', 'images.js', 'detector.js', 'shots.js', 'report.js'].map(source).join('\n');
new vm.Script(`(() => {\n'use strict';\n${all}\n})();`, { filename: 'report' });
const names = ['digits', 'decimals', 'signed', 'percent', 'quantile', 'roundStep', 'axis', 'limits', 'ticks', 'resolutionTicks',
    'histogram',
               'unpackBytes', 'csvText', 'colourScale', 'colourStops', 'onGrid', 'contour', 'energyText'];
const f = vm.runInThisContext(`(() => {\n'use strict';\n${source('numbers.js')}\nreturn { ${names.join(', ')} };\n})()`);
const near = (a, b, tolerance = 1e-9) => assert.ok(Math.abs(a - b) <= tolerance, `${a} instead of ${b}`);

// Formats.
assert.strictEqual(f.digits(58.41234, 4), '58.41');
assert.strictEqual(f.digits(1500, 2), '1500');
assert.strictEqual(f.digits(0, 3), '0');
assert.strictEqual(f.digits(-0.25, 3), '\u22120.25');
assert.strictEqual(f.digits(1.5e-7, 2), '1.5e-7');
assert.strictEqual(f.digits(null), '\u2013');
assert.strictEqual(f.digits(NaN), '\u2013');
assert.strictEqual(f.signed(0.5, 2), '+0.50');
assert.strictEqual(f.signed(-0.5, 2), '\u22120.50');
assert.strictEqual(f.percent(0.256), '25.6\u202f%');

assert.strictEqual(f.energyText(1), '12.3984 keV');
assert.strictEqual(f.energyText(0.0196874889), 'electrons of 300.0 keV');

// Axes: places and values are inverse; ticks are round, in range, and different from one another.
assert.deepStrictEqual([0.003, 0.7, 1, 1.1, 4.2, 6].map(f.roundStep).map(v => +v.toPrecision(3)), [0.005, 1, 1, 2, 5, 10]);
for (const logarithmic of [false, true]) {
  const a = f.axis(0.02, 700, 60, 500, logarithmic);
  near(a.place(0.02), 60);
  near(a.place(700), 500);
  for (const v of [0.02, 1, 33, 700]) near(a.value(a.place(v)) / v, 1, 1e-9);
}
for (const [low, high] of [[0, 1], [-3, 8], [58.4, 58.6], [1e-7, 3e-7], [0, 2e7], [0.5, 37.5]])
  for (const logarithmic of [false, true]) {
    if (logarithmic && low <= 0) continue;
    const list = f.ticks(f.axis(low, high, 0, 100, logarithmic), 6);
    assert.ok(list.length >= 2 && list.length <= 14, `${list.length} ticks from ${low} to ${high}`);
    assert.ok(list.every(t => t.value >= low - 1e-12 && t.value <= high * (1 + 1e-9)));
    assert.strictEqual(new Set(list.map(t => t.text)).size, list.length, `${list.map(t => t.text)}`);
  }
assert.deepStrictEqual(f.ticks(f.axis(0.7, 20000, 0, 1, true), 5).map(t => t.value), [1, 10, 100, 1000, 10000]);
assert.deepStrictEqual(f.ticks(f.axis(0, 2.1, 0, 1), 6, 1).map(t => t.text), ['0', '1', '2']);
const shells = f.resolutionTicks(f.axis(1 / 400, 1 / 4, 60, 390));
assert.ok(shells.some(t => t.text === '3') && shells.every((t, i) => i === 0 || t.value > shells[i - 1].value));
assert.deepStrictEqual(f.limits([], false), [0, 1]);
assert.ok(f.limits([5, 5], false)[0] < 5 && f.limits([null, 5, NaN], false)[1] > 5);
assert.ok(f.limits([-1, 0, 10, 1000], true)[0] > 5);

// Statistics.
near(f.quantile([5, 1, NaN, 3], 0.5), 3);
const h = f.histogram([-100, -0.5, 0.5, 0.6, 7.9, 100, NaN], -8, 8, 16);
assert.strictEqual(h.total, 6);
assert.deepStrictEqual(h.bars.map(b => b.y), [1, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 2]);
near(h.bars[8].from, 0);

// Packed images: plain, smooth (differences folded to 0, -1, 1, -2 ...), logarithmic, and a pixel without a value.
const packed = numbers => Uint8Array.from([0, 8, 16].flatMap(shift => numbers.map(n => n >> shift & 255)));
assert.deepStrictEqual([...f.unpackBytes(packed([0, 70000, 3]), { count: 3, offset: -2, unit: 1, logarithmic: 0, smooth: 0 })],
    [-2, 69998, 1]);
assert.deepStrictEqual([...f.unpackBytes(packed([10, 1, 0xffffff, 4]),
    { count: 4, offset: 0, unit: 0.5, logarithmic: 0, smooth: 1 })], [2.5, 2, NaN, 3]);
near(f.unpackBytes(packed([64]), { count: 1, offset: -1, unit: 1 / 32, logarithmic: 1, smooth: 0 })[0], 2);

// Tables for spreadsheets: nothing is read as a formula, quotes and commas stay in their field.
assert.strictEqual(f.csvText([['a,b', 'say "x"', 1.5, null], ['=1+1', '-1 2 3', -2, NaN]]),
    '"a,b","say ""x""",1.5,\n\u0027=1+1,-1 2 3,-2,\n');

// Colours: ends and a middle that is white.
assert.deepStrictEqual(f.colourScale('grey')(0), [255, 255, 255]);
assert.deepStrictEqual(f.colourScale('grey')(1), [0, 0, 0]);
assert.deepStrictEqual(f.colourScale('signed')(0.5), [255, 255, 255]);
for (const name of Object.keys(f.colourStops)) for (let v = -0.1; v < 1.2; v += 0.1) assert.ok(f.colourScale(name)(v).every(c =>
    c >= 0 && c <= 255));

// A grid of a quadratic function is interpolated exactly, and its contour is a circle.
const n = 32, grid = [];
for (let y = 0; y <= n; y++) for (let x = 0; x <= n; x++) grid.push((x / n - 0.5) ** 2 + (y / n - 0.5) ** 2);
for (const [x, y] of [[0.1, 0.2], [0.5, 0.5], [0.97, 0.03]]) near(f.onGrid(grid, n, x, y), (x - 0.5) ** 2 + (y - 0.5) ** 2);
const ring = f.contour(grid, n, 0.09);
assert.ok(ring.length > 40);
for (const [x0, y0, x1, y1] of ring) for (const [x, y] of [[x0, y0], [x1, y1]]) near(Math.hypot(x - 0.5, y - 0.5), 0.3, 0.002);
console.log('numbers of the report are right');
