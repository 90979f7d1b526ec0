/** A reader for server-sent events, needed because the browser's `EventSource` cannot send the bearer token. */

export interface ServerEvent {
  /** Name of the event; `message` by default. */
  readonly event: string;
  /** Empty when the event has no id. */
  readonly id: string;
  readonly data: string;
}

/** Yields the events of a stream, and null for a comment, which the server sends every 10 s to show that the connection works. */
export async function* readServerEvents(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<ServerEvent | null, void, undefined> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let unfinishedBlock = '';
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const blocks = (unfinishedBlock + decoder.decode(chunk.value, { stream: true })).split('\n\n');
      unfinishedBlock = blocks.pop() ?? '';
      for (const block of blocks) yield parseBlock(block);
    }
  } finally {
    void reader.cancel().catch(() => undefined); // after a failed `read`, `cancel` rejects with the same error
  }
}

/** Parses one event, whose data is one line. Returns null for a block without data, such as a comment (`: text`). */
function parseBlock(block: string): ServerEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
  }
  const data = fields.get('data');
  if (data === undefined) return null;
  return { event: fields.get('event') ?? 'message', id: fields.get('id') ?? '', data };
}
