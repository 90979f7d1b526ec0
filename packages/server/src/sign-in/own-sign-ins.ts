/** What the owner of an account sees of its sign-ins, and ends of them. */
import { AppError, type SignIn } from '@lamina/contract';
import type { By } from '../accounts.ts';
import type { Audit } from '../audit.ts';
import type { ImageSessions } from '../image-sessions.ts';
import { change, type Database } from '../store/database.ts';
import type { SignInService } from './sign-in-service.ts';

export interface OwnSignIns {
  /** Last used first. */
  list(by: Pick<By, 'uid' | 'tokenHash'>): Promise<SignIn[]>;
  /** Its image sessions end with it. @throws AppError not_found for any that is not the account's own */
  end(by: By, id: string): Promise<void>;
  /** All of them; `exceptThis`: all others. */
  endAll(by: By, options: { readonly exceptThis: boolean }): Promise<void>;
}

interface Ground {
  readonly db: Database;
  readonly audit: Audit;
  readonly signIn: SignInService;
  readonly imageSessions: Pick<ImageSessions, 'forget'>;
}

export function createOwnSignIns({ db, audit, signIn, imageSessions }: Ground): OwnSignIns {
  return {
    async list({ uid, tokenHash }) {
      const signIns = await signIn.signInsOf(uid);
      return signIns.map((each) => ({
        id: each.id,
        created_at: each.createdAt,
        last_used_at: each.lastUsedAt,
        address: each.address,
        browser: each.browser,
        current: each.tokenHash === tokenHash,
      }));
    },

    async end({ uid, origin }, id) {
      const ended = (await signIn.signInsOf(uid)).find((each) => each.id === id);
      if (ended === undefined) throw new AppError('not_found');
      await change(db, 'accounts', async (tx) => {
        await signIn.signOut(tx, ended.tokenHash);
        await audit.record(tx, {
          action: 'sign-out',
          actor: uid,
          target: uid,
          detail: { which: 'one' },
          origin,
        });
      });
      imageSessions.forget({ tokenHash: ended.tokenHash });
    },

    async endAll({ uid, tokenHash, origin }, { exceptThis }) {
      const detail = { which: exceptThis ? 'all others' : 'all' };
      await change(db, 'accounts', async (tx) => {
        await signIn.revokeAll(tx, uid, exceptThis ? tokenHash : undefined);
        await audit.record(tx, { action: 'sign-out', actor: uid, target: uid, detail, origin });
      });
      imageSessions.forget(exceptThis ? { uid, exceptTokenHash: tokenHash } : { uid });
    },
  };
}
