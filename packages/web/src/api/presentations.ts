/** Live presentations of a collection. The owner of the collection sends events; followers receive these as server-sent events. */
import { followPresentation, PresentationEvent, present } from '@lamina/contract';
import { call, endpointUrl } from './client.ts';
import { storedToken } from './stored-sign-in.ts';

/** Delay before a stream that has ended is opened again. */
const reconnectDelayMs = 1500;
/** The server sends at least a comment every 15 s; a connection that stays silent longer than this is treated as lost. */
const silenceTimeoutMs = 40_000;

/** Sends the current item and field of view of the presenter to all followers. A failed call is not retried. */
export async function showToFollowers(collectionId: string, event: PresentationEvent): Promise<void> {
  await call(present, { params: { collectionId }, body: event }).catch(() => undefined);
}

/** Ends a presentation with `fetch` instead of `call`, because its option `keepalive` lets the request outlive the page. */
export function endPresentation(collectionId: string): void {
  const event: PresentationEvent = { field: null, item: null }; // an event without an item ends the presentation
  void fetch(endpointUrl(present, { collectionId }), {
    method: present.method,
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${storedToken() ?? ''}` },
    body: JSON.stringify(event),
    keepalive: true,
  }).catch(() => undefined); // after a failure, the server ends the presentation itself, because it receives no more events
}

/**
 * Calls `onEvent` for each event of a presentation, and connects again when the stream ends or stays silent for 40 s.
 *
 * @param session image session (credential of a visitor) of a share link; null for an account
 * @returns a function that disconnects
 */
export function receivePresentation(
  collectionId: string,
  session: string | null,
  onEvent: (event: PresentationEvent) => void,
): () => void {
  const abortController = new AbortController();
  const { signal } = abortController;
  async function receiveUntilAborted() {
    while (!signal.aborted) {
      const silence = new AbortController();
      let silenceTimer: ReturnType<typeof setTimeout> | undefined;
      const restartSilenceTimer = () => {
        clearTimeout(silenceTimer);
        silenceTimer = setTimeout(() => silence.abort(), silenceTimeoutMs);
      };
      restartSilenceTimer();
      await readEvents(collectionId, session, {
        onEvent,
        onData: restartSilenceTimer,
        signal: AbortSignal.any([signal, silence.signal]),
      }).catch(() => undefined);
      clearTimeout(silenceTimer);
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, reconnectDelayMs));
    }
  }
  void receiveUntilAborted();
  return () => abortController.abort();
}

interface StreamReader {
  readonly onEvent: (event: PresentationEvent) => void;
  /** Called whenever data is received, also for a comment. */
  readonly onData: () => void;
  readonly signal: AbortSignal;
}

/** Opens the stream of a presentation and calls `onEvent` for each event until the stream ends. */
async function readEvents(
  collectionId: string,
  session: string | null,
  { onEvent, onData, signal }: StreamReader,
): Promise<void> {
  // `fetch` is used because EventSource cannot send a bearer token.
  const token = session === null ? storedToken() : null;
  const response = await fetch(endpointUrl(followPresentation, { collectionId }, { session }), {
    headers: { Accept: 'text/event-stream', ...(token !== null && { Authorization: `Bearer ${token}` }) },
    signal,
  });
  if (!response.ok || response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onData();
    buffer += value;
    const events = buffer.split('\n\n');
    buffer = events.pop() ?? ''; // an event whose end has not been received yet
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      const parsed = data === undefined ? null : PresentationEvent.safeParse(JSON.parse(data));
      if (parsed?.success) onEvent(parsed.data);
    }
  }
}
