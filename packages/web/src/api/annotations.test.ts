import { expect, it, vi } from 'vitest';
import { stubApi } from '../testing/stub-api.ts';
import { sendChanges } from './annotations.ts';

it('sendChanges waits 10 s for the response to a small batch of annotation changes, and 40 s for one of 4 MiB', async () => {
  stubApi({ 'POST /annotation-layers/layer/changes': { version: 2, revisions: {} } });
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  await sendChanges('layer', [], 0);
  await sendChanges('layer', [], 4 * 2 ** 20);
  await sendChanges('layer', [], 16 * 2 ** 20);
  const seconds = timeout.mock.calls.map(([ms]) => Math.round(ms / 1000));
  expect(seconds).toEqual([10, 40, 60]);
});
