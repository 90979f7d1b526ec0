import { ReadableStream, type ReadableStreamDefaultController, TextDecoderStream } from 'node:stream/web';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { receivePresentation } from './presentations.ts';

/** Stubs `fetch` with a server that opens a stream for each request and ends it when the request is aborted. */
function stubStreams() {
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  vi.stubGlobal('fetch', async (_: string, { signal }: RequestInit) => {
    const body = new ReadableStream<Uint8Array>({
      start(stream) {
        streams.push(stream);
        signal?.addEventListener('abort', () => stream.error(signal.reason));
      },
    });
    return { ok: true, body };
  });
  vi.stubGlobal('TextDecoderStream', TextDecoderStream); // jsdom has no streams
  return {
    connectionCount: () => streams.length,
    send: (text: string) => streams.at(-1)?.enqueue(new TextEncoder().encode(text)),
  };
}

describe('receivePresentation (events of a live presentation)', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('connects again when the server has sent nothing for 40 s, but not while it sends comments of the event stream', async () => {
    const { connectionCount, send } = stubStreams();
    const onEvent = vi.fn<Parameters<typeof receivePresentation>[2]>();
    const disconnect = receivePresentation('c', 'the session', onEvent);
    await vi.advanceTimersByTimeAsync(0);
    for (let comment = 0; comment < 4; comment++) {
      send(': keep-alive\n\n');
      await vi.advanceTimersByTimeAsync(15_000);
    }
    expect(connectionCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(40_000);
    expect(connectionCount()).toBe(2);
    send('id: 1\ndata: {"field":null,"item":3}\n\n');
    await vi.advanceTimersByTimeAsync(0);
    expect(onEvent.mock.calls).toEqual([[{ field: null, item: 3 }]]);
    disconnect();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(connectionCount()).toBe(2);
  });
});
