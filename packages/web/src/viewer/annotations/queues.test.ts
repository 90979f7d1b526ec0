import 'fake-indexeddb/auto'; // defines the classes of IndexedDB, which jsdom lacks
import { IDBFactory } from 'fake-indexeddb';
import { afterEach, expect, it, vi } from 'vitest';
import { setAuthState, signedOut } from '../../api/auth-state.ts';
import { account } from '../../testing/accounts.ts';
import { stubApi } from '../../testing/stub-api.ts';
import { hasPendingAnnotations } from './pending-flag.ts';
import { queueOf } from './queues.ts';

const id = '6423a977-ffff-48db-affc-cd11632010f0';
const signIn = (uid: string) => setAuthState({ user: account({ uid }), token: uid, isAuthenticated: true });
afterEach(() => setAuthState(signedOut));

it('unsent changes of annotations are shown and sent when their account signs in again after another account has used the same tab', async () => {
  const heldLocks: { readonly name: string }[] = [];
  vi.stubGlobal('indexedDB', new IDBFactory());
  vi.stubGlobal('navigator', {
    locks: {
      request: async (name: string) => void heldLocks.push({ name }),
      query: async () => ({ held: heldLocks }),
    },
  });
  stubApi({}); // the server is unreachable
  signIn('ayse');
  const queue = await queueOf('ayse');
  queue.add({
    id,
    layerId: 'layer',
    imageId: 'image',
    base: null,
    feature: {
      type: 'Feature',
      id,
      geometry: { type: 'Point', coordinates: [10, 0] },
      properties: { objectType: 'annotation' },
    },
  });
  await vi.waitUntil(() => queue.state().kind === 'offline', { timeout: 5000 });

  signIn('deniz');
  expect((await queueOf('deniz')).pendingOf('image').size).toBe(0);

  signIn('ayse');
  expect(hasPendingAnnotations()).toBe(true);
  const calls = stubApi({ 'POST /annotation-layers/layer/changes': { version: 1, revisions: { [id]: 1 } } });
  const queueOfReturned = await queueOf('ayse');
  expect([...queueOfReturned.pendingOf('image').values()].map((change) => change.id)).toEqual([id]);
  await vi.waitUntil(() => queueOfReturned.state().kind === 'saved', { timeout: 5000 });
  expect(calls.map(({ name }) => name)).toEqual(['POST /annotation-layers/layer/changes']);
});
