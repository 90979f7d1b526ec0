/** Where a page of the audit trail ends. */
import { z } from 'zod';
import { decodeCursor, encodeCursor } from '../domain/cursor.ts';
import type { AuditPlace } from '../store/audit.ts';

const Place = z.tuple([z.iso.datetime(), z.coerce.number().int().min(1)]);

export function encodePlace({ at, seq }: AuditPlace): string {
  return encodeCursor(`${at} ${seq}`);
}

/** @throws AppError invalid_request for what is no cursor of ours */
export function decodePlace(cursor: string): AuditPlace {
  const [at, seq] = decodeCursor(cursor, (text) => text.split(' '), Place);
  return { at, seq };
}
