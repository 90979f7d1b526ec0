/** Where a page of the audit trail ends, as the caller carries it to the next one. */
import { AppError } from '@lamina/contract';
import { z } from 'zod';
import type { AuditPlace } from '../store/audit.ts';

const Place = z.tuple([z.iso.datetime(), z.coerce.number().int().min(1)]);

export function encodePlace({ at, seq }: AuditPlace): string {
  return Buffer.from(`${at} ${seq}`).toString('base64url');
}

/** @throws AppError invalid_request for what is no cursor of ours */
export function decodePlace(cursor: string): AuditPlace {
  const read = Place.safeParse(Buffer.from(cursor, 'base64url').toString().split(' '));
  if (read.success) return { at: read.data[0], seq: read.data[1] };
  throw new AppError('invalid_request', {
    message: {
      tr: 'cursor: Bu listenin devam işareti değil.',
      en: 'cursor: This is not a cursor of this list.',
    },
    field: 'cursor',
  });
}
