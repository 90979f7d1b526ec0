/**
 * The storage of pending changes (not acknowledged by the server) in IndexedDB, where they survive a reload, a crash and an
 * expired sign-in. Each tab owns its records; the next tab that opens takes over the records of closed tabs.
 */
import type { FeatureJson, Geometry } from '@lamina/annotations';
import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import {
  type Coordinates,
  type PackedCoordinates,
  packCoordinates,
  unpackCoordinates,
} from './packed-coordinates.ts';
import {
  annotationKey,
  type PendingBatch,
  type PendingChange,
  type PendingWork,
  type WaitingChange,
} from './pending-change.ts';
import { setPendingFlag } from './pending-flag.ts';

export interface PendingStorage {
  /** Returns the records of this account that no other open tab owns, and makes this tab their owner. */
  load(): Promise<PendingWork>;
  saveChange(change: PendingChange): Promise<void>;
  removeChange(change: Pick<PendingChange, 'layerId' | 'id'>): Promise<void>;
  /** Stores a waiting change as the change of its annotation. */
  resumeChange(waiting: WaitingChange): Promise<void>;
  /** Stores changes of a layer as changes of another layer. */
  moveChanges(changes: readonly PendingChange[], layerId: string): Promise<void>;
  /** Stores a batch that is being sent, and removes its changes from the stored changes that are not sent yet. */
  startBatch(batch: PendingBatch): Promise<void>;
  /** Removes the batch of a layer and stores the changes that are still to be sent. */
  endBatch(layerId: string, changes: readonly PendingChange[]): Promise<void>;
}

/** The account and the tab to which a record belongs. */
interface Owner {
  readonly uid: string;
  readonly tab: string;
}

/**
 * A change as it is stored. `packed` holds the coordinates of its feature; it is absent for a single position, for a deletion,
 * and in records of earlier versions of the program.
 */
type StoredChange = PendingChange & { readonly packed?: PackedCoordinates };

/**
 * The record of a change. Its `id` is the `annotationKey`, because annotations of several layers may have the same id; a waiting change
 * has a longer one (`waitingIdOf`). In a record of an earlier version of the program, `id` is the id of the annotation and `annotationId` is absent. The field is still called `id`,
 * because it is part of the key path. Another key path would need a new version of the database, and a browser opens a new version
 * only after every tab with the old version is closed.
 */
type ChangeRecord = StoredChange & Owner & { readonly annotationId?: string };

interface StoredBatch extends PendingBatch {
  readonly changes: readonly StoredChange[];
}

interface PendingSchema extends DBSchema {
  /** Key: ids of the account, the tab and the record. */
  changes: { key: [string, string, string]; value: ChangeRecord };
  /** Key: ids of the account, the tab and the layer. */
  batches: { key: [string, string, string]; value: StoredBatch & Owner };
}

const databaseName = 'annotations';
const lockPrefix = 'annotations-tab:';

/** Returns a storage that stores nothing, for a browser without IndexedDB. */
function emptyStorage(): PendingStorage {
  const doNothing = async () => {};
  return {
    load: async () => ({ changes: [], batches: [], waiting: [] }),
    saveChange: doNothing,
    removeChange: doNothing,
    resumeChange: doNothing,
    moveChanges: doNothing,
    startBatch: doNothing,
    endBatch: doNothing,
  };
}

/**
 * Creates the storage of this tab, which also maintains the flag of the account (`hasPendingAnnotations`).
 *
 * @param tab a new id, which no other tab has used
 */
