/* An HTML report in a browser without a screen: it opens in time, asks for nothing, complains of nothing, and sorting,
 * filtering, opening a submission and drawing work.
 *     node report.mjs PLAYWRIGHT_FOLDER CHROMIUM REPORT.html [--no-charts] [--no-strategies] [--screenshots FOLDER]
 *         [--limit-ms N] */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';

const [folder, executablePath, file, ...rest] = process.argv.slice(2);
const option = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : undefined);
const charts = !rest.includes('--no-charts');
const strategies = !rest.includes('--no-strategies');
const shots = option('--screenshots');
const { chromium } = createRequire(path.resolve(folder, 'x.js'))('playwright-core');

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const url = `file://${path.resolve(file)}`;
const complaints = [];
const requests = [];

async function openPage(options) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 }, ...options });
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) complaints.push(m.text()); });
  page.on('pageerror', (e) => complaints.push(String(e)));
  page.on('request', (r) => { if (r.url() !== url && !r.url().startsWith('data:')) requests.push(r.url()); });
  page.on('dialog', (d) => { complaints.push(`dialog ${d.message()}`); d.dismiss(); });
  await page.goto(url, { waitUntil: 'load' });
  return page;
}

const column = (page, table, name) => page.$$eval(`${table} tbody tr:not([hidden])`, (rows, n) => {
  const at = Array.from(rows[0].closest('table').tHead.rows[0].cells).findIndex((th) => th.dataset.name === n);
  return rows.map((r) => (r.cells[at].dataset.v === undefined ? r.cells[at].textContent : Number(r.cells[at].dataset.v)));
}, name);

