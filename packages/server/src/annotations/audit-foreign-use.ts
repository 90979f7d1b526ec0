/**
 * Records that an administrator reads another person's private layer, or edits another person's layer: once for each
 * sign-in and layer, since autosave and events would otherwise fill the audit log.
 */
import type { User } from '@lamina/contract';
import type { Actor } from '../audit/actor.ts';
import type { AuditAction, AuditRecorder } from '../audit/audit-recorder.ts';
import { isPrivateLayerOfAnother } from '../domain/annotation-rights.ts';
import type { LayerRow } from '../store/annotation-layers.ts';
import { type Change, change, type Database } from '../store/database.ts';

export interface AuditForeignUse {
  recordRead(by: Actor, reader: User, layer: LayerRow): Promise<void>;
  /**
   * Records an edit that only administrators may make, in the transaction of the change.
   *
   * @returns a function to call after the commit
   */
  recordChange(tx: Change, by: Actor, user: User, layer: LayerRow): Promise<() => void>;
}

const maxRemembered = 10_000;

export function createAuditForeignUse({
  db,
  audit,
}: {
  readonly db: Database;
  readonly audit: AuditRecorder;
}): AuditForeignUse {
  const recorded = new Set<string>();

  const keyOf = (action: AuditAction, by: Actor, layer: LayerRow) => `${action} ${by.tokenHash} ${layer.id}`;

  function remember(key: string): void {
    if (recorded.size >= maxRemembered) recorded.clear();
    recorded.add(key);
  }

  const entryOf = (action: AuditAction, by: Actor, layer: LayerRow) => ({
    action,
    actor: by.uid,
    target: layer.image_id,
    detail: { layer: layer.id, owner: layer.owner_uid },
    origin: by.origin,
  });

  return {
    async recordRead(by, reader, layer) {
      if (!isPrivateLayerOfAnother(reader, layer)) return;
      const key = keyOf('annotation-layer-read', by, layer);
      if (recorded.has(key)) return;
      await change(db, 'audit', (tx) => audit.record(tx, entryOf('annotation-layer-read', by, layer)));
      remember(key);
    },

    async recordChange(tx, by, user, layer) {
      const isOrdinary =
        layer.owner_uid === user.uid || (layer.visibility === 'members' && layer.editing === 'members');
      const key = keyOf('annotations-changed', by, layer);
      if (isOrdinary || recorded.has(key)) return () => undefined;
      await audit.record(tx, entryOf('annotations-changed', by, layer));
      return () => remember(key);
    },
  };
}
