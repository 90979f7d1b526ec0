/** Finds accounts that may belong to the same person as an applicant, by similar names and e-mail addresses. */
import { foldDiacritics, type LikelyDuplicate, type User } from '@lamina/contract';
import { emailKey } from './email.ts';

const maxDuplicates = 5;
/** The strongest reason first. */
const reasonsByStrength: readonly LikelyDuplicate['why'][] = ['same-mailbox', 'same-name', 'similar-email'];
/** Equal local parts (the part before the @) count only from this length on: `it@…` belongs to an office, not to a person. */
const minLocalPartLength = 3;

/** An account, and the normalised strings by which it is compared with other accounts. */
interface ComparisonKeys {
  readonly user: User;
  /** Empty for an account without a name. */
  readonly name: string;
  readonly email: string;
  /** The e-mail address without a tag: `ali+x@example.org` becomes `ali@example.org`. */
  readonly mailbox: string;
  /** The part of `mailbox` before the @. */
  readonly localPart: string;
}

/** Returns for each applicant, in the same order, at most 5 similar accounts: the most likely duplicate first. */
export function likelyDuplicates(
  applicants: readonly User[],
  accounts: readonly User[],
): readonly (readonly LikelyDuplicate[])[] {
  const accountKeys = accounts.map(keysOf);
  return applicants.map((applicant) => {
    const keys = keysOf(applicant);
    const duplicates: LikelyDuplicate[] = [];
    for (const other of accountKeys) {
      const why = other.user.uid === applicant.uid ? null : reasonForLikeness(keys, other);
      if (why === null) continue;
      const { uid, email, displayName, status } = other.user;
      duplicates.push({ uid, email, displayName, status, why });
    }
    return duplicates
      .sort((a, b) => reasonsByStrength.indexOf(a.why) - reasonsByStrength.indexOf(b.why))
      .slice(0, maxDuplicates);
  });
}

/** Returns the strongest reason why both accounts may belong to one person; null if there is none. */
function reasonForLikeness(a: ComparisonKeys, b: ComparisonKeys): LikelyDuplicate['why'] | null {
  if (a.mailbox === b.mailbox) return 'same-mailbox';
  if (a.name !== '' && a.name === b.name) return 'same-name';
  const isSameLocalPart = a.localPart === b.localPart && a.localPart.length >= minLocalPartLength;
  return isSameLocalPart || isOneEditApart(a.email, b.email) ? 'similar-email' : null;
}

function keysOf(user: User): ComparisonKeys {
  const email = emailKey(user.email);
  const atIndex = email.lastIndexOf('@');
  // The part of a local part after + is a tag: e-mails with and without it go to the same mailbox (RFC 5233).
  const localPart = email.slice(0, atIndex).replace(/\+.*$/, '');
  return {
    user,
    name: displayNameKey(user.displayName ?? ''),
    email,
    mailbox: localPart + email.slice(atIndex),
    localPart,
  };
}

/** Returns the same key for spellings that differ in letter case (also Turkish), diacritics or spaces. */
function displayNameKey(name: string): string {
  // `foldDiacritics` also folds the letter case.
  return foldDiacritics(name).trim().replace(/\s+/g, ' ');
}

/**
 * Whether two strings differ by exactly one inserted, removed or replaced character, or by two swapped neighbours.
 * Compares only the part between their common start and their common end.
 */
export function isOneEditApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || a === b) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--;
    endB--;
  }
  if (endA - start > 2 || endB - start > 2) return false;
  const [differenceA, differenceB] = [a.slice(start, endA), b.slice(start, endB)];
  if (differenceA.length <= 1 && differenceB.length <= 1) return true;
  const mayBeSwap = differenceA.length === 2 && differenceB.length === 2;
  return mayBeSwap && differenceA[0] === differenceB[1] && differenceA[1] === differenceB[0];
}
