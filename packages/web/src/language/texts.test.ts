import { describe, expect, it } from 'vitest';
import { pageStatusLabel } from '../screens/account-status/texts.ts';
import { roleLabel, statusLabel } from './texts.ts';

describe('statusLabel (label of an account status)', () => {
  it.each([
    ['pending', 'Onay Bekliyor'],
    ['active', 'Aktif'],
    ['suspended', 'Askıya Alındı'],
    ['deactivated', 'Devre Dışı'],
    ['frozen', 'Bilinmiyor'], // unknown to this version
    ['constructor', 'Bilinmiyor'],
  ])(
    'returns the Turkish label "$1" for the status "$0" ("Bilinmiyor" for unknown statuses)',
    (status, label) => {
      expect(statusLabel(status)).toBe(label);
    },
  );

  it('has a variant for the account status page: pageStatusLabel returns "Askıya Alınmış" for the status "suspended"', () => {
    expect(pageStatusLabel('suspended')).toBe('Askıya Alınmış');
    expect(pageStatusLabel('pending')).toBe('Onay Bekliyor');
  });
});

describe('roleLabel (label of an account role)', () => {
  it.each([
    ['admin', 'Yönetici'],
    ['user', 'Kullanıcı'],
    ['viewer', 'İzleyici'],
    ['unassigned', 'Atanmamış'],
    ['owner', 'Bilinmiyor'], // unknown to this version
  ])('returns the Turkish label "$1" for the role "$0" ("Bilinmiyor" for unknown roles)', (role, label) => {
    expect(roleLabel(role)).toBe(label);
  });
});
