/**
 * `npm run bench -- sharing`: measures with three server processes how soon a visitor of a share link on a phone sees a sharp slide, how
 * soon 100 followers receive the field of view of a presenter, and how long tiles are sent after a link is revoked. Also measures how
 * accurately two slides are registered (aligned by pairs of points), and how guesses of link secrets from one network affect others.
 *
 * Each follower and visitor except the phone sends its own client address in X-Forwarded-For, as a trusted reverse proxy would.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { Agent, get as startGet } from 'node:http';
import os from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { callApi } from '../../services/api-client.ts';
import { type BenchOptions, createEnvironment } from '../environment.ts';
import { request } from '../fairness/request.ts';
import { median, quantile } from '../load/statistics.ts';
import { type RunningProduct, startProduct, tilePathOf } from '../product.ts';
import { describeMachine, markdownTable, publish } from '../report.ts';
import { slideNames } from '../slides/slides.ts';
import { measureOpeningsOnPhone, type PhoneLimits } from './opening.ts';

type Row = Readonly<Record<string, string | number>>;

const dataset = 'Lesson';
const followerCount = 100;
/** Pause between two fields of view that the presenter sends. */
const eventIntervalMs = 100;
/** Connections over which one network guesses secrets. */
const guessConnections = 40;
/** A mid-range phone on a mobile network. */
const slowPhone: PhoneLimits = { cpuSlowdown: 4, megabits: 10, latencyMs: 40 };
/** A revoked link counts as blocked after this time without a tile. */
const noTileMs = 3000;

/** The numbers of measured openings of a link, fields of view, revocations, registrations and guesses. */
const quickWorkload = { openings: 3, fields: 10, revocations: 1, registrations: 10, guesses: 2000 };
const fullWorkload = { openings: 40, fields: 100, revocations: 5, registrations: 1000, guesses: 100_000 };

export async function sharingPart({ isQuick }: BenchOptions): Promise<void> {
  const workload = isQuick ? quickWorkload : fullWorkload;
  const environment = await createEnvironment();
  const cache = join(environment.cache, 'sharing');
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  // All clients connect from one address, so its connection limit is raised.
  const product = await startProduct(
    { ...environment, cache },
    { TRUSTED_PROXIES: '127.0.0.1', CONNECTIONS_PER_ADDRESS: '10000', WORKERS: '3' },
  );
  try {
    const lesson = await makeLesson(product);
    const rows: Row[] = [];
    for (const measure of [
      () => measureOpening(product, lesson, workload.openings, null), // null: without the limits of a phone
      () => measureOpening(product, lesson, workload.openings, slowPhone),
      () => measureFollowers(product, lesson, workload.fields),
      () => measureRevocation(product, lesson, workload.revocations),
      () => measureRegistration(product, workload.registrations),
      () => measureGuesses(product, lesson, workload.guesses),
    ]) {
      const row = { ...(await measure()), 'load of the machine': (os.loadavg()[0] ?? 0).toFixed(1) };
      console.log(JSON.stringify(row));
      rows.push(row);
    }
    publish('sharing', [describeMachine(), '', markdownTable(rows)], { isQuick });
  } finally {
    await product.stop();
  }
}

/** The collection whose share links are measured, and its only slide. */
interface Lesson {
  readonly imageId: string;
  readonly collectionId: string;
}

/** Creates a collection (a list of slides and views that can be shared) of one slide in a dataset that allows sharing. */
async function makeLesson({ url, token, imageIdOf }: RunningProduct): Promise<Lesson> {
  const id = imageIdOf(slideNames.seed);
  await callApi(url, 'POST', '/admin/images/changes', { token, body: { ids: [id], dataset_name: dataset } });
  await callApi(url, 'PUT', '/admin/datasets', { token, body: { dataset, access: 'open', sharing: true } });
  const body = { title: 'Lesson', items: [{ type: 'slide', id }], readers: [] };
  const { id: collectionId } = await callApi<{ id: string }>(url, 'POST', '/collections', { token, body });
  return { imageId: id, collectionId };
}

