/**
 * Encodes the position of the next page of a list as an opaque cursor. Cursors are not signed: a client can send any
 * string, so decoding validates the position.
 */
import { AppError } from '@lamina/contract';
import type { z } from 'zod';

/** Returns the cursor for a position. @param text text form of the position, which differs from list to list */
export function encodeCursor(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/**
 * Returns the position that a cursor stands for.
 *
 * @param parse parses the text that `encodeCursor` received; must not throw, whatever the text is
 * @param Position schema that validates the parsed value
 * @throws AppError invalid_request for a string that is not a cursor of this list
 */
export function decodeCursor<T>(cursor: string, parse: (text: string) => unknown, Position: z.ZodType<T>): T {
  const position = Position.safeParse(parse(Buffer.from(cursor, 'base64url').toString()));
  if (position.success) return position.data;
  throw new AppError('invalid_request', { reason: 'cursor_invalid', field: 'cursor' });
}
