import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { answerCalls, type Channel, createCaller } from './process-calls.ts';
import { createRemoteTileClient, renderedTilesCalls } from './remote-tile-client.ts';
import type { RenderedTiles } from './rendered-tiles.ts';

/** Returns the two ends of an IPC channel within this process. Messages are copied, as between processes. */
function createChannel(): [Channel, Channel] {
  const ends = [new EventEmitter(), new EventEmitter()] as const;
  const endOf = (ownEnd: EventEmitter, otherEnd: EventEmitter): Channel => ({
    send(message, onSent) {
      otherEnd.emit('message', structuredClone(message));
      onSent(null);
      return true;
    },
    on: (event, listener) => ownEnd.on(event, listener),
  });
  return [endOf(ends[0], ends[1]), endOf(ends[1], ends[0])];
}

describe('the tile client of an HTTP worker process (which requests tiles from the primary process)', () => {
  it('sends account and image session (credential for tiles) of the user with each request for a tile, thumbnail or slide header', async () => {
    const [workerEnd, primaryEnd] = createChannel();
    const tile = vi.fn<RenderedTiles['tile']>(async () => ({ bytes: new Uint8Array(1), wasCached: false }));
    const thumbnail = vi.fn<RenderedTiles['thumbnail']>(async () => new Uint8Array(1));
    const inspect = vi.fn<RenderedTiles['inspect']>(async () => {
      throw new Error('the test needs no header');
    });
    answerCalls(
      primaryEnd,
      renderedTilesCalls({ tile, thumbnail, inspect } as unknown as RenderedTiles),
      () => {},
    );
    const tiles = createRemoteTileClient(createCaller(workerEnd));
    const requester = { account: 'an account', session: 'a session' };
    const source = { location: { path: 'a.svs' }, fingerprint: 'fingerprint' };
    const { signal } = new AbortController();

    await tiles.tile(source, { dziLevel: 3, column: 0, row: 0 }, { signal, requester });
    await tiles.thumbnail(source, signal, requester);
    await expect(tiles.inspect(source.location, signal, requester)).rejects.toThrow();
    await expect(tiles.inspect(source.location, signal)).rejects.toThrow();
    expect(tile.mock.calls[0]?.[2].requester).toEqual(requester);
    expect(thumbnail.mock.calls[0]?.[2]).toEqual(requester);
    expect(inspect.mock.calls.map((call) => call[2])).toEqual([requester, null]);
  });

  it('requests a thumbnail once from the primary process, and then returns the thumbnail from its own memory', async () => {
    const [workerEnd, primaryEnd] = createChannel();
    const thumbnail = vi.fn<RenderedTiles['thumbnail']>(async () => Uint8Array.of(7));
    answerCalls(primaryEnd, renderedTilesCalls({ thumbnail } as unknown as RenderedTiles), () => {});
    const tiles = createRemoteTileClient(createCaller(workerEnd));
    const requester = { account: 'an account', session: 'a session' };
    const load = (fingerprint: string) =>
      tiles.thumbnail({ location: { path: 'a.svs' }, fingerprint }, new AbortController().signal, requester);
    expect([await load('old'), await load('old')]).toEqual([Uint8Array.of(7), Uint8Array.of(7)]);
    expect(thumbnail).toHaveBeenCalledOnce();
    await load('new'); // the file was replaced
    expect(thumbnail).toHaveBeenCalledTimes(2);
  });

  it('starts a render worker in the primary process when the HTTP worker calls startWorker()', async () => {
    const [workerEnd, primaryEnd] = createChannel();
    const startWorker = vi.fn<RenderedTiles['startWorker']>();
    answerCalls(primaryEnd, renderedTilesCalls({ startWorker } as unknown as RenderedTiles), () => {});
    createRemoteTileClient(createCaller(workerEnd)).startWorker();
    await vi.waitFor(() => expect(startWorker).toHaveBeenCalledOnce());
  });
});
