/** Tests of the dataset management screen. They find elements by Turkish texts, the default language of these screens. */
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { reloadQueries } from '../../testing/reload-queries.ts';
import { type Answers, errorResponse } from '../../testing/stub-api.ts';

const admin = account({ uid: 'uid-of-admin', role: 'admin' });
const at = '2026-11-20T09:00:00.000Z';
const openDataset = {
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
const restrictedDataset = {
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
      'GET /admin/datasets': { datasets: [openDataset, restrictedDataset] },
      'GET /share-links': { share_links: [] },
      'GET /admin/waiting': { applications: 0, datasetRequests: 1 },
      'GET /admin/users': { users: [admin, account(ekin), account(deniz)], message: '' },
      ...api,
    },
  });
}

async function findCard(name: string) {
  const item = (await screen.findByRole('heading', { name, level: 2 })).closest('li');
  if (item === null) throw new Error(`${name} has no card`);
  return within(item);
}

describe('the datasets screen of administrators', () => {
  it('shows each dataset with its number of slides, the people with access and the access requests', async () => {
    openDatasets();
    const card = await findCard('Açık küme');
    card.getByText('3 slayt');
    card.getByText('Açık');
    expect(card.queryByText('Erişimi olanlar')).toBeNull();
    const restrictedCard = await findCard('Böbrek');
    restrictedCard.getByText('Kısıtlı');
    restrictedCard.getByText('Deniz Kaya');
    const request = restrictedCard.getByText(/Tez için/).closest('li');
    expect(request?.textContent).toContain('ekin@example.org');
  });

  it('keeps the typed reason for a rejection when a later request for the datasets fails', async () => {
    let isFailing = false;
    const datasets = { datasets: [restrictedDataset] };
    const { person } = openDatasets({
      'GET /admin/datasets': () => (isFailing ? errorResponse('unavailable') : datasets),
    });
    await person.click((await findCard('Böbrek')).getByRole('button', { name: 'Reddet' }));
    await person.type(await screen.findByLabelText(/Gerekçe/), 'etik kurul onayı yok');
    isFailing = true;
    await reloadQueries();
    screen.getByDisplayValue('etik kurul onayı yok');
  });

  it.each(['irem', 'IŞIK', 'ışık'])(
    'offers İrem Işık in the field for a user when an administrator types "%s"',
    async (typed) => {
      const irem = account({ uid: 'irem', email: 'x@example.org', displayName: 'İrem Işık' });
      const { person } = openDatasets({ 'GET /admin/users': { users: [irem], message: '' } });
      const field = (await findCard('Böbrek')).getByRole('combobox', { name: 'Kişi ekle' });
      await person.type(field, typed);
      await screen.findByRole('option', { name: 'İrem Işık (x@example.org)' });
    },
  );

  it('says that the accounts cannot be loaded, and loads them again when the retry button is pressed', async () => {
    let response: object = errorResponse('forbidden');
    const { person } = openDatasets({ 'GET /admin/users': () => response });
    const card = await findCard('Böbrek');
    const field = card.getByRole('combobox', { name: 'Kişi ekle' });
    await waitFor(() => expect(field.getAttribute('aria-invalid')).toBe('true'));
    response = {
      users: [account({ uid: 'irem', email: 'x@example.org', displayName: 'İrem Işık' })],
      message: '',
    };
    const [retry] = card.getAllByRole('button', { name: 'Tekrar Dene' });
    if (retry === undefined) throw new Error('There is no retry button.');
    await person.click(retry);
    await waitFor(() => expect(field.getAttribute('aria-invalid')).toBeNull());
    await person.click(field);
    await screen.findByRole('option', { name: 'İrem Işık (x@example.org)' });
  });

  it.each([
    ['that there are no datasets, when the list is empty', { datasets: [] }, 'Henüz veri kümesi yok.'],
    [
      'why the datasets cannot be loaded, when the request fails',
      errorResponse('unavailable'),
      'Hizmet şu anda kullanılamıyor. Lütfen biraz sonra yeniden deneyin.',
    ],
  ])('shows %s', async (_, response, message) => {
    openDatasets({ 'GET /admin/datasets': response });
    await screen.findByText(message);
  });

  it.each([
    [
      'restricts the access to an open dataset',
      'Açık küme',
      'Erişimi kısıtla',
      { dataset: 'Açık küme', access: 'restricted', listed: false },
    ],
    [
      'allows share links to an open dataset',
      'Açık küme',
      'Paylaşıma izin ver',
      { dataset: 'Açık küme', sharing: true },
    ],
    [
      'opens a restricted dataset to all members',
      'Böbrek',
      'Erişimi kısıtla',
      { dataset: 'Böbrek', access: 'open', listed: true },
    ],
    [
      'hides the name of a restricted dataset from other members',
      'Böbrek',
      'Adını üyelere göster',
      { dataset: 'Böbrek', listed: false },
    ],
  ])('%s when the switch "$2" of the dataset is pressed', async (_, name, label, body) => {
    const { person, calls } = openDatasets({ 'PUT /admin/datasets': { message: 'tamam' } });
    await person.click((await findCard(name)).getByRole('switch', { name: new RegExp(label) }));
    await waitFor(() => expect(calls.find((call) => call.name.startsWith('PUT'))?.body).toEqual(body));
  });

  it('restores the permission for share links when the administrator undoes the restriction of a dataset', async () => {
    const { person, calls } = openDatasets({
      'GET /admin/datasets': { datasets: [{ ...openDataset, sharing: true }] },
      'PUT /admin/datasets': { message: 'tamam' },
    });
    await person.click((await findCard('Açık küme')).getByRole('switch', { name: /Erişimi kısıtla/ }));
    const undo = await screen.findByRole<HTMLButtonElement>('button', { name: /^Geri Al/ });
    await waitFor(() => expect(undo.disabled).toBe(false)); // at first disabled, so that a double click does not undo
    await person.click(undo);
    const undone = { dataset: 'Açık küme', access: 'open', listed: false, sharing: true };
    await waitFor(() => expect(calls.findLast(({ name }) => name.startsWith('PUT'))?.body).toEqual(undone));
  });

  it('revokes the access of a user when the remove button of the user is pressed', async () => {
    const { person, calls } = openDatasets({ 'DELETE /admin/datasets/grants': { message: 'tamam' } });
    await person.click((await findCard('Böbrek')).getByRole('button', { name: 'Kaldır: Deniz Kaya' }));
    await screen.findByText('Erişim kaldırıldı.');
    expect(calls.some(({ name }) => name === 'DELETE /admin/datasets/grants')).toBe(true);
  });

  it('grants a user access to a dataset, and lists only accounts without access in the choice of users', async () => {
    const { person, calls } = openDatasets({ 'POST /admin/datasets/grants': { message: 'tamam' } });
    const card = await findCard('Böbrek');
    await person.click(card.getByRole('combobox', { name: 'Kişi ekle' }));
    const options = (await screen.findAllByRole('option')).map(({ textContent }) => textContent);
    expect(options).toEqual(['ekin@example.org']);
    await person.click(screen.getByRole('option', { name: 'ekin@example.org' }));
    await person.click(card.getByRole('button', { name: 'Erişim ver' }));
    await screen.findByText('Erişim verildi.');
    expect(calls.find(({ name }) => name === 'POST /admin/datasets/grants')?.body).toEqual({
      dataset: 'Böbrek',
      uid: 'ekin',
    });
  });

  it('offers accounts with the role user or admin, but not viewer, for the permission to download original files', async () => {
    const { person, calls } = openDatasets({
      'POST /admin/datasets/grants': { message: 'tamam' },
      'GET /admin/users': {
        users: [admin, account(ekin), account({ ...deniz, role: 'viewer' })],
        message: '',
      },
    });
    const card = await findCard('Açık küme');
    card.getByText(/yöneticiler dâhil kimsenin izni yok/);
    await person.click(card.getByRole('combobox', { name: 'İndirebilecek kişi ekle' }));
    expect(await screen.findAllByRole('option')).toHaveLength(2);
    await person.click(screen.getByRole('option', { name: 'ekin@example.org' }));
    await person.click(card.getByRole('button', { name: 'İndirme izni ver' }));
    await screen.findByText('İndirme izni verildi.');
    expect(calls.find(({ name }) => name === 'POST /admin/datasets/grants')?.body).toEqual({
      dataset: 'Açık küme',
      uid: 'ekin',
      download: true,
    });
  });

  it('revokes the permission of a user to download original files, and keeps the user’s access to the dataset', async () => {
    const { person, calls } = openDatasets({
      'GET /admin/datasets': {
        datasets: [{ ...restrictedDataset, grants: [{ ...deniz, at, download: true }] }],
      },
      'POST /admin/datasets/grants': { message: 'tamam' },
    });
    const card = await findCard('Böbrek');
    await person.click(card.getByRole('button', { name: 'İndirme iznini kaldır: Deniz Kaya' }));
    await screen.findByText('İndirme izni kaldırıldı.');
    const body = calls.find(({ name }) => name === 'POST /admin/datasets/grants')?.body;
    expect(body).toEqual({ dataset: 'Böbrek', uid: 'deniz', download: false });
  });

  it('warns when a dataset allows downloads of files that cannot be de-identified, and has a switch that allows such downloads', async () => {
    const { person, calls } = openDatasets({
      'GET /admin/datasets': {
        datasets: [{ ...openDataset, identifiable_originals: true }, restrictedDataset],
      },
      'PUT /admin/datasets': { message: 'tamam' },
    });
    (await findCard('Açık küme')).getByText(/hasta adı, numarası, tarih ve etiket görüntüsü/);
    const card = await findCard('Böbrek');
    expect(card.queryByText(/hasta adı, numarası/)).toBeNull();
    await person.click(card.getByRole('switch', { name: /Kimliksizleştirilemeyen dosyalara da izin ver/ }));
    await screen.findByText('Kimliksizleştirilemeyen dosyaların indirilmesine izin verildi.');
    const body = calls.find(({ name }) => name === 'PUT /admin/datasets')?.body;
    expect(body).toEqual({ dataset: 'Böbrek', identifiable_originals: true });
  });

  it('approves an access request when the accept button is pressed', async () => {
    const { person, calls } = openDatasets({
      'POST /admin/dataset-requests/r1/answer': { message: 'tamam' },
    });
    await person.click((await findCard('Böbrek')).getByRole('button', { name: 'Kabul et' }));
    await screen.findByText('İstek kabul edildi.');
    expect(calls.find(({ name }) => name.endsWith('/answer'))?.body).toEqual({ granted: true });
  });

  it('asks for a reason when the reject button of an access request is pressed, and rejects the request when the button is pressed again', async () => {
    const { person, calls } = openDatasets({
      'POST /admin/dataset-requests/r1/answer': { message: 'tamam' },
    });
    const card = await findCard('Böbrek');
    await person.click(card.getByRole('button', { name: 'Reddet' }));
    await person.type(card.getByLabelText('Gerekçe (isteğe bağlı)'), 'Etik onayı yok');
    await person.click(card.getByRole('button', { name: 'Reddet' }));
    await screen.findByText('İstek reddedildi.');
    expect(calls.find(({ name }) => name.endsWith('/answer'))?.body).toEqual({
      granted: false,
      reason: 'Etik onayı yok',
    });
  });
});
