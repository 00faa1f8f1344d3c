// Runs inside the report, added to it by report_browser.sh: uses the viewer as a reader would, and leaves what it found
// in an element of the page.
(async () => {
const results = [];
const check = (name, good, found = '') => results.push((good ? 'ok ' : 'FAILED ') + name + (found === '' ? '' : ': ' + found));
const pause = ms => new Promise(done => setTimeout(done, ms));
const until = async what => { for (let i = 0; i < 200 && !what(); i++) await pause(50); return what(); };
try {
  check('viewer is ready', await until(() => document.documentElement.dataset.ready === 'yes'));
  const views = document.getElementById('views'), canvases = [...views.querySelectorAll('canvas')];
  const scale = () => +views.dataset.scale, drawn = () => +(views.dataset.drawn || 0);
  const settle = async () => { const before = drawn(); await until(() => drawn() > before); };
  await until(() => drawn() > 0);
  check('four canvases', canvases.length === 4, canvases.length);
  const colours = canvas => {
    const data = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return new Set(data).size;
  };
  for (const canvas of canvases) check('canvas is drawn', colours(canvas) > 40, colours(canvas) + ' colours');
  const pictures = [...document.images];
  await Promise.all(pictures.map(i => i.decode().catch(() => {})));
  check('pictures are loaded', pictures.length > 20 && pictures.every(i => i.complete && i.naturalWidth > 0), pictures.length);
  check('nothing is fetched', performance.getEntriesByType('resource').every(e => e.name.startsWith('data:')));
  check('nothing is wider than the page', document.documentElement.scrollWidth <= window.innerWidth + 1, document.documentElement.scrollWidth);
  const labelled = [...document.querySelectorAll('svg[role=img], canvas')];
  check('images have labels', labelled.length > 8 && labelled.every(e => e.getAttribute('aria-label')));
  check('controls have names', [...document.querySelectorAll('button, input')].every(e => e.getAttribute('aria-label') || e.labels && e.labels.length));

  const whole = scale(), overview = colours(canvases[1]);
  document.querySelector('.gallery [data-box]').click();
  await settle();
  check('a click in the gallery zooms to the shoebox', scale() > 5 * whole, whole + ' to ' + scale());
  check('and selects it', +views.dataset.selected === +document.querySelector('.gallery [data-box]').dataset.box);
  check('and tells about it', /^Reflection .* sigma Z \d/.test(document.getElementById('detail').textContent), document.getElementById('detail').textContent);
  for (const canvas of canvases) check('canvas is drawn from close by', colours(canvas) > 20, colours(canvas) + ' colours');
  check('the picture changed', colours(canvases[1]) !== overview);

  const canvas = canvases[0], box = canvas.getBoundingClientRect();
  const middle = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true, cancelable: true, pointerId: 1 };
  const event = (type, Kind, more = {}) => canvas.dispatchEvent(new Kind(type, { ...middle, ...more }));
  event('pointermove', PointerEvent);
  await settle();
  const told = document.getElementById('readout').textContent;
  const values = told.match(/^pixel (\d+), (\d+) +([\d.]+) \u00c5 +measured ([-\d.]+) +model ([\d.]+) +residual ([+\u2212][\d.]+) +([+\u2212][\d.]+) \u03c3 +reflection/);
  check('the pixel under the pointer is told', !!values, told);
  if (values) {
    check('residual is measured minus model', Math.abs(+values[4] - +values[5] - +values[6].replace('\u2212', '-')) < 0.011, told);
    const d = +document.getElementById('detail').textContent.match(/([\d.]+) \u00c5/)[1];
    check('resolution agrees with that of the reflection', Math.abs(+values[3] / d - 1) < 0.007, values[3] + ' and ' + d);
    results.push('pixel ' + values.slice(1, 5).join(' '));
  }
  let before = scale();
  document.activeElement.blur();
  event('wheel', WheelEvent, { deltaY: -300 });
  await pause(120);
  check('the wheel scrolls the page until the image is clicked', scale() === before);
  canvas.focus();
  event('wheel', WheelEvent, { deltaY: -300 });
  await settle();
  check('the wheel zooms after that', scale() > 1.2 * before, before + ' to ' + scale());
  before = scale();
  canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '-', bubbles: true, cancelable: true }));
  await settle();
  check('the minus key zooms out', scale() < before);
  canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '0', bubbles: true, cancelable: true }));
  await settle();
  check('0 shows the whole image', Math.abs(scale() / whole - 1) < 1e-3);
  const row = document.querySelector('tr[data-box]');
  row.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
  await settle();
  check('a row of the outliers leads to its shoebox', +views.dataset.selected === +row.dataset.box && scale() > 5 * whole);
  if (/keep-whole/.test(document.documentElement.className)) document.querySelector('.tools button:nth-child(3)').click();
} catch (error) {
  check('no exception', false, error.stack);
}
for (const text of window.reportErrors || ['FAILED errors were not watched']) results.push('FAILED ' + text);
const list = document.createElement('pre');
list.id = 'report-check';
list.textContent = '\n' + results.join('\n') + '\nend of checks\n';
document.body.append(list);
})();
