import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { type Answers, refusal } from '../../testing/stub-api.ts';

const admin = account({ uid: 'uid-of-admin', role: 'admin' });
const at = '2026-11-20T09:00:00.000Z';
const open = {
  name: 'Açık küme',
  access: 'open',
  listed: false,
  sharing: false,
  images: 3,
  grants: [],
  requests: [],
  identifiable_originals: false,
};
const deniz = { uid: 'deniz', email: 'deniz@example.org', displayName: 'Deniz Kaya' };
const ekin = { uid: 'ekin', email: 'ekin@example.org', displayName: null };
const closed = {
  name: 'Böbrek',
  access: 'restricted',
  listed: true,
  sharing: false,
  identifiable_originals: false,
  images: 1,
  grants: [{ ...deniz, at, download: false }],
  requests: [{ ...ekin, id: 'r1', at, reason: 'Tez için\ngerekli' }],
};

function openDatasets(api: Answers = {}) {
  return openApp('/admin/datasets', {
    signedInAs: admin,
    api: {
      'GET /admin/datasets': { datasets: [open, closed] },
      'GET /share-links': { share_links: [] },
      'GET /admin/waiting': { applications: 0, datasetRequests: 1 },
      'GET /admin/users': { users: [admin, account(ekin), account(deniz)], message: '' },
      ...api,
    },
  });
}

async function card(name: string) {
  const item = (await screen.findByRole('heading', { name, level: 2 })).closest('li');
  if (item === null) throw new Error(`${name} has no card`);
  return within(item);
}

