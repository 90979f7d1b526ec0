import { describe, expect, it } from 'vitest';
import { detailOf } from './detail-of.ts';
import { summaryOf } from './texts.ts';

describe('detailOf (the details of an entry in the table of the audit log)', () => {
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
    [
      'image-edited',
      { fields: 'dataset_name organ_type new_field' },
      ['Alanlar: veri kümesi, organ, new_field'],
    ],
    [
      'image-edited',
      { fields: 'dataset_name', dataset_before: 'Böbrek', dataset_after: null },
      ['Veri kümesi: Böbrek → veri kümesi yok'],
    ],
    [
      'image-edited',
      {
        fields: 'file_name organ_type',
        file_name_before: 'a.svs',
        file_name_after: 'b.svs',
        organ_before: null,
        organ_after: 'Deri',
      },
      ['Ad: a.svs → b.svs', 'Organ: — → Deri'],
    ],
    [
      'image-calibrated',
      { mpp_before: null, mpp_after: 0.25, objective_power_before: 40, objective_power_after: null },
      ['Piksel boyutu (µm): — → 0,25', 'Objektif (×): 40 → —'],
    ],
    ['dataset-granted', { dataset: 'aperio' }, ['Veri kümesi: aperio']],
    [
      'dataset-changed',
      { access: 'open', listed: true },
      ['Erişim: tüm üyelere açık', 'Üyelere gösteriliyor: evet'],
    ],
    ['expiry-changed', { expires_at: null }, ['Bitiş tarihi: süresiz']],
    [
      'image-dataset-kept',
      { dataset: 'Böbrek', dataset_in_files: null },
      ['Veri kümesi: Böbrek', 'Dosyalara göre: veri kümesi yok'],
    ],
    ['image-opened', { file_name: 'liver.svs' }, []],
    ['image-opened', { by: 'descriptor', file_name: 'liver.svs' }, []],
    ['image-opened', { by: 'thumbnail', file_name: 'liver.svs' }, ['Küçük resim gösterildi']],
    [
      'image-viewed',
      { by: 'tile', file_name: 'liver.svs' },
      ['Tanım dosyası istenmeden görüntü karoları gösterildi'],
    ],
    [
      'access-refused',
      { code: 'forbidden', call: 'GET /admin/users' },
      ['Bu işlem için yetkiniz yok.', 'Çağrı: GET /admin/users'],
    ],
    ['refusals-summed-up', { count: 1500, kinds: 'sign-in: 1500' }, ['1.500 kez', 'Türleri: sign-in: 1500']],
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
  ] as const)(
    'describes an audit entry "%s" with the stored details %j in Turkish as %j',
    (action, detail, sentences) => {
      expect(detailOf({ action, detail })).toEqual(sentences);
    },
  );

  it('shows unknown details by their names, and unknown error codes unchanged', () => {
    const entry = {
      action: 'action-of-a-newer-version',
      detail: { code: 'new_code', colour: 'blue', nothing: null },
    };
    expect(detailOf(entry)).toEqual(['new_code', 'colour: blue']);
  });
});

describe('summaryOf (the summary of an entry in the table of the audit log)', () => {
  it.each([
    ['sign-in', 'done', 'Giriş'],
    ['sign-in', 'refused', 'Giriş başarısız'],
    ['access-refused', 'refused', 'Erişim reddedildi'],
    ['image-imported', 'failed', 'Slayt dosyası okunamadı'],
    ['image-edited', 'refused', 'Slayt bilgisi değiştirildi: reddedildi'],
    ['image-edited', 'failed', 'Slayt bilgisi değiştirildi: başarısız'],
    ['slide-printed', 'done', 'slide-printed'], // an unknown action
  ])('summarises an audit entry "%s" with the result "%s" as "%s"', (action, result, summary) => {
    expect(summaryOf({ action, result })).toBe(summary);
  });
});
