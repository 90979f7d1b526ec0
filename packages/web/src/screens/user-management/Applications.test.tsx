/** Tests of the queue of applicants. They find elements by Turkish texts, the default language of these screens. */
import type { UserDetails } from '@lamina/contract';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { reloadQueries } from '../../testing/reload-queries.ts';
import { type Answers, errorResponse, pendingResponse } from '../../testing/stub-api.ts';

const admin = account({ uid: 'uid-of-admin', role: 'admin' });

/** Returns a pending account. */
function applicant(uid: string, displayName: string, details: Partial<UserDetails> = {}) {
  const pending = {
    status: 'pending',
    role: 'unassigned',
    adminApproved: false,
    approvalDate: null,
  } as const;
  return { ...account({ uid, email: `${uid}@example.org`, displayName, ...pending }), ...details };
}

const deniz = applicant('deniz', 'Deniz Kaya', { affiliation: 'Ege Üniversitesi', purpose: 'Tez' });
const ekin = applicant('ekin', 'Ekin Su');
/** Response of the API with these applicants, without likely duplicates. */
const queueOf = (...people: object[]) => ({
  applications: people.map((user) => ({ user, duplicates: [] })),
  waiting: people.length,
});
const restrictedDataset = {
  name: 'Böbrek',
  access: 'restricted',
  listed: true,
  sharing: false,
  images: 1,
  grants: [],
  requests: [],
  identifiable_originals: false,
};

function openQueue(api: Answers = {}) {
  return openApp('/admin/users?view=waiting', {
    signedInAs: admin,
    api: {
      'GET /admin/waiting': { applications: 2, datasetRequests: 0 },
      'GET /admin/applications': queueOf(deniz, ekin),
      'GET /admin/datasets': {
        datasets: [restrictedDataset, { ...restrictedDataset, name: 'Açık', access: 'open' }],
      },
      'GET /admin/users/deniz': { user: deniz },
      'GET /admin/users/ekin': { user: ekin },
      ...api,
    },
  });
}

/** Returns queries for the list item of a user. */
async function findRow(name: string) {
  const row = (await screen.findByRole('heading', { name })).closest('li');
  if (row === null) throw new Error(`${name} has no row`);
  return within(row);
}