describe('dataset management', () => {
  it('shows each dataset with its slides, its readers and its access requests', async () => {
    openDatasets();
    const shown = await card('Açık küme');
    shown.getByText('3 slayt');
    shown.getByText('Açık');
    expect(shown.queryByText('Erişimi olanlar')).toBeNull();
    const restricted = await card('Böbrek');
    restricted.getByText('Kısıtlı');
    restricted.getByText('Deniz Kaya');
    const request = restricted.getByText(/Tez için/).closest('li');
    expect(request?.textContent).toContain('ekin@example.org');
  });

  it.each([
    [{ datasets: [] }, 'Henüz veri kümesi yok.'],
    [refusal('unavailable'), 'Hizmet şu anda kullanılamıyor. Lütfen biraz sonra yeniden deneyin.'],
  ])('say when there are none, and why they cannot be shown', async (answer, sentence) => {
    openDatasets({ 'GET /admin/datasets': answer });
    await screen.findByText(sentence);
  });

  it.each([
    ['Açık küme', 'Erişimi kısıtla', { dataset: 'Açık küme', access: 'restricted', listed: false }],
    ['Açık küme', 'Paylaşıma izin ver', { dataset: 'Açık küme', access: 'open', sharing: true }],
    ['Böbrek', 'Erişimi kısıtla', { dataset: 'Böbrek', access: 'open', listed: true }],
    ['Böbrek', 'Adını üyelere göster', { dataset: 'Böbrek', access: 'restricted', listed: false }],
  ])('%s: the switch "%s" sends %j', async (name, label, body) => {
    const { person, calls } = openDatasets({ 'PUT /admin/datasets': { message: 'tamam' } });
    await person.click((await card(name)).getByRole('switch', { name: new RegExp(label) }));
    await waitFor(() => expect(calls.find((call) => call.name.startsWith('PUT'))?.body).toEqual(body));
  });

  it('revokes the access of a person', async () => {
    const { person, calls } = openDatasets({ 'DELETE /admin/datasets/grants': { message: 'tamam' } });
    await person.click((await card('Böbrek')).getByRole('button', { name: 'Kaldır: Deniz Kaya' }));
    await screen.findByText('Erişim kaldırıldı.');
    expect(calls.some(({ name }) => name === 'DELETE /admin/datasets/grants')).toBe(true);
  });

  it('grants access to a person who does not have it', async () => {
    const { person, calls } = openDatasets({ 'POST /admin/datasets/grants': { message: 'tamam' } });
    const shown = await card('Böbrek');
    await person.click(shown.getByRole('combobox', { name: 'Kişi ekle' }));
    const options = (await screen.findAllByRole('option')).map(({ textContent }) => textContent);
    expect(options).toEqual(['ekin@example.org']);
    await person.click(screen.getByRole('option', { name: 'ekin@example.org' }));
    await person.click(shown.getByRole('button', { name: 'Erişim ver' }));
    await screen.findByText('Erişim verildi.');
    expect(calls.find(({ name }) => name === 'POST /admin/datasets/grants')?.body).toEqual({
      dataset: 'Böbrek',
      uid: 'ekin',
    });
  });

  it('permits downloads of originals to users and administrators, but not to viewers', async () => {
    const { person, calls } = openDatasets({
      'POST /admin/datasets/grants': { message: 'tamam' },
      'GET /admin/users': {
        users: [admin, account(ekin), account({ ...deniz, role: 'viewer' })],
        message: '',
      },
    });
    const shown = await card('Açık küme');
    shown.getByText(/kimsenin izni yok; yöneticilerin de/);
    await person.click(shown.getByRole('combobox', { name: 'İndirebilecek kişi ekle' }));
    expect(await screen.findAllByRole('option')).toHaveLength(2);
    await person.click(screen.getByRole('option', { name: 'ekin@example.org' }));
    await person.click(shown.getByRole('button', { name: 'İndirme izni ver' }));
    await screen.findByText('İndirme izni verildi.');
    expect(calls.find(({ name }) => name === 'POST /admin/datasets/grants')?.body).toEqual({
      dataset: 'Açık küme',
      uid: 'ekin',
      download: true,
    });
  });

  it('revokes the permission to download and keeps the access', async () => {
    const { person, calls } = openDatasets({
      'GET /admin/datasets': { datasets: [{ ...closed, grants: [{ ...deniz, at, download: true }] }] },
      'POST /admin/datasets/grants': { message: 'tamam' },
    });
    const shown = await card('Böbrek');
    await person.click(shown.getByRole('button', { name: 'İndirme iznini kaldır: Deniz Kaya' }));
    await screen.findByText('İndirme izni kaldırıldı.');
    const sent = calls.find(({ name }) => name === 'POST /admin/datasets/grants')?.body;
    expect(sent).toEqual({ dataset: 'Böbrek', uid: 'deniz', download: false });
  });

  it('warns while files that cannot be de-identified may be downloaded', async () => {
    const { person, calls } = openDatasets({
      'GET /admin/datasets': { datasets: [{ ...open, identifiable_originals: true }, closed] },
      'PUT /admin/datasets': { message: 'tamam' },
    });
    (await card('Açık küme')).getByText(/hasta adı, numarası, tarih ve etiket görüntüsü/);
    const shown = await card('Böbrek');
    expect(shown.queryByText(/hasta adı, numarası/)).toBeNull();
    await person.click(shown.getByRole('switch', { name: /Kimliksizleştirilemeyen dosyalara da izin ver/ }));
    await screen.findByText('Kimliksizleştirilemeyen dosyaların indirilmesine izin verildi.');
    const sent = calls.find(({ name }) => name === 'PUT /admin/datasets')?.body;
    expect(sent).toEqual({ dataset: 'Böbrek', identifiable_originals: true });
  });

  it('approves an access request', async () => {
    const { person, calls } = openDatasets({
      'POST /admin/dataset-requests/r1/answer': { message: 'tamam' },
    });
    await person.click((await card('Böbrek')).getByRole('button', { name: 'Kabul et' }));
    await screen.findByText('İstek kabul edildi.');
    expect(calls.find(({ name }) => name.endsWith('/answer'))?.body).toEqual({ granted: true });
  });

  it('rejects an access request with a reason, after a confirmation', async () => {
    const { person, calls } = openDatasets({
      'POST /admin/dataset-requests/r1/answer': { message: 'tamam' },
    });
    const shown = await card('Böbrek');
    await person.click(shown.getByRole('button', { name: 'Reddet' }));
    await person.type(shown.getByLabelText('Gerekçe (isteğe bağlı)'), 'Etik onayı yok');
    await person.click(shown.getByRole('button', { name: 'Reddet' }));
    await screen.findByText('İstek reddedildi.');
    expect(calls.find(({ name }) => name.endsWith('/answer'))?.body).toEqual({
      granted: false,
      reason: 'Etik onayı yok',
    });
  });
});
