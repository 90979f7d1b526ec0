/** `npm run bench -- catalogue`: measures scan, queries and first view of a catalogue of 100,000 slides with each database. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { callApi, signIn } from '../../services/api-client.ts';
import { startPostgres } from '../../services/postgres.ts';
import { type BenchOptions, cacheFolder } from '../environment.ts';
import { quantile } from '../load/statistics.ts';
import { administrator, type CatalogueImage } from '../product.ts';
import { describeMachine, markdownTable, publish } from '../report.ts';
import { usageOf } from '../resource-usage.ts';
import { type ServerProcess, startServer } from '../server-process.ts';
import { countFolders, datasets, fillDatabase, makeFiles, rareOrgan } from './big-catalogue.ts';
import { type FirstView, measureFirstView } from './first-view.ts';

const member = { email: 'member@example.org', password: 'a slide a day, at least' };
/** Log message of the server after a scan of the slide folders. */
const scanMessage = 'slide scan finished';
const pageSize = 500; // slides per request when the whole list is read page by page

interface Workload {
  /** Number of slides. */
  readonly count: number;
  /** Repetitions of each query. */
  readonly repetitions: number;
  readonly cache: string;
  readonly folder: string; // the slide folder
}

interface Server extends ServerProcess {
  readonly logFile: string;
}

/** A measured request. `path` is below /image-catalog, `images` by default; all other fields are query parameters. */
interface Query {
  readonly path?: string;
  readonly [parameter: string]: string;
}

interface QueryResult {
  readonly query: string;
  /** Who sends the query: the administrator, or a member who sees few datasets. */
  readonly reader: string;
  /** Milliseconds. */
  readonly p50: number;
  readonly p95: number;
}

/** How the server responded to other requests during a measurement. */
interface ProbeResult {
  /** Longest response time of another request, milliseconds. */
  readonly longestWait: number;
  /** Highest memory of all processes. */
  readonly megabytes: number;
}

interface Download {
  readonly response: Response;
  /** Milliseconds until the first byte, and until the complete response. */
  readonly firstByte: number;
  readonly ms: number;
  /** Size of the response body after decompression. */
  readonly bytes: number;
}

interface Result {
  readonly database: string;
  readonly scan: ProbeResult & { readonly ms: number };
  readonly queries: readonly QueryResult[];
  readonly firstView: FirstView;
  readonly wholeList: ProbeResult & Readonly<Record<'first' | 'second' | 'unchanged', Download>>;
}

export async function cataloguePart({ isQuick }: BenchOptions): Promise<void> {
  const count = isQuick ? 2000 : 100_000;
  const cache = join(cacheFolder(), 'catalogue');
  mkdirSync(cache, { recursive: true });
  const workload = { count, repetitions: isQuick ? 5 : 40, cache, folder: makeFiles(cache, count) };
  const results = [await measureDatabase(workload, 'SQLite', null)];
  const postgres = await startPostgres();
  if (postgres) {
    try {
      results.push(await measureDatabase(workload, 'PostgreSQL', postgres.url));
    } finally {
      await postgres.stop();
    }
  }
  report(workload, results, isQuick);
}

/** Measures one database. @param url URL of an empty PostgreSQL database; null for SQLite */
async function measureDatabase(workload: Workload, database: string, url: string | null): Promise<Result> {
  const { count, cache, folder } = workload;
  const dataDir = join(cache, `data-${database}`);
  rmSync(dataDir, { recursive: true, force: true });
  console.log(`${database}: inserting ${count.toLocaleString('en')} entries …`);
  await fillDatabase({ url, file: join(dataDir, 'lamina.db') }, folder, count);

  const logFile = join(cache, 'product.log');
  writeFileSync(logFile, '');
  const started = await startServer(logFile, {
    DATA_DIR: dataDir,
    SLIDES_DIR: folder,
    DATABASE_URL: url ?? '',
    DEMO: 'off',
    THROTTLE: 'off',
    ADMIN_EMAIL: administrator.email,
    ADMIN_PASSWORD: administrator.password,
    LOG_LEVEL: 'info',
  });
  const server = { ...started, logFile };
  try {
    const scan = await runWithProbes(server, () => waitForScan(server));
    console.log(`${database}: scanned the slide folders in ${scan.ms} ms`);
    const readers = await createReaders(server.url);
    const queries = await measureQueries(workload, database, server.url, readers);
    const firstView = await measureFirstView({ url: server.url, token: readers.administrator });
    console.log(`${database}: first rows of the viewer after ${firstView.p50.toFixed(0)} ms`);
    const wholeList = await runWithProbes(server, () => downloadWholeList(server.url, readers.administrator));
    return { database, scan, queries, firstView, wholeList };
  } finally {
    await server.stop();
  }
}

