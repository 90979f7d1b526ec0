import type { User } from '@lamina/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOneEditApart, likelyDuplicates } from './likely-duplicates.ts';

let personCount = 0;
/** Returns an account whose e-mail address, unless it is given, resembles no other one. */
function person(properties: Partial<User>): User {
  personCount += 1;
  return {
    uid: `u${personCount}`,
    email: `${'abcdefghij'[personCount % 10]}-unrelated-${personCount * 7919}@example.org`,
    displayName: null,
    status: 'pending',
    role: 'unassigned',
    adminApproved: false,
    createdAt: '2026-05-01T00:00:00.000Z',
    updatedAt: '2026-05-01T00:00:00.000Z',
    approvalDate: null,
    expiresAt: null,
    ...properties,
  };
}

/** Returns the duplicates of the applicant among the two accounts: whether each one is `other`, and the reason. */
function duplicatesOf(applicant: Partial<User>, other: Partial<User>) {
  const [a, b] = [person(applicant), person(other)];
  return likelyDuplicates([a], [a, b])[0]?.map(({ uid, why }) => [uid === b.uid, why]) ?? [];
}

describe('likelyDuplicates (accounts that may belong to an applicant)', () => {
  it.each([
    ['IŞIK Çelik', 'ışık çelik'],
    ['İpek  Işık', 'ipek ışık '],
    ['Ayşe Gül Öztürk', 'AYSE GUL OZTURK'],
  ])(
    'finds an account whose name differs from that of the applicant only in case, spaces or diacritics: "%s" and "%s"',
    (a, b) => {
      expect(duplicatesOf({ displayName: a }, { displayName: b })).toEqual([[true, 'same-name']]);
    },
  );

  it.each([
    ['a tag after +', 'Ali.Can+slides@example.org', 'ali.can@example.org', 'same-mailbox'],
    ['the domain', 'ali.can@example.org', 'ali.can@hastane.example', 'similar-email'],
    [
      'the domain after a local part of three letters',
      'eda@example.org',
      'eda@hastane.example',
      'similar-email',
    ],
    ['one additional letter', 'ali.can@example.org', 'ali.cann@example.org', 'similar-email'],
    ['two exchanged letters', 'ali.can@example.org', 'ail.can@example.org', 'similar-email'],
  ])(
    'finds an account whose e-mail address differs from that of the applicant only in %s: %s and %s',
    (_, a, b, why) => {
      expect(duplicatesOf({ email: a }, { email: b, status: 'deactivated' })).toEqual([[true, why]]);
    },
  );

  it.each<[string, Partial<User>, Partial<User>]>([
    ['no name when the applicant has none either', { displayName: null }, { displayName: '' }],
    ['a name that differs by one letter', { displayName: 'Ali Can' }, { displayName: 'Ali Cin' }],
    [
      'an e-mail address that differs by two letters',
      { email: 'ali.can@example.org' },
      { email: 'ali.caner@example.org' },
    ],
    [
      'the same local part of only two letters at another domain',
      { email: 'it@example.org' },
      { email: 'it@hastane.example' },
    ],
  ])('ignores an account with %s', (_, a, b) => {
    expect(duplicatesOf(a, b)).toEqual([]);
  });

  it('returns at most five accounts, the most likely duplicate first', () => {
    const applicant = person({ displayName: 'Ali Can', email: 'ali@example.org' });
    const alike = Array.from({ length: 7 }, () => person({ displayName: 'ali can' }));
    const mailbox = person({ email: 'ali+2@example.org' });
    const [found] = likelyDuplicates([applicant], [applicant, ...alike, mailbox]);
    expect(found?.map(({ why }) => why)).toEqual(['same-mailbox', ...Array(4).fill('same-name')]);
  });
});

describe('isOneEditApart (whether two strings differ by one edit)', () => {
  const word = fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...'abc@.') });

  it('returns true when one of the two strings has one additional character at any position', () => {
    fc.assert(
      fc.property(word, fc.nat(12), fc.constantFrom(...'abc@.'), (text, place, added) => {
        const longer = text.slice(0, place) + added + text.slice(place);
        return isOneEditApart(text, longer) && isOneEditApart(longer, text);
      }),
    );
  });

  it.each([
    ['a replaced character', '1234', '1294'],
    ['a replaced first character', '1234', '9234'],
    ['a replaced last character', '1234', '1239'],
    ['two swapped neighbours', '1234', '1324'],
    ['two swapped neighbours at the start', '1234', '2134'],
    ['two swapped neighbours at the end', '1234', '1243'],
    ['the only character, which is replaced', '1', '2'],
    ['the only character, which is removed', '1', ''],
  ])('returns true for %s: %j and %j', (_, a, b) => {
    expect([isOneEditApart(a, b), isOneEditApart(b, a)]).toEqual([true, true]);
  });

  it.each([
    ['two replaced neighbours', '1234', '1984'],
    ['two replaced characters', '1234', '9238'],
    ['two swapped characters that are not neighbours', '1234', '3214'],
    ['a character that is moved by two positions', '1234', '2314'],
    ['two neighbours of which one is moved and one replaced', '9128', '9318'],
    ['a removed and a replaced character', '1234', '194'],
    ['a removed and two replaced characters', '12345', '1985'],
  ])('returns false for %s: %j and %j', (_, a, b) => {
    expect([isOneEditApart(a, b), isOneEditApart(b, a)]).toEqual([false, false]);
  });

  it('returns false for equal strings and for strings whose lengths differ by more than one', () => {
    fc.assert(fc.property(word, (text) => !isOneEditApart(text, text)));
    fc.assert(fc.property(word, (text) => !isOneEditApart(text, `${text}ab`)));
  });
});
