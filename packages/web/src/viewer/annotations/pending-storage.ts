/**
 * Pending changes in IndexedDB: they survive a reload, a crash and an expired sign-in. Each tab owns its records; the records
 * of a closed tab are adopted by the next tab that opens.
 */
import type { FeatureJson, Geometry } from '@lamina/annotations';
import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import {
  type Coordinates,
  type PackedCoordinates,
  packCoordinates,
  unpackCoordinates,
} from './packed-coordinates.ts';
import type { PendingBatch, PendingChange, PendingWork } from './pending-change.ts';

export interface PendingStorage {
  /** Returns the records of this account that no other open tab owns, and makes this tab their owner. */
  load(): Promise<PendingWork>;
  saveChange(change: PendingChange): Promise<void>;
  removeChange(id: string): Promise<void>;
  /** Stores a batch in place of its changes. */
  startBatch(batch: PendingBatch): Promise<void>;
  /** Removes a batch and stores changes in its place. */
  endBatch(layerId: string, changes: readonly PendingChange[]): Promise<void>;
}

interface Owned {
  readonly uid: string;
  readonly tab: string;
}

/** A change as it is stored. Records of earlier versions have no packed coordinates. */
type StoredChange = PendingChange & { readonly packed?: PackedCoordinates };

interface StoredBatch extends PendingBatch {
  readonly changes: readonly StoredChange[];
}

interface PendingSchema extends DBSchema {
  changes: { key: [string, string, string]; value: StoredChange & Owned };
  batches: { key: [string, string, string]; value: StoredBatch & Owned };
}

const databaseName = 'annotations';
const lockPrefix = 'annotations-tab:';

/** Creates a storage that keeps nothing, for browsers without IndexedDB. */
function emptyStorage(): PendingStorage {
  const done = async () => {};
  return {
    load: async () => ({ changes: [], batches: [] }),
    saveChange: done,
    removeChange: done,
    startBatch: done,
    endBatch: done,
  };
}

/** @param tab a new id for this tab, which no other tab has used */
export function createPendingStorage(uid: string, tab: string): PendingStorage {
  if (globalThis.indexedDB === undefined) return emptyStorage();
  holdLock(`${lockPrefix}${tab}`);
  const opened = openDB<PendingSchema>(databaseName, 1, {
    upgrade(db) {
      db.createObjectStore('changes', { keyPath: ['uid', 'tab', 'id'] });
      db.createObjectStore('batches', { keyPath: ['uid', 'tab', 'layerId'] });
    },
  });
  const own = { uid, tab };
  return {
    load: async () => adopt(await opened, own),

    async saveChange(change) {
      await (await opened).put('changes', { ...storedChange(change), ...own });
    },

    async removeChange(id) {
      await (await opened).delete('changes', [uid, tab, id]);
    },

    async startBatch(batch) {
      const tx = (await opened).transaction(['changes', 'batches'], 'readwrite');
      void tx.objectStore('batches').put({ ...batch, changes: batch.changes.map(storedChange), ...own });
      for (const { id } of batch.changes) void tx.objectStore('changes').delete([uid, tab, id]);
      await tx.done;
    },

    async endBatch(layerId, changes) {
      const tx = (await opened).transaction(['changes', 'batches'], 'readwrite');
      void tx.objectStore('batches').delete([uid, tab, layerId]);
      for (const change of changes) void tx.objectStore('changes').put({ ...storedChange(change), ...own });
      await tx.done;
    },
  };
}

/** Takes a lock that is held until this tab is closed. Meanwhile `liveTabs` of other tabs contains this one. */
function holdLock(name: string): void {
  void navigator.locks?.request(name, () => new Promise(() => {}));
}

/** Returns the tabs that are open; null when the browser cannot tell. */
async function liveTabs(): Promise<ReadonlySet<string> | null> {
  if (navigator.locks === undefined) return null;
  const { held = [] } = await navigator.locks.query();
  return new Set(
    held.flatMap(({ name }) => (name?.startsWith(lockPrefix) ? name.slice(lockPrefix.length) : [])),
  );
}

async function adopt(db: IDBPDatabase<PendingSchema>, own: Owned): Promise<PendingWork> {
  const live = await liveTabs();
  const isFree = (record: Owned) =>
    record.uid === own.uid && (record.tab === own.tab || live === null || !live.has(record.tab));
  const tx = db.transaction(['changes', 'batches'], 'readwrite');
  const changes = (await tx.objectStore('changes').getAll()).filter(isFree);
  const batches = (await tx.objectStore('batches').getAll()).filter(isFree);
  for (const change of changes) {
    void tx.objectStore('changes').delete([change.uid, change.tab, change.id]);
    void tx.objectStore('changes').put({ ...change, ...own });
  }
  for (const batch of batches) {
    void tx.objectStore('batches').delete([batch.uid, batch.tab, batch.layerId]);
    void tx.objectStore('batches').put({ ...batch, ...own });
  }
  await tx.done;
  return {
    changes: changes.map((change) => pendingChange(withoutOwner(change))),
    batches: mergeBatches(
      batches.map((batch) => ({ ...withoutOwner(batch), changes: batch.changes.map(pendingChange) })),
    ),
  };
}

function storedChange(change: PendingChange): StoredChange {
  const { feature } = change;
  const packed = feature && packCoordinates(feature.geometry.coordinates);
  if (!packed) return change;
  return { ...change, packed, feature: withCoordinates(feature, []) };
}

function pendingChange({ packed, ...change }: StoredChange): PendingChange {
  if (packed === undefined || change.feature === null) return change;
  return { ...change, feature: withCoordinates(change.feature, unpackCoordinates(packed)) };
}

function withCoordinates(feature: FeatureJson, coordinates: Coordinates): FeatureJson {
  return { ...feature, geometry: { ...feature.geometry, coordinates } as Geometry };
}

function withoutOwner<T extends Owned>({ uid: _uid, tab: _tab, ...rest }: T): Omit<T, 'uid' | 'tab'> {
  return rest;
}

/** Several closed tabs may each have left a batch for the same layer. These batches are merged and sent as one. */
function mergeBatches(batches: readonly PendingBatch[]): readonly PendingBatch[] {
  return [...Map.groupBy(batches, ({ layerId }) => layerId).values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const byId = new Map(same.flatMap(({ changes }) => changes).map((change) => [change.id, change]));
    return [{ ...first, changes: [...byId.values()] }];
  });
}
