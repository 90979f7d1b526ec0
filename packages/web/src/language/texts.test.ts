import { describe, expect, it } from 'vitest';
import { pageStatusLabel } from '../screens/account-status/texts.ts';
import { roleLabel, statusLabel } from './texts.ts';

describe('the label of a status', () => {
  it.each([
    ['pending', 'Onay Bekliyor'],
    ['active', 'Aktif'],
    ['suspended', 'Askıya Alındı'],
    ['deactivated', 'Devre Dışı'],
    ['frozen', 'Bilinmiyor'],
    ['constructor', 'Bilinmiyor'],
  ])('of %s is %s', (status, label) => {
    expect(statusLabel(status)).toBe(label);
  });

  it('of suspended has another wording on the account status page', () => {
    expect(pageStatusLabel('suspended')).toBe('Askıya Alınmış');
    expect(pageStatusLabel('pending')).toBe('Onay Bekliyor');
  });
});

describe('the label of a role', () => {
  it.each([
    ['admin', 'Yönetici'],
    ['user', 'Kullanıcı'],
    ['viewer', 'İzleyici'],
    ['unassigned', 'Atanmamış'],
    ['owner', 'Bilinmiyor'],
  ])('of %s is %s', (role, label) => {
    expect(roleLabel(role)).toBe(label);
  });
});
