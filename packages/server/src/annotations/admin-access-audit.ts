/**
 * Records in the audit log that an administrator reads another user's private annotation layer, or edits another user's layer.
 * Each process records one event per sign-in, layer and kind of use, so that autosave and event streams do not fill the log.
 */
import type { User } from '@lamina/contract';
import type { Actor } from '../audit/actor.ts';
import type { AuditAction, AuditRecorder } from '../audit/audit-recorder.ts';
import { isPrivateLayerOfAnother } from '../domain/annotation-rights.ts';
import type { LayerRow } from '../store/annotation-layers.ts';
import { type Database, type DatabaseTransaction, runLockedTransaction } from '../store/database.ts';

export interface AdminAccessAudit {
  /** Records the reading if the layer is another user's private layer. */
  recordRead(actor: Actor, reader: User, layer: LayerRow): Promise<void>;
  /**
   * Records, in the transaction of the change, an edit by an administrator who is not the owner of the layer. Records
   * nothing if all members (the accounts that may view the slide) may edit the layer. Call it after the change,
   * because the lock of the audit log must be the last one that a transaction acquires.
   *
   * @returns a function that the caller must call after the commit, to remember that the event is written
   */
  recordChange(tx: DatabaseTransaction, actor: Actor, user: User, layer: LayerRow): Promise<() => void>;
}

/** Maximum number of written events that the process remembers. A full set is cleared; the same event may then be written again. */
const maxRecordedKeys = 10_000;

export function createAdminAccessAudit({
  db,
  audit,
}: {
  readonly db: Database;
  readonly audit: AuditRecorder;
}): AdminAccessAudit {
  /** Action, sign-in and layer of the events that this process has written. */
  const recordedKeys = new Set<string>();

  const keyOf = (action: AuditAction, actor: Actor, layer: LayerRow) =>
    `${action} ${actor.tokenHash} ${layer.id}`;

  function remember(key: string): void {
    if (recordedKeys.size >= maxRecordedKeys) recordedKeys.clear();
    recordedKeys.add(key);
  }

  const entryOf = (action: AuditAction, actor: Actor, layer: LayerRow) => ({
    action,
    actor: actor.uid,
    target: layer.image_id,
    detail: { layer: layer.id, owner: layer.owner_uid },
    origin: actor.origin,
  });

  return {
    async recordRead(actor, reader, layer) {
      if (!isPrivateLayerOfAnother(reader, layer)) return;
      const key = keyOf('annotation-layer-read', actor, layer);
      if (recordedKeys.has(key)) return;
      await runLockedTransaction(db, 'audit', (tx) =>
        audit.record(tx, entryOf('annotation-layer-read', actor, layer)),
      );
      remember(key);
    },

    async recordChange(tx, actor, user, layer) {
      const isOwner = layer.owner_uid === user.uid;
      const isEditableByMembers = layer.visibility === 'members' && layer.editing === 'members';
      const key = keyOf('annotations-changed', actor, layer);
      if (isOwner || isEditableByMembers || recordedKeys.has(key)) return () => undefined; // nothing to remember
      await audit.record(tx, entryOf('annotations-changed', actor, layer));
      return () => remember(key);
    },
  };
}
