/** Cursors of the paginated audit log. */
import { z } from 'zod';
import { decodeCursor, encodeCursor } from '../domain/list-cursor.ts';
import type { AuditPosition } from '../store/audit.ts';

const Place = z.tuple([z.iso.datetime(), z.coerce.number().int().min(1)]);

export function encodeAuditCursor({ at, seq }: AuditPosition): string {
  return encodeCursor(`${at} ${seq}`);
}

/** @throws AppError invalid_request for a text that is not such a cursor */
export function decodeAuditCursor(cursor: string): AuditPosition {
  const [at, seq] = decodeCursor(cursor, (text) => text.split(' '), Place);
  return { at, seq };
}
