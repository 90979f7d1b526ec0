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
    'returns the Turkish label of the status "%s" (a common label for unknown statuses)',
    (status, label) => {
      expect(statusLabel(status)).toBe(label);
    },
  );

  it('and pageStatusLabel (account status page) return different labels for a suspended account, and the same for a pending one', () => {
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
  ])('returns the Turkish label of the role "%s" (a common label for unknown roles)', (role, label) => {
    expect(roleLabel(role)).toBe(label);
  });
});
