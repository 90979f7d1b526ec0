/** Finds accounts that may belong to the same person as an applicant. */
import { foldDiacritics, type LikelyDuplicate, type User } from '@lamina/contract';
import { emailKey } from './email.ts';

const maxDuplicates = 5;
const order: readonly LikelyDuplicate['why'][] = ['same-mailbox', 'same-name', 'similar-email'];
/** Shorter names such as `it@…` belong to offices. */
const shortestLocalPart = 3;

interface Keys {
  readonly user: User;
  /** Empty without a name. */
  readonly name: string;
  readonly email: string;
  readonly mailbox: string;
  readonly localPart: string;
}

/** Returns for each applicant, in order, the similar accounts: the likeliest first, at most 5. */
export function likelyDuplicates(
  applicants: readonly User[],
  accounts: readonly User[],
): readonly (readonly LikelyDuplicate[])[] {
  const others = accounts.map(keysOf);
  return applicants.map((applicant) => {
    const keys = keysOf(applicant);
    const similar: LikelyDuplicate[] = [];
    for (const other of others) {
      const why = other.user.uid === applicant.uid ? null : likeness(keys, other);
      if (why === null) continue;
      const { uid, email, displayName, status } = other.user;
      similar.push({ uid, email, displayName, status, why });
    }
    return similar.sort((a, b) => order.indexOf(a.why) - order.indexOf(b.why)).slice(0, maxDuplicates);
  });
}

function likeness(a: Keys, b: Keys): LikelyDuplicate['why'] | null {
  if (a.mailbox === b.mailbox) return 'same-mailbox';
  if (a.name !== '' && a.name === b.name) return 'same-name';
  const isSameLocalPart = a.localPart === b.localPart && a.localPart.length >= shortestLocalPart;
  return isSameLocalPart || isOneEditApart(a.email, b.email) ? 'similar-email' : null;
}

function keysOf(user: User): Keys {
  const email = emailKey(user.email);
  const at = email.lastIndexOf('@');
  const localPart = email.slice(0, at);
  // The part after + is a tag: e-mails go to the same mailbox (RFC 5233).
  const plain = localPart.replace(/\+.*$/, '');
  return {
    user,
    name: nameKey(user.displayName ?? ''),
    email,
    mailbox: plain + email.slice(at),
    localPart: plain,
  };
}

/** Returns the same key for every spelling of a name: Turkish upper and lower case, missing diacritics, spaces. */
function nameKey(name: string): string {
  return foldDiacritics(name).trim().replace(/\s+/g, ' ');
}

/** Whether the texts differ by one inserted, removed or replaced character, or two swapped neighbours. */
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
  const [left, right] = [a.slice(start, endA), b.slice(start, endB)];
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}
