/** People at their screens: each looks at a field, thinks, and goes on to the next, for as long as it is told. */
import { setTimeout as wait } from 'node:timers/promises';
import { openConnection, requestOf } from './connection.mjs';
import { randomFrom } from './random.mjs';
import { fieldsOfPerson } from './trace.mjs';

/** As many as a browser opens. */
const connectionsEach = 6;
/** Seconds between two fields that need tiles. */
const thinking = { least: 1, most: 6 };
/** One of ten is on a slow line, of this many bytes a second. */
const slowEvery = 10;
const slowLine = { least: 50_000, most: 200_000 };

/**
 * @param place 0 is the first; the same place is the same person at every run
 * @param onTile told of each answer: `{ status, ms, isSlow }`, with the time until all of it had come
 * @param signal ends it, at the latest after the field that is being loaded
 */
export async function simulateViewer({ place, port, slide, pathOf, startAfterMs, signal, onTile }) {
  const random = randomFrom(place + 1);
  const between = ({ least, most }) => least + (most - least) * random();
  const isSlow = place % slowEvery === slowEvery - 1;
  const bytesPerSecond = isSlow ? between(slowLine) / connectionsEach : null;
  const browser = openBrowser({ port, bytesPerSecond, onTile: (answer) => onTile({ ...answer, isSlow }) });
  try {
    await wait(startAfterMs, undefined, { signal });
    for (const tiles of fieldsOfPerson(slide, random, { tours: Number.POSITIVE_INFINITY })) {
      if (tiles.length === 0) continue;
      await browser.load(tiles.map(pathOf), signal);
      await wait(between(thinking) * 1000, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    browser.close();
  }
}

/** Loads lists of paths over a browser's number of connections. */
function openBrowser({ port, bytesPerSecond, onTile }) {
  let queue = [];
  let open = 0;
  let onEmpty = () => {};

  const connections = Array.from({ length: connectionsEach }, () => {
    const connection = openConnection({
      port,
      bytesPerSecond,
      onAnswer: (status, _, ms) => {
        onTile({ status, ms });
        open -= 1;
        askNext(connection);
      },
    });
    return connection;
  });

  function askNext(connection) {
    const path = queue.shift();
    if (path !== undefined) {
      open += 1;
      connection.ask(requestOf(path));
    } else if (open === 0) onEmpty();
  }

  return {
    async load(paths, signal) {
      const { promise, resolve } = Promise.withResolvers();
      onEmpty = resolve;
      queue = [...paths];
      signal.addEventListener('abort', dropQueue, { once: true });
      for (const connection of connections.slice(0, paths.length)) askNext(connection);
      await promise;
      signal.removeEventListener('abort', dropQueue);
      signal.throwIfAborted();
    },
    close: () => {
      for (const connection of connections) connection.close();
    },
  };

  function dropQueue() {
    queue = [];
  }
}
