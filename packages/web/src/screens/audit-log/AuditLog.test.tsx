/** Tests of the audit log screen. They find elements by Turkish texts, the default language of these screens. */
import type { AuditChain, AuditEntry } from '@lamina/contract';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { reloadQueries } from '../../testing/reload-queries.ts';
import { type Answers, type ApiCall, errorResponse, pendingResponse } from '../../testing/stub-api.ts';

const admin = account({ role: 'admin' });
const isil = { uid: 'uid-isil', email: 'isil@example.org', displayName: 'Işıl Yılmaz' };
const liverSlide = { kind: 'image', id: 'image-liver', fileName: 'liver.svs', isListed: true } as const;

let nextSeq = 100;
/** Returns an entry that is older than all entries returned before, because its sequence number is smaller. */
function auditEntry(changes: Partial<AuditEntry> = {}): AuditEntry {
  nextSeq -= 1;
  return {
    seq: nextSeq,
    at: new Date(2026, 10, 21, 14, 5, 9).toISOString(),
    action: 'image-opened',
    result: 'done',
    actor: isil,
    target: liverSlide,
    detail: {},
    address: '10.0.0.1',
    requestId: 'request-1',
    hash: 'hash',
    ...changes,
  };
}

const intactChain: AuditChain = {
  state: 'intact',
  isChecking: false,
  checkedAt: new Date(2026, 10, 21, 14, 0).toISOString(),
  entries: 1203,
  brokenAt: null,
};

function openAuditLog(path: string, entries: readonly AuditEntry[], api: Answers = {}) {
  return openApp(path, {
    signedInAs: admin,
    api: {
      'GET /admin/audit': { entries, next_cursor: null },
      'GET /admin/audit/chain': intactChain,
      'GET /image-catalog/images': { images: [], next_cursor: null },
      ...api,
    },
  });
}

const lastAuditQueryOf = (calls: readonly ApiCall[]) =>
  calls.filter(({ name }) => name === 'GET /admin/audit').at(-1)?.query;
const findTable = () => screen.findByRole('table', { name: 'Kayıtlar' });
/** Returns the text of each row of the table. A cell with a name and an e-mail address below has both without a space between them. */
const findRowTexts = async () =>
  within(await findTable())
    .getAllByRole('row')
    .map((row) => [...row.children].map((cell) => cell.textContent).join(' | '));

