import type { ServerResponse } from 'node:http';

/** Returns a signal that is aborted when the client disconnects before the response is complete. */
export function clientSignalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  // A client may disconnect before this call, for example while the slide is being opened.
  if (response.closed && !response.writableFinished) controller.abort();
  // Node emits `close` after every response, even after a complete one.
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}
