import { describe, expect, it } from 'vitest';
import { detailOf } from './detail-of.ts';
import { sentenceOf } from './texts.ts';

describe('what else an entry says', () => {
  it.each([
    ['sign-in', { code: 'credentials_invalid' }, ['Geçersiz e-posta veya şifre.']],
    [
      'approved',
      { status_before: 'pending', status: 'active', role_before: 'unassigned', role: 'viewer' },
      ['Durum: Onay Bekliyor → Aktif', 'Rol: Atanmamış → İzleyici'],
    ],
    [
      'promoted',
      { status_before: 'active', status: 'active', role_before: 'user', role: 'admin' },
      ['Rol: Kullanıcı → Yönetici'],
    ],
    ['admin-restored', { status_before: 'suspended' }, ['Durum: Askıya Alındı']],
    ['image-edited', { fields: 'dataset_name organ_type shelf' }, ['Alanlar: veri kümesi, organ, shelf']],
    ['image-opened', { file_name: 'liver.svs' }, []],
    [
      'access-refused',
      { code: 'forbidden', call: 'GET /admin/users' },
      ['Bu işlem için yetkiniz yok.', 'Çağrı: GET /admin/users'],
    ],
    ['refusals-summed-up', { count: 1500, kinds: 'sign-in: 1500' }, ['1.500 kez', 'kinds: sign-in: 1500']],
    [
      'audit-pruned',
      { entries: 1500, before_seq: 1500, before_hash: 'x', before: '2020' },
      ['1.500 kayıt silindi'],
    ],
    [
      'catalogue-imported',
      { rows: 1500, changed: 2, unchanged: 1490, unknown: 8 },
      ['1.500 satır: 2 slayt değişti, 8 satır katalogda bulunamadı'],
    ],
    [
      'upload-finished',
      { dataset: 'Böbrek', upload_path: 'Case 7', files: 12, size_bytes: 1_250_000 },
      ['Böbrek › Case 7', '12 dosya, 1,3 MB'],
    ],
    ['settings-changed', { demo: true, changed: 'demo port' }, ['Değişen ayarlar: demo, port']],
    ['settings-changed', { demo: true }, ['İlk başlangıç ayarları']],
    ['of a newer version', { code: 'new_code', colour: 'blue', nothing: null }, ['new_code', 'colour: blue']],
  ] as const)('of %s %o', (action, detail, sentences) => {
    expect(detailOf({ action, detail })).toEqual(sentences);
  });
});

describe('an entry in a few words', () => {
  it.each([
    ['sign-in', 'done', 'Giriş'],
    ['sign-in', 'refused', 'Giriş başarısız'],
    ['access-refused', 'refused', 'Erişim reddedildi'],
    ['image-imported', 'failed', 'Slayt dosyası okunamadı'],
    ['image-edited', 'refused', 'Slayt bilgisi değiştirildi: reddedildi'],
    ['image-edited', 'failed', 'Slayt bilgisi değiştirildi: başarısız'],
    ['slide-printed', 'done', 'slide-printed'],
  ])('%s, %s: %s', (action, result, sentence) => {
    expect(sentenceOf({ action, result })).toBe(sentence);
  });
});
