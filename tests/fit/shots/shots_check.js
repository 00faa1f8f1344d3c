// Runs inside the report of many shots, added to it by many_shots.sh, and leaves what it found in its place.
(async () => {
const results = [];
const check = (name, good, found) => results.push((good ? 'ok ' : 'FAILED ') + name + ': ' + found);
const all = selector => [...document.querySelectorAll(selector)], count = selector => all(selector).length;
for (let i = 0; i < 100 && document.documentElement.dataset.ready !== 'yes'; i++) await new Promise(done => setTimeout(done,
    50));
const charts = all('svg[role=img]'), wide = document.documentElement.scrollWidth;
check('a row for each shot in use', count('#shots tbody tr') === 9, count('#shots tbody tr'));
check('a row for each excluded', count('#excluded tbody tr') === 2, count('#excluded tbody tr'));
check('a row for each shared parameter', count('#parameters tbody tr') === 3, count('#parameters tbody tr'));
check('nothing is wider than the page', wide <= innerWidth, wide);
check('charts have labels', charts.length > 10 && charts.every(e => e.getAttribute('aria-label')), charts.length);
check('spreads have bars', count('#spreads .bar') > 20, count('#spreads .bar'));
check('a dot for each shot that is compared', count('#compare .dot') === 9, count('#compare .dot'));
const dead = all('nav a').filter(a => !document.querySelector(a.hash)).map(a => a.hash);
check('links lead somewhere', dead.length === 0, dead);
check('nothing is fetched', performance.getEntriesByType('resource').length === 0,
    performance.getEntriesByType('resource').length);
check('no text is a number that is none',
    !/(?<![A-Za-z])NaN(?![A-Za-z])|Infinity|undefined|\[object/.test(document.getElementById('main').textContent), '');
document.body.innerHTML = '<pre id="checks">' + results.join('\n') + '\nend</pre>';
})();
