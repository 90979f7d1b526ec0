/** What the administrator's first page counts, over all tables. */
import { type Statistics, Status } from '@lamina/contract';
import type { Connection } from './database.ts';
import { knownStatus } from './users.ts';

/** Slides are those that can be looked at. Every status has its number, 0 included. */
export async function countStatistics(db: Connection, now: Date): Promise<Statistics> {
  const usersByStatus = Object.fromEntries(
    Status.options.map((status) => [status, 0]),
  ) as Statistics['usersByStatus'];
  const accounts = await db
    .selectFrom('users')
    .select((eb) => ['status', eb.fn.countAll().as('count')])
    .groupBy('status')
    .execute();
  for (const { status, count } of accounts) usersByStatus[knownStatus(status)] += Number(count);

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

  // PostgreSQL sums to a numeric, which arrives as text; no rows sum to null.
  return {
    usersByStatus,
    slides: Number(slides.count),
    datasets: Number(slides.datasets),
    storedBytes: Number(slides.bytes ?? 0),
    openImageSessions: Number(sessions.count),
  };
}
