/**
 * Sends administrators a digest e-mail about waiting applications and dataset requests: at most one every five minutes
 * from all processes together, so that many registrations do not cause many e-mails.
 */
import type { Jobs } from '../jobs/jobs.ts';
import { type Database, runLockedTransaction } from '../store/database.ts';
import { countOpenDatasetRequests } from '../store/dataset-requests.ts';
import { findDigest, saveDigest } from '../store/digests.ts';
import { countPendingUsers } from '../store/user-details.ts';
import { listActiveAdmins } from '../store/users.ts';
import { adminDigestEmail } from './email-texts.ts';
import type { Mail } from './mail.ts';
import type { Recipients } from './recipients.ts';

export interface AdminDigest {
  /** Schedules a digest after a new application or dataset request. Returns at once. */
  schedule(): void;
}

/** Name of the row in the table `digests` that stores the time of the last digest. */
const digestName = 'waiting';
const digestEveryMs = 5 * 60_000;

interface Dependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly mail: Mail;
  readonly jobs: Jobs;
  readonly recipients: Recipients;
}

/** Creates the digest and sets the worker of its job. */
export function createAdminDigest({ db, now, mail, jobs, recipients }: Dependencies): AdminDigest {
  /** Queues the digest e-mails; if the last digest is less than five minutes old, enqueues the job for later. */
  async function sendDigest(): Promise<void> {
    const time = now();
    // The lock `accounts` guards applications, dataset requests and the queue of e-mails, so two processes cannot both send a digest.
    // Result: milliseconds until the next digest is allowed; null when the digest is queued (`mail.wake` sends it) or not necessary.
    const waitMs = await runLockedTransaction(db, 'accounts', async (tx) => {
      const lastSentAt = await findDigest(tx, digestName);
      const remainingMs = lastSentAt === null ? 0 : Date.parse(lastSentAt) + digestEveryMs - time.getTime();
      // If the system clock was set back, the wait would be longer than the interval.
      if (remainingMs > 0) return Math.min(remainingMs, digestEveryMs);
      const since = lastSentAt ?? ''; // an empty string sorts before every time stamp
      const waiting = {
        newApplications: await countPendingUsers(tx, since),
        applications: await countPendingUsers(tx),
        newDatasetRequests: await countOpenDatasetRequests(tx, since),
      };
      if (waiting.newApplications + waiting.newDatasetRequests === 0) return null; // an earlier digest contained all of them
      await saveDigest(tx, digestName, time.toISOString());
      for (const admin of await listActiveAdmins(tx)) {
        await mail.queue(tx, adminDigestEmail(await recipients.forAccount(tx, admin), waiting));
      }
      return null;
    });
    if (waitMs === null) mail.wake();
    else await jobs.enqueue('tell-who-waits', {}, waitMs);
  }

  jobs.setWorker('tell-who-waits', sendDigest);

  return {
    schedule: () => void jobs.enqueue('tell-who-waits', {}),
  };
}
