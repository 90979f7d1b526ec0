import type { AuditChain, AuditEntry } from '@lamina/contract';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { type Answers, type ApiCall, refusal } from '../../testing/stub-api.ts';

const admin = account({ role: 'admin' });
const isil = { uid: 'uid-isil', email: 'isil@example.org', displayName: 'Işıl Yılmaz' };
const liver = { kind: 'image', id: 'image-liver', fileName: 'liver.svs', isListed: true } as const;

let seq = 100;
function entry(given: Partial<AuditEntry> = {}): AuditEntry {
  seq -= 1;
  return {
    seq,
    at: new Date(2026, 10, 21, 14, 5, 9).toISOString(),
    action: 'image-opened',
    result: 'done',
    actor: isil,
    target: liver,
    detail: {},
    address: '10.0.0.1',
    requestId: 'request-1',
    hash: 'hash',
    ...given,
  };
}

const intact: AuditChain = {
  state: 'intact',
  isChecking: false,
  checkedAt: new Date(2026, 10, 21, 14, 0).toISOString(),
  entries: 1203,
  brokenAt: null,
};

function open(path: string, entries: readonly AuditEntry[], api: Answers = {}) {
  return openApp(path, {
    signedInAs: admin,
    api: {
      'GET /admin/audit': { entries, next_cursor: null },
      'GET /admin/audit/chain': intact,
      'GET /image-catalog/images': { images: [], next_cursor: null },
      ...api,
    },
  });
}

const lastAsked = (calls: readonly ApiCall[]) =>
  calls.filter(({ name }) => name === 'GET /admin/audit').at(-1)?.query;
const table = () => screen.findByRole('table', { name: 'Kayıtlar' });
const rowsOf = async () =>
  within(await table())
    .getAllByRole('row')
    .map((row) => [...row.children].map((cell) => cell.textContent).join(' | '));

