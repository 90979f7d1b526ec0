/** Lists and ends the sign-ins of the caller's own account, for the profile screen. */
import { AppError, type SignIn } from '@lamina/contract';
import type { Actor } from '../audit/actor.ts';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import type { ImageSessions } from '../sessions/image-sessions.ts';
import type { SignInService } from '../sessions/sign-in-service.ts';
import { type Database, runLockedTransaction } from '../store/database.ts';

export interface OwnSignIns {
  /** Returns the sign-ins of the account, most recently used first. */
  list(actor: Pick<Actor, 'uid' | 'tokenHash'>): Promise<SignIn[]>;
  /**
   * Ends one sign-in and its image sessions (the credentials with which viewers request tiles).
   *
   * @throws AppError not_found when the account has no such sign-in
   */
  end(actor: Actor, id: string): Promise<void>;
  /** Ends all sign-ins; with `exceptThis`, all except the one that sends the request. */
  endAll(actor: Actor, options: { readonly exceptThis: boolean }): Promise<void>;
}

interface Dependencies {
  readonly db: Database;
  readonly audit: AuditRecorder;
  readonly signIn: SignInService;
  readonly imageSessions: Pick<ImageSessions, 'evictEnded'>;
}

export function createOwnSignIns({ db, audit, signIn, imageSessions }: Dependencies): OwnSignIns {
  return {
    async list({ uid, tokenHash }) {
      const signIns = await signIn.signInsOf(uid);
      return signIns.map((listed) => ({
        id: listed.id,
        created_at: listed.createdAt,
        last_used_at: listed.lastUsedAt,
        address: listed.address,
        browser: listed.browser,
        current: listed.tokenHash === tokenHash,
      }));
    },

    async end({ uid, origin }, id) {
      const ended = (await signIn.signInsOf(uid)).find((listed) => listed.id === id);
      if (ended === undefined) throw new AppError('not_found');
      await runLockedTransaction(db, 'accounts', async (tx) => {
        await signIn.signOut(tx, ended.tokenHash);
        await audit.record(tx, {
          action: 'sign-out',
          actor: uid,
          target: uid,
          detail: { which: 'one' },
          origin,
        });
      });
      imageSessions.evictEnded({ tokenHash: ended.tokenHash }); // the image sessions that were created with this sign-in
    },

    async endAll({ uid, tokenHash, origin }, { exceptThis }) {
      const detail = { which: exceptThis ? 'all others' : 'all' };
      await runLockedTransaction(db, 'accounts', async (tx) => {
        await signIn.endSignIns(tx, uid, exceptThis ? tokenHash : undefined);
        await audit.record(tx, { action: 'sign-out', actor: uid, target: uid, detail, origin });
      });
      imageSessions.evictEnded(exceptThis ? { uid, exceptTokenHash: tokenHash } : { uid });
    },
  };
}
