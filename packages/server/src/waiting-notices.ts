/**
 * Tells administrators by mail that somebody waits for them: one letter that sums up, at most once in five minutes,
 * whichever process hears of it. A flood of registrations is no flood of letters.
 */
import type { Background } from './background.ts';
import type { Config } from './config.ts';
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
  close(): void;
}

const digestName = 'waiting';
const digestEveryMs = 5 * 60_000;

interface Ground {
  readonly config: Pick<Config, 'productName'>;
  readonly db: Database;
  readonly now: () => Date;
  readonly mail: Mail;
  readonly background: Background;
  readonly publicUrl: () => string;
}

export function createWaitingNotices(ground: Ground): WaitingNotices {
  const { config, db, now, mail, background, publicUrl } = ground;
  let later: NodeJS.Timeout | null = null;

  async function tell(): Promise<void> {
    const at = now();
    const news = await change(db, 'accounts', async (tx) => {
      const last = await findDigest(tx, digestName);
      const waitMs = last === null ? 0 : Date.parse(last) + digestEveryMs - at.getTime();
      if (waitMs > 0) return { waitMs };
      const since = last ?? '';
      const found = {
        newApplications: await countWaitingUsers(tx, since),
        applications: await countWaitingUsers(tx),
        datasetRequests: await countOpenDatasetRequests(tx, since),
      };
      if (found.newApplications + found.datasetRequests === 0) return null; // somebody else has told of it
      await saveDigest(tx, digestName, at.toISOString());
      return { found, to: await listActiveAdmins(tx) };
    });
    if (news === null) return;
    if ('waitMs' in news) {
      // A clock that was set back does not keep anybody waiting for longer.
      tellLater(Math.min(news.waitMs, digestEveryMs));
      return;
    }
    for (const { email } of news.to) {
      mail.send(
        waitingLetter({ to: email, productName: config.productName, publicUrl: publicUrl(), ...news.found }),
      );
    }
  }

  const tellNow = () => background.run('telling administrators who waits', tell);

  function tellLater(waitMs: number): void {
    later ??= setTimeout(() => {
      later = null;
      tellNow();
    }, waitMs).unref();
  }

  return {
    asked: tellNow,
    close() {
      if (later !== null) clearTimeout(later);
    },
  };
}