describe('the audit log', () => {
  it('lists who did what to whom, when and from which address, grouped by day', async () => {
    open('/admin/audit', [
      entry(),
      entry({
        action: 'sign-in',
        result: 'refused',
        actor: null,
        target: { kind: 'account', ...isil },
        detail: { code: 'credentials_invalid' },
      }),
      entry({
        at: new Date(2026, 10, 20, 9, 0, 0).toISOString(),
        action: 'approved',
        target: { kind: 'account', uid: 'uid-gone', email: null, displayName: null },
        detail: { status_before: 'pending', status: 'active' },
      }),
      entry({
        at: new Date(2026, 10, 20, 8, 0, 0).toISOString(),
        action: 'audit-pruned',
        actor: null,
        target: null,
        detail: { entries: 3 },
        address: null,
      }),
    ]);
    expect(await rowsOf()).toEqual([
      'Saat | İşlem | Kişi | Hedef | Ayrıntı | Adres',
      '21 Kasım 2026',
      '14:05:09 | Slayt açıldı | Işıl Yılmazisil@example.org | liver.svs |  | 10.0.0.1',
      '14:05:09 | Giriş başarısız | Oturum açmamış kişi | Işıl Yılmazisil@example.org | Geçersiz e-posta veya şifre. | 10.0.0.1',
      '20 Kasım 2026',
      '09:00:00 | Hesap onaylandı | Işıl Yılmazisil@example.org | Silinmiş hesapuid-gone | Durum: Onay Bekliyor → Aktif | 10.0.0.1',
      '08:00:00 | Süresi dolan kayıtlar silindi | Sunucu |  | 3 kayıt silindi | ',
    ]);
  });

  it('links a slide to its openings, and a person to their entries', async () => {
    const { person, calls, address } = open('/admin/audit', [entry()]);
    await person.click(await screen.findByRole('link', { name: 'liver.svs' }));
    expect(address()).toBe('/admin/audit?target=image-liver');
    await waitFor(() => expect(lastAsked(calls)).toEqual({ target: 'image-liver', hide: 'sessions' }));
    await person.click(await screen.findByRole('link', { name: 'Işıl Yılmaz' }));
    expect(address()).toBe('/admin/audit?who=uid-isil');
    await waitFor(() => expect(lastAsked(calls)).toEqual({ who: 'uid-isil', hide: 'sessions' }));
    // Whose id it is stands beside the field.
    await screen.findByText('Işıl Yılmaz', { selector: '.mantine-InputWrapper-description' });
  });

  it('sends the filter when the button is pressed, in whole local days', async () => {
    const { person, calls, address } = open('/admin/audit', []);
    await screen.findByText('Bu filtrelere uyan kayıt yok.');
    await person.type(screen.getByLabelText('Kişi'), ' isil@example.org ');
    await person.selectOptions(screen.getByLabelText('İşlem'), 'Giriş');
    await person.selectOptions(screen.getByLabelText('Sonuç'), 'Reddedildi');
    await person.type(screen.getByLabelText('Başlangıç tarihi'), '2026-11-01');
    await person.type(screen.getByLabelText('Bitiş tarihi'), '2026-11-30');
    expect(lastAsked(calls)).toEqual({ hide: 'sessions' });
    await person.click(screen.getByRole('button', { name: 'Filtrele' }));
    await waitFor(() =>
      expect(lastAsked(calls)).toEqual({
        who: 'isil@example.org',
        action: 'sign-in',
        result: 'refused',
        from: new Date(2026, 10, 1).toISOString(),
        to: new Date(2026, 11, 1).toISOString(),
      }),
    );
    expect(address()).toContain('who=isil%40example.org');
    await person.click(screen.getByRole('button', { name: 'Filtreleri temizle' }));
    await waitFor(() => expect(lastAsked(calls)).toEqual({ hide: 'sessions' }));
    expect(address()).toBe('/admin/audit');
  });

  it('finds a slide by its name', async () => {
    const image = {
      id: '7d3b1a52-6c1e-4c8e-9d0f-2f6a3b4c5d6e',
      file_name: 'böbrek.svs',
      dataset_name: 'Fare',
    };
    const facts = {
      organ_type: null,
      width: 1,
      height: 1,
      mpp_x: null,
      mpp_y: null,
      objective_power: null,
      mpp_derived: false,
      objective_power_derived: false,
      vendor: null,
      format: null,
      size_bytes: 1,
      status: 'ready',
      error: null,
      hidden: false,
      created_at: '2026-05-01T00:00:00.000Z',
    };
    const { person, calls, address } = open('/admin/audit', [], {
      'GET /image-catalog/images': { images: [{ ...image, ...facts }], next_cursor: null },
    });
    await person.type(await screen.findByRole('combobox', { name: 'Slayt' }), 'böb');
    await waitFor(() =>
      expect(calls.filter(({ name }) => name === 'GET /image-catalog/images').at(-1)?.query).toEqual({
        limit: '20',
        q: 'böb',
      }),
    );
    await person.click(await screen.findByRole('option', { name: 'böbrek.svs · Fare' }));
    await person.click(screen.getByRole('button', { name: 'Filtrele' }));
    expect(address()).toBe(`/admin/audit?target=${image.id}`);
  });

  it('loads older entries on request, and marks the end of the log', async () => {
    const { person, calls } = open('/admin/audit', [], {
      'GET /admin/audit': ({ query }: ApiCall) =>
        query.cursor === 'older'
          ? { entries: [entry({ action: 'sign-out' })], next_cursor: null }
          : { entries: [entry()], next_cursor: 'older' },
    });
    await person.click(await screen.findByRole('button', { name: 'Daha eski kayıtlar' }));
    await within(await table()).findByText('Çıkış');
    expect(within(await table()).getByText('Slayt açıldı')).toBeTruthy();
    await screen.findByText('Kayıtların sonu');
    expect(calls.filter(({ name }) => name === 'GET /admin/audit')).toHaveLength(2);
  });

  it('offers Retry when entries or older entries cannot be loaded', async () => {
    let answer: object = refusal('unavailable', 'Veritabanı meşgul.');
    const { person } = open('/admin/audit', [], { 'GET /admin/audit': () => answer });
    await screen.findByText('Veritabanı meşgul.');
    answer = { entries: [entry()], next_cursor: 'older' };
    await person.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
    await table();
    answer = refusal('unavailable');
    await person.click(screen.getByRole('button', { name: 'Daha eski kayıtlar' }));
    await screen.findByText('Daha eski kayıtlar yüklenemedi.');
    answer = { entries: [entry({ action: 'sign-out' })], next_cursor: null };
    await person.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
    await within(await table()).findByText('Çıkış');
  });

  it('downloads the filtered entries as a file', async () => {
    const saved: { name: string; address: string }[] = [];
    const blobs: Blob[] = [];
    vi.stubGlobal(
      'URL',
      class extends URL {
        static override createObjectURL(blob: Blob) {
          blobs.push(blob);
          return 'blob:file';
        }
        static override revokeObjectURL() {}
      },
    );
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      saved.push({ name: this.download, address: this.href });
    });
    const { person, calls } = open('/admin/audit?action=sign-in', [entry()], {
      'GET /admin/audit.csv': new Response('Sıra\r\n', { headers: { 'Content-Type': 'text/csv' } }),
    });
    await person.click(await screen.findByRole('button', { name: 'CSV indir' }));
    await screen.findByText('Denetim kaydı indirildi.');
    expect(saved).toEqual([{ name: expect.stringMatching(/^denetim-kaydi-.*\.csv$/), address: 'blob:file' }]);
    expect(await blobs[0]?.text()).toBe('Sıra\r\n');
    const asked = calls.find(({ name }) => name === 'GET /admin/audit.csv');
    expect(asked).toMatchObject({ query: { action: 'sign-in' }, authorization: 'Bearer token-1' });
  });

  it('says that the file could not be downloaded', async () => {
    const { person } = open('/admin/audit', [entry()], { 'GET /admin/audit.csv': refusal('unavailable') });
    await person.click(await screen.findByRole('button', { name: 'CSV indir' }));
    await screen.findByText('Hizmet şu anda kullanılamıyor. Lütfen biraz sonra yeniden deneyin.');
  });
});

