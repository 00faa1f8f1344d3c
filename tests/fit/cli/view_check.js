// Runs inside a page of dualbragg view, added to it by view.sh: uses it as a reader would, and leaves what it found in an
// element of the page.
(async () => {
const results = [];
const check = (name, good, found = '') => results.push((good ? 'ok ' : 'FAILED ') + name + (found === '' ? '' : ': ' + found));
const pause = ms => new Promise(done => setTimeout(done, ms));
const until = async what => { for (let i = 0; i < 200 && !what(); i++) await pause(50); return what(); };
const key = (element, name) =>
    element.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
try {
  check('page is ready', await until(() => document.documentElement.dataset.ready === 'yes'));
  const about = JSON.parse(document.getElementById('data-about').textContent);
  const views = document.getElementById('views'), canvas = views.querySelector('figure > canvas');
  const scale = () => +views.dataset.scale, drawn = () => +(views.dataset.drawn || 0);
  const settle = async () => { const before = drawn(); await until(() => drawn() > before); };
  await until(() => drawn() > 0);
  check('nothing is fetched', performance.getEntriesByType('resource').every(e => e.name.startsWith('data:')));
  check('nothing is wider than the page', document.documentElement.scrollWidth <= window.innerWidth + 1);
  check('controls have names', [...document.querySelectorAll('button, input, select')].every(e =>
      e.getAttribute('aria-label') || e.textContent || e.labels && e.labels.length));
  check('the name of the file is text', document.querySelector('h1').textContent === about.title);
  canvas.setPointerCapture = () => {};
  const pixels = () => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.slice();
  const differ = (a, b) => a.some((v, i) => v !== b[i]);
  // A point of the image: the strongest observed spot.
  const spot = about.observed.reduce((a, b) => b.counts > a.counts ? b : a);
  const over = (f, s) => {
    const r = canvas.getBoundingClientRect(), whole = scale() * r.width / canvas.width;
    canvas.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, cancelable: true, pointerId: 1,
      clientX: r.left + r.width / 2 + (f - about.frames.fast / 2) * whole,
      clientY: r.top + r.height / 2 + (s - about.frames.slow / 2) * whole }));
  };
  const readout = document.getElementById('readout');
  over(...spot.place);
  check('the readout tells pixel, resolution, counts and spot', new RegExp('^pixel ' + Math.floor(spot.place[0]) + ', ' +
      Math.floor(spot.place[1]) + '   [0-9.]+ \u00c5   [0-9]+ counts   observed spot of [0-9]+').test(readout.textContent),
      readout.textContent);
  check('and the reflection', /predicted -?\d+ -?\d+ -?\d+, [0-9.]+ \u00c5/.test(readout.textContent.replace(/\u2212/g, '-')),
      readout.textContent);
  results.push('pixel ' + readout.textContent);
  await settle();
  const whole = scale();
  key(canvas, '+');
  await settle();
  check('plus zooms', scale() > 1.4 * whole);
  key(canvas, '0');
  await settle();
  check('0 shows the whole image', Math.abs(scale() / whole - 1) < 1e-3);
  const box = text => [...document.querySelectorAll('label')].find(l => l.textContent.includes(text)).querySelector('input');
  for (const name of ['observed', 'predicted', 'logarithmic', 'resolution rings']) {
    const before = pixels();
    box(name).click();
    await settle();
    check(name + ' can be switched', differ(before, pixels()));
  }
  const before = pixels(), colours = document.querySelector('select');
  colours.value = 'heat';
  colours.dispatchEvent(new Event('change'));
  await settle();
  check('colours can be chosen', differ(before, pixels()));
} catch (error) {
  check('no exception', false, error.stack);
}
for (const text of window.reportErrors || ['FAILED errors were not watched']) results.push('FAILED ' + text);
const list = document.createElement('pre');
list.id = 'view-check';
list.textContent = '\n' + results.join('\n') + '\nend of checks\n';
document.body.append(list);
})();
