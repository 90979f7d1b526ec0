/**
 * Audit events of API tokens: the first use of each slide in an hour, and the first use in an hour of calls without a slide.
 * The database remembers what it has for the current hour, so that all processes together write one event.
 */
import { AppError } from '@lamina/contract';
import type { ApiTokenName, ViewKind } from '../domain/image-session.ts';
import { insertApiTokenUse } from '../store/api-tokens.ts';
import { type Database, isMissingReference } from '../store/database.ts';
import type { AuditEntry, AuditRecorder, Origin } from './audit-recorder.ts';

const hourMs = 60 * 60_000;

/** The hour of the last call: each tile asks, and the text costs as much as a tenth of a tile. */
let current = { hour: Number.NaN, text: '' };

/** Returns the start of the hour, by which uses are counted. */
export function hourOf(at: Date): string {
  const hour = Math.floor(at.getTime() / hourMs);
  if (hour !== current.hour) current = { hour, text: new Date(hour * hourMs).toISOString() };
  return current.text;
}

interface Use {
  readonly token: ApiTokenName;
  /** Uid of the owner. */
  readonly uid: string;
  /** Null: a call without a slide. */
  readonly imageId: string | null;
  readonly kind: 'call' | ViewKind;
  readonly origin: Origin;
  readonly at: Date;
  readonly action: AuditEntry['action'];
  readonly detail: NonNullable<AuditEntry['detail']>;
}

interface Dependencies {
  readonly db: Database;
  readonly audit: Pick<AuditRecorder, 'record'>;
}

/**
 * Records a use unless the hour has it already.
 *
 * @throws AppError token_invalid when the token has been revoked meanwhile
 */
export async function recordApiTokenUse({ db, audit }: Dependencies, use: Use): Promise<void> {
  const { token, uid, imageId, kind, origin, at, action, detail } = use;
  const row = { token_id: token.id, target: imageId ?? '', kind, hour: hourOf(at) };
  try {
    await db.transaction().execute(async (tx) => {
      if (!(await insertApiTokenUse(tx, row))) return;
      await audit.record(tx, {
        action,
        actor: uid,
        target: imageId,
        detail: { ...detail, token: token.prefix },
        origin,
        at,
      });
    });
  } catch (error) {
    if (isMissingReference(error)) throw new AppError('token_invalid', { cause: error });
    throw error;
  }
}
