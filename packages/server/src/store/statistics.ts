/** Queries for the statistics on the administrator's dashboard: accounts, slides and activity. */
import { type Statistics, Status } from '@lamina/contract';
import { lastLocalDays } from '../domain/local-days.ts';
import { countAuditActions } from './audit.ts';
import type { Connection } from './database.ts';
import { parseStatus } from './users.ts';

/** Number of days for which the dashboard shows activity. */
const daysShown = 30;

/**
 * Counts accounts by status, ready slides (neither removed nor missing), image sessions (credentials for pixels) that have not
 * expired, and the activity of the last 30 days including today. Statuses without accounts and days without activity have the number 0.
 *
 * @param zone IANA time zone in which days begin and end
 * @returns `days` is sorted, the oldest day first
 */
export async function countStatistics(db: Connection, now: Date, zone: string): Promise<Statistics> {
  const usersByStatus = Object.fromEntries(
    Status.options.map((status) => [status, 0]),
  ) as Statistics['usersByStatus'];
  const accounts = await db
    .selectFrom('users')
    .select((eb) => ['status', eb.fn.countAll().as('count')])
    .groupBy('status')
    .execute();
  for (const { status, count } of accounts) usersByStatus[parseStatus(status)] += Number(count);
  // Active accounts whose access has expired count as suspended, as in `effectiveAccount` of domain/account.ts.
  const { count: expired } = await db
    .selectFrom('users')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('status', '=', 'active')
    .where('expires_at', '<=', now.toISOString())
    .executeTakeFirstOrThrow();
  usersByStatus.active -= Number(expired);
  usersByStatus.suspended += Number(expired);

  const slides = await db
    .selectFrom('images')
    .select((eb) => [
      eb.fn.countAll().as('count'),
      eb.fn.count('dataset_name').distinct().as('datasets'),
      eb.fn.sum('size_bytes').as('bytes'),
    ])
    .where('status', '=', 'ready')
    .where('removed_at', 'is', null)
    .where('missing_since', 'is', null)
    .executeTakeFirstOrThrow();

  const sessions = await db
    .selectFrom('image_sessions')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('expires_at', '>', now.toISOString())
    .executeTakeFirstOrThrow();

  const days = lastLocalDays(now, zone, daysShown);
  const spans = days.map(({ from, to }) => ({ from: from.toISOString(), to: to.toISOString() }));
  const signInCounts = await countAuditActions(db, 'sign-in', spans);
  const openedCounts = await countAuditActions(db, 'image-opened', spans);
  const viewedCounts = await countAuditActions(db, 'image-viewed', spans);

  return {
    usersByStatus,
    slides: Number(slides.count),
    datasets: Number(slides.datasets),
    storedBytes: Number(slides.bytes ?? 0), // PostgreSQL returns sums as text; the sum of no rows is null
    openImageSessions: Number(sessions.count),
    days: days.map(({ day }, index) => ({
      day,
      signIns: signInCounts[index] ?? 0,
      // A slide counts once per session: in `openedCounts` when the session opens it, or in `viewedCounts` when the session
      // views it after it had loaded only the thumbnail, which counts in neither.
      openedSlides: (openedCounts[index] ?? 0) + (viewedCounts[index] ?? 0),
    })),
  };
}
