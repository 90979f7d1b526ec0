/**
 * Records the use of API tokens in the audit log. In each hour, a token gets one event for each slide and kind of use (`kind`),
 * and one for all calls that concern no slide. A database table lists the uses already recorded, so processes do not record a use
 * twice.
 */
import { AppError } from '@lamina/contract';
import type { ApiTokenName, ViewKind } from '../domain/image-session.ts';
import { insertApiTokenUse } from '../store/api-tokens.ts';
import { type Database, isMissingReference } from '../store/database.ts';
import type { AuditEntry, AuditRecorder, Origin } from './audit-recorder.ts';

const hourMs = 60 * 60_000;

/** Result of the last call of `hourOf`. Each tile request calls `hourOf`; formatting a date takes a tenth of the time of the request. */
let cachedHour = { hour: Number.NaN, start: '' };

/** Returns the start of the hour that contains this time, in ISO 8601. */
export function hourOf(at: Date): string {
  const hour = Math.floor(at.getTime() / hourMs);
  if (hour !== cachedHour.hour) cachedHour = { hour, start: new Date(hour * hourMs).toISOString() };
  return cachedHour.start;
}

interface ApiTokenUse {
  /** Id and prefix of the token. */
  readonly token: ApiTokenName;
  readonly uid: string; // uid of the owner of the token
  /** Null for a call that concerns no slide. */
  readonly imageId: string | null;
  /** `call`: a request for anything but pixels. */
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

/** Records a use unless it is already recorded for this hour. @throws AppError token_invalid when the token has been revoked */
export async function recordApiTokenUse({ db, audit }: Dependencies, use: ApiTokenUse): Promise<void> {
  const { token, uid, imageId, kind, origin, at, action, detail } = use;
  const row = { token_id: token.id, target: imageId ?? '', kind, hour: hourOf(at) };
  try {
    await db.transaction().execute(async (tx) => {
      if (!(await insertApiTokenUse(tx, row))) return; // already recorded
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
    // The row of the token no longer exists.
    if (isMissingReference(error)) throw new AppError('token_invalid', { cause: error });
    throw error;
  }
}