export function createPendingStorage(uid: string, tab: string): PendingStorage {
  if (globalThis.indexedDB === undefined) return emptyStorage();
  holdLock(`${lockPrefix}${tab}`);
  const databaseVersion = 1; // why it stays the same: see `ChangeRecord`
  const database = openDB<PendingSchema>(databaseName, databaseVersion, {
    upgrade(db) {
      db.createObjectStore('changes', { keyPath: ['uid', 'tab', 'id'] });
      db.createObjectStore('batches', { keyPath: ['uid', 'tab', 'layerId'] });
    },
  });
  const owner = { uid, tab };
  const keyOf = (change: Pick<PendingChange, 'layerId' | 'id'>): [string, string, string] => [
    uid,
    tab,
    annotationKey(change),
  ];
  /** Updates the flag of the account; call it after records have been removed. The account may have records of other tabs. */
  const updateFlag = async () => setPendingFlag(uid, await hasRecords(await database, uid));
  return {
    load: async () => takeOverRecords(await database, owner),

    async saveChange(change) {
      await (await database).put('changes', recordOf(toStoredChange(change), owner));
      setPendingFlag(uid, true);
    },

    async removeChange(change) {
      await (await database).delete('changes', keyOf(change));
      await updateFlag();
    },

    // In the functions below, waiting for the end of the transaction is enough: `done` rejects when one of its requests fails.
    async resumeChange({ change, recordId }) {
      const tx = (await database).transaction('changes', 'readwrite');
      void tx.store.delete([uid, tab, recordId]);
      void tx.store.put(recordOf(toStoredChange(change), owner));
      await tx.done;
    },

    async moveChanges(changes, layerId) {
      const tx = (await database).transaction('changes', 'readwrite');
      for (const change of changes) {
        void tx.store.delete(keyOf(change));
        void tx.store.put(recordOf(toStoredChange({ ...change, layerId }), owner));
      }
      await tx.done;
    },

    async startBatch(batch) {
      const tx = (await database).transaction(['changes', 'batches'], 'readwrite');
      void tx.objectStore('batches').put({ ...batch, changes: batch.changes.map(toStoredChange), ...owner });
      for (const change of batch.changes) void tx.objectStore('changes').delete(keyOf(change));
      await tx.done;
    },

    async endBatch(layerId, changes) {
      const tx = (await database).transaction(['changes', 'batches'], 'readwrite');
      void tx.objectStore('batches').delete([uid, tab, layerId]);
      for (const change of changes)
        void tx.objectStore('changes').put(recordOf(toStoredChange(change), owner));
      await tx.done;
      await updateFlag();
    },
  };
}

/** Whether an account has records of any tab. */
async function hasRecords(db: IDBPDatabase<PendingSchema>, uid: string): Promise<boolean> {
  // All keys that begin with the id of the account: in the order of IndexedDB keys, an array comes after every string.
  const ofAccount = IDBKeyRange.bound([uid], [uid, []]);
  const tx = db.transaction(['changes', 'batches']);
  const counts = await Promise.all([
    tx.objectStore('changes').count(ofAccount),
    tx.objectStore('batches').count(ofAccount),
  ]);
  return counts.some((count) => count > 0);
}

/** Requests a Web Lock that this tab holds until the tab is closed. Until then, `openTabs` in other tabs returns the id of this tab. */
function holdLock(name: string): void {
  void navigator.locks?.request(name, () => new Promise(() => {}));
}

/** Returns the ids of the open tabs; null when the browser has no Web Locks. */
async function openTabs(): Promise<ReadonlySet<string> | null> {
  if (navigator.locks === undefined) return null;
  const { held = [] } = await navigator.locks.query();
  return new Set(
    held.flatMap(({ name }) => (name?.startsWith(lockPrefix) ? name.slice(lockPrefix.length) : [])),
  );
}

/** Makes this tab the owner of the account's records from closed tabs. @returns these records and those of this tab */
async function takeOverRecords(db: IDBPDatabase<PendingSchema>, owner: Owner): Promise<PendingWork> {
  const openTabIds = await openTabs();
  /** Whether a record belongs to this account and to no other open tab. Without Web Locks, every other tab counts as closed. */
  const canTakeOver = (record: Owner) =>
    record.uid === owner.uid &&
    (record.tab === owner.tab || openTabIds === null || !openTabIds.has(record.tab));
  const tx = db.transaction(['changes', 'batches'], 'readwrite');
  const records = (await tx.objectStore('changes').getAll()).filter(canTakeOver);
  const batches = (await tx.objectStore('batches').getAll()).filter(canTakeOver);
  for (const { uid, tab, id } of records) void tx.objectStore('changes').delete([uid, tab, id]);
  for (const { uid, tab, layerId } of batches) void tx.objectStore('batches').delete([uid, tab, layerId]);
  const own = separateVersions(records, batches);
  for (const change of own.changes) void tx.objectStore('changes').put(recordOf(change, owner));
  for (const { change, recordId } of own.waiting)
    void tx.objectStore('changes').put({ ...recordOf(change, owner), id: recordId });
  for (const batch of own.batches) void tx.objectStore('batches').put({ ...batch, ...owner });
  await tx.done;
  return {
    changes: own.changes.map(toPendingChange),
    batches: own.batches.map((batch) => ({ ...batch, changes: batch.changes.map(toPendingChange) })),
    waiting: own.waiting.map(({ change, recordId }) => ({ change: toPendingChange(change), recordId })),
  };
}

