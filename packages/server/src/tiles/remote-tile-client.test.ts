import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { answerCalls, type Channel, createCaller } from './process-calls.ts';
import { createRemoteTileClient, renderedTilesCalls } from './remote-tile-client.ts';
import type { RenderedTiles } from './rendered-tiles.ts';

/** Returns the two ends of a channel. Messages are copied, as between processes. */
function createChannel(): [Channel, Channel] {
  const ends = [new EventEmitter(), new EventEmitter()] as const;
  const endOf = (own: EventEmitter, other: EventEmitter): Channel => ({
    send(message, sent) {
      other.emit('message', structuredClone(message));
      sent(null);
      return true;
    },
    on: (event, listener) => own.on(event, listener),
  });
  return [endOf(ends[0], ends[1]), endOf(ends[1], ends[0])];
}

describe('the remote tile client', () => {
  it('sends the account and the session of the request along with a tile, a thumbnail or a header read', async () => {
    const [serving, rendering] = createChannel();
    const tile = vi.fn<RenderedTiles['tile']>(async () => ({ jpeg: new Uint8Array(1), wasCached: false }));
    const thumbnail = vi.fn<RenderedTiles['thumbnail']>(async () => new Uint8Array(1));
    const inspect = vi.fn<RenderedTiles['inspect']>(async () => {
      throw new Error('not asked for its answer');
    });
    answerCalls(
      rendering,
      renderedTilesCalls({ tile, thumbnail, inspect } as unknown as RenderedTiles),
      () => {},
    );
    const tiles = createRemoteTileClient(createCaller(serving));
    const requester = { account: 'an account', session: 'a session' };
    const from = { location: { path: 'a.svs' }, fingerprint: 'fingerprint' };
    const { signal } = new AbortController();

    await tiles.tile(from, { dziLevel: 3, column: 0, row: 0 }, { signal, requester });
    await tiles.thumbnail(from, signal, requester);
    await expect(tiles.inspect(from.location, signal, requester)).rejects.toThrow();
    await expect(tiles.inspect(from.location, signal)).rejects.toThrow();
    expect(tile.mock.calls[0]?.[2].requester).toEqual(requester);
    expect(thumbnail.mock.calls[0]?.[2]).toEqual(requester);
    expect(inspect.mock.calls.map((call) => call[2])).toEqual([requester, null]);
  });
});
