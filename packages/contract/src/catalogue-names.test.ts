import { describe, expect, it } from 'vitest';
import { isSameName, nameKey, toStoredName } from './catalogue-names.ts';

describe('nameKey (comparison key of dataset names)', () => {
  it.each([
    ['Unicode NFC and NFD', 'Böbrek çalışması', 'Böbrek çalışması'.normalize('NFD')],
    ['upper and lower case', 'Study A', 'STUDY a'],
    ['i and the Turkish capital İ', 'istanbul', 'İSTANBUL'],
    ['i and the English capital I', 'istanbul', 'ISTANBUL'],
    ['dotless and dotted i', 'ışık', 'işik'],
    ['a decomposed capital İ and i', 'İzmir'.normalize('NFD'), 'izmir'],
    ['ß and ss', 'Straße', 'STRASSE'],
    ['the last letters Σ and σ (not the final form ς)', 'ΟΔΟΣ', 'οδοσ'],
    ['a ligature and its letters', 'ﬁle', 'FILE'],
    ['ordinary and no-break spaces', 'Study A', 'Study\u00a0A'],
    ['one space and several, also at the ends', 'Study A', ' Study   A '],
    ['an added zero-width space', 'Study A', 'Stu\u200bdy A'],
    ['an added soft hyphen', 'Study A', 'Stu\u00addy A'],
    ['an added byte order mark', 'Study A', '\ufeffStudy A'],
    ['a line break and a space', 'Study A', 'Study\nA'],
  ])('is the same for two spellings of a name that differ in %s', (_, a, b) => {
    expect(nameKey(b)).toBe(nameKey(a));
  });

  it.each([
    ['a letter with and without a diacritic', 'Bobrek', 'Böbrek'],
    ['words with and without a space', 'Study A', 'StudyA'],
    ['numbers with and without leading zeros', 'Set 1', 'Set 01'],
  ])('is different for two names that differ in %s', (_, a, b) => {
    expect(nameKey(b)).not.toBe(nameKey(a));
  });

  it('is not empty for a name that consists only of spaces or invisible characters', () => {
    for (const name of [' ', '\u200b', '\u00ad\u00ad']) expect(nameKey(name)).not.toBe('');
  });

  it('returns its argument unchanged when the argument is already a name key', () => {
    for (const name of ['İÇ', 'Straße', 'Ā̇', 'ΐΣ', 'Study\u00a0\u200bA']) {
      expect(nameKey(nameKey(name))).toBe(nameKey(name));
    }
  });
});

describe('toStoredName (stored form of a dataset name)', () => {
  it('composes letters with their combining marks, and removes surrounding white space', () => {
    expect(toStoredName(` ${'Böbrek'.normalize('NFD')} `)).toBe('Böbrek');
  });

  it('returns a name of white space unchanged', () => {
    expect(toStoredName('  ')).toBe('  ');
  });
});

describe('isSameName (comparison of two dataset names)', () => {
  it('returns true for null and null (no dataset), and false for null and a name', () => {
    expect([isSameName(null, null), isSameName(null, 'A'), isSameName('A', null)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('returns true for two spellings of one name, and false for two names', () => {
    expect([isSameName('Study A', ' STUDY a'), isSameName('Study A', 'Study B')]).toEqual([true, false]);
  });
});
