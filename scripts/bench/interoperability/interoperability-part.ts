/**
 * `npm run bench -- interoperability`: compares the rate of DICOMweb frames (tiles in DICOM) with that of Deep Zoom tiles of the same
 * level, and measures the response time of tiles while other programs download original files.
 *
 * Every round measures all kinds of requests in turn, and ratios are computed within a round, because the load by other programs changes
 * from round to round. The product runs in one process with SQLite.
 */
import { mkdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { callApi } from '../../services/api-client.ts';
import { type BenchEnvironment, type BenchOptions, createEnvironment } from '../environment.ts';
import { openConnection, requestOf } from '../load/connection.ts';
import { type LoadSummary, type LoadTarget, measureLoad } from '../load/load-client.ts';
import { median } from '../load/statistics.ts';
import { gridOf, maxLevelOf, nativeTrace, type TiledSlide } from '../load/trace.ts';
import { administrator, type RunningProduct, startProduct } from '../product.ts';
import { describeMachine, markdownTable, publish } from '../report.ts';
import { bigSlide, slideNames } from '../slides/slides.ts';

type Row = Readonly<Record<string, string | number>>;

/** Number and duration of the measurements. */
interface Workload {
  readonly rounds: number;
  /** Seconds per kind of request in each round. */
  readonly seconds: number;
}

/** Connections for the comparison of frames with tiles, and connections of the viewer during downloads of originals. */
const frameConnections = 4;
const viewerConnections = 6;
/** Number of downloads at the same time. */
const downloadCount = 8;
/** Dataset of the slide whose original file is downloaded. */
const dataset = 'Originals';
/** The Accept header that dicom-microscopy-viewer sends for frames. */
const frameAcceptHeader = 'multipart/related; type="application/octet-stream"; transfer-syntax=*';

export async function interoperabilityPart({ isQuick }: BenchOptions): Promise<void> {
  const environment = await createEnvironment();
  const workload = isQuick ? { rounds: 1, seconds: 1 } : { rounds: 7, seconds: 3 };
  const cache = join(environment.cache, 'interoperability');
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  const product = await startProduct({ ...environment, cache }, { THROTTLE: 'off' });
  try {
    const frames = await measureFrames(environment, product, workload);
    const downloads = await measureDownloads(environment, product, workload);
    publish(
      'interoperability',
      [
        `${describeMachine()} Load of the machine ${(os.loadavg()[0] ?? 0).toFixed(1)}.`,
        '',
        `Tiles of full resolution over ${frameConnections} connections, medians of ${workload.rounds} rounds; ratios to the Deep Zoom tiles of the same round:`,
        '',
        markdownTable(frames),
        '',
        `Deep Zoom tiles over ${viewerConnections} connections, without and with ${downloadCount} downloads of originals, medians of ${workload.rounds} rounds:`,
        '',
        markdownTable(downloads),
      ],
      { isQuick },
    );
  } finally {
    await product.stop();
  }
}

/** A kind of request that is measured: its name in the table, and the server with its paths. */
type RequestKind = readonly [name: string, target: LoadTarget];

/** Measures all kinds of requests in turn in each round. @returns the results of all rounds, by the name of the kind */
async function measureInTurns(
  kinds: readonly RequestKind[],
  tiles: readonly string[],
  { rounds, seconds, connections }: Workload & { readonly connections: number },
): Promise<ReadonlyMap<string, readonly LoadSummary[]>> {
  const results = new Map<string, LoadSummary[]>(kinds.map(([name]) => [name, []]));
  for (const [, target] of kinds) await measureLoad(target, tiles, { connections, seconds: 0.5 }); // to warm up
  for (let round = 0; round < rounds; round++) {
    // Each round begins with the next kind, because the speed of the processor varies.
    const firstKind = round % kinds.length;
    for (const [name, target] of [...kinds.slice(firstKind), ...kinds.slice(0, firstKind)]) {
      const { times: _, ...summary } = await measureLoad(target, tiles, { connections, seconds });
      if (summary.failed > 0) throw new Error(`${name}: ${summary.failed} of ${summary.requests} failed.`);
      console.log(`${name}: ${summary.perSecond.toFixed(0)}/s, p95 ${summary.p95.toFixed(1)} ms`);
      results.get(name)?.push(summary);
    }
  }
  return results;
}

/** Compares DICOMweb frames, requested with an API token and with a sign-in, with Deep Zoom tiles of the same pixels. */
async function measureFrames(
  { tileSize }: BenchEnvironment,
  product: RunningProduct,
  workload: Workload,
): Promise<Row[]> {
  const { url, port, processIds, token } = product;
  const id = product.imageIdOf(slideNames.scan);
  const slide: TiledSlide = { ...bigSlide, tileSize };
  const { columns } = gridOf(slide, maxLevelOf(slide));
  const apiToken = await createApiToken(url, token, ['slides:read']);
  const instance = await findLargestInstance(url, token, id);
  /** Returns the path of the frame with the same pixels. @param tile `level/column_row` */
  const framePathOf = (tile: string) => {
    const [column = 0, row = 0] = (tile.split('/')[1] ?? '').split('_').map(Number);
    return `${instance}/frames/${row * columns + column + 1}`; // frames are numbered from 1
  };
  const frameTargetOf = (bearerToken: string): LoadTarget => ({
    port,
    processIds,
    pathOf: framePathOf,
    headers: { Authorization: `Bearer ${bearerToken}`, Accept: frameAcceptHeader },
  });
  const tileName = 'Deep Zoom tile';
  const results = await measureInTurns(
    [
      [tileName, { port, processIds, pathOf: (tile) => product.tilePath(id, tile) }],
      ['frame, API token', frameTargetOf(apiToken)],
      ['frame, sign-in', frameTargetOf(token)],
    ],
    nativeTrace(slide),
    { ...workload, connections: frameConnections },
  );
  const tileSummaries = results.get(tileName) ?? [];
  return [...results].map(([name, summaries]) => ({
    request: name,
    'per second': median(summaries.map(({ perSecond }) => perSecond)).toFixed(0),
    'ratio to tiles': median(
      summaries.map(({ perSecond }, round) => perSecond / (tileSummaries[round]?.perSecond ?? Number.NaN)),
    ).toFixed(2),
    'CPU s of the server per 1,000': median(summaries.map(({ cpuPer1000 }) => cpuPer1000)).toFixed(2),
    'CPU of the client, share of a core': median(summaries.map(({ clientShare }) => clientShare)).toFixed(2),
  }));
}

/** Measures the response times of tiles, without and with simultaneous downloads of the original file. */
async function measureDownloads(
  { tileSize }: BenchEnvironment,
  product: RunningProduct,
  { rounds, seconds }: Workload,
): Promise<Row[]> {
  const { url, port, processIds, token } = product;
  const id = product.imageIdOf(slideNames.scan);
  const { users } = await callApi<{ users: { uid: string; email: string }[] }>(url, 'GET', '/admin/users', {
    token,
  });
  // A grant for the dataset of the slide allows the administrator to download originals, which the role alone does not.
  const uid = users.find(({ email }) => email === administrator.email)?.uid;
  await callApi(url, 'POST', '/admin/images/changes', { token, body: { ids: [id], dataset_name: dataset } });
  await callApi(url, 'POST', '/admin/datasets/grants', {
    token,
    body: { dataset, uid, download: true },
  });
  const apiToken = await createApiToken(url, token, ['slides:download']);
  const tiles = nativeTrace({ ...bigSlide, tileSize });
  const target: LoadTarget = { port, processIds, pathOf: (tile) => product.tilePath(id, tile) };
  const rows: {
    downloads: number;
    p50: number;
    p95: number;
    perSecond: number;
    megabytesPerSecond: number;
  }[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const downloads of [0, downloadCount]) {
      const stopDownloads = startDownloads(
        port,
        `/api/v1/image-catalog/images/${id}/original`,
        apiToken,
        downloads,
      );
      const summary = await measureLoad(target, tiles, { connections: viewerConnections, seconds });
      const megabytesPerSecond = stopDownloads() / 1e6 / seconds;
      if (summary.failed > 0) throw new Error(`${summary.failed} of ${summary.requests} tiles failed.`);
      const { p50, p95, perSecond } = summary;
      rows.push({ downloads, p50, p95, perSecond, megabytesPerSecond });
      console.log(`${downloads} downloads: p95 ${p95.toFixed(1)} ms, ${megabytesPerSecond.toFixed(0)} MB/s`);
    }
  }
  return [0, downloadCount].map((downloads) => {
    const matchingRows = rows.filter((row) => row.downloads === downloads);
    const medianOf = (key: 'p50' | 'p95' | 'perSecond' | 'megabytesPerSecond') =>
      median(matchingRows.map((row) => row[key]));
    return {
      downloads,
      'p50 ms': medianOf('p50').toFixed(1),
      'p95 ms': medianOf('p95').toFixed(1),
      'tiles per second': medianOf('perSecond').toFixed(0),
      'MB/s of the downloads': medianOf('megabytesPerSecond').toFixed(0),
    };
  });
}

