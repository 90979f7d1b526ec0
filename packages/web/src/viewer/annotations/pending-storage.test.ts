import 'fake-indexeddb/auto'; // defines the classes of IndexedDB, which jsdom lacks
import { IDBFactory } from 'fake-indexeddb';
import { openDB } from 'idb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { setAuthState, signedOut } from '../../api/auth-state.ts';
import { account } from '../../testing/accounts.ts';
import type { PendingChange } from './pending-change.ts';
import { hasPendingAnnotations } from './pending-flag.ts';
import { createPendingStorage } from './pending-storage.ts';

/** The tabs that are open, each of which holds a Web Lock. */
let openTabs: string[];
beforeEach(() => {
  openTabs = [];
  vi.stubGlobal('indexedDB', new IDBFactory());
  vi.stubGlobal('navigator', {
    locks: {
      request: async () => undefined,
      query: async () => ({ held: openTabs.map((tab) => ({ name: `annotations-tab:${tab}` })) }),
    },
  });
});

/** A change that moves an annotation to (x, 0). */
const changeOf = (id: string, x: number): PendingChange => ({
  id,
  layerId: 'layer',
  imageId: 'image',
  base: 1,
  feature: {
    type: 'Feature',
    id,
    geometry: { type: 'Point', coordinates: [x, 0] },
    properties: { objectType: 'annotation' },
  },
});
const batchOf = (changes: readonly PendingChange[]) => ({ layerId: 'layer', imageId: 'image', changes });
const idsOf = (batches: readonly { readonly changes: readonly PendingChange[] }[]) =>
  batches.map(({ changes }) => changes.map(({ id }) => id));

describe('createPendingStorage (annotation changes that the server has not acknowledged, in IndexedDB)', () => {
  it('returns the changes of a closed tab, with their coordinates, to the next tab that the account opens', async () => {
    await createPendingStorage('ayse', 'tab 1').saveChange(changeOf('a', 10));
    const { changes } = await createPendingStorage('ayse', 'tab 2').load();
    expect(changes).toEqual([changeOf('a', 10)]);
  });

  it('keeps both pending changes when annotations of two layers have the same id', async () => {
    const storage = createPendingStorage('ayse', 'tab 1');
    const changes = [changeOf('a', 10), { ...changeOf('a', 20), layerId: 'second layer' }];
    for (const change of changes) await storage.saveChange(change);
    expect((await createPendingStorage('ayse', 'tab 2').load()).changes).toEqual(changes);
  });

  it('moves a change to the created layer and keeps no copy of the change under its previous layer', async () => {
    const storage = createPendingStorage('ayse', 'tab 1');
    await storage.saveChange(changeOf('a', 10));
    await storage.moveChanges([changeOf('a', 10)], 'created layer');
    const { changes } = await createPendingStorage('ayse', 'tab 2').load();
    expect(changes).toEqual([{ ...changeOf('a', 10), layerId: 'created layer' }]);
  });

  it('returns and removes a change that an earlier version of the program has stored under a key without the layer id', async () => {
    await createPendingStorage('ayse', 'tab 1').load(); // creates the database
    const database = await openDB('annotations', 1);
    await database.put('changes', { ...changeOf('a', 10), uid: 'ayse', tab: 'tab 1' });
    const storage = createPendingStorage('ayse', 'tab 2');
    expect((await storage.load()).changes).toEqual([changeOf('a', 10)]);
    await storage.removeChange(changeOf('a', 10));
    expect(await database.count('changes')).toBe(0);
    database.close();
  });

  it('returns nothing that belongs to another account or to a tab that is still open', async () => {
    openTabs = ['tab 1'];
    await createPendingStorage('ayse', 'tab 1').saveChange(changeOf('a', 10));
    await createPendingStorage('deniz', 'tab 3').saveChange(changeOf('b', 20));
    expect(await createPendingStorage('ayse', 'tab 2').load()).toEqual({ changes: [], batches: [] });
  });

  it('returns the unsent batches of two closed tabs to a third tab, and to a fourth tab after the third is closed', async () => {
    await createPendingStorage('ayse', 'tab 1').startBatch(batchOf([changeOf('a', 10)]));
    await createPendingStorage('ayse', 'tab 2').startBatch(batchOf([changeOf('b', 20)]));
    expect(idsOf((await createPendingStorage('ayse', 'tab 3').load()).batches)).toEqual([['a', 'b']]);
    expect(idsOf((await createPendingStorage('ayse', 'tab 4').load()).batches)).toEqual([['a', 'b']]);
  });

  it('replaces a stored batch by the changes that remain to be sent after a response of the server', async () => {
    const storage = createPendingStorage('ayse', 'tab 1');
    await storage.startBatch(batchOf([changeOf('a', 10), changeOf('b', 20)]));
    await storage.endBatch('layer', [changeOf('b', 20)]);
    expect(await createPendingStorage('ayse', 'tab 2').load()).toEqual({
      changes: [changeOf('b', 20)],
      batches: [],
    });
  });
});

describe('hasPendingAnnotations (whether this browser stores unsent changes of the signed-in account)', () => {
  const signIn = (uid: string) => setAuthState({ user: account({ uid }) });
  afterEach(() => setAuthState(signedOut));

  it('returns true after a batch was sent, until the last change that must be sent again is removed', async () => {
    signIn('ayse');
    const storage = createPendingStorage('ayse', 'tab 1');
    await storage.saveChange(changeOf('a', 10));
    await storage.startBatch(batchOf([changeOf('a', 10)]));
    await storage.endBatch('layer', [changeOf('a', 10)]);
    expect(hasPendingAnnotations()).toBe(true);
    await storage.removeChange(changeOf('a', 10));
    expect(hasPendingAnnotations()).toBe(false);
  });

  it('stays true for an account while another account stores and removes its own changes', async () => {
    await createPendingStorage('ayse', 'tab 1').saveChange(changeOf('a', 10));
    const storage = createPendingStorage('deniz', 'tab 2');
    await storage.saveChange(changeOf('b', 20));
    await storage.removeChange(changeOf('b', 20));
    signIn('deniz');
    expect(hasPendingAnnotations()).toBe(false);
    signIn('ayse');
    expect(hasPendingAnnotations()).toBe(true);
  });

  it('stays true for an account while another tab of the account stores and removes its own changes', async () => {
    signIn('ayse');
    await createPendingStorage('ayse', 'tab 1').saveChange(changeOf('a', 10));
    const storage = createPendingStorage('ayse', 'tab 2');
    await storage.saveChange(changeOf('b', 20));
    await storage.removeChange(changeOf('b', 20));
    expect(hasPendingAnnotations()).toBe(true);
  });
});
