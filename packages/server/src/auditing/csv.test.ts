import type { AuditEntry } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { csvStart } from '../spreadsheet.ts';
import { csvHeader, csvLine } from './csv.ts';

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

describe('a line for spreadsheets', () => {
  it('has a value, or nothing, for each heading', () => {
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

  it('knows a deleted account by its uid alone', () => {
    const gone = { uid: 'uid-1', email: null, displayName: null };
    const line = csvLine({ ...entry, actor: gone, target: { kind: 'account', ...gone } }, 'tr');
    expect(line).toContain(',,,uid-1,,uid-1,');
  });

  it.each([
    ['a comma', 'a,b', '"a,b"'],
    ['a quote', 'a "b"', '"a ""b"""'],
    ['a line end', 'a\r\nb', '"a\r\nb"'],
  ])('puts %s between quotes', (_, displayName, written) => {
    expect(csvLine({ ...entry, actor: { ...person, displayName } }, 'tr')).toContain(
      `,Başarılı,${written},isil@`,
    );
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['+905551112233', "'+905551112233"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['x;=cmd|calc', "x;'=cmd|calc"],
    ['x; @SUM(A1)', "x; '@SUM(A1)"],
    ['a=b', 'a=b'],
  ])('makes no formula of %o', (displayName, written) => {
    expect(csvLine({ ...entry, actor: { ...person, displayName } }, 'tr')).toContain(
      `,Başarılı,${written},isil@`,
    );
  });

  it('shows what a newer version wrote as it stands', () => {
    const line = csvLine({ ...entry, action: 'slide-printed', result: 'postponed' }, 'tr');
    expect(line).toContain(',slide-printed,postponed,');
  });

  it('begins the file with a byte order mark', () => {
    expect(Buffer.from(csvStart)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
  });
});
