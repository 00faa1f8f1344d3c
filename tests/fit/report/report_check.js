// Runs inside the report, added to it by report_browser.sh: uses the page as a reader would, and leaves what it found
// in an element of the page.
(async () => {
const results = [];
const check = (name, good, found = '') => results.push((good ? 'ok ' : 'FAILED ') + name + (found === '' ? '' : ': ' + found));
const pause = ms => new Promise(done => setTimeout(done, ms));
const until = async what => { for (let i = 0; i < 200 && !what(); i++) await pause(50); return what(); };
const all = selector => [...document.querySelectorAll(selector)];
const key = (element, name) =>
    element.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
const buttonOf = (element, text) => [...element.querySelectorAll('button')].find(b => b.textContent === text);
try {
  check('page is ready', await until(() => document.documentElement.dataset.ready === 'yes'));
  const data = JSON.parse(document.getElementById('data').textContent);
  const views = document.getElementById('views'), canvases = [...views.querySelectorAll('figure > canvas')];
  const scale = () => +views.dataset.scale, drawn = () => +(views.dataset.drawn || 0);
  const settle = async () => { const before = drawn(); await until(() => drawn() > before); };
  await until(() => drawn() > 0);

  // Parts, texts, labels.
  check('the name of the file is text', document.querySelector('h1').firstChild.data === '<b>stand&in.img' &&
      !document.querySelector('h1 b'), document.querySelector('h1').innerHTML);
  const cell = document.getElementById('model').textContent, text = data.parameters.find(p => p.name === 'cell_a').text;
  check('the refined cell is on top', cell.includes(text) && cell.includes('keV'), text);
  const parts = ['model', 'verdict', 'images', 'parameters', 'directions', 'correlation', 'resolution', 'detector', 'outliers',
      'shoeboxes', 'convergence', 'curves', 'statistics', 'provenance'];
  check('all parts are there', parts.every(id => document.getElementById(id)),
      parts.filter(id => !document.getElementById(id)));
  check('links lead somewhere', all('nav a').length > 10 && all('nav a').every(a => document.querySelector(a.hash)));
  check('a row for each parameter', all('#parameters tbody tr').length === data.parameters.length,
      all('#parameters tbody tr').length);
  check('an advice beside each warning', all('#warnings li').length === data.warnings.length &&
      all('#warnings .advice').length === data.warnings.length, all('#warnings li').length);
  check('nothing is fetched', performance.getEntriesByType('resource').every(e => e.name.startsWith('data:')));
  check('nothing is wider than the page', document.documentElement.scrollWidth <= window.innerWidth + 1,
      document.documentElement.scrollWidth);
  const labelled = all('svg[role=img], canvas[role=img]');
  check('images have labels', labelled.length > 20 && labelled.every(e => e.getAttribute('aria-label')), labelled.length);
  check('controls have names', all('button, input, select').every(e => e.getAttribute('aria-label') || e.textContent ||
      e.labels && e.labels.length));
  check('no text is a number that is none',
      !/(?<![A-Za-z])NaN(?![A-Za-z])|Infinity|undefined|\[object/.test(document.getElementById('main').textContent),
      (document.getElementById('main').textContent.match(/.{20}((?<![A-Za-z])NaN(?![A-Za-z])|Infinity|undefined|\[object).{20}/) || [''])[0]);

  // Charts.
  const charts = all('svg.chart');
  check('a chart for each parameter, target, shells, residuals', charts.length >= data.parameters.length + 6, charts.length);
  check('charts have curves', all('#curves .chart path.curve, #resolution .chart path.curve').every(p =>
      p.getAttribute('d').length > 10));
  const chart = document.querySelector('#convergence svg.chart'), box = () => chart.getBoundingClientRect(),
      tip = document.getElementById('tip');
  const over = (type, part, Kind = PointerEvent) =>
      chart.dispatchEvent(new Kind(type, { clientX: box().left + part * box().width, clientY: box().top + 0.5 * box().height,
      bubbles: true, cancelable: true, pointerId: 1, pointerType: 'mouse' }));
  chart.setPointerCapture = () => {};
  over('pointermove', 0.5);
  check('a chart tells the point under the pointer', tip.style.display === 'block' && /evaluation \d+/.test(tip.textContent),
      tip.textContent);
  check('and charts of the same axis tell it, too', all('#curves .here').length > 2, all('#curves .here').length);
  const whole = chart.dataset.view;
  over('pointerdown', 0.3); over('pointermove', 0.6); over('pointerup', 0.6);
  const zoomed = JSON.parse(chart.dataset.view);
  check('dragging zooms', zoomed[1] - zoomed[0] < 0.6 * (JSON.parse(whole)[1] - JSON.parse(whole)[0]), chart.dataset.view);
  over('dblclick', 0.5, MouseEvent);
  check('a double click shows all again', chart.dataset.view === whole);
  chart.focus();
  key(chart, 'ArrowLeft');
  const first = +tip.textContent.match(/evaluation (\d+)/)[1];
  key(chart, 'ArrowRight');
  check('arrow keys go from point to point', +tip.textContent.match(/evaluation (\d+)/)[1] === first + 1, tip.textContent);
  const log = document.querySelector('#resolution figure input[type=checkbox]'),
      ticks = () => all('#resolution figure:first-child .tick').map(t => t.textContent).join();
  const before = ticks();
  log.click();
  check('axes change between linear and logarithmic', ticks() !== before);
  const legend = document.querySelector('#resolution button.entry'),
      curves = all('#resolution figure:first-child g path.curve').length;
  legend.click();
  check('the legend hides a curve', all('#resolution figure:first-child g path.curve').length === curves - 1 &&
      legend.getAttribute('aria-pressed') === 'false');
  const outer = document.querySelector('#outliers .bar');
  check('the histogram has bars', !!outer && all('#outliers .bar').length > 10, all('#outliers .bar').length);
  check('the correlation matrix is square', Math.sqrt(all('#correlation rect').length) % 1 === 0 &&
      all('#correlation rect').length >= 4, all('#correlation rect').length);
  check('the detector map has regions and arrows', all('#detector .region').length === data.regions.length &&
      all('#detector .shift').length > 5, all('#detector .region').length);

  // Downloads and theme.
  const saved = [], create = URL.createObjectURL, click = HTMLAnchorElement.prototype.click;
  URL.createObjectURL = blob => { saved.push(blob); return create(blob); };
  HTMLAnchorElement.prototype.click = function () { saved[saved.length - 1].file = this.download; };
  buttonOf(document.getElementById('parameters'), 'CSV').click();
  const csv = await saved[0].text();
  check('a table is saved as CSV', csv.split('\n').length === data.parameters.length + 2 &&
      csv.includes(String(data.parameters[0].refined)), saved[0].file);
  buttonOf(document.getElementById('resolution'), 'SVG').click();
  const svg = new DOMParser().parseFromString(await saved[1].text(), 'image/svg+xml');
  check('a chart is saved as SVG', svg.documentElement.localName === 'svg' && svg.querySelectorAll('path').length > 5 &&
      !svg.querySelector('parsererror'), saved[1].file);
  URL.createObjectURL = create;
  HTMLAnchorElement.prototype.click = click;
  const paper = () => getComputedStyle(document.body).backgroundColor, light = paper();
  document.querySelector('header button').click();
  check('the page can be dark', paper() !== light && document.documentElement.dataset.theme === 'dark', paper());
  document.querySelector('header button').click();

  // Sorting.
  const worst = () => all('.gallery .box').slice(0, 12).map(b => +b.dataset.box);
  const perPixel = data.shoeboxes.map(b => b.chi2 / b.pixels_used),
      byChi2 = perPixel.map((v, i) => i).sort((a, b) => perPixel[b] - perPixel[a] || a - b);
  check('the gallery begins with the largest chi2', worst().join() === byChi2.slice(0, 12).join(), worst().join());
  const order = document.querySelector('#shoeboxes select');
  order.value = 'd'; order.dispatchEvent(new Event('change'));
  check('and can be put in another order',
      data.shoeboxes[worst()[0]].d_spacing === Math.max(...data.shoeboxes.map(b => b.d_spacing)));
  order.value = 'chi2'; order.dispatchEvent(new Event('change'));
  const heads = all('#outliers thead button');
  heads[1].click();
  const spacings = all('#outliers .pick').map(r => +r.children[1].textContent);
  check('tables can be sorted', spacings.every((v, i) => i === 0 || v <= spacings[i - 1]) &&
      heads[1].parentElement.getAttribute('aria-sort') === 'descending', spacings.slice(0, 4).join());

  // Images.
  check('four canvases', canvases.length === 4, canvases.length);
  const colours = canvas => new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width,
      canvas.height).data.buffer)).size;
  for (const canvas of canvases) check('canvas is drawn', colours(canvas) > 40, colours(canvas) + ' colours');
  check('shoeboxes are drawn', all('.gallery canvas').slice(0, 6).every(c => colours(c) > 10), all('.gallery canvas').length);
  const overall = scale(), overview = colours(canvases[1]);
  document.querySelector('.gallery [data-box]').click();
  await settle();
  check('a click in the gallery zooms to the shoebox', scale() > 5 * overall, overall + ' to ' + scale());
  check('and selects it', +views.dataset.selected === +document.querySelector('.gallery [data-box]').dataset.box);
  check('and tells about it', /^Reflection .* sigma Z \d/.test(document.getElementById('detail').textContent),
      document.getElementById('detail').textContent);
  for (const canvas of canvases) check('canvas is drawn from close by', colours(canvas) > 20, colours(canvas) + ' colours');
  check('the picture changed', colours(canvases[1]) !== overview);
  const canvas = canvases[0], frame = canvas.getBoundingClientRect();
  const middle = { clientX: frame.left + frame.width / 2, clientY: frame.top + frame.height / 2, bubbles: true,
      cancelable: true, pointerId: 1 };
  const event = (type, Kind, more = {}) => canvas.dispatchEvent(new Kind(type, { ...middle, ...more }));
  event('pointermove', PointerEvent);
  await settle();
  const told = document.getElementById('readout').textContent;
  const values = told.match(/^pixel (\d+), (\d+) +([\d.]+) \u00c5 +measured ([-\d.]+) +model ([\d.]+) +residual ([+\u2212][\d.]+) +([+\u2212][\d.]+) \u03c3 +reflection/);
  check('the pixel under the pointer is told', !!values, told);
  if (values) {
    check('residual is measured minus model', Math.abs(+values[4] - +values[5] - +values[6].replace('\u2212', '-')) < 0.011,
        told);
    const d = +document.getElementById('detail').textContent.match(/([\d.]+) \u00c5/)[1];
    check('resolution agrees with that of the reflection', Math.abs(+values[3] / d - 1) < 0.007, values[3] + ' and ' + d);
    results.push('pixel ' + values.slice(1, 5).join(' '));
  }
  let last = scale();
  document.activeElement.blur();
  event('wheel', WheelEvent, { deltaY: -300 });
  await pause(120);
  check('the wheel scrolls the page until the image is clicked', scale() === last);
  canvas.focus();
  event('wheel', WheelEvent, { deltaY: -300 });
  await settle();
  check('the wheel zooms after that', scale() > 1.2 * last, last + ' to ' + scale());
  last = scale();
  key(canvas, '-');
  await settle();
  check('the minus key zooms out', scale() < last);
  key(canvas, '0');
  await settle();
  check('0 shows the whole image', Math.abs(scale() / overall - 1) < 1e-3);
  const row = document.querySelector('tr[data-box]');
  key(row, 'Enter');
  await settle();
  check('a row of the outliers leads to its shoebox', +views.dataset.selected === +row.dataset.box && scale() > 5 * overall);
} catch (error) {
  check('no exception', false, error.stack);
}
for (const text of window.reportErrors || ['FAILED errors were not watched']) results.push('FAILED ' + text);
const list = document.createElement('pre');
list.id = 'report-check';
list.textContent = '\n' + results.join('\n') + '\nend of checks\n';
document.body.append(list);
})();
