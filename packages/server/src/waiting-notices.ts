/**
 * Tells administrators by mail that somebody waits for them: one letter that sums up, at most once in five minutes,
 * whichever process hears of it. A flood of registrations is no flood of letters.
 */
import type { Config } from './config.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { Mail } from './mail/mail.ts';
import { waitingLetter } from './mail/texts.ts';
import { change, type Database } from './store/database.ts';
import { countOpenDatasetRequests } from './store/dataset-requests.ts';
import { findDigest, saveDigest } from './store/digests.ts';
import { countWaitingUsers } from './store/user-details.ts';
import { listActiveAdmins } from './store/users.ts';

export interface WaitingNotices {
  /** Somebody asked for an account or for a dataset. Returns at once. */
  asked(): void;
}

const digestName = 'waiting';
const digestEveryMs = 5 * 60_000;

interface Ground {
  readonly config: Pick<Config, 'productName'>;
  readonly db: Database;
  readonly now: () => Date;
  readonly mail: Mail;
  readonly jobs: Jobs;
  readonly publicUrl: () => string;
}

export function createWaitingNotices(ground: Ground): WaitingNotices {
  const { config, db, now, mail, jobs, publicUrl } = ground;

  async function tell(): Promise<void> {
    const at = now();
    const waitMs = await change(db, 'accounts', async (tx) => {
      const last = await findDigest(tx, digestName);
      const tooSoonByMs = last === null ? 0 : Date.parse(last) + digestEveryMs - at.getTime();
      // A clock that was set back does not keep anybody waiting for longer.
      if (tooSoonByMs > 0) return Math.min(tooSoonByMs, digestEveryMs);
      const since = last ?? '';
      const found = {
        newApplications: await countWaitingUsers(tx, since),
        applications: await countWaitingUsers(tx),
        datasetRequests: await countOpenDatasetRequests(tx, since),
      };
      if (found.newApplications + found.datasetRequests === 0) return null; // somebody else has told of it
      await saveDigest(tx, digestName, at.toISOString());
      for (const { email } of await listActiveAdmins(tx)) {
        const words = { to: email, productName: config.productName, publicUrl: publicUrl() };
        await mail.queue(tx, waitingLetter({ ...words, ...found }));
      }
      return null;
    });
    if (waitMs === null) mail.wake();
    else await jobs.ask('tell-who-waits', {}, waitMs);
  }

  jobs.on('tell-who-waits', tell);

  return {
    asked: () => void jobs.ask('tell-who-waits', {}),
  };
}
