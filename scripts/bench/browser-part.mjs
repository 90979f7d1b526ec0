/** Second part: what a person sees, in a headless Chromium on the same machine. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { chromium } from '@playwright/test';
import { findChromium } from '../chromium.mjs';
import { callApi } from '../product-api.mjs';
import { installProbe } from './browser-probe.mjs';
import { browserVerdicts } from './goals.mjs';
import { administrator, startProduct } from './product.mjs';
import { circumstances, publish, tableOf } from './report.mjs';
import { slideNames } from './slides.mjs';
import { median, quantile } from './statistics.mjs';
import { untilTilesAreMade } from './tiles-made.mjs';

const laptop = { width: 1280, height: 800 };
const wide = { width: 3840, height: 2160 };
/** A wide screen on a busy machine without a graphics card takes its time; it ends all the same. */
const patienceMs = 180_000;
/** Presses of an arrow key that bring the next field into view. */
const pressesPerField = 6;

export async function browserPart(ground, { isQuick }) {
  const tries = isQuick ? 3 : 30;
  const product = await startProduct(ground);
  // Afterwards nothing but the browser takes of the processors.
  await untilTilesAreMade([join(ground.cache, 'data')]);
  const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] });
  try {
    const visit = await visitorOf(browser, product);
    const openings = [];
    for (let i = 0; i < tries; i += 1) openings.push(await timeOpening(visit));
    const steps = await timeSteps(visit, product, tries);
    const frames = [];
    for (const [name, viewport] of [
      ['1280 × 800', laptop],
      ['3840 × 2160', wide],
    ]) {
      frames.push({ name, ...(await countFramesOfPan(visit, product, viewport, isQuick ? 1 : 3)) });
    }
    report({ version: browser.version(), tries, openings, steps, frames }, isQuick);
  } finally {
    await browser.close();
    await product.stop();
  }
}

/** @returns opens the viewer in a browser that has kept nothing, signed in, with the probe in the page */
async function visitorOf(browser, { address }) {
  const { token } = await callApi(address, 'POST', '/auth/login', { body: administrator });
  const { user } = await callApi(address, 'POST', '/auth/verify', { body: { token } });
  const localStorage = [
    { name: 'auth_token', value: token },
    { name: 'user_data', value: JSON.stringify(user) },
  ];
  return async (path, viewport, use) => {
    const storageState = { cookies: [], origins: [{ origin: address, localStorage }] };
    const context = await browser.newContext({ viewport, storageState });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(patienceMs);
      await page.addInitScript(installProbe);
      await page.goto(address + path);
      return await use(page);
    } finally {
      await context.close();
    }
  };
}

/** From the click on a slide in the catalogue. */
function timeOpening(visit) {
  return visit('/wsi-viewer', laptop, async (page) => {
    const row = page.getByRole('button', { name: slideNames.scan });
    await row.waitFor();
    await page.waitForLoadState('networkidle');
    const asked = [];
    page.on('request', (request) => {
      if (request.url().includes('/api/')) asked.push(request.url());
    });
    const seen = page.evaluate(() => window.bench.watch('click'));
    await row.click();
    const times = await seen;
    return { ...times, requests: asked.length, twice: asked.length - new Set(asked).size };
  });
}

/** At full resolution to the field on the right, and over the same way once more, when nothing has to be loaded. */
function timeSteps(visit, product, tries) {
  return visit(fieldAddress(product, 2000, 15_000), laptop, async (page) => {
    await untilStill(page);
    const steps = [];
    for (let i = 0; i < tries; i += 1) {
      const fresh = await timeStep(page, 'ArrowRight');
      await timeStep(page, 'ArrowLeft');
      const known = await timeStep(page, 'ArrowRight');
      steps.push({ fresh, known });
    }
    return steps;
  });
}

async function timeStep(page, key) {
  const seen = page.evaluate(() => window.bench.watch('keydown'));
  for (let i = 0; i < pressesPerField; i += 1) await page.keyboard.press(key);
  return (await seen).sharp;
}

/** Dragging to and fro by the mouse, at full resolution. */
function countFramesOfPan(visit, product, viewport, seconds) {
  return visit(fieldAddress(product, 20_000, 15_000), viewport, async (page) => {
    await untilStill(page);
    const centre = { x: viewport.width * 0.6, y: viewport.height / 2 };
    const counting = await page.evaluateHandle(() => window.bench.countFrames());
    await page.mouse.move(centre.x, centre.y);
    await page.mouse.down();
    const began = performance.now();
    while (performance.now() < began + seconds * 1000) {
      const turn = (performance.now() - began) / 500;
      await page.mouse.move(centre.x + Math.sin(turn) * 300, centre.y + (1 - Math.cos(turn)) * 150);
      await setTimeout(8);
    }
    const gaps = await counting.evaluate((stop) => stop());
    await page.mouse.up();
    return { perSecond: 1000 / median(gaps), p95: quantile(gaps, 0.95), worst: quantile(gaps, 1) };
  });
}

function fieldAddress({ images }, x, y) {
  const { id } = images.find(({ file_name }) => file_name === slideNames.scan);
  return `/wsi-viewer?${new URLSearchParams({ image: id, x, y, zoom: 1 })}`;
}

async function untilStill(page) {
  await page.locator('.openseadragon-canvas').first().waitFor();
  await page.getByText('Loading tiles...').waitFor({ state: 'hidden' });
  await page.waitForLoadState('networkidle');
}

function report({ version, tries, openings, steps, frames }, isQuick) {
  const spread = (numbers) => ({ p50: quantile(numbers, 0.5), p95: quantile(numbers, 0.95) });
  const movement = median(steps.map(({ known }) => known));
  const measured = {
    first: spread(openings.map(({ first }) => first)),
    sharp: spread(openings.map(({ sharp }) => sharp)),
    adjacent: spread(steps.map(({ fresh }) => Math.max(0, fresh - movement))),
    movement: spread(steps.map(({ known }) => known)),
  };
  const row = (what, { p50, p95 }) => ({ what, 'p50 ms': p50.toFixed(0), 'p95 ms': p95.toFixed(0) });
  publish(
    'browser',
    [
      circumstances({ Chromium: version }),
      '',
      `${tries} tries each; browser and server share all processors. Sharp is the last change of any pixel, fading-in included. The adjacent field counts from the end of the movement itself, which is what the same movement takes where nothing has to be loaded.`,
      `A first view asks for ${median(openings.map(({ requests }) => requests))} things after the click, ${Math.max(...openings.map(({ twice }) => twice))} of them twice.`,
      '',
      tableOf(browserVerdicts(measured)),
      '',
      tableOf([
        row('click to first pixels', measured.first),
        row('click to sharp', measured.sharp),
        row('adjacent field sharp', measured.adjacent),
        row('the movement to it', measured.movement),
      ]),
      '',
      tableOf(
        frames.map(({ name, perSecond, p95, worst }) => ({
          panning: name,
          'frames/s (median)': perSecond.toFixed(0),
          'p95 frame ms': p95.toFixed(0),
          'longest frame ms': worst.toFixed(0),
        })),
      ),
    ].join('\n'),
    { isKept: !isQuick },
  );
}