describe('the state of the hash chain', () => {
  it('is shown as intact, with the time of the check', async () => {
    open('/admin/audit', []);
    const chain = within(await screen.findByRole('region', { name: 'Kayıt zinciri' }));
    chain.getByText('Kayıt zinciri sağlam');
    chain.getByText('1.203 kayıt denetlendi · 21 Kasım 2026 14:00');
  });

  it('is checked again after a click, and loads its state until the check has ended', async () => {
    let chain = intact;
    const { person } = open('/admin/audit', [], {
      'GET /admin/audit/chain': () => chain,
      'POST /admin/audit/chain': () => ({ ...intact, isChecking: true }),
    });
    const check = await screen.findByRole('button', { name: 'Şimdi denetle' });
    chain = { ...intact, state: 'broken', brokenAt: 1042 };
    await person.click(check);
    const alert = await screen.findByRole('alert', {
      name: 'Kayıt zinciri 1.042 numaralı kayıtta bozuluyor',
    });
    within(alert).getByText(/Bu kayıt değiştirilmiş, silinmiş ya da yerinden oynatılmış/);
  });

  it('offers Retry when the state cannot be loaded', async () => {
    let answer: object = refusal('unavailable');
    const { person } = open('/admin/audit', [], { 'GET /admin/audit/chain': () => answer });
    await screen.findByText('Kayıt zincirinin durumu alınamadı.');
    answer = { ...intact, state: 'unchecked', isChecking: true, checkedAt: null, entries: null };
    await person.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
    await screen.findByText('Kayıt zinciri denetleniyor…');
  });
});
