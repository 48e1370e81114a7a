/* The charts of a report whose results are of several kinds, as those of docs/results: none is empty, and no legend names
 * what its chart does not show.
 *     node charts.mjs PLAYWRIGHT_FOLDER CHROMIUM REPORT.html */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';

const [folder, executablePath, file] = process.argv.slice(2);
const { chromium } = createRequire(path.resolve(folder, 'x.js'))('playwright-core');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  await page.goto(`file://${path.resolve(file)}`, { waitUntil: 'load' });
  const names = await page.$$eval('.chart:not([hidden])', (all) => all.map((f) => f.dataset.chart));
  assert.ok(names.includes('coverage-speed') && names.includes('floors'), names.join(' '));
  for (const name of names) {
    const chart = page.locator(`.chart[data-chart="${name}"]`);
    await chart.scrollIntoViewIfNeeded();
    await page.waitForSelector(`.chart[data-chart="${name}"] .plot[data-drawn="yes"] svg`);
    assert.ok(await chart.locator('svg .role-mark path, svg .role-mark line, svg .role-mark rect').count() > 0, `${name} shows nothing`);
  }
  if (names.includes('failures'))
    assert.doesNotMatch(await page.locator('.chart[data-chart="failures"] svg .role-legend').textContent(), /not_measured/);
  console.log(`ok: ${names.join(' ')}`);
} finally {
  await browser.close();
}