/** Creates a link to the collection. @returns its id and its secret */
async function makeLink({ url, token }: RunningProduct, { collectionId }: Lesson) {
  const body = { target: { type: 'collection', id: collectionId }, title: 'Lesson' };
  const link = await callApi<{ id: string; url: string }>(url, 'POST', '/share-links', { token, body });
  return { linkId: link.id, secret: link.url.split('#')[1] ?? '' };
}

/** Opens a link as a visitor. @param clientAddress of the visitor @returns the id of the visitor's image session */
async function openLink({ port }: RunningProduct, secret: string, clientAddress: string): Promise<string> {
  const { status, body } = await request({
    port,
    path: '/api/v1/share-links/open',
    body: { secret },
    clientAddress,
  });
  if (status !== 200) throw new Error(`POST /share-links/open: ${status} ${body}`);
  return (JSON.parse(body) as { session_id: string }).session_id;
}

/** Returns a different client address for each visitor. */
const clientAddressOf = (visitor: number) => `10.1.${Math.floor(visitor / 250)}.${(visitor % 250) + 1}`;

/** Measures how soon a visitor on a phone sees the slide of a link. */
async function measureOpening(
  product: RunningProduct,
  lesson: Lesson,
  count: number,
  limits: PhoneLimits | null,
): Promise<Row> {
  const { secret } = await makeLink(product, lesson);
  const openings = await measureOpeningsOnPhone(`${product.url}/shared#${secret}`, count, limits);
  const sharp = openings.map((opening) => opening.sharp);
  const first = openings.map((opening) => opening.first);
  const p95 = (times: readonly number[]) => Math.round(quantile(times, 0.95));
  const limitsText =
    limits === null
      ? 'not slowed down'
      : `processor slowed down ${limits.cpuSlowdown} times, ${limits.megabits} Mbit/s, ${limits.latencyMs} ms latency`;
  return {
    measured: `stranger opens a link in a fresh browser with a touch screen of 390 pixels → sharp slide, p95 of ${count}`,
    result: `${p95(sharp)} ms`,
    detail: `median ${Math.round(median(sharp))} ms, worst ${Math.round(Math.max(...sharp))} ms; first picture ${Math.round(median(first))} ms, p95 ${p95(first)} ms; ${limitsText}`,
    limit: '2000 ms',
  };
}

/** Measures the time from the presenter's request with a field of view to its arrival at each follower. */
async function measureFollowers(product: RunningProduct, lesson: Lesson, events: number): Promise<Row> {
  const { url, token, port } = product;
  const { secret } = await makeLink(product, lesson);
  /**
   * Time at which each event was sent. The x of an event's field of view is the index of the event in this list, so
   * that followers recognise it.
   */
  const sentAt: number[] = [];
  const times: number[] = [];
  const disconnectFunctions = await Promise.all(
    Array.from({ length: followerCount }, async (_, follower) => {
      const session = await openLink(product, secret, clientAddressOf(follower));
      const path = `/api/v1/collections/${lesson.collectionId}/presentation-events?session=${session}`;
      return followEvents({ port, path, clientAddress: clientAddressOf(follower) }, (x) => {
        const sentTime = sentAt[x];
        if (sentTime !== undefined) times.push(performance.now() - sentTime);
      });
    }),
  );
  for (let x = 0; x < events; x++) {
    sentAt[x] = performance.now();
    const field = { x, y: 0, zoom: 1 };
    // `callApi` cannot be used, because the response (204) has no body.
    await fetch(`${url}/api/v1/collections/${lesson.collectionId}/presentation`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ field, item: 0 }),
    });
    await setTimeout(eventIntervalMs);
  }
  await setTimeout(1000); // until the last events have arrived
  for (const disconnect of disconnectFunctions) disconnect();
  return {
    measured: `${followerCount} followers in 3 processes, ${events} fields, from the presenter's request, p95`,
    result: `${Math.round(quantile(times, 0.95))} ms`,
    detail: `median ${Math.round(quantile(times, 0.5))} ms, ${times.length} of ${followerCount * events} received`,
    limit: '200 ms',
  };
}

