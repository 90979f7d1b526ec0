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
    expect(await createPendingStorage('ayse', 'tab 2').load()).toEqual({
      changes: [],
      batches: [],
      waiting: [],
    });
  });

  it('returns the unsent batches of two closed tabs to a third tab, and to a fourth tab after the third is closed', async () => {
    await createPendingStorage('ayse', 'tab 1').startBatch(batchOf([changeOf('a', 10)]));
    await createPendingStorage('ayse', 'tab 2').startBatch(batchOf([changeOf('b', 20)]));
    expect(idsOf((await createPendingStorage('ayse', 'tab 3').load()).batches)).toEqual([['a', 'b']]);
    expect(idsOf((await createPendingStorage('ayse', 'tab 4').load()).batches)).toEqual([['a', 'b']]);
  });

  it('returns the changes of two closed tabs to one annotation as one change and one that waits, also after another reload', async () => {
    await createPendingStorage('ayse', 'tab 1').saveChange(changeOf('a', 10));
    await createPendingStorage('ayse', 'tab 2').saveChange(changeOf('a', 20));
    for (const tab of ['tab 3', 'tab 4']) {
      const { changes, waiting } = await createPendingStorage('ayse', tab).load();
      expect(changes).toEqual([changeOf('a', 10)]);
      expect(waiting.map(({ change }) => change)).toEqual([changeOf('a', 20)]);
    }
  });

  it('stores a waiting change as the change of its annotation when the change is resumed', async () => {
    await createPendingStorage('ayse', 'tab 1').saveChange(changeOf('a', 10));
    await createPendingStorage('ayse', 'tab 2').saveChange(changeOf('a', 20));
    const storage = createPendingStorage('ayse', 'tab 3');
    const [waiting] = (await storage.load()).waiting;
    if (waiting === undefined) throw new Error('No change waits.');
    await storage.removeChange(changeOf('a', 10));
    await storage.resumeChange(waiting);
    expect(await createPendingStorage('ayse', 'tab 4').load()).toEqual({
      changes: [changeOf('a', 20)],
      batches: [],
      waiting: [],
    });
  });

  it('lets the batch and the later change of one closed tab come first, and those of another tab wait as one change with the base of its batch', async () => {
    const first = createPendingStorage('ayse', 'tab 1');
    await first.startBatch(batchOf([changeOf('a', 10)]));
    await first.saveChange({ ...changeOf('a', 11), base: 2 });
    const second = createPendingStorage('ayse', 'tab 2');
    await second.startBatch(batchOf([changeOf('a', 20), changeOf('b', 20)]));
    await second.saveChange({ ...changeOf('a', 21), base: 2 });
    const { changes, batches, waiting } = await createPendingStorage('ayse', 'tab 3').load();
    expect(batches).toEqual([batchOf([changeOf('a', 10), changeOf('b', 20)])]);
    expect(changes).toEqual([{ ...changeOf('a', 11), base: 2 }]);
    expect(waiting.map(({ change }) => change)).toEqual([changeOf('a', 21)]);
  });

  it('keeps three versions of an annotation when the tab that took over two of them is closed, too', async () => {
    for (const [tab, x] of [
      ['tab 1', 10],
      ['tab 2', 20],
    ] as const)
      await createPendingStorage('ayse', tab).saveChange(changeOf('a', x));
    await createPendingStorage('ayse', 'tab 3').load();
    await createPendingStorage('ayse', 'tab 4').saveChange(changeOf('a', 30));
    const { changes, waiting } = await createPendingStorage('ayse', 'tab 5').load();
    const versions = [...changes, ...waiting.map(({ change }) => change)];
    expect(versions.map(({ feature }) => feature?.geometry.coordinates)).toEqual([
      [10, 0],
      [30, 0],
      [20, 0],
    ]);
  });

  it('replaces a stored batch by the changes that remain to be sent after a response of the server', async () => {
    const storage = createPendingStorage('ayse', 'tab 1');
    await storage.startBatch(batchOf([changeOf('a', 10), changeOf('b', 20)]));
    await storage.endBatch('layer', [changeOf('b', 20)]);
    expect(await createPendingStorage('ayse', 'tab 2').load()).toEqual({
      changes: [changeOf('b', 20)],
      batches: [],
      waiting: [],
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
