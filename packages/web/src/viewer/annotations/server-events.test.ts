import { ReadableStream } from 'node:stream/web';
import { describe, expect, it } from 'vitest';
import { readServerEvents } from './server-events.ts';

/** Returns what `readServerEvents` yields for a stream. @param parts of the stream as they arrive from the network */
async function eventsOf(...parts: readonly string[]) {
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const part of parts) controller.enqueue(encoder.encode(part));
      controller.close();
    },
  });
  return Array.fromAsync(readServerEvents(stream as Parameters<typeof readServerEvents>[0]));
}

describe('readServerEvents (server-sent events)', () => {
  it('yields an event that arrives in several parts', async () => {
    expect(await eventsOf('event: layer\nid: 7\nda', 'ta: {"a":"b: c"}\n', '\n')).toEqual([
      { event: 'layer', id: '7', data: '{"a":"b: c"}' },
    ]);
  });

  it('yields null for blocks that contain only comments or the retry field', async () => {
    expect(await eventsOf('retry: 2000\n: \n\n: \n\n')).toEqual([null, null]);
  });

  it('drops an event that is incomplete when the stream ends', async () => {
    expect(await eventsOf('event: layer\nid: 7\ndata: {}\n')).toEqual([]);
  });
});
