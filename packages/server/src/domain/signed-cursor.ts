/** Opaque cursors of paginated lists. A client can send any text, so that decoding validates it. */
import { AppError } from '@lamina/contract';
import type { z } from 'zod';

export function encodeCursor(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/**
 * @param read parses the text that `encodeCursor` received
 * @throws AppError invalid_request for a text that is not a cursor of this list
 */
export function decodeCursor<T>(cursor: string, read: (text: string) => unknown, Place: z.ZodType<T>): T {
  const place = Place.safeParse(read(Buffer.from(cursor, 'base64url').toString()));
  if (place.success) return place.data;
  throw new AppError('invalid_request', { reason: 'cursor_invalid', field: 'cursor' });
}