interface StoredWork {
  readonly changes: readonly StoredChange[];
  readonly batches: readonly StoredBatch[];
  readonly waiting: readonly { readonly change: StoredChange; readonly recordId: string }[];
}

/**
 * Separates the changes of annotations that several closed tabs have changed: those of one tab are sent first, and the others wait. A
 * tab has at most two changes of an annotation, one in a batch and a later one.
 */
function separateVersions(
  records: readonly ChangeRecord[],
  batches: readonly (StoredBatch & Owner)[],
): StoredWork {
  /** The tab whose changes of an annotation are sent first, by `annotationKey`. */
  const firstTabs = new Map<string, string>();
  /** Whether the changes of this tab are sent first: those of the first tab for which the function is called. */
  const comesFirst = (key: string, tab: string) => {
    if (!firstTabs.has(key)) firstTabs.set(key, tab);
    return firstTabs.get(key) === tab;
  };
  const changes: StoredChange[] = [];
  /** The latest change of each tab that waits, by tab and `annotationKey`. */
  const laterChanges = new Map<string, StoredChange>();
  const firstBatches = batches.flatMap(({ uid: _uid, tab, ...batch }): readonly StoredBatch[] => {
    const firstChanges = batch.changes.filter((change) => {
      const key = annotationKey(change);
      if (comesFirst(key, tab)) return true;
      laterChanges.set(`${tab} ${key}`, change);
      return false;
    });
    return firstChanges.length === 0 ? [] : [{ ...batch, changes: firstChanges }];
  });
  // The changes that have waited already come last.
  const sortedRecords = records.toSorted((a, b) => Number(isWaiting(a)) - Number(isWaiting(b)));
  for (const record of sortedRecords) {
    const change = changeOfRecord(record);
    const key = annotationKey(change);
    // A change that has waited already counts as one of another tab.
    const tab = isWaiting(record) ? `${record.tab} ${record.id}` : record.tab;
    const inBatch = laterChanges.get(`${tab} ${key}`);
    if (comesFirst(key, tab)) changes.push(change);
    else
      laterChanges.set(`${tab} ${key}`, {
        ...change,
        base: inBatch === undefined ? change.base : inBatch.base,
      });
  }
  const waiting = [...laterChanges.values()].map((change, index) => ({
    change,
    recordId: waitingIdOf(change, index),
  }));
  return { changes, batches: mergeBatches(firstBatches), waiting };
}

/** Returns the id of the record of a waiting change, which differs from the `annotationKey`. */
function waitingIdOf(change: StoredChange, index: number): string {
  return `${annotationKey(change)} ${index}`;
}

function isWaiting(record: ChangeRecord): boolean {
  return record.annotationId !== undefined && record.id !== annotationKey(changeOfRecord(record));
}

function recordOf(change: StoredChange, owner: Owner): ChangeRecord {
  return { ...change, ...owner, id: annotationKey(change), annotationId: change.id };
}

/** Reverses `recordOf`. */
function changeOfRecord({ annotationId, ...record }: ChangeRecord): StoredChange {
  return { ...withoutOwner(record), id: annotationId ?? record.id };
}

/** Packs the coordinates of a change; the stored feature then has an empty array in their place. */
function toStoredChange(change: PendingChange): StoredChange {
  const { feature } = change;
  const packed = feature && packCoordinates(feature.geometry.coordinates);
  if (!packed) return change;
  return { ...change, packed, feature: withCoordinates(feature, []) };
}

/** Reverses `toStoredChange`. */
function toPendingChange({ packed, ...change }: StoredChange): PendingChange {
  if (packed === undefined || change.feature === null) return change;
  return { ...change, feature: withCoordinates(change.feature, unpackCoordinates(packed)) };
}

function withCoordinates(feature: FeatureJson, coordinates: Coordinates): FeatureJson {
  return { ...feature, geometry: { ...feature.geometry, coordinates } as Geometry };
}

function withoutOwner<T extends Owner>({ uid: _uid, tab: _tab, ...record }: T): Omit<T, 'uid' | 'tab'> {
  return record;
}

/** Merges the batches that several closed tabs have left for the same layer, because a tab has one batch per layer. */
function mergeBatches(batches: readonly StoredBatch[]): readonly StoredBatch[] {
  return [...Map.groupBy(batches, ({ layerId }) => layerId).values()].flatMap((sameLayer) => {
    const [first] = sameLayer;
    return first === undefined ? [] : [{ ...first, changes: sameLayer.flatMap(({ changes }) => changes) }];
  });
}