/** Waits for the first scan of the slide folders. @returns its duration in milliseconds */
async function waitForScan({ logFile }: Server): Promise<{ ms: number }> {
  for (;;) {
    for (const line of readFileSync(logFile, 'utf8').split('\n')) {
      if (!line.includes(scanMessage)) continue;
      const { ms, toRead, changed } = JSON.parse(line) as { ms: number; toRead: number; changed: number };
      if (toRead > 0 || changed > 0) throw new Error(`A scan of unchanged folders found changes: ${line}`);
      return { ms };
    }
    await setTimeout(100);
  }
}

/** Runs `work`. Meanwhile it requests `/health/live`, which needs almost no work, every 5 ms, and measures the response time. */
async function runWithProbes<Value extends object>(
  { url, pid }: Server,
  work: () => Promise<Value>,
): Promise<Value & ProbeResult> {
  const waits: number[] = [];
  let isFinished = false;
  let megabytes = 0;
  const probing = (async () => {
    while (!isFinished) {
      const startedAt = performance.now();
      await (await fetch(`${url}/health/live`)).arrayBuffer();
      waits.push(performance.now() - startedAt);
      megabytes = Math.max(megabytes, usageOf([pid]).megabytes);
      await setTimeout(5);
    }
  })();
  try {
    return { ...(await work()), longestWait: Math.max(...waits, 0), megabytes };
  } finally {
    isFinished = true;
    await probing;
  }
}

interface Readers {
  /** Bearer token of the administrator. */
  readonly administrator: string;
  /** Bearer token of a member who sees only the last five datasets. */
  readonly member: string;
}

/** Creates a member, and restricts all datasets except the last five to administrators. */
async function createReaders(url: string): Promise<Readers> {
  const token = await signIn(url, administrator);
  const { user } = await callApi<{ user: { uid: string } }>(url, 'POST', '/auth/register', { body: member });
  await callApi(url, 'POST', `/admin/users/${user.uid}/approve`, { token, body: { role: 'viewer' } });
  for (const dataset of datasets.slice(0, -5)) {
    const body = { dataset, access: 'restricted', listed: false };
    await callApi(url, 'PUT', '/admin/datasets', { token, body });
  }
  return { administrator: token, member: await signIn(url, member) };
}

/** Measures each query as an administrator and as a member. */
async function measureQueries(
  { repetitions }: Workload,
  database: string,
  url: string,
  readers: Readers,
): Promise<QueryResult[]> {
  const results: QueryResult[] = [];
  for (const [name, variants] of Object.entries(await queriesOf(url, readers.administrator))) {
    for (const [reader, token] of [
      ['administrator', readers.administrator],
      ['member of 5 datasets of 40', readers.member],
    ] as const) {
      const { p50, p95 } = await measureQuery(url, token, variants, repetitions);
      console.log(`${database}: ${name}, ${reader}: p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`);
      results.push({ query: name, reader, p50, p95 });
    }
  }
  return results;
}

