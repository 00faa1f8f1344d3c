// Runs inside the report of many shots, added to it by many_shots.sh, and leaves what it found in its place.
const results = [];
const check = (name, good, found) => results.push((good ? 'ok ' : 'FAILED ') + name + ': ' + found);
const count = selector => document.querySelectorAll(selector).length;
const charts = [...document.querySelectorAll('svg[role=img]')], wide = document.documentElement.scrollWidth;
check('a row for each shot in use', count('#shots tbody tr') === 9, count('#shots tbody tr'));
check('a row for each set aside', count('#aside tbody tr') === 2, count('#aside tbody tr'));
check('nothing is wider than the page', wide <= innerWidth, wide);
check('charts have labels', charts.length > 10 && charts.every(e => e.getAttribute('aria-label')), charts.length);
check('spreads have bars', count('#spreads rect[fill]') > 20, count('#spreads rect[fill]'));
const dead = [...document.querySelectorAll('nav a')].filter(a => !document.querySelector(a.hash)).map(a => a.hash);
check('links lead somewhere', dead.length === 0, dead);
check('nothing is fetched', performance.getEntriesByType('resource').length === 0, performance.getEntriesByType('resource').length);
document.body.innerHTML = '<pre id="checks">' + results.join('\n') + '\nend</pre>';
