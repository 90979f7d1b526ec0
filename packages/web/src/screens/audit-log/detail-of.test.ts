import { describe, expect, it } from 'vitest';
import { formatDateAndTime } from '../../formatting/dates.ts';
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
      { access: 'restricted', listed: true },
      ['Erişim: kısıtlı', 'Üyelere gösteriliyor: evet'],
    ],
    ['dataset-changed', { access: 'open', listed: false }, ['Erişim: tüm üyelere açık']],
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
    [
      'share-link-created',
      { type: 'collection', of: 'c-1', expires_at: null, max_openings: 3 },
      ['Bitiş tarihi: süresiz', 'Paylaşılan: koleksiyon', 'Paylaşılanın kimliği: c-1', 'En fazla açılma: 3'],
    ],
    ['share-link-opened', { openings: 2, slides: 5 }, ['Açılma sayısı: 2', 'Slayt sayısı: 5']],
    ['share-link-ended', { owner: 'uid-1' }, ['Sahibinin kimliği: uid-1']],
    [
      'collection-changed',
      { title: 'Ders', items: 4, readers: 'members' },
      ['Başlık: Ders', 'Öğe sayısı: 4', 'Okuyabilenler: tüm üyeler'],
    ],
    [
      'api-token-created',
      { token: 'lam_ab12', scopes: 'slides:read annotations:read', datasets: 2, expires_at: null },
      [
        'Bitiş tarihi: süresiz',
        'Anahtarın başı: lam_ab12',
        'Yetkiler: Katalog ve görüntüler: okuma, İşaretlemeler: okuma',
        'Veri kümesi sayısı: 2',
      ],
    ],
    [
      'original-downloaded',
      {
        file_name: 'a.svs',
        file: 'a.svs',
        from: 0,
        to: 1_048_575,
        identifiable: false,
        token: 'lam_ab12',
      },
      [
        'Baytlar: 0–1.048.575',
        'Dosya: a.svs',
        'Kimliksizleştirilmeden indirildi: hayır',
        'Anahtarın başı: lam_ab12',
      ],
    ],
    [
      'dataset-changed',
      { access: 'restricted', sharing: true, identifiable_originals: true },
      ['Erişim: kısıtlı', 'Paylaşım açık: evet', 'Kimliksizleştirilemeyen dosyalar indirilebilir: evet'],
    ],
    [
      'dataset-granted',
      { dataset: 'Böbrek', download: true },
      ['Veri kümesi: Böbrek', 'Özgün dosyaları indirme izni: evet'],
    ],
    [
      'annotation-layer-changed',
      { layer: 'l-1', owner: 'uid-1', visibility: 'private', editing: 'owner', locked: false },
      [
        'Katmanın kimliği: l-1',
        'Sahibinin kimliği: uid-1',
        'Görebilenler: yalnızca sahibi',
        'Değiştirebilenler: sahibi',
        'Kilitli: hayır',
      ],
    ],
    [
      'result-layer-created',
      { layer: 'l-1', kind: 'raster' },
      ['Katmanın kimliği: l-1', 'Tür: ısı haritası veya maske'],
    ],
    ['annotation-classes-changed', { dataset: 'Deri', classes: 7 }, ['Veri kümesi: Deri', 'Sınıf sayısı: 7']],
    ['saved-view-created', { title: 'private', image: 'i-1' }, ['Başlık: private', 'Slaydın kimliği: i-1']],
    ['case-created', { name: 'B-12', slides: 2 }, ['Ad: B-12', 'Slayt sayısı: 2']],
    ['image-opened', { by: 'descriptor', share_link: 's-1' }, ['Paylaşım bağlantısının kimliği: s-1']],
    ['throttled', { what: 'share-link-created' }, ['Deneme türü: Paylaşım bağlantısı oluşturuldu']],
    ['throttled', { what: 'second-factor' }, ['Deneme türü: doğrulama kodu']],
    [
      'audit-exported',
      { action: 'sign-in', result: 'refused', from: '2026-11-21T11:05:00.000Z', hide: 'sessions' },
      [
        `Başlangıç tarihi: ${formatDateAndTime('2026-11-21T11:05:00.000Z')}`,
        'İşlem: Giriş',
        'Sonuç: Reddedildi',
        'Gösterilmeyen: görüntü oturumları',
      ],
    ],
    ['settings-changed', { demo: true, changed: 'demo port' }, ['Değişen ayarlar: demo, port']],
    ['settings-changed', { demo: true }, ['İlk başlangıç ayarları']],
  ] as const)(
    'describes an audit entry "%s" with the stored details %j in Turkish as %j',
    (action, detail, sentences) => {
      expect(detailOf({ action, detail })).toEqual(sentences);
    },
  );

  it('describes an unknown detail as "name: value", and an unknown error code by the code itself', () => {
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
