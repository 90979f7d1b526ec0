/** What the administrator's first page counts, over all tables. */
import { type Statistics, Status } from '@lamina/contract';
import { lastLocalDays } from '../domain/local-days.ts';
import { countDone } from './audit.ts';
import type { Connection } from './database.ts';
import { knownStatus } from './users.ts';

const daysShown = 30;

/**
 * Slides are those that can be looked at. Every status and every day has its number, 0 included.
 *
 * @param zone IANA time zone in which days begin and end
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
  for (const { status, count } of accounts) usersByStatus[knownStatus(status)] += Number(count);
  // As `standing` says of each of them (domain/account.ts).
  const { count: ended } = await db
    .selectFrom('users')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('status', '=', 'active')
    .where('expires_at', '<=', now.toISOString())
    .executeTakeFirstOrThrow();
  usersByStatus.active -= Number(ended);
  usersByStatus.suspended += Number(ended);

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
  const signIns = await countDone(db, 'sign-in', spans);
  const openedSlides = await countDone(db, 'image-opened', spans);

  // PostgreSQL sums to a numeric, which arrives as text; no rows sum to null.
  return {
    usersByStatus,
    slides: Number(slides.count),
    datasets: Number(slides.datasets),
    storedBytes: Number(slides.bytes ?? 0),
    openImageSessions: Number(sessions.count),
    days: days.map(({ day }, place) => ({
      day,
      signIns: signIns[place] ?? 0,
      openedSlides: openedSlides[place] ?? 0,
    })),
  };
}