/** Returns the measured queries by name; the repetitions of a query alternate between its variants. */
async function queriesOf(url: string, token: string): Promise<Record<string, readonly Query[]>> {
  const cursors: string[] = [];
  let cursor: string | null = null;
  let example: CatalogueImage | undefined;
  do {
    const query = new URLSearchParams({ limit: String(pageSize), ...(cursor && { cursor }) });
    const page: { images: CatalogueImage[]; next_cursor: string | null } = await callApi(
      url,
      'GET',
      `/image-catalog/images?${query}`,
      { token },
    );
    example = page.images.at(-1);
    cursor = page.next_cursor;
    if (cursor) cursors.push(cursor);
  } while (cursor);
  if (example === undefined) throw new Error('The catalogue is empty.');
  /** Cursors of the pages that follow 25 %, 50 %, 75 % and 99 % of the list. */
  const laterCursors = [0.25, 0.5, 0.75, 0.99].map(
    (share) => cursors[Math.floor(share * cursors.length)] ?? '',
  );
  const [lastDataset = '', middleDataset = ''] = [datasets.at(-1), datasets[20]];
  return {
    'first page': [{}],
    'later pages': laterCursors.map((laterCursor) => ({ cursor: laterCursor })),
    'a dataset': [{ dataset: lastDataset }, { dataset: middleDataset }],
    'an organ': [{ organ: 'Meme' }, { organ: 'Dalak' }],
    'a rare organ': [{ organ: rareOrgan }],
    'a dataset and an organ': [{ dataset: lastDataset, organ: 'Kolon' }],
    'search: in every name': [{ q: 'svs' }, { q: 'b0' }],
    'search: in some': [{ q: 'ki-67' }, { q: 'karaciğer' }, { q: 'b09-2' }],
    'search: in one': [{ q: example.file_name }, { q: example.id.slice(0, 8) }],
    'search: in none': [{ q: 'osteosarkom' }],
    'search: two letters in none': [{ q: 'qx' }],
    'search in a dataset': [{ dataset: lastDataset, q: 'her2' }],
    'later page of a search': laterCursors.map((laterCursor) => ({ q: 'her2', cursor: laterCursor })),
    'search: words in any order': [{ q: 'karaciger ki-67' }, { q: 'svs kolon 2' }],
    'viewer: groups': [{ path: 'images/groups' }],
    // 90 searches, so that a reader sends each one at most once: the server caches the counts of a search.
    'viewer: groups of a new search': ['b0', 'he', 'svs ', 'kolon ', 'ki-6'].flatMap((q) =>
      Array.from({ length: 18 }, (_, i) => ({ path: 'images/groups', q: `${q}${i}` })),
    ),
    'viewer: first rows': [{ path: 'images/rows' }],
    'viewer: later rows': [0.02, 0.05, 0.1].map((share) => ({
      path: 'images/rows',
      from: String(Math.floor(share * pageSize * cursors.length)),
    })),
    'viewer: last rows': [{ path: 'images/rows', from: String(pageSize * cursors.length - 100) }],
    'viewer: rows of a search': [
      { path: 'images/rows', q: 'her2' },
      { path: 'images/rows', q: 'her2', from: '1000' },
    ],
    'viewer: rows, largest first': [{ path: 'images/rows', order: 'largest' }],
    'viewer: position of a slide': [{ path: `images/${example.id}/position` }],
  };
}

/** Sends the variants of a query in turn, after three requests that are not measured. */
async function measureQuery(url: string, token: string, variants: readonly Query[], repetitions: number) {
  const warmUps = 3;
  const times: number[] = [];
  for (let i = 0; i < repetitions + warmUps; i += 1) {
    const { path, ...parameters } = variants[i % variants.length] ?? {};
    const query = new URLSearchParams({ ...(path === undefined && { limit: '50' }), ...parameters });
    const startedAt = performance.now();
    await callApi(url, 'GET', `/image-catalog/${path ?? 'images'}?${query}`, { token });
    if (i >= warmUps) times.push(performance.now() - startedAt);
  }
  return { p50: quantile(times, 0.5), p95: quantile(times, 0.95) };
}