describe('the queue of applicants in the user management', () => {
  it('shows name, e-mail, institution, purpose and likely duplicates of an applicant', async () => {
    const duplicate = {
      uid: 'x',
      email: 'deniz@eski.example',
      displayName: 'Deniz Kaya',
      status: 'deactivated',
    };
    openQueue({
      'GET /admin/applications': {
        applications: [{ user: deniz, duplicates: [{ ...duplicate, why: 'same-name' }] }],
        waiting: 260,
      },
    });
    const row = await findRow('Deniz Kaya');
    row.getByText(/deniz@example\.org/);
    row.getByText('Ege Üniversitesi');
    row.getByText('Tez');
    row.getByText('Deniz Kaya (deniz@eski.example): aynı ad, Devre Dışı');
    screen.getByText('Bekleyen 260 kişiden en uzun süredir bekleyen 1 kişi gösteriliyor.');
  });

  it('says, when it is empty, that no applicant waits and that an e-mail will announce new applicants', async () => {
    openQueue({ 'GET /admin/applications': queueOf() });
    await screen.findByText('Onay bekleyen kimse yok.');
    screen.getByText('Yeni başvurular geldiğinde burada görünür ve size e-postayla bildirilir.');
  });

  it('has a tab with the number of applicants, which is open when the URL contains view=waiting', async () => {
    const { person, address } = openQueue({ 'GET /admin/users': { users: [], message: '' } });
    await screen.findByRole('tab', { name: /Bekleyenler\s*2/, selected: true });
    await person.click(screen.getByRole('tab', { name: 'Tüm Kullanıcılar' }));
    await screen.findByText('All Users');
    expect(address()).toBe('/admin/users');
  });

  it('approves an applicant with one click, with the role user and without an end date', async () => {
    let queue = queueOf(deniz, ekin);
    const { person, calls } = openQueue({
      'GET /admin/applications': () => queue,
      'POST /admin/users/deniz/approve': () => {
        queue = queueOf(ekin);
        return { message: 'tamam' };
      },
    });
    await person.click((await findRow('Deniz Kaya')).getByRole('button', { name: 'Onayla' }));
    await screen.findByText('Kullanıcı başarıyla onaylandı.');
    await waitFor(() => expect(screen.queryByRole('heading', { name: 'Deniz Kaya' })).toBeNull());
    expect(calls.find(({ name }) => name.endsWith('/approve'))?.body).toEqual({ role: 'user' });
  });

  it('keeps the row of an approved applicant in its place, with the name and an undo button', async () => {
    let queue = queueOf(deniz, ekin);
    const { person, calls } = openQueue({
      'GET /admin/applications': () => queue,
      'POST /admin/users/deniz/approve': () => {
        queue = queueOf(ekin);
        return { message: 'tamam' };
      },
      'POST /admin/users/deniz/withdraw-approval': () => {
        queue = queueOf(deniz, ekin);
        return { message: 'tamam' };
      },
    });
    const firstRow = () => screen.getAllByRole('listitem')[0];
    await person.click((await findRow('Deniz Kaya')).getByRole('button', { name: 'Onayla' }));
    await screen.findByText('Onaylandı: Deniz Kaya');
    expect(firstRow()?.textContent).toContain('Onaylandı: Deniz Kaya');
    await waitFor(() =>
      expect(calls.filter(({ name }) => name === 'GET /admin/applications').length).toBe(2),
    );
    expect(firstRow()?.textContent).toContain('Onaylandı: Deniz Kaya');

    const undo = screen.getByRole<HTMLButtonElement>('button', { name: 'Geri Al: Deniz Kaya' });
    await waitFor(() => expect(undo.disabled).toBe(false));
    await person.click(undo);
    await screen.findByText('Onay geri alındı.');
    await findRow('Deniz Kaya');
    expect(firstRow()?.textContent).toContain('Deniz Kaya');
  });

  it('shows a check mark in the row of an approved applicant, but not after the approval was withdrawn', async () => {
    let queue = queueOf(deniz, ekin);
    const { person } = openQueue({
      'GET /admin/applications': () => queue,
      'POST /admin/users/deniz/approve': () => {
        queue = queueOf(ekin);
        return { message: 'tamam' };
      },
      // The queue does not contain the applicant again yet, so the row says that the approval was withdrawn.
      'POST /admin/users/deniz/withdraw-approval': { message: 'tamam' },
    });
    /** Returns the check mark in the row with this text; null if there is none. */
    const findCheckMark = async (rowText: string) =>
      (await screen.findByText(rowText)).closest('li')?.querySelector('svg.tabler-icon-check') ?? null;
    await person.click((await findRow('Deniz Kaya')).getByRole('button', { name: 'Onayla' }));
    expect(await findCheckMark('Onaylandı: Deniz Kaya')).not.toBeNull();
    const undo = screen.getByRole<HTMLButtonElement>('button', { name: 'Geri Al: Deniz Kaya' });
    await waitFor(() => expect(undo.disabled).toBe(false));
    await person.click(undo);
    expect(await findCheckMark('Onay geri alındı: Deniz Kaya')).toBeNull();
  });

  it('disables its buttons for 700 ms after rows have moved, so that a double click does not hit another applicant', async () => {
    let queue = queueOf(deniz, ekin);
    const { person } = openQueue({
      'GET /admin/applications': () => queue,
      'POST /admin/users/deniz/reject': () => {
        queue = queueOf(ekin);
        return { message: 'tamam' };
      },
    });
    await person.click((await findRow('Deniz Kaya')).getByRole('button', { name: 'Reddet' }));
    const dialog = within(await screen.findByRole('dialog'));
    await person.type(dialog.getByLabelText('Gerekçe'), 'Kurum doğrulanamadı.');
    await person.click(dialog.getByRole('button', { name: 'Reddet' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    const approve = (await findRow('Ekin Su')).getByRole<HTMLButtonElement>('button', { name: 'Onayla' });
    expect(approve.disabled).toBe(true);
    await waitFor(() => expect(approve.disabled).toBe(false));
  });

  it('approves an applicant with a chosen role, restricted datasets and an end date in one call', async () => {
    const { person, calls } = openQueue({ 'POST /admin/users/deniz/approve': { message: 'tamam' } });
    await person.click(
      (await findRow('Deniz Kaya')).getByRole('button', { name: 'Rol ve Erişim Seçerek Onayla…' }),
    );
    const dialog = within(await screen.findByRole('dialog', { name: 'Başvuruyu Onayla' }));
    await person.click(dialog.getByRole('radio', { name: 'İzleyici' }));
    await person.click(await dialog.findByRole('checkbox', { name: 'Böbrek' }));
    expect(dialog.queryByRole('checkbox', { name: 'Açık' })).toBeNull();
    await person.type(dialog.getByLabelText('Bitiş tarihi (isteğe bağlı)'), '2099-12-31');
    await person.click(dialog.getByRole('button', { name: 'Onayla' }));
    await screen.findByText('Kullanıcı başarıyla onaylandı.');
    expect(calls.find(({ name }) => name.endsWith('/approve'))?.body).toEqual({
      role: 'viewer',
      datasets: ['Böbrek'],
      expires_at: new Date(2099, 11, 31, 23, 59, 59, 999).toISOString(),
    });
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  it('approves no account while the typed end date is incomplete, because browsers report such a date as empty', async () => {
    const { person, calls } = openQueue({ 'POST /admin/users/deniz/approve': { message: 'tamam' } });
    await person.click(
      (await findRow('Deniz Kaya')).getByRole('button', { name: 'Rol ve Erişim Seçerek Onayla…' }),
    );
    const dialog = within(await screen.findByRole('dialog', { name: 'Başvuruyu Onayla' }));
    const field = dialog.getByLabelText<HTMLInputElement>('Bitiş tarihi (isteğe bağlı)');
    // jsdom has no incomplete dates: the field is given the validity that browsers report after "31.12." was typed.
    const validity = vi.spyOn(field, 'validity', 'get');
    validity.mockReturnValue({ ...field.validity, badInput: true, valid: false });
    await person.click(dialog.getByRole('button', { name: 'Onayla' }));
    await dialog.findByText('Tarihi gün, ay ve yıl olarak eksiksiz yazın; bugünden önce olamaz.');
    expect(document.activeElement).toBe(field);
    expect(calls.some(({ name }) => name.endsWith('/approve'))).toBe(false);
    validity.mockRestore();
    await person.click(dialog.getByRole('button', { name: 'Onayla' }));
    await screen.findByText('Kullanıcı başarıyla onaylandı.');
  });

  it('approves several applicants in one call, and sends only the failed ones again when the user retries', async () => {
    let failsForEkin = true;
    const { person, calls } = openQueue({
      'POST /admin/applications/approve': ({ body }) => ({
        results: (body as { uids: string[] }).uids.map((uid) => ({
          uid,
          error:
            uid === 'ekin' && failsForEkin
              ? { code: 'already_active', message: 'Bu kullanıcı zaten aktif.' }
              : null,
        })),
      }),
    });
    await person.click(await screen.findByRole('checkbox', { name: 'Tümünü seç' }));
    screen.getByText('2 kişi seçildi');
    await person.click(screen.getByRole('button', { name: 'Seçilenleri Onayla' }));
    const dialog = within(await screen.findByRole('dialog'));
    dialog.getByText('Seçilen 2 kişinin hesabı aynı koşullarla açılacak.');
    await person.click(dialog.getByRole('button', { name: 'Onayla' }));
    await dialog.findByText('Ekin Su: Bu kullanıcı zaten aktif.');
    await screen.findByText('1 kullanıcı onaylandı.');
    failsForEkin = false;
    await person.click(dialog.getByRole('button', { name: 'Tekrar Dene' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    const approvals = calls.filter(({ name }) => name.endsWith('/approve')).map(({ body }) => body);
    const terms = { role: 'user', datasets: [], expires_at: null };
    expect(approvals).toEqual([
      { uids: ['deniz', 'ekin'], ...terms },
      { uids: ['ekin'], ...terms },
    ]);
  });

  it('approves 25 applicants in calls of 20, shows the progress, and stops after the Stop button is pressed', async () => {
    const people = Array.from({ length: 25 }, (_, index) => applicant(`kisi-${index}`, `Kişi ${index}`));
    const firstCall = pendingResponse();
    const { person, calls } = openQueue({
      'GET /admin/applications': queueOf(...people),
      'POST /admin/applications/approve': firstCall.answer,
    });
    await person.click(await screen.findByRole('checkbox', { name: 'Tümünü seç' }));
    await person.click(screen.getByRole('button', { name: 'Seçilenleri Onayla' }));
    const dialog = within(await screen.findByRole('dialog'));
    await person.click(dialog.getByRole('button', { name: 'Onayla' }));
    await dialog.findByText('Tamamlanan: 0 / 25');
    await person.click(dialog.getByRole('button', { name: 'Durdur' }));
    firstCall.respondWith({ results: people.slice(0, 20).map(({ uid }) => ({ uid, error: null })) });
    await screen.findByText('20 kullanıcı onaylandı.');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(calls.filter(({ name }) => name.endsWith('/approve'))).toHaveLength(1);
  });

  it('sends the failed applicant and the five unsent ones when the user retries a stopped approval of 25 (20 per call)', async () => {
    const people = Array.from({ length: 25 }, (_, index) => applicant(`kisi-${index}`, `Kişi ${index}`));
    const firstCall = pendingResponse();
    const resultsOf = (uids: readonly string[], failedUid: string | null) => ({
      results: uids.map((uid) => ({
        uid,
        error: uid === failedUid ? { code: 'already_active', message: 'Bu kullanıcı zaten aktif.' } : null,
      })),
    });
    let isFirst = true;
    const { person, calls } = openQueue({
      'GET /admin/applications': queueOf(...people),
      'POST /admin/applications/approve': ({ body }) => {
        if (!isFirst) return resultsOf((body as { uids: string[] }).uids, null);
        isFirst = false;
        return firstCall.answer();
      },
    });
    await person.click(await screen.findByRole('checkbox', { name: 'Tümünü seç' }));
    await person.click(screen.getByRole('button', { name: 'Seçilenleri Onayla' }));
    const dialog = within(await screen.findByRole('dialog'));
    await person.click(dialog.getByRole('button', { name: 'Onayla' }));
    await person.click(await dialog.findByRole('button', { name: 'Durdur' }));
    const firstUids = people.slice(0, 20).map(({ uid }) => uid);
    firstCall.respondWith(resultsOf(firstUids, 'kisi-7'));
    await dialog.findByText('Kişi 7: Bu kullanıcı zaten aktif.');
    await person.click(dialog.getByRole('button', { name: 'Tekrar Dene' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    const calledUids = calls
      .filter(({ name }) => name.endsWith('/approve'))
      .map(({ body }) => (body as { uids: string[] }).uids);
    expect(calledUids).toEqual([
      firstUids,
      ['kisi-7', 'kisi-20', 'kisi-21', 'kisi-22', 'kisi-23', 'kisi-24'],
    ]);
  });

  it('keeps the dialog with the typed reason open and shows an error when rejecting fails because the network is down', async () => {
    let isDown = false;
    const { person } = openQueue({
      'GET /admin/applications': () => {
        if (isDown) throw new TypeError('Failed to fetch');
        return queueOf(deniz, ekin);
      },
    });
    await person.click((await findRow('Deniz Kaya')).getByRole('button', { name: 'Reddet' }));
    const dialog = within(await screen.findByRole('dialog'));
    await person.type(dialog.getByLabelText('Gerekçe'), 'Kurum doğrulanamadı.');
    isDown = true;
    await person.click(dialog.getByRole('button', { name: 'Reddet' }));
    await dialog.findByText('Deniz Kaya: Başvuru reddedilirken hata oluştu.');
    await reloadQueries();
    screen.getByDisplayValue('Kurum doğrulanamadı.');
    screen.getByText('Deniz Kaya: Başvuru reddedilirken hata oluştu.');
  });

  it('shows a retry button in the dialog for approving when the restricted datasets cannot be loaded, and loads them on a click', async () => {
    let response: object = errorResponse('forbidden');
    const { person } = openQueue({ 'GET /admin/datasets': () => response });
    await person.click(
      (await findRow('Deniz Kaya')).getByRole('button', { name: 'Rol ve Erişim Seçerek Onayla…' }),
    );
    const dialog = within(await screen.findByRole('dialog'));
    const retry = await dialog.findByRole('button', { name: 'Tekrar Dene' });
    response = { datasets: [restrictedDataset] };
    await person.click(retry);
    await dialog.findByRole('checkbox', { name: 'Böbrek' });
  });

  it('rejects several applicants in one call with the same reason, which is required', async () => {
    const { person, calls } = openQueue({
      'POST /admin/applications/reject': {
        results: [
          { uid: 'deniz', error: null },
          { uid: 'ekin', error: null },
        ],
      },
    });
    await person.click((await findRow('Ekin Su')).getByRole('checkbox'));
    await person.click((await findRow('Deniz Kaya')).getByRole('checkbox'));
    await person.click(screen.getByRole('button', { name: 'Seçilenleri Reddet' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Başvuruyu Reddet' }));
    await person.click(dialog.getByRole('button', { name: 'Reddet' }));
    await dialog.findByText('Gerekçe gerekli.');
    await person.type(dialog.getByLabelText('Gerekçe'), 'Kurum doğrulanamadı.');
    await person.click(dialog.getByRole('button', { name: 'Reddet' }));
    await screen.findByText('2 başvuru reddedildi.');
    expect(calls.filter(({ name }) => name.endsWith('/reject')).map(({ body }) => body)).toEqual([
      { uids: ['deniz', 'ekin'], reason: 'Kurum doğrulanamadı.' },
    ]);
  });

  it.each([
    ['approving', 'Seçilenleri Onayla'],
    ['rejecting', 'Seçilenleri Reddet'],
  ])(
    'closes the dialog for %s the selected applicants when the cancel button is pressed',
    async (_, button) => {
      const { person } = openQueue();
      await person.click(await screen.findByRole('checkbox', { name: 'Tümünü seç' }));
      await person.click(screen.getByRole('button', { name: button }));
      await person.click(await screen.findByRole('button', { name: 'Vazgeç' }));
      await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    },
  );

  it('sends the search to the server, keeps it in the URL, and clears it with the Clear button', async () => {
    const { person, calls, address } = openQueue();
    await findRow('Deniz Kaya');
    await person.type(screen.getByRole('searchbox', { name: 'Ara' }), 'sule');
    await waitFor(() => expect(address()).toBe('/admin/users?view=waiting&q=sule'));
    const searches = () =>
      calls.filter(({ name }) => name === 'GET /admin/applications').map(({ query }) => query);
    await waitFor(() => expect(searches().at(-1)).toEqual({ q: 'sule' }));
    await person.click(screen.getByRole('button', { name: 'Temizle' }));
    await waitFor(() => expect(address()).toBe('/admin/users?view=waiting'));
  });

  it('requests 200 more of the 450 applicants (limit=400) when the button below the list is pressed', async () => {
    const { person, calls } = openQueue({
      'GET /admin/applications': { ...queueOf(deniz, ekin), waiting: 450 },
    });
    await person.click(await screen.findByRole('button', { name: 'Daha fazla göster' }));
    const lastQuery = () => calls.filter(({ name }) => name === 'GET /admin/applications').at(-1)?.query;
    await waitFor(() => expect(lastQuery()).toEqual({ limit: '400' }));
  });
});

describe('the card of an active account in the user management', () => {
  it('keeps the end date of an account when a year of five digits is typed, and shows an error', async () => {
    const expiresAt = new Date(2099, 11, 31, 23, 59, 59, 999).toISOString();
    const member = { ...account({ uid: 'deniz', displayName: 'Deniz Kaya' }), expiresAt };
    const { person, calls } = openApp('/admin/users', {
      signedInAs: admin,
      api: {
        'GET /admin/users': { users: [member], message: '' },
        'GET /admin/users/deniz': { user: member },
        'GET /admin/datasets': { datasets: [restrictedDataset] },
      },
    });
    await person.click((await findRow('Deniz Kaya')).getByRole('button', { name: 'Erişimi Düzenle' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Erişimi Düzenle' }));
    const field = dialog.getByLabelText('Bitiş tarihi (isteğe bağlı)');
    fireEvent.change(field, { target: { value: '20991-12-31' } });
    await person.click(dialog.getByRole('button', { name: 'Kaydet' }));
    await dialog.findByText('Tarihi gün, ay ve yıl olarak eksiksiz yazın; bugünden önce olamaz.');
    expect(calls.some(({ name }) => name.startsWith('PUT'))).toBe(false);
  });

  it('shows the end date and the restricted datasets, and changes them in a dialog', async () => {
    const member = {
      ...account({ uid: 'deniz', email: 'deniz@example.org', displayName: 'Deniz Kaya' }),
      affiliation: 'Ege Üniversitesi',
      expiresAt: new Date(2099, 11, 31, 23, 59, 59, 999).toISOString(),
      datasets: ['Böbrek'],
    };
    const { person, calls } = openApp('/admin/users', {
      signedInAs: admin,
      api: {
        'GET /admin/users': { users: [member], message: '' },
        'GET /admin/users/deniz': { user: member },
        'GET /admin/datasets': { datasets: [restrictedDataset] },
        'PUT /admin/users/deniz/access': { message: 'tamam' },
      },
    });
    const card = await findRow('Deniz Kaya');
    card.getByText('31 Aralık 2099 23:59');
    card.getByText('Ege Üniversitesi');
    card.getByText('Böbrek');
    await person.click(card.getByRole('button', { name: 'Erişimi Düzenle' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Erişimi Düzenle' }));
    const dataset = await dialog.findByRole<HTMLInputElement>('checkbox', { name: 'Böbrek' });
    expect(dataset.checked).toBe(true);
    await person.click(dataset);
    await person.clear(dialog.getByLabelText('Bitiş tarihi (isteğe bağlı)'));
    await person.click(dialog.getByRole('button', { name: 'Kaydet' }));
    await screen.findByText('Erişim güncellendi.');
    expect(calls.find(({ name }) => name.startsWith('PUT'))?.body).toEqual({
      datasets: [],
      expires_at: null,
    });
  });
});
