/** Part of the bench: a catalogue of a hundred thousand slides, on both databases. */
import { mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../free-port.mjs';
import { startPostgres } from '../postgres.mjs';
import { callApi, untilReady } from '../product-api.mjs';
import { endOf, passSignalsTo, server as serverCommand, start } from '../runtime.mjs';
import { countFolders, datasets, fillDatabase, makeFiles, rareOrgan } from './big-catalogue.mjs';
import { usageOf } from './processes.mjs';
import { administrator } from './product.mjs';
import { circumstances, publish, tableOf } from './report.mjs';
import { quantile } from './statistics.mjs';

const person = { email: 'member@example.org', password: 'a slide a day, at least' };
const lookedThrough = 'looked through for slides';

export async function cataloguePart(ground, { isQuick }) {
  const count = isQuick ? 2000 : 100_000;
  const times = isQuick ? 5 : 40;
  const cache = join(ground.cache, 'catalogue');
  mkdirSync(cache, { recursive: true });
  const folder = makeFiles(cache, count);
  const plan = { count, times, cache, folder };
  const results = { SQLite: await measure(plan, null) };
  const postgres = await startPostgres();
  if (postgres) {
    try {
      results.PostgreSQL = await measure(plan, postgres.address);
    } finally {
      await postgres.stop();
    }
  }
  report(plan, results, isQuick);
}

/** @param url of an empty PostgreSQL; null is SQLite */
async function measure({ count, times, cache, folder }, url) {
  const kind = url === null ? 'SQLite' : 'PostgreSQL';
  const dataDir = join(cache, `data-${kind}`);
  rmSync(dataDir, { recursive: true, force: true });
  console.log(`${kind}: writing ${count.toLocaleString('en')} entries …`);
  await fillDatabase({ url, file: join(dataDir, 'lamina.db') }, folder, count);

  const product = await startProduct({ cache, dataDir, folder, url });
  try {
    const rescan = await whileWatched(product, () => lookThrough(product));
    console.log(`${kind}: looked through in ${rescan.ms} ms`);
    const readers = await readersOf(product.address);
    const lists = [];
    for (const [what, queries] of Object.entries(await questionsOf(product.address, readers.administrator))) {
      for (const [reader, token] of Object.entries(readers)) {
        const row = await ask(product.address, token, queries, times);
        console.log(
          `${kind}: ${what}, ${reader}: p50 ${row.p50.toFixed(1)} ms, p95 ${row.p95.toFixed(1)} ms`,
        );
        lists.push({ what, reader, ...row });
      }
    }
    const whole = await whileWatched(product, () => askForAll(product.address, readers.administrator));
    return { rescan, lists, whole };
  } finally {
    await product.stop();
  }
}

async function startProduct({ cache, dataDir, folder, url }) {
  const port = await freePort();
  const logFile = join(cache, 'product.log');
  writeFileSync(logFile, '');
  const log = openSync(logFile, 'a');
  const child = start(serverCommand(), {
    env: {
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: dataDir,
      SLIDES_DIR: folder,
      DATABASE_URL: url ?? '',
      DEMO: 'off',
      THROTTLE: 'off',
      ADMIN_EMAIL: administrator.email,
      ADMIN_PASSWORD: administrator.password,
      LOG_LEVEL: 'info',
    },
    stdio: ['ignore', log, log],
  });
  const end = endOf(child);
  const signals = passSignalsTo(child);
  const address = `http://127.0.0.1:${port}`;
  const stop = async () => {
    child.kill();
    await end;
    signals.release();
  };
  try {
    await Promise.race([
      untilReady(address),
      end.then((code) => {
        throw new Error(`The product ended with ${code}; its log is ${logFile}.`);
      }),
    ]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { address, roots: [child.pid], logFile, stop };
}

/** The look through the folders that the product begins with. @returns what it says of it */
async function lookThrough({ logFile }) {
  for (;;) {
    for (const line of readFileSync(logFile, 'utf8').split('\n')) {
      if (!line.includes(lookedThrough)) continue;
      const { ms, slides, toRead, changed } = JSON.parse(line);
      if (toRead > 0 || changed > 0)
        throw new Error(`A look through unchanged folders found changes: ${line}`);
      return { ms, slides };
    }
    await setTimeout(100);
  }
}

/** Does something, and measures meanwhile how long others wait for an answer that costs nothing. */
async function whileWatched({ address, roots }, work) {
  const waits = [];
  let isDone = false;
  let megabytes = 0;
  const watching = (async () => {
    while (!isDone) {
      const startedAt = performance.now();
      await (await fetch(`${address}/health/live`)).arrayBuffer();
      waits.push(performance.now() - startedAt);
      megabytes = Math.max(megabytes, usageOf(roots).megabytes);
      await setTimeout(5);
    }
  })();
  try {
    return {
      ...(await work()),
      longestWait: Math.max(...waits, 0),
      p99Wait: quantile(waits, 0.99),
      megabytes,
    };
  } finally {
    isDone = true;
    await watching;
  }
}

/** Tokens of an administrator, and of a member who sees five datasets of forty: the last ones in the list. */
async function readersOf(address) {
  const { token } = await callApi(address, 'POST', '/auth/login', { body: administrator });
  const { user } = await callApi(address, 'POST', '/auth/register', { body: person });
  await callApi(address, 'POST', `/admin/users/${user.uid}/approve`, { token, body: { role: 'viewer' } });
  for (const dataset of datasets.slice(0, -5)) {
    await callApi(address, 'PUT', '/admin/datasets', {
      token,
      body: { dataset, access: 'restricted', listed: false },
    });
  }
  const member = await callApi(address, 'POST', '/auth/login', { body: person });
  return { administrator: token, 'member of 5 datasets of 40': member.token };
}

/** What is asked, by what it is called; several of a kind take turns. */
async function questionsOf(address, token) {
  const cursors = [];
  let cursor = null;
  let example = null;
  do {
    const query = new URLSearchParams({ limit: '500', ...(cursor && { cursor }) });
    const page = await callApi(address, 'GET', `/image-catalog/images?${query}`, { token });
    example = page.images.at(-1);
    cursor = page.next_cursor;
    if (cursor) cursors.push(cursor);
  } while (cursor);
  const deep = [0.25, 0.5, 0.75, 0.99].map((share) => cursors[Math.floor(share * cursors.length)]);
  const last = datasets.at(-1);
  return {
    'first page': [{}],
    'later pages': deep.map((from) => ({ cursor: from })),
    'a dataset': [{ dataset: last }, { dataset: datasets[20] }],
    'an organ': [{ organ: 'Meme' }, { organ: 'Dalak' }],
    'a rare organ': [{ organ: rareOrgan }],
    'a dataset and an organ': [{ dataset: last, organ: 'Kolon' }],
    'search: in every name': [{ q: 'svs' }, { q: 'b0' }],
    'search: in some': [{ q: 'ki-67' }, { q: 'karaciğer' }, { q: 'b09-2' }],
    'search: in one': [{ q: example.file_name }, { q: example.id.slice(0, 8) }],
    'search: in none': [{ q: 'osteosarkom' }],
    'search: two letters in none': [{ q: 'qx' }],
    'search in a dataset': [{ dataset: last, q: 'her2' }],
    'later page of a search': deep.map((from) => ({ q: 'her2', cursor: from })),
  };
}

async function ask(address, token, queries, times) {
  const took = [];
  for (let i = 0; i < times + 3; i += 1) {
    const query = new URLSearchParams({ limit: '50', ...queries[i % queries.length] });
    const startedAt = performance.now();
    await callApi(address, 'GET', `/image-catalog/images?${query}`, { token });
    if (i >= 3) took.push(performance.now() - startedAt); // what was compiled meanwhile is no matter
  }
  return { p50: quantile(took, 0.5), p95: quantile(took, 0.95), most: Math.max(...took) };
}

/** As the web app asks: all of it, compressed, and again with the tag of what it has. */
async function askForAll(address, token) {
  const url = `${address}/api/v1/image-catalog/images`;
  const headers = { authorization: `Bearer ${token}` };
  const whole = async (more) => {
    const startedAt = performance.now();
    const answer = await fetch(url, { headers: { ...headers, ...more } });
    const firstByte = performance.now() - startedAt;
    const bytes = (await answer.arrayBuffer()).byteLength;
    return { answer, firstByte, bytes, ms: performance.now() - startedAt };
  };
  const first = await whole({});
  const second = await whole({});
  const etag = second.answer.headers.get('etag');
  const unchanged = await whole({ 'if-none-match': etag });
  if (unchanged.answer.status !== 304) throw new Error(`Not 304 but ${unchanged.answer.status}`);
  return { first, second, unchanged };
}

function report({ count, times, folder }, results, isQuick) {
  const kinds = Object.keys(results);
  const ms = (value) => value.toFixed(value < 10 ? 1 : 0);
  const [first] = Object.values(results);
  const lists = first.lists.map(({ what, reader }, i) => ({
    asked: what,
    reader,
    ...Object.fromEntries(
      kinds.map((kind) => {
        const { p50, p95 } = results[kind].lists[i];
        return [`${kind}, p50 / p95 ms`, `${ms(p50)} / ${ms(p95)}`];
      }),
    ),
  }));
  const most = kinds.map((kind) => [kind, Math.max(...results[kind].lists.map(({ p95 }) => p95))]);
  const row = (what, read) => ({
    measured: what,
    ...Object.fromEntries(kinds.map((kind) => [kind, read(results[kind])])),
  });
  const goals = [
    row('looking through unchanged folders (≤ 30 s)', ({ rescan }) => `${(rescan.ms / 1000).toFixed(1)} s`),
    row('… longest wait of others meanwhile', ({ rescan }) => `${ms(rescan.longestWait)} ms`),
    row('… most memory of all processes meanwhile', ({ rescan }) => `${rescan.megabytes.toFixed(0)} MB`),
    row(
      'slowest p95 of list, filter and search (≤ 100 ms)',
      ({ lists: all }) => `${ms(Math.max(...all.map(({ p95 }) => p95)))} ms`,
    ),
    row('the whole list, first time', ({ whole }) => `${ms(whole.first.ms)} ms`),
    row('… first byte', ({ whole }) => `${ms(whole.first.firstByte)} ms`),
    row('the whole list, asked for by the next', ({ whole }) => `${ms(whole.second.ms)} ms`),
    row('… longest wait of others meanwhile', ({ whole }) => `${ms(whole.longestWait)} ms`),
    row('the whole list, unchanged (304)', ({ whole }) => `${ms(whole.unchanged.ms)} ms`),
    row('the whole list, bytes', ({ whole }) => `${(whole.first.bytes / 1e6).toFixed(1)} MB`),
  ];
  const slow = most.filter(([, p95]) => p95 > 100).map(([kind]) => kind);
  publish(
    'catalogue',
    [
      circumstances({}),
      '',
      `${count.toLocaleString('en')} files in ${countFolders(folder)} folders, one process, client and server on the same processors; the database was filled right before. Pages of 50; every question ${times} times, several of a kind in turns.${slow.length > 0 ? ` **Not reached on ${slow.join(' and ')}.**` : ''}`,
      '',
      tableOf(goals),
      '',
      tableOf(lists),
    ].join('\n'),
    { isKept: !isQuick },
  );
}
