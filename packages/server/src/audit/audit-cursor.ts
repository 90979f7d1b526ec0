/** Cursors of the audit log: text forms of a position (time and number of an event) after which the next page begins. */
import { z } from 'zod';
import { decodeCursor, encodeCursor } from '../domain/list-cursor.ts';
import type { AuditPosition } from '../store/audit.ts';

const Position = z.tuple([z.iso.datetime(), z.coerce.number().int().min(1)]);

export function encodeAuditCursor({ at, seq }: AuditPosition): string {
  return encodeCursor(`${at} ${seq}`);
}

/** Returns the position of the last event of the previous page. @throws AppError invalid_request for an invalid cursor */
export function decodeAuditCursor(cursor: string): AuditPosition {
  const [at, seq] = decodeCursor(cursor, (text) => text.split(' '), Position);
  return { at, seq };
}