interface Follower {
  readonly port: number;
  readonly path: string;
  readonly clientAddress: string;
}

/** Connects a follower. @param onField called with the x of each received field @returns a function that disconnects */
function followEvents(
  { port, path, clientAddress }: Follower,
  onField: (x: number) => void,
): Promise<() => void> {
  const { promise, resolve, reject } = Promise.withResolvers<() => void>();
  const outgoing = startGet(
    { host: '127.0.0.1', port, path, headers: { 'x-forwarded-for': clientAddress } },
    (response) => {
      if (response.statusCode !== 200)
        return reject(new Error(`presentation-events: ${response.statusCode}`));
      let received = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        received += chunk;
        const events = received.split('\n\n');
        received = events.pop() ?? ''; // an event whose end has not been received yet
        for (const event of events) {
          const data = /^data: (.*)$/m.exec(event)?.[1];
          const { field } =
            data === undefined ? { field: null } : (JSON.parse(data) as { field: { x: number } | null });
          if (field !== null) onField(field.x);
        }
      });
      response.on('error', () => undefined); // the disconnection itself causes this event
      resolve(() => outgoing.destroy());
    },
  );
  outgoing.on('error', reject);
  return promise;
}

/** Measures the time from the request that revokes a link to the last tile that the server sends for it. */
async function measureRevocation(product: RunningProduct, lesson: Lesson, repeats: number): Promise<Row> {
  const { url, token, port } = product;
  const lastTileDelays: number[] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    const { linkId, secret } = await makeLink(product, lesson);
    const session = await openLink(product, secret, clientAddressOf(repeat));
    const path = tilePathOf(lesson.imageId, '8/0_0', session); // any tile of the slide
    let lastTileAt = 0;
    const stopController = new AbortController();
    // Each request uses a new connection, so that the operating system distributes the requests among the processes.
    const viewers = Array.from({ length: 6 }, async () => {
      while (!stopController.signal.aborted) {
        const { status } = await request({ port, path, clientAddress: clientAddressOf(repeat) });
        if (status === 200) lastTileAt = performance.now();
        await setTimeout(5);
      }
    });
    await setTimeout(1000); // until the viewers have received tiles
    if (lastTileAt === 0) throw new Error('The visitor got no tile.');
    const revokedAt = performance.now();
    await fetch(`${url}/api/v1/share-links/${linkId}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}` },
    });
    while (performance.now() - Math.max(lastTileAt, revokedAt) < noTileMs) await setTimeout(50);
    stopController.abort();
    await Promise.all(viewers);
    lastTileDelays.push(Math.max(0, lastTileAt - revokedAt));
  }
  return {
    measured: `last tile after the request that revokes the link, 3 processes, worst of ${repeats}`,
    result: `${Math.round(Math.max(...lastTileDelays))} ms`,
    detail: `median ${Math.round(quantile(lastTileDelays, 0.5))} ms`,
    limit: '1000 ms',
  };
}

/**
 * Registers two slides with two pairs of points of a known transformation. Then transforms a third point with the returned matrix, and
 * measures how far the result is from the point's true place.
 */