/** Downloads the whole list, compressed, twice, and a third time with its ETag (the server then responds that it is unchanged). */
async function downloadWholeList(
  serverUrl: string,
  token: string,
): Promise<Record<'first' | 'second' | 'unchanged', Download>> {
  const url = `${serverUrl}/api/v1/image-catalog/images`;
  const authorization = `Bearer ${token}`;
  const download = async (extraHeaders: Readonly<Record<string, string>> = {}): Promise<Download> => {
    const startedAt = performance.now();
    const response = await fetch(url, { headers: { authorization, ...extraHeaders } });
    const firstByte = performance.now() - startedAt;
    const bytes = (await response.arrayBuffer()).byteLength;
    return { response, firstByte, bytes, ms: performance.now() - startedAt };
  };
  const first = await download();
  const second = await download();
  const unchanged = await download({ 'if-none-match': second.response.headers.get('etag') ?? '' });
  if (unchanged.response.status !== 304)
    throw new Error(`The server responded with ${unchanged.response.status} instead of 304.`);
  return { first, second, unchanged };
}

function report(workload: Workload, results: readonly Result[], isQuick: boolean): void {
  const { count, repetitions, folder } = workload;
  const ms = (value: number) => value.toFixed(value < 10 ? 1 : 0);
  const queryRows = (results[0]?.queries ?? []).map(({ query, reader }, i) => ({
    query,
    reader,
    ...Object.fromEntries(
      results.map(({ database, queries }) => {
        const { p50 = Number.NaN, p95 = Number.NaN } = queries[i] ?? {};
        return [`${database}, p50 / p95 ms`, `${ms(p50)} / ${ms(p95)}`];
      }),
    ),
  }));
  const slowestOf = ({ queries }: Result) => Math.max(...queries.map(({ p95 }) => p95));
  const row = (measured: string, read: (result: Result) => string) => ({
    measured,
    ...Object.fromEntries(results.map((result) => [result.database, read(result)])),
  });
  const goals = [
    row('scan of unchanged folders (≤ 30 s)', ({ scan }) => `${(scan.ms / 1000).toFixed(1)} s`),
    row('… longest wait of other requests meanwhile', ({ scan }) => `${ms(scan.longestWait)} ms`),
    row('… highest memory of all processes meanwhile', ({ scan }) => `${scan.megabytes.toFixed(0)} MB`),
    row('slowest p95 of list, filter and search (≤ 100 ms)', (result) => `${ms(slowestOf(result))} ms`),
    row(
      'first rows of the viewer in a browser, p50 and p95 (≤ 1 s)',
      ({ firstView }) => `${ms(firstView.p50)} and ${ms(firstView.p95)} ms`,
    ),
    row(
      '… bytes until then, compressed (≤ 300 kB)',
      ({ firstView }) => `${(firstView.bytes / 1000).toFixed(0)} kB`,
    ),
    row('the whole list, first time', ({ wholeList }) => `${ms(wholeList.first.ms)} ms`),
    row('… first byte', ({ wholeList }) => `${ms(wholeList.first.firstByte)} ms`),
    row('the whole list, second time', ({ wholeList }) => `${ms(wholeList.second.ms)} ms`),
    row('… longest wait of other requests meanwhile', ({ wholeList }) => `${ms(wholeList.longestWait)} ms`),
    row('the whole list, unchanged (304)', ({ wholeList }) => `${ms(wholeList.unchanged.ms)} ms`),
    row('the whole list, bytes', ({ wholeList }) => `${(wholeList.first.bytes / 1e6).toFixed(1)} MB`),
  ];
  const missed = results.filter((result) => slowestOf(result) > 100).map(({ database }) => database);
  publish(
    'catalogue',
    [
      describeMachine(),
      '',
      `${count.toLocaleString('en')} files in ${countFolders(folder)} folders, one process, client and server on the same processors; the database was filled right before. Pages of 50; every query ${repetitions} times, the variants of a query in turns.${missed.length > 0 ? ` **Not reached on ${missed.join(' and ')}.**` : ''}`,
      '',
      markdownTable(goals),
      '',
      markdownTable(queryRows),
    ],
    { isQuick },
  );
}
