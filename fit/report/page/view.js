// dualbragg view: one measured image, with observed and predicted spots.
const about = read('data-about');

// The image at half the size: the largest trusted value. Without a trusted pixel, and for overloads, the kind of the pixel.
function halvedImage(from) {
  const f = Math.ceil(from.fast / 2), s = Math.ceil(from.slow / 2), n = f * s;
  const to = { fast: f, slow: s, value: new Float32Array(n), kind: new Uint8Array(n) };
  for (let o = 0; o < n; o++) {
    let most = NaN, kind = 0;
    for (let k = 0; k < 4; k++) {
      const x = 2 * (o % f) + (k & 1), y = 2 * Math.floor(o / f) + (k >> 1);
      if (x >= from.fast || y >= from.slow) continue;
      const i = y * from.fast + x, v = from.value[i];
      if (from.kind[i]) kind = Math.max(kind, from.kind[i]);
      else if (!(most >= v)) most = v === v ? v : most;
    }
    to.value[o] = most;
    to.kind[o] = most === most && kind !== 3 ? 0 : kind;
  }
  return to;
}

const kindText = ['', 'gap', 'bad', 'overloaded'];
const markColour = { observed: ['#0b72c4', '#66d0ff'], predicted: ['#d55e00', '#ffb03b'] };

async function imageOfView() {
  const [value, codes] = await Promise.all(['data-values', 'data-kinds'].map(unpack));
  const { fast, slow, bin, first } = about.frames, kind = Uint8Array.from(codes);
  const levels = [{ fast, slow, value, kind }];
  while (levels[levels.length - 1].fast > 200) levels.push(halvedImage(levels[levels.length - 1]));
  const here = (f, s) => [(f - first[0]) / bin, (s - first[1]) / bin];
  const spots = { observed: about.observed || [], predicted: about.predicted || [] };
  for (const list of Object.values(spots)) for (const spot of list) [spot.x, spot.y] = here(...spot.place);
  const [low, most] = about.ends;
  const chosen = { low, high: most, colours: about.colours, log: about.logarithmic,
    observed: spots.observed.length > 0, predicted: spots.predicted.length > 0 };
  const scaled = v => chosen.log ? Math.log1p(Math.max(0, v - chosen.low)) : v;

  function index(level, i) {
    const code = level.kind[i], v = level.value[i];
    if (code) return 255 + code;
    return chosen.log ? colourIndex(scaled(v), 0, scaled(chosen.high)) : colourIndex(v, chosen.low, chosen.high);
  }
  const view = { kind: 'image', title: about.title, unit: 'counts', index, value: (level, i) => level.kind[i] ? NaN :
      level.value[i], ends: () => [chosen.low, chosen.high], colours: () => chosen.colours };

  function marks(c) {
    const { context, canvas } = c, { place, shown } = viewer, dpr = viewer.ratio(), bright = +viewer.isBright(c);
    context.lineWidth = 1.4 * dpr;
    for (const [name, list] of Object.entries(spots)) {
      if (!chosen[name]) continue;
      context.strokeStyle = context.fillStyle = markColour[name][bright];
      const size = Math.max(4.5 * dpr, 3.5 * shown.scale / bin);
      for (const spot of list) {
        const [x, y] = place(c, spot.x, spot.y);
        if (x < -size || y < -size || x > canvas.width + size || y > canvas.height + size) continue;
        context.beginPath();
        if (name === 'observed') context.arc(x, y, size, 0, 7);
        else context.rect(x - size, y - size, 2 * size, 2 * size);
        context.stroke();
        if (spot.hkl && shown.scale > 6 * dpr) context.fillText(spot.hkl.join(' '), x + size + 2 * dpr, y - size);
      }
    }
  }
  const nearest = (list, f, s) => {
    const reach = Math.max(4 / bin, 7 * viewer.ratio() / viewer.shown.scale);
    let found = null, least = reach;
    for (const spot of list) {
      const away = Math.hypot(spot.x - f, spot.y - s);
      if (away < least) { least = away; found = spot; }
    }
    return found;
  };
  function tell(f, s) {
    const i = s * fast + f, code = kind[i], v = value[i];
    const o = chosen.observed && nearest(spots.observed, f + 0.5, s + 0.5),
        p = chosen.predicted && nearest(spots.predicted, f + 0.5, s + 0.5);
    return viewer.pixelText(f, s) + '   ' + (v === v ? digits(v, 7) + ' counts' : 'no value') +
        (code ? '   ' + kindText[code] : '') + (o ? '   observed spot of ' + digits(o.counts, 5) + ' counts' : '') +
        (p ? '   predicted ' + p.hkl.join(' ') + ', ' + decimals(p.d, 2) + ' \u00c5' : '');
  }
  const box = (name, text) => spots[name].length ?
      checkbox(`${text} (${spots[name].length})`, true, is => { chosen[name] = is; viewer.redraw(); }) : null;
  const save = rows => saveTable('spots', rows);
  const viewer = zoomViewer(about, levels, [view], { marks, tell, click: () => {}, buttons: redraw => [
    factorSlider('counts to', factor => { chosen.high = low + (most - low) * factor; redraw(); }),
    choice('colours', ['grey', 'inverted', 'heat'].sort(a => a === about.colours ? -1 : 0).map(c => [c, c]),
      name => { chosen.colours = name; redraw(); }),
    checkbox('logarithmic', chosen.log, is => { chosen.log = is; redraw(); }),
    box('observed', 'observed spots'), box('predicted', 'predicted spots'),
    spots.observed.length + spots.predicted.length ? button('CSV', 'save the lists of spots', () => save([
      ['list', 'panel', 'fast', 'slow', 'counts', 'h', 'k', 'l', 'd'],
      ...spots.observed.map(o => ['observed', o.panel, ...o.at, o.counts, '', '', '', '']),
      ...spots.predicted.map(p => ['predicted', p.panel, ...p.at, '', ...p.hkl, p.d])])) : null] });
  return viewer;
}

