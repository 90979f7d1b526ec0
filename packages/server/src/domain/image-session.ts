/** Permission to load pixels for a while, as the server holds it in memory. */
export interface ImageSession {
  /** SHA-256 of the session id, base64url: the id itself is known to its owner alone. */
  readonly hash: string;
  readonly uid: string;
  /** The sign-in it was made from; ends with it. */
  readonly tokenHash: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Restricted datasets that the account may not see. */
  readonly closedDatasets: ReadonlySet<string>;
  /** What administrators hide is open to them alone. */
  readonly seesHidden: boolean;
}

interface Guarded {
  /** Null is no dataset, and open to all. */
  readonly dataset: string | null;
  readonly isHidden: boolean;
}

/** Whether an image may be seen. */
export function opens(
  { closedDatasets, seesHidden }: Pick<ImageSession, 'closedDatasets' | 'seesHidden'>,
  { dataset, isHidden }: Guarded,
): boolean {
  return (seesHidden || !isHidden) && (dataset === null || !closedDatasets.has(dataset));
}

/** Live image sessions of one account; a further one ends the oldest. */
export const maxSessionsPerAccount = 10;

/** Whole seconds an image session has left, never negative. */
export function secondsLeft(session: Pick<ImageSession, 'expiresAt'>, now: Date): number {
  return Math.max(0, Math.floor((session.expiresAt - now.getTime()) / 1000));
}
