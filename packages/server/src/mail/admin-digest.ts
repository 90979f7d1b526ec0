/**
 * Tells administrators by e-mail that applications or dataset requests wait for them: one digest at most every five
 * minutes, across all processes, so that a flood of registrations does not become a flood of e-mails.
 */
import type { Jobs } from '../jobs/jobs.ts';
import { change, type Database } from '../store/database.ts';
import { countOpenDatasetRequests } from '../store/dataset-requests.ts';
import { findDigest, saveDigest } from '../store/digests.ts';
import { countPendingUsers } from '../store/user-details.ts';
import { listActiveAdmins } from '../store/users.ts';
import { adminDigestEmail } from './email-texts.ts';
import type { Mail } from './mail.ts';
import type { Recipients } from './recipients.ts';

export interface AdminDigest {
  /** Requests a digest, after a person asked for an account or for a dataset. Returns at once. */
  asked(): void;
}

const digestName = 'waiting';
const digestEveryMs = 5 * 60_000;

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly mail: Mail;
  readonly jobs: Jobs;
  readonly recipients: Recipients;
}

export function createAdminDigest({ db, now, mail, jobs, recipients }: Dependencies): AdminDigest {
  async function sendDigest(): Promise<void> {
    const at = now();
    const waitMs = await change(db, 'accounts', async (tx) => {
      const last = await findDigest(tx, digestName);
      const tooSoonByMs = last === null ? 0 : Date.parse(last) + digestEveryMs - at.getTime();
      // A system clock that was set back does not delay the digest for longer.
      if (tooSoonByMs > 0) return Math.min(tooSoonByMs, digestEveryMs);
      const since = last ?? '';
      const waiting = {
        newApplications: await countPendingUsers(tx, since),
        applications: await countPendingUsers(tx),
        datasetRequests: await countOpenDatasetRequests(tx, since),
      };
      if (waiting.newApplications + waiting.datasetRequests === 0) return null; // another process has sent it
      await saveDigest(tx, digestName, at.toISOString());
      for (const admin of await listActiveAdmins(tx)) {
        await mail.queue(tx, adminDigestEmail(await recipients.of(tx, admin), waiting));
      }
      return null;
    });
    if (waitMs === null) mail.wake();
    else await jobs.enqueue('tell-who-waits', {}, waitMs);
  }

  jobs.setWorker('tell-who-waits', sendDigest);

  return {
    asked: () => void jobs.enqueue('tell-who-waits', {}),
  };
}