try {
  const page = await openPage();
  assert.equal(await page.getAttribute('html', 'data-ready'), 'yes', 'the script ran to its end');
  const { domInteractive, loadEventEnd: opened } =
    await page.evaluate(() => performance.getEntriesByType('navigation')[0].toJSON());
  console.log(`opened in ${opened.toFixed(0)} ms (parsed in ${domInteractive.toFixed(0)})`);
  assert.ok(opened < Number(option('--limit-ms') || 2000), `opens in ${opened} ms`);

  /* sort: by pointer, by keyboard, both ways */
  const board = '#t0 table';
  const sorted = (values, sign) => assert.deepEqual(values, values.slice().sort((a, b) => sign * (a - b)));
  await page.click(`${board} th[data-name="fast_2"] button`);
  let values = await column(page, board, 'fast_2');
  assert.ok(new Set(values).size > 1, 'there is something to sort');
  sorted(values, -1);
  await page.focus(`${board} th[data-name="fast_2"] button`);
  await page.keyboard.press('Enter');
  values = await column(page, board, 'fast_2');
  sorted(values, 1);
  assert.equal(await page.getAttribute(`${board} th[data-name="fast_2"]`, 'aria-sort'), 'ascending');

  /* filter */
  const all = (await column(page, board, 'entrant')).length;
  await page.fill('#t0 .filter input', 'TUNED');
  assert.deepEqual(await column(page, board, 'entrant'), ['tuned']);
  await page.fill('#t0 .filter input', '');
  assert.equal((await column(page, board, 'entrant')).length, all);

  /* a submission, from the cell of the matrix */
  const cell = page.locator('table[data-table="matrix"] tbody tr').nth(1).locator('td[data-v]').first();
  const task = await page.locator('table[data-table="matrix"] tbody tr').nth(1).locator('th').textContent();
  const speedup = (await cell.textContent()).split(' ')[0];
  await cell.click();
  const open = page.locator('.submission[open]');
  assert.equal(await open.count(), 1);
  assert.equal(await open.getAttribute('data-task'), task);
  const opened_ = await open.getAttribute('data-entrant');
  await page.waitForSelector('.submission[open] code .kw');
  assert.match(await open.locator('code').first().textContent(), /solution_compute/);
  const facts = await open.locator('.facts').allTextContents();
  assert.ok(facts.some((f) => f.includes(`speedup${speedup} over the single-thread`) && / ms, the median of /.test(f)), facts.join('; '));
  if (charts)
    await page.waitForSelector('.submission[open] .plot[data-drawn="yes"] svg');
  if (shots) await page.screenshot({ path: `${shots}/submission.png` });

  /* its waterfall: the bars follow one another and end with the call */
  const bars = await open.locator('.waterfall').first().locator('.bar i').evaluateAll((all_) => all_.map((i) => {
    const cell = i.parentElement.getBoundingClientRect(), bar = i.getBoundingClientRect();
    return [(bar.left - cell.left) / cell.width, (bar.right - cell.left) / cell.width];
  }));
  assert.ok(bars.length > 1);
  const close = (a, b) => assert.ok(Math.abs(a - b) < 0.02, `${a} and ${b}`);
  bars.forEach(([left], i) => close(left, i ? bars[i - 1][1] : 0));
  close(bars.at(-1)[1], 1);

  /* its strategies: the same text, marked, and coloured although marks divide it */
  const source = await open.locator('.source code').textContent();
  if (strategies) {
    const ids = (await open.getAttribute('data-strategies')).split(' ');
    assert.ok(ids[0]);
    assert.deepEqual((await open.locator('.strategies dt').allTextContents()).map((t) => t.split(' ')[0]), ids);
    const marked = await open.locator('.found').evaluateAll((all_) => all_.flatMap((f) => f.dataset.ids.split(' ')));
    assert.ok(marked.length > 0 && marked.every((id) => ids.includes(id)), `${marked} of ${ids}`);
    assert.ok(await open.locator('.found .kw').count() > 0);
  } else {
    assert.equal(await open.locator('.found').count(), 0);
  }

  /* submissions filter */
  await page.locator('#submissions .filter input').fill(`tuned ${task}`);
  assert.equal(await page.locator('.submission:not([hidden])').count(), 1);
  await page.locator('#submissions .filter input').fill('');

  /* charts */
  if (charts) {
    for (const name of await page.$$eval('.chart:not([hidden])', (all_) => all_.map((f) => f.dataset.chart))) {
      await page.locator(`.chart[data-chart="${name}"]`).scrollIntoViewIfNeeded();
      await page.waitForSelector(`.chart[data-chart="${name}"] .plot[data-drawn="yes"] svg`);
      if (shots) await page.locator(`.chart[data-chart="${name}"]`).screenshot({ path: `${shots}/chart-${name}.png` });
    }
    const marks = await page.locator('.chart[data-chart="coverage-speed"] svg .mark-symbol path').count();
    assert.ok(marks >= all, `${marks} points for ${all} entrants`);
    if (await page.locator('.chart[data-chart="scale"]:not([hidden]) select').count()) {
      await page.selectOption('.chart[data-chart="scale"] select', task);
      await page.waitForFunction((t) => document.querySelector('.chart[data-chart="scale"] svg').textContent.includes(t), task);
    }
    for (const name of ['coverage-speed', 'scale', 'tuned', 'floors'])
      assert.match(await page.locator(`.chart[data-chart="${name}"] svg .role-legend`).first().textContent(), /naive/, 'who is who');
    const drawnOf = (name, want) => page.waitForFunction(([n, w]) => {
      const svg = document.querySelector(`.chart[data-chart="${n}"] svg`);
      return svg && svg.textContent.includes(w);
    }, [name, want]);
    await page.selectOption('.chart[data-chart="phases"] select', task);
    await drawnOf('phases', `a profiled call of ${task}`);
    if (strategies) {
      assert.ok(await page.locator('.chart[data-chart="strategies"] svg .mark-rect path').count() > 50);
      await page.selectOption('.chart[data-chart="strategies"] select', '= tuned');
      await drawnOf('strategies', task);
      if (shots) await page.locator('.chart[data-chart="strategies"]').screenshot({ path: `${shots}/chart-strategies-tuned.png` });
      const lifts = await page.$$eval('table[data-table="lift"]', (all_) => Array.from(all_[0].tBodies[0].rows)
        .map((r) => ({ says: r.cells[5].textContent, lift: r.cells[4].dataset.v })));
      assert.ok(lifts.some((l) => l.says.startsWith('too few pairs')) && lifts.some((l) => l.says.startsWith('goes with')));
      assert.equal(await page.locator('.chart[data-chart="lift"] svg .mark-symbol.role-mark path').count(),
        lifts.filter((l) => l.lift !== undefined).length, 'a point for each lift');
      await drawnOf('lift', 'too few pairs: ');
      await drawnOf('lift', 'right programs of');
    } else {
      assert.equal(await page.locator('.chart[data-chart="strategies"]:not([hidden])').count(), 0);
    }
  } else {
    assert.equal(await page.locator('#no-charts').count(), 1, 'says that there are no charts');
    assert.equal(await page.locator('.chart').count(), 0);
  }
  if (shots) {
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: `${shots}/top.png` });
    await page.locator('table[data-table="matrix"]').first().screenshot({ path: `${shots}/matrix.png` });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.screenshot({ path: `${shots}/dark.png` });
    await page.emulateMedia({ colorScheme: 'light', media: 'print' });
    await page.pdf({ path: `${shots}/print.pdf` });
  }
  assert.equal(await page.evaluate(() => window.hacked), undefined, 'no text of a submission ran');
  await page.close();

  /* Without script the tables and the sources are there all the same. */
  const plain = await openPage({ javaScriptEnabled: false });
  for (const id of ['leaderboard', 'matrix', 'phases'].concat(strategies ? ['strategies', 'strategies_tasks', 'lift'] : []))
    assert.ok(await plain.locator(`table[data-table="${id}"] tbody tr`).count() > 0, id);
  const first = plain.locator('.submission').filter({ has: plain.locator('.waterfall') }).first();
  await first.locator('summary').first().focus();
  await plain.keyboard.press('Enter');
  assert.ok(await first.locator('pre code').isVisible());
  assert.ok(await first.locator('.waterfall tbody th').first().isVisible());
  assert.equal(await plain.locator(`.submission[data-task="${task}"][data-entrant="${opened_}"] .source code`).textContent(),
    source, 'what the script does to a source leaves its text alone');
  await plain.close();

  /* Two samples of every program take as much of a call as one. */
  if (charts) {
    const [before, table, after] = readFileSync(file, 'utf8').split(/(<table class="data" data-table="phases"[^]*?<\/table>)/);
    const twice = path.resolve(`${file}.twice.html`);
    writeFileSync(twice, before + table.replace(/<tbody>([^]*)<\/tbody>/, '<tbody>$1$1</tbody>') + after);
    const samples = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
    await samples.goto(`file://${twice}`, { waitUntil: 'load' });
    await samples.locator('.chart[data-chart="phases"]').scrollIntoViewIfNeeded();
    await samples.waitForSelector('.chart[data-chart="phases"] .plot[data-drawn="yes"] svg');
    const sums = await samples.$$eval('.chart[data-chart="phases"] svg .mark-rect.role-mark path', (bars_) => {
      const sums_ = new Map(); /* by the chart's part of one size, and the entrant */
      for (const bar of bars_) {
        const said = Object.fromEntries(bar.getAttribute('aria-label').split('; ').map((part) => part.split(': ')));
        const part = bar.closest('.mark-rect').parentElement.parentElement.getAttribute('transform');
        const key = `${part} ${said.entrant}`;
        sums_.set(key, (sums_.get(key) || 0) + Number.parseFloat(said.share));
      }
      return Array.from(sums_);
    });
    assert.ok(sums.length > 10);
    for (const [key, sum] of sums) assert.ok(Math.abs(sum - 100) < 1, `${key}: ${sum} % of a call`);
    await samples.close();
  }

  assert.deepEqual(complaints, []);
  assert.deepEqual(requests, []);

  /* Should text ever get past the escaping, the policy stops it: what an empty page may do, the report may not. */
  let hits = 0;
  const server = createServer((_, response) => { hits++; response.end(); }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const misbehave = async (page_) => {
    hits = 0;
    await page_.evaluate((port) => {
      const script = document.createElement('script');
      script.textContent = 'window.hacked = 1';
      document.body.append(script);
      const image = document.createElement('img');
      image.src = `http://127.0.0.1:${port}/x.png`;
      document.body.append(image);
    }, server.address().port);
    await page_.waitForTimeout(300);
    return { hacked: await page_.evaluate(() => window.hacked), hits };
  };
  const empty = await browser.newPage();
  assert.deepEqual(await misbehave(empty), { hacked: 1, hits: 1 });
  await empty.close();
  assert.deepEqual(await misbehave(await openPage()), { hacked: undefined, hits: 0 });
  server.close();
  console.log('ok');
} finally {
  await browser.close();
}