describe('the audit log screen', () => {
  it('lists time, action, actor, target, details and IP address of entries, grouped by day', async () => {
    openAuditLog('/admin/audit', [
      auditEntry(),
      auditEntry({
        action: 'sign-in',
        result: 'refused',
        actor: null,
        target: { kind: 'account', ...isil },
        detail: { code: 'credentials_invalid' },
      }),
      auditEntry({
        at: new Date(2026, 10, 20, 9, 0, 0).toISOString(),
        action: 'approved',
        target: { kind: 'account', uid: 'uid-gone', email: null, displayName: null },
        detail: { status_before: 'pending', status: 'active' },
      }),
      auditEntry({
        at: new Date(2026, 10, 20, 8, 0, 0).toISOString(),
        action: 'audit-pruned',
        actor: null,
        target: null,
        detail: { entries: 3 },
        address: null,
      }),
    ]);
    expect(await findRowTexts()).toEqual([
      'Saat | İşlem | Kişi | Hedef | Ayrıntı | Adres',
      '21 Kasım 2026',
      '14:05:09 | Slayt açıldı | Işıl Yılmazisil@example.org | liver.svs |  | 10.0.0.1',
      '14:05:09 | Giriş başarısız | Oturum açmamış kişi | Işıl Yılmazisil@example.org | Geçersiz e-posta veya şifre. | 10.0.0.1',
      '20 Kasım 2026',
      '09:00:00 | Hesap onaylandı | Işıl Yılmazisil@example.org | Silinmiş hesapuid-gone | Durum: Onay Bekliyor → Aktif | 10.0.0.1',
      '08:00:00 | Süresi dolan kayıtlar silindi | Sunucu |  | 3 kayıt silindi | ',
    ]);
  });

  it('links each slide and user to the audit entries about that slide or user, and shows the user’s name in the filter', async () => {
    const { person, calls, address } = openAuditLog('/admin/audit', [auditEntry()]);
    await person.click(await screen.findByRole('link', { name: 'liver.svs' }));
    expect(address()).toBe('/admin/audit?target=image-liver');
    await waitFor(() => expect(lastAuditQueryOf(calls)).toEqual({ target: 'image-liver', hide: 'sessions' }));
    await person.click(await screen.findByRole('link', { name: 'Işıl Yılmaz' }));
    expect(address()).toBe('/admin/audit?who=uid-isil');
    await waitFor(() => expect(lastAuditQueryOf(calls)).toEqual({ who: 'uid-isil', hide: 'sessions' }));
    await screen.findByText('Işıl Yılmaz', { selector: '.mantine-InputWrapper-description' });
  });

  it('requests the filtered entries only after the filter button is pressed, with days in the time zone of the browser', async () => {
    const { person, calls, address } = openAuditLog('/admin/audit', []);
    await screen.findByText('Bu filtrelere uyan kayıt yok.');
    await person.type(screen.getByLabelText('Kişi'), ' isil@example.org ');
    await person.selectOptions(screen.getByLabelText('İşlem'), 'Giriş');
    await person.selectOptions(screen.getByLabelText('Sonuç'), 'Reddedildi');
    await person.type(screen.getByLabelText('Başlangıç tarihi'), '2026-11-01');
    await person.type(screen.getByLabelText('Bitiş tarihi'), '2026-11-30');
    expect(lastAuditQueryOf(calls)).toEqual({ hide: 'sessions' });
    await person.click(screen.getByRole('button', { name: 'Filtrele' }));
    await waitFor(() =>
      expect(lastAuditQueryOf(calls)).toEqual({
        who: 'isil@example.org',
        action: 'sign-in',
        result: 'refused',
        from: new Date(2026, 10, 1).toISOString(),
        to: new Date(2026, 11, 1).toISOString(),
      }),
    );
    expect(address()).toContain('who=isil%40example.org');
    await person.click(screen.getByRole('button', { name: 'Filtreleri temizle' }));
    await waitFor(() => expect(lastAuditQueryOf(calls)).toEqual({ hide: 'sessions' }));
    expect(address()).toBe('/admin/audit');
  });

  it('filters by a slide that the user finds by name, and keeps the name in the field', async () => {
    const image = {
      id: '7d3b1a52-6c1e-4c8e-9d0f-2f6a3b4c5d6e',
      file_name: 'böbrek.svs',
      dataset_name: 'Fare',
    };
    /** Fields that the API requires and the audit log does not show. */
    const otherFields = {
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
    const { person, calls, address } = openAuditLog('/admin/audit', [], {
      // The first slides of the catalogue, which the field offers without a search text, do not contain this slide.
      'GET /image-catalog/images': ({ query }: ApiCall) => ({
        images: query.q === undefined ? [] : [{ ...image, ...otherFields }],
        next_cursor: null,
      }),
    });
    const slideSearches = () => calls.filter(({ name }) => name === 'GET /image-catalog/images');
    const field = await screen.findByRole<HTMLInputElement>('combobox', { name: 'Slayt' });
    await person.type(field, 'böb');
    await waitFor(() =>
      expect(slideSearches().at(-1)?.query).toEqual({
        limit: '20',
        q: 'böb',
      }),
    );
    await person.click(await screen.findByRole('option', { name: 'böbrek.svs · Fare' }));
    await waitFor(() => expect(slideSearches().at(-1)?.query).toEqual({ limit: '20' }));
    await reloadQueries(); // the field then has the slides of an empty search text
    expect(field.value).toBe('böbrek.svs · Fare');
    await person.click(screen.getByRole('button', { name: 'Filtrele' }));
    expect(address()).toBe(`/admin/audit?target=${image.id}`);
    expect(field.value).toBe('böbrek.svs · Fare');
    await person.click(await screen.findByRole('button', { name: 'Filtreleri temizle' }));
    await waitFor(() => expect(field.value).toBe(''));
  });

  it('shows "no slide matches" in the slide field only after a search without results, not while a search runs or after it failed', async () => {
    const nothing = { images: [], next_cursor: null };
    const search = pendingResponse();
    const { person } = openAuditLog('/admin/audit', [], {
      'GET /image-catalog/images': ({ query }: ApiCall) => (query.q === 'a' ? search.answer() : nothing),
    });
    const field = await screen.findByRole('combobox', { name: 'Slayt' });
    await person.type(field, 'a');
    const list = within(await screen.findByRole('listbox'));
    await list.findByText('Yükleniyor…');
    expect(list.queryByText('Bu ada uyan slayt yok.')).toBeNull();
    search.respondWith(errorResponse('unavailable'));
    await screen.findByText(/Hizmet şu anda kullanılamıyor/);
    expect(screen.queryByText('Bu ada uyan slayt yok.')).toBeNull();
    await person.type(field, 'b');
    await screen.findByText('Bu ada uyan slayt yok.');
    expect(screen.queryByText(/Hizmet şu anda kullanılamıyor/)).toBeNull();
  });

  it('leaves the focus in the form when the filter is applied with Enter or cleared', async () => {
    const { person, address } = openAuditLog('/admin/audit', [auditEntry()]);
    const who = await screen.findByLabelText('Kişi');
    await person.type(who, 'a@example.org{Enter}');
    await waitFor(() => expect(address()).toBe('/admin/audit?who=a%40example.org'));
    const clear = await screen.findByRole('button', { name: 'Filtreleri temizle' });
    expect(document.activeElement).toBe(who);
    await person.click(clear);
    await waitFor(() => expect(address()).toBe('/admin/audit'));
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Filtrele' }));
    expect((who as HTMLInputElement).value).toBe('');
  });

  it('keeps the entries and shows a toast when the refresh button is pressed and the entries cannot be loaded', async () => {
    let response: object = { entries: [auditEntry()], next_cursor: null };
    const { person } = openAuditLog('/admin/audit', [], { 'GET /admin/audit': () => response });
    await findTable();
    response = errorResponse('unavailable', 'Veritabanı meşgul.');
    await person.click(screen.getByRole('button', { name: 'Yenile' }));
    await screen.findByText('Veritabanı meşgul.');
    await findTable();
  });

  it('loads older entries when the button below the list is pressed, and then says that there are no more', async () => {
    const { person, calls } = openAuditLog('/admin/audit', [], {
      'GET /admin/audit': ({ query }: ApiCall) =>
        query.cursor === 'older'
          ? { entries: [auditEntry({ action: 'sign-out' })], next_cursor: null }
          : { entries: [auditEntry()], next_cursor: 'older' },
    });
    await person.click(await screen.findByRole('button', { name: 'Daha eski kayıtlar' }));
    await within(await findTable()).findByText('Çıkış');
    expect(within(await findTable()).getByText('Slayt açıldı')).toBeTruthy();
    await screen.findByText('Kayıtların sonu');
    expect(calls.filter(({ name }) => name === 'GET /admin/audit')).toHaveLength(2);
  });

  it('shows a retry button when the first entries or older entries cannot be loaded', async () => {
    let response: object = errorResponse('unavailable', 'Veritabanı meşgul.');
    const { person } = openAuditLog('/admin/audit', [], { 'GET /admin/audit': () => response });
    await screen.findByText('Veritabanı meşgul.');
    response = { entries: [auditEntry()], next_cursor: 'older' };
    await person.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
    await findTable();
    response = errorResponse('unavailable');
    await person.click(screen.getByRole('button', { name: 'Daha eski kayıtlar' }));
    await screen.findByText('Daha eski kayıtlar yüklenemedi.');
    response = { entries: [auditEntry({ action: 'sign-out' })], next_cursor: null };
    await person.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
    await within(await findTable()).findByText('Çıkış');
  });

  it('downloads the entries that match the filter as a CSV file', async () => {
    const clickedLinks: { name: string; address: string }[] = [];
    const blobs: Blob[] = [];
    // The app saves a file by clicking a link to a blob URL. The stubs record both and save nothing.
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
      clickedLinks.push({ name: this.download, address: this.href });
    });
    const { person, calls } = openAuditLog('/admin/audit?action=sign-in', [auditEntry()], {
      'GET /admin/audit.csv': new Response('Sıra\r\n', { headers: { 'Content-Type': 'text/csv' } }),
    });
    await person.click(await screen.findByRole('button', { name: 'CSV indir' }));
    await screen.findByText('Denetim kaydı indirildi.');
    expect(clickedLinks).toEqual([
      { name: expect.stringMatching(/^denetim-kaydi-.*\.csv$/), address: 'blob:file' },
    ]);
    expect(await blobs[0]?.text()).toBe('Sıra\r\n');
    const download = calls.find(({ name }) => name === 'GET /admin/audit.csv');
    expect(download).toMatchObject({ query: { action: 'sign-in' }, authorization: 'Bearer token-1' });
  });

  it('shows why the CSV file cannot be downloaded', async () => {
    const { person } = openAuditLog('/admin/audit', [auditEntry()], {
      'GET /admin/audit.csv': errorResponse('unavailable'),
    });
    await person.click(await screen.findByRole('button', { name: 'CSV indir' }));
    await screen.findByText('Hizmet şu anda kullanılamıyor. Lütfen biraz sonra yeniden deneyin.');
  });
});