async function measureRegistration({ url, token, imageIdOf }: RunningProduct, count: number): Promise<Row> {
  const fromImage = imageIdOf(slideNames.scan);
  const toImage = imageIdOf(slideNames.halves);
  const body = { dataset, name: 'Registered', slides: [{ image_id: fromImage }, { image_id: toImage }] };
  const { id } = await callApi<{ id: string }>(url, 'POST', '/cases', { token, body });
  const distances: number[] = [];
  for (let repeat = 0; repeat < count; repeat++) {
    const angle = Math.random() * 2 * Math.PI;
    const scale = 0.9 + Math.random() * 0.2;
    const [a, b] = [scale * Math.cos(angle), scale * Math.sin(angle)];
    /** Returns the place on the second slide that corresponds to a point of the first: rotated, scaled and shifted. */
    const placeOnSecond = ([x, y]: Point): Point => [a * x - b * y + 5000, b * x + a * y - 3000];
    const points: readonly Point[] = [randomPoint(0), randomPoint(1), randomPoint(0.5)];
    // Rounds, because a person clicks on whole pixels.
    const pairs = points.map((point) => ({ from: point, to: placeOnSecond(point).map(Math.round) }));
    const { matrix } = await callApi<{ matrix: [number, number, number, number, number, number] }>(
      url,
      'PUT',
      `/cases/${id}/registrations`,
      { token, body: { from_image: fromImage, to_image: toImage, points: pairs.slice(0, 2) } },
    );
    const [x, y] = points[2] ?? [0, 0];
    const [expectedX, expectedY] = placeOnSecond([x, y]);
    const [m0, m1, m2, m3, m4, m5] = matrix; // x' = m0 x + m2 y + m4, y' = m1 x + m3 y + m5
    distances.push(
      Math.hypot(m0 * x + m2 * y + m4 - expectedX, m1 * x + m3 * y + m5 - expectedY) * pixelSizeUm,
    );
  }
  return {
    measured: `third point of two slides registered by two pairs of points, ${count} random similarities, worst distance`,
    result: `${Math.max(...distances).toFixed(2)} µm`,
    detail: `median ${quantile(distances, 0.5).toFixed(2)} µm; points in whole pixels of ${pixelSizeUm} µm`,
    limit: '5 µm',
  };
}

type Point = readonly [x: number, y: number];

/** Size of a pixel of a scan at 40×, in µm. */
const pixelSizeUm = 0.25;

/** Returns a random point, up to 10,000 pixels right of and below (80,000 × corner, 80,000 × corner). */
function randomPoint(corner: number): Point {
  const coordinate = () => Math.round(80_000 * corner + Math.random() * 10_000);
  return [coordinate(), coordinate()];
}

/** Guesses secrets without a pause from one network, and measures meanwhile how soon visitors of other networks open a link. */
async function measureGuesses(product: RunningProduct, lesson: Lesson, count: number): Promise<Row> {
  const { port } = product;
  const { secret } = await makeLink(product, lesson);
  let visitor = 0; // each opening is of another visitor, because the server limits the openings from one network
  const timesBefore: number[] = [];
  while (visitor < 20) timesBefore.push(await measureLinkOpening(product, secret, visitor++));
  const countByStatus = new Map<number, number>();
  const agent = new Agent({ keepAlive: true, maxSockets: guessConnections });
  let remainingGuesses = count;
  const guessers = Array.from({ length: guessConnections }, async () => {
    while (remainingGuesses-- > 0) {
      const guess = `${remainingGuesses}`.padStart(43, 'x'); // as long as a real secret
      const { status } = await request({
        port,
        path: '/api/v1/share-links/open',
        body: { secret: guess },
        clientAddress: '203.0.113.7',
        agent,
      });
      countByStatus.set(status, (countByStatus.get(status) ?? 0) + 1);
    }
  });
  const timesDuring: number[] = [];
  let isGuessing = true;
  const otherVisitors = (async () => {
    while (isGuessing) timesDuring.push(await measureLinkOpening(product, secret, visitor++));
  })();
  await Promise.all(guessers);
  isGuessing = false;
  await otherVisitors;
  agent.destroy();
  const found = countByStatus.get(200) ?? 0;
  return {
    measured: `${count} guesses of one network over ${guessConnections} connections: links found`,
    result: found,
    detail: `${[...countByStatus].map(([status, n]) => `${n} × ${status}`).join(', ')}; a valid link opens from another network in ${Math.round(
      quantile(timesDuring, 0.95),
    )} ms (p95, ${timesDuring.length} openings; ${Math.round(quantile(timesBefore, 0.95))} ms without guesses)`,
    limit: '0',
  };
}

/** Opens a link as a visitor, and then waits 50 ms. @returns the milliseconds of the opening */
async function measureLinkOpening(product: RunningProduct, secret: string, visitor: number): Promise<number> {
  const startedAt = performance.now();
  await openLink(product, secret, clientAddressOf(visitor));
  const openingMs = performance.now() - startedAt;
  await setTimeout(50);
  return openingMs;
}
