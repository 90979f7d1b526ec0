import type { AuditEntry } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { csvByteOrderMark } from '../platform/csv.ts';
import { csvHeader, csvLine } from './audit-csv.ts';

const person = { uid: 'uid-1', email: 'isil@example.org', displayName: 'Işıl Yılmaz' };
const entry: AuditEntry = {
  seq: 7,
  at: '2026-05-01T09:00:00.000Z',
  action: 'image-opened',
  result: 'done',
  actor: person,
  target: { kind: 'image', id: 'image-1', fileName: 'karaciğer.svs', isListed: true },
  detail: {},
  address: '10.0.0.1',
  requestId: 'request-1',
  hash: 'hash-7',
};

describe('CSV export of the audit log', () => {
  it('writes a row with one field for each column, and an empty field when the event has no value', () => {
    expect(csvHeader('tr')).toBe(
      'Sıra,Zaman (UTC),İşlem,Sonuç,Yapan,Yapanın e-postası,Yapanın kimliği,Hedef,Hedefin kimliği,Ayrıntı,Adres,İstek,İşlem kodu,Zincir özeti\r\n',
    );
    expect(csvLine(entry, 'tr')).toBe(
      '7,2026-05-01T09:00:00.000Z,Slayt açıldı,Başarılı,Işıl Yılmaz,isil@example.org,uid-1,karaciğer.svs,image-1,,10.0.0.1,request-1,image-opened,hash-7\r\n',
    );
    expect(csvLine({ ...entry, actor: null, target: null, address: null, requestId: null }, 'tr')).toBe(
      '7,2026-05-01T09:00:00.000Z,Slayt açıldı,Başarılı,,,,,,,,,image-opened,hash-7\r\n',
    );
  });

  it('identifies a deleted account by its uid only, without e-mail address and name', () => {
    const deleted = { uid: 'uid-1', email: null, displayName: null };
    const line = csvLine({ ...entry, actor: deleted, target: { kind: 'account', ...deleted } }, 'tr');
    expect(line).toContain(',,,uid-1,,uid-1,'); // actor: no name, no e-mail, uid; target: no name, uid
  });

  it.each([
    ['a comma', 'a,b', '"a,b"'],
    ['a quotation mark', 'a "b"', '"a ""b"""'],
    ['a line break', 'a\r\nb', '"a\r\nb"'],
    ['a tab', 'a\tb', '"a\tb"'],
  ])('puts a field with %s in quotation marks', (_, displayName, cell) => {
    expect(csvLine({ ...entry, actor: { ...person, displayName } }, 'tr')).toContain(
      `,Başarılı,${cell},isil@`,
    );
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['+905551112233', "'+905551112233"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', `"'\t'=1"`],
    ['\tx', `"'\tx"`],
    ['\r=1', `"'\r'=1"`],
    [' =1', " '=1"],
    ['x\t=cmd|calc', `"x\t'=cmd|calc"`],
    ['x\n+1', `"x\n'+1"`],
    ['x;"=1"', `"x;""'=1"""`],
    ['\uff1d1+1', "'\uff1d1+1"], // full-width =
    ['\uff0b1', "'\uff0b1"],
    ['\uff0d1', "'\uff0d1"],
    ['\uff20SUM(A1)', "'\uff20SUM(A1)"],
    ['x;=cmd|calc', "x;'=cmd|calc"],
    ['x; @SUM(A1)', "x; '@SUM(A1)"],
  ])(
    'adds an apostrophe to the account name %j, so that spreadsheets do not evaluate it as a formula',
    (displayName, cell) => {
      expect(csvLine({ ...entry, actor: { ...person, displayName } }, 'tr')).toContain(
        `,Başarılı,${cell},isil@`,
      );
    },
  );

  it('adds no apostrophe to the account name "a=b", which has an equals sign after other text', () => {
    expect(csvLine({ ...entry, actor: { ...person, displayName: 'a=b' } }, 'tr')).toContain(
      ',Başarılı,a=b,isil@',
    );
  });

  it('writes action and result codes unchanged when they have no label in the language of the export', () => {
    const line = csvLine({ ...entry, action: 'slide-printed', result: 'postponed' }, 'tr');
    expect(line).toContain(',slide-printed,postponed,');
  });

  it('has the UTF-8 byte order mark (EF BB BF) as csvByteOrderMark', () => {
    expect(Buffer.from(csvByteOrderMark)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
  });
});