/**
 * Starts `count` downloads, each on its own connection. Together they request the first 16 parts (8 MiB each) of the file repeatedly.
 *
 * @returns a function that stops the downloads and returns the number of received bytes
 */
function startDownloads(port: number, path: string, apiToken: string, count: number): () => number {
  const partBytes = 8 * 1024 * 1024;
  const requestedParts = 16;
  let bytes = 0;
  const connections = Array.from({ length: count }, (_, download) => {
    let part = download;
    const requestNextPart = () => {
      const start = (part % requestedParts) * partBytes;
      part += count;
      const range = `bytes=${start}-${start + partBytes - 1}`;
      connection.send(requestOf(path, { Authorization: `Bearer ${apiToken}`, Range: range }));
    };
    const connection = openConnection({
      port,
      onResponse: (status, bodyBytes) => {
        if (status !== 206) throw new Error(`A download got status ${status} instead of 206.`);
        bytes += bodyBytes;
        requestNextPart();
      },
    });
    requestNextPart();
    return connection;
  });
  return () => {
    for (const connection of connections) connection.close();
    return bytes;
  };
}

/** Creates an API token (the credential of a program) with these scopes. */
async function createApiToken(url: string, token: string, scopes: readonly string[]): Promise<string> {
  const body = { name: scopes.join(' '), scopes };
  const created = await callApi<{ token: string }>(url, 'POST', '/user/api-tokens', { token, body });
  return created.token;
}

