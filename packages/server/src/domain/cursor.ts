/** A place in a list as the caller carries it from page to page: opaque, and not to be believed. */
import { AppError } from '@lamina/contract';
import type { z } from 'zod';

export function encodeCursor(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/**
 * @param read takes apart what `encodeCursor` was given
 * @throws AppError invalid_request for what is no cursor of this list
 */
export function decodeCursor<T>(cursor: string, read: (text: string) => unknown, Place: z.ZodType<T>): T {
  const place = Place.safeParse(read(Buffer.from(cursor, 'base64url').toString()));
  if (place.success) return place.data;
  throw new AppError('invalid_request', {
    message: {
      tr: 'cursor: Bu listenin devam işareti değil.',
      en: 'cursor: This is not a cursor of this list.',
    },
    field: 'cursor',
  });
}
