/** Names and initials of people. */
import type { User } from '@lamina/contract';

type Named = Pick<User, 'displayName' | 'email'>;

/** Returns the display name; the e-mail address when the display name is missing or blank. */
export function nameOf({ displayName, email }: Named): string {
  return displayName?.trim() || email;
}

/**
 * Returns the first letters of the first two words of the display name; without a display name, the first letter of the
 * e-mail address. The letters are in upper case by Turkish rules: i becomes İ.
 */
export function initialsOf({ displayName, email }: Named): string {
  const words = displayName?.trim().split(/\s+/).filter(Boolean) ?? [];
  const letters = words.length > 0 ? words.slice(0, 2).map(firstLetter).join('') : firstLetter(email);
  return letters.toLocaleUpperCase('tr');
}

/** Splits by code points, because a letter may consist of two UTF-16 code units. */
function firstLetter(word: string): string {
  return [...word][0] ?? '';
}