/** Returns the path of the DICOM instance of full resolution, the one with the most pixel columns. */
async function findLargestInstance(url: string, token: string, imageId: string): Promise<string> {
  // Tags of DICOM PS3.6: Total Pixel Matrix Columns, Series Instance UID, SOP Instance UID.
  const totalColumns = '00480006';
  const seriesInstanceUid = '0020000E';
  const sopInstanceUid = '00080018';
  type DataSet = Record<string, { readonly Value?: readonly unknown[] } | undefined>;
  // The product derives the Study Instance UID from the UUID of the image (DICOM PS3.5 annex B.2).
  const study = `2.25.${BigInt(`0x${imageId.replaceAll('-', '')}`)}`;
  const response = await fetch(`${url}/dicom-web/studies/${study}/metadata`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const dataSets = (await response.json()) as DataSet[];
  const firstOf = (dataSet: DataSet | undefined, tag: string) => String(dataSet?.[tag]?.Value?.[0]);
  const [largest] = dataSets.sort(
    (a, b) => Number(firstOf(b, totalColumns)) - Number(firstOf(a, totalColumns)),
  );
  const series = firstOf(largest, seriesInstanceUid);
  const instance = firstOf(largest, sopInstanceUid);
  return `/dicom-web/studies/${study}/series/${series}/instances/${instance}`;
}