/** Each audit entry contains the hash of the entry before it. The check finds entries that were changed, deleted or moved. */
describe('the state of the hash chain on the audit log screen', () => {
  it('is shown as intact, with the number of entries and the time of the check', async () => {
    openAuditLog('/admin/audit', []);
    const chain = within(await screen.findByRole('region', { name: 'Kayıt zinciri' }));
    chain.getByText('Kayıt zinciri sağlam');
    chain.getByText('1.203 kayıt denetlendi · 21 Kasım 2026 14:00');
  });

  it('is checked again when the check button is pressed, and shown as broken at the first invalid entry', async () => {
    let chain = intactChain;
    const { person } = openAuditLog('/admin/audit', [], {
      'GET /admin/audit/chain': () => chain,
      'POST /admin/audit/chain': () => ({ ...intactChain, isChecking: true }),
    });
    const checkButton = await screen.findByRole('button', { name: 'Şimdi denetle' });
    chain = { ...intactChain, state: 'broken', brokenAt: 1042 };
    await person.click(checkButton); // the response says that the check is running, so the screen requests its result
    const alert = await screen.findByRole('alert', {
      name: 'Kayıt zinciri 1.042 numaralı kayıtta bozuluyor',
    });
    within(alert).getByText(/Bu kayıt değiştirilmiş, silinmiş ya da yeri değiştirilmiş/);
  });

  it('has a retry button when it cannot be loaded', async () => {
    let response: object = errorResponse('unavailable');
    const { person } = openAuditLog('/admin/audit', [], { 'GET /admin/audit/chain': () => response });
    await screen.findByText('Kayıt zincirinin durumu alınamadı.');
    response = { ...intactChain, state: 'unchecked', isChecking: true, checkedAt: null, entries: null };
    await person.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
    await screen.findByText('Kayıt zinciri denetleniyor…');
  });
});
