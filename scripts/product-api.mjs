/** The API of a running server, as the scripts call it. */
import { setTimeout } from 'node:timers/promises';

export async function untilReady(serverAddress) {
  for (;;) {
    try {
      if ((await fetch(`${serverAddress}/health/ready`)).ok) return;
    } catch {
      // not listening yet
    }
    await setTimeout(200, undefined, { ref: false });
  }
}

/** @throws Error when the answer is not a good one */
export async function callApi(serverAddress, method, path, { token, body } = {}) {
  const answer = await fetch(`${serverAddress}/api/v1${path}`, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const content = await answer.json();
  if (answer.ok) return content;
  throw new Error(`${method} ${path}: ${answer.status} ${content.message}`);
}
