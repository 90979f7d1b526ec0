/** Which accounts may belong to the same person as one that asks for approval. */
import { foldForSearch, type LikelyDuplicate, type User } from '@lamina/contract';
import { emailKey } from './email.ts';

const most = 5;
const order: readonly LikelyDuplicate['why'][] = ['same-mailbox', 'same-name', 'similar-email'];
/** `info@…` says nothing about who reads it. */
const shortestLocalPart = 3;

interface Keys {
  readonly user: User;
  /** Empty when there is no name. */
  readonly name: string;
  readonly email: string;
  readonly mailbox: string;
  readonly localPart: string;
}

/** For each of `applicants`, in their order: the others it resembles, the likeliest first, at most 5. */
export function likelyDuplicates(
  applicants: readonly User[],
  everybody: readonly User[],
): readonly (readonly LikelyDuplicate[])[] {
  const others = everybody.map(keysOf);
  return applicants.map((applicant) => {
    const keys = keysOf(applicant);
    return others
      .flatMap((other) => {
        const why = other.user.uid === applicant.uid ? null : likeness(keys, other);
        if (why === null) return [];
        const { uid, email, displayName, status } = other.user;
        return [{ uid, email, displayName, status, why }];
      })
      .sort((a, b) => order.indexOf(a.why) - order.indexOf(b.why))
      .slice(0, most);
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
  // What stands behind + is a note of the owner's: the letter goes to the same mailbox (RFC 5233).
  const plain = localPart.replace(/\+.*$/, '');
  return {
    user,
    name: nameKey(user.displayName ?? ''),
    email,
    mailbox: plain + email.slice(at),
    localPart: plain,
  };
}

/** The same for every spelling of one name: case as Turkish has it, and letters typed without their marks. */
function nameKey(name: string): string {
  return foldForSearch(name)
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .trim()
    .replace(/\s+/g, ' ');
}

/** One character more, one fewer, another one, or two neighbours exchanged; not for equal texts. */
export function isOneEditApart(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || a === b) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--;
    endB--;
  }
  const [left, right] = [a.slice(start, endA), b.slice(start, endB)];
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}