async function page() {
  document.title = about.title + ' \u2013 dualbragg view';
  document.querySelector('nav').remove();
  document.getElementById('head').replaceChildren(
    make('div', { class: 'title' }, make('h1', {}, about.title), make('div', { class: 'tools' }, theme(),
      button('print', 'print the page', () => print()))),
    make('p', {}, about.facts.join(' \u00b7 '), ' \u00b7 dualbragg ' + about.version));
  const main = document.getElementById('main');
  if (!supportsPacked || !document.getElementById('data-values')) {
    main.append(note(supportsPacked ? 'This build of dualbragg has no zlib, so the page has no image.' :
      'This browser cannot unpack images; a newer browser can.'));
  } else {
    const viewer = await imageOfView();
    const key = Object.entries(notTrusted).map(([name, rgb]) => make('span', { class: 'entry' },
      draw('svg', { class: 'key', viewBox: '0 0 22 12', 'aria-hidden': 'true' },
        draw('rect', { x: 4, y: 0, width: 12, height: 12, fill: cssColour(rgb) })),
      { gap: 'gap or no value', bad: 'bad', overload: 'overloaded' }[name]));
    main.append(make('section', { id: 'images' }, viewer.element, note(zoomNote,
      'In a smaller image a screen pixel shows the maximum of its pixels. ',
      about.frames.bin > 1 ? `A pixel shows ${about.frames.bin} \u00d7 ${about.frames.bin} pixels of the detector. ` : '',
      'Circles: observed spots; squares: predicted spots. Untrusted pixels: ', key)));
    if (about.notes.length) main.append(make('section', { class: 'warnings' }, make('h2', {}, 'Not known'),
      make('ul', {}, about.notes.map(text => make('li', {}, text)))));
    viewer.resized();
  }
  document.documentElement.dataset.ready = 'yes';
}
page();
