/** Names and initials of people. */
import type { User } from '@lamina/contract';

type Named = Pick<User, 'displayName' | 'email'>;

export function nameOf({ displayName, email }: Named): string {
  return displayName?.trim() || email;
}

/**
 * Returns at most two letters: of the first two words of the display name, else the first of the e-mail address.
 * Upper case by Turkish rules: i becomes İ.
 */
export function initialsOf({ displayName, email }: Named): string {
  const words = displayName?.trim().split(/\s+/).filter(Boolean) ?? [];
  const letters = words.length > 0 ? words.slice(0, 2).map(firstLetter).join('') : firstLetter(email);
  return letters.toLocaleUpperCase('tr');
}

/** A letter may have two UTF-16 code units. */
function firstLetter(word: string): string {
  return [...word][0] ?? '';
}
