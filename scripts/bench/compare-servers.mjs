/** All servers in one interleaved run: what disturbs the machine for a while disturbs them all. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { timeOf } from './connection.mjs';
import { load } from './load-client.mjs';
import { findPeers, staticFolderOf } from './peers.mjs';
import { bigSlide } from './slides.mjs';
import { median, quantile } from './statistics.mjs';
import { maxLevelOf, nativeTrace, tilesOfLevel, viewingTrace } from './trace.mjs';

const nativeConnections = 64;
const viewingConnections = 16;
const people = 3;
/** Before speed is measured: what serves people has been running for hours, its code compiled. */
const warmUpSeconds = 5;

/**
 * @param ground as for `findPeers`
 * @param isQuick once and short: shows that everything works, says little of speed
 * @returns for each peer by name the medians of its runs, and what is installed
 */
export async function compareServers(ground, { isQuick }) {
  const slide = { ...bigSlide, tileSize: ground.tileSize };
  const plan = {
    native: nativeTrace(slide),
    viewing: viewingTrace(slide, people).slice(0, isQuick ? 400 : undefined),
    isNative: (tile) => tile.startsWith(`${maxLevelOf(slide)}/`),
    seconds: isQuick ? 1 : 3,
  };
  const { found, absent } = findPeers(ground);
  const product = found.find(({ name }) => name === 'product');
  if (found.some(({ name }) => name === 'nginx')) await copyTiles(product, slide, ground, isQuick);

  const rounds = [];
  for (let round = 1; round <= (isQuick ? 1 : 3); round += 1) {
    console.log(`Round ${round}: ${found.map(({ name }) => name).join(', ')} …`);
    const results = {};
    for (const peer of found) {
      const result = { ...(await runNative(peer, plan)), ...(await runViewing(peer, plan)) };
      requireAnswers(peer, result);
      results[peer.name] = result;
    }
    rounds.push(results);
  }
  return {
    plan: {
      native: plan.native.length,
      viewing: plan.viewing.length,
      rounds: rounds.length,
      seconds: plan.seconds,
    },
    peers: found.map(({ name, version, isOfAnotherSlide = false }) => ({ name, version, isOfAnotherSlide })),
    absent: absent.map(({ name }) => name),
    results: Object.fromEntries(found.map(({ name }) => [name, medians(rounds.map((round) => round[name]))])),
  };
}

/** Whoever refuses is quick: figures of a server that does not answer mean nothing. */
function requireAnswers({ name }, { native, cold, again }) {
  const failed = native.failed + cold.failed + again.failed;
  if (failed > 0) throw new Error(`${name} did not answer ${failed} requests.`);
}

/** Full resolution, from a server that has just been started. */
async function runNative(peer, { native, seconds }) {
  const server = await started(peer);
  try {
    const firstTile = await timeOf(server.port, server.pathOf(native[0]));
    await load(server, native, { connections: nativeConnections, seconds: warmUpSeconds });
    const result = await load(server, native, { connections: nativeConnections, seconds });
    return { firstTile, native: withoutTimes(result) };
  } finally {
    await server.stop();
  }
}

/** A viewing with nothing made before, then again with everything made, after warming up as above. */
async function runViewing(peer, { viewing, isNative, seconds }) {
  const server = await started(peer);
  try {
    const cold = await load(server, viewing, { connections: viewingConnections });
    const nativeTimes = cold.times.filter(({ tile }) => isNative(tile)).map(({ ms }) => ms);
    await load(server, viewing, { connections: viewingConnections, seconds: warmUpSeconds });
    const again = await load(server, viewing, { connections: viewingConnections, seconds });
    return {
      cold: { ...withoutTimes(cold), nativeP95: quantile(nativeTimes, 0.95) },
      again: withoutTimes(again),
    };
  } finally {
    await server.stop();
  }
}

async function started(peer) {
  peer.forget?.();
  return peer.start();
}

function withoutTimes({ times: _, ...result }) {
  return result;
}

/** The median of every number, through all levels of equal objects. */
export function medians(results) {
  const [first] = results;
  if (first === null || typeof first !== 'object') return median(results.map((value) => value ?? Number.NaN));
  return Object.fromEntries(
    Object.keys(first).map((key) => [key, medians(results.map((result) => result[key]))]),
  );
}

/** Every tile of the product as a file, so that nginx serves the very same bytes. */
async function copyTiles(product, slide, { cache }, mayBeOld) {
  const folder = staticFolderOf(cache);
  if (mayBeOld && existsSync(folder)) return;
  console.log('Copying every tile for nginx …');
  rmSync(folder, { recursive: true, force: true });
  const copying = `${folder}.part`;
  rmSync(copying, { recursive: true, force: true });
  const tiles = Array.from({ length: maxLevelOf(slide) + 1 }, (_, level) =>
    tilesOfLevel(slide, level),
  ).flat();
  const server = await product.start();
  try {
    const queue = tiles.values();
    const copier = async () => {
      for (const tile of queue) {
        const answer = await patiently(() => fetch(`http://127.0.0.1:${server.port}${server.pathOf(tile)}`));
        const file = join(copying, `${tile}.jpg`);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
      }
    };
    await Promise.all(Array.from({ length: 8 }, copier));
  } finally {
    await server.stop();
  }
  renameSync(copying, folder);
}

async function patiently(ask) {
  for (let tries = 0; ; tries += 1) {
    const answer = await ask();
    if (answer.ok) return answer;
    if (tries === 5) throw new Error(`The product answers a tile with ${answer.status}.`);
    await setTimeout(500);
  }
}
