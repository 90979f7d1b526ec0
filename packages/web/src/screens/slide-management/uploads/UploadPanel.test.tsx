import type { SlideUpload } from '@lamina/contract';
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { account } from '../../../testing/accounts.ts';
import { openApp } from '../../../testing/open-app.tsx';
import { type Answers, errorResponse } from '../../../testing/stub-api.ts';

const existing = {
  name: 'Yeni',
  access: 'open',
  listed: false,
  sharing: false,
  images: 1,
  grants: [],
  requests: [],
  identifiable_originals: false,
};
const unfinished: SlideUpload = {
  id: 'u1',
  dataset: 'Böbrek',
  path: 'half.svs',
  is_folder: false,
  file_count: 1,
  checked_count: 0,
  size_bytes: 5,
  state: 'open',
  problem: null,
  begun_at: '2026-11-21T10:00:00.000Z',
  images: [],
};

/**
 * Number of administrators so far. Each test signs in as another administrator, because this empties the upload queue, which all
 * tests of this file share.
 */
let adminCount = 0;

async function openPanel(uploads: readonly SlideUpload[], api: Answers = {}) {
  adminCount += 1;
  const opened = openApp('/admin/slides', {
    signedInAs: account({ uid: `admin-${adminCount}`, role: 'admin' }),
    api: {
      'GET /admin/uploads': { uploads, max_bytes: 1000 },
      'GET /admin/datasets': { datasets: [] },
      'GET /admin/waiting': { applications: 0, datasetRequests: 0 },
      'GET /admin/images': { images: [], next_cursor: null },
      ...api,
    },
  });
  await opened.person.click(await screen.findByRole('button', { name: 'Slayt yükle' }));
  const panel = within(await screen.findByRole('region', { name: 'Slayt yükle' }));
  const choose = async (...names: readonly string[]) => {
    const [input] = await panel.findAllByLabelText('Dosya seç', { selector: 'input' });
    const files = names.map((name) => new File(['12345'], name));
    fireEvent.change(input as HTMLInputElement, { target: { files } });
  };
  return { ...opened, panel, choose };
}

const announcedUploads = (calls: readonly { readonly name: string; readonly body: unknown }[]) =>
  calls.filter(({ name }) => name === 'POST /admin/uploads').map(({ body }) => body);

describe('the upload panel', () => {
  it('shows which chosen files are no slides, and asks for a dataset before it uploads the others', async () => {
    const { panel, choose, calls } = await openPanel([]);
    await choose('notes.txt', 'alone.mrxs', 'a.svs');
    const alert = within(await panel.findByRole('alert'));
    alert.getByText(/Tanınan bir slayt biçimi değil/);
    alert.getByText(/Yanındaki klasör de gerekli/);
    await panel.findByText('Önce bir veri kümesi seçin veya yazın.');
    await panel.findByText('1 dosya hazır; yüklemek için veri kümesi seçin.');
    expect(announcedUploads(calls)).toEqual([]);
  });

  it('suggests datasets while a name is typed, and hides the suggestions, which cover the start button, once the name is complete', async () => {
    const { panel, choose, person } = await openPanel([], {
      'GET /admin/datasets': { datasets: [existing] },
    });
    await choose('a.svs');
    const field = await panel.findByLabelText('Veri kümesi', { selector: 'input' });
    await waitFor(() => expect(document.activeElement).toBe(field));
    expect(panel.queryByRole('option')).toBeNull();
    await person.keyboard('yen');
    await panel.findByRole('option', { name: 'Yeni' });
    await person.keyboard('i');
    await waitFor(() => expect(panel.queryByRole('option')).toBeNull());
  });

  it('announces an upload when its dataset is chosen, and shows why the server rejects it', async () => {
    const { panel, choose, calls, person } = await openPanel([], {
      'POST /admin/uploads': errorResponse('upload_exists'),
      'GET /admin/datasets': { datasets: [existing] },
    });
    await choose('a.svs');
    await person.type(panel.getByRole('combobox', { name: 'Veri kümesi' }), 'Yeni');
    await person.click(await panel.findByRole('button', { name: 'Yüklemeyi başlat' }));
    await panel.findByText(/Var olanın üzerine yazılmaz/);
    const announced = { path: 'a.svs', is_folder: false, file_count: 1, size_bytes: 5 };
    expect(announcedUploads(calls)).toEqual([{ dataset: 'Yeni', ...announced }]);
  });

  describe('when the typed dataset does not exist', () => {
    async function chooseFor(dataset: string, api: Answers = {}) {
      const opened = await openPanel([], { 'POST /admin/uploads': errorResponse('storage_full'), ...api });
      const { panel, person, choose } = opened;
      await person.type(panel.getByRole('combobox', { name: 'Veri kümesi' }), dataset);
      await choose('a.svs');
      const dialog = within(await screen.findByRole('dialog', { name: 'Yeni veri kümesi oluşturulsun mu?' }));
      dialog.getByText(`“${dataset}” adlı bir veri kümesi yok; bu yüklemeyle oluşturulacak.`);
      const start = dialog.getByRole<HTMLButtonElement>('button', { name: 'Yüklemeyi başlat' });
      return { ...opened, dialog, start };
    }
    const waitUntilEnabled = (button: HTMLButtonElement) =>
      waitFor(() => expect(button.disabled).toBe(false));

    it('asks who may see the slides, and sends nothing before the answer', async () => {
      const { dialog, start, calls, person, panel } = await chooseFor('Taslak');
      expect(start.disabled).toBe(true);
      dialog.getByText('Slaytlar okunur okunmaz bütün aktif kullanıcılara görünür.');
      await person.click(dialog.getByRole('button', { name: 'Vazgeç' }));
      await panel.findByRole('button', { name: 'Yüklemeyi başlat' });
      expect(announcedUploads(calls)).toEqual([]);
    });

    it('creates the dataset as restricted before the upload starts', async () => {
      const { dialog, start, calls, person, panel } = await chooseFor('Taslak 2', {
        'PUT /admin/datasets': { message: 'tamam' },
      });
      await person.click(dialog.getByRole('radio', { name: 'Yalnızca erişim verdiklerim' }));
      await waitUntilEnabled(start);
      await person.click(start);
      await panel.findByText(/Sunucunun diskinde yeterli yer yok/);
      const changes = calls.filter(({ name }) => /^(PUT|POST) .admin/.test(name));
      expect(changes.map(({ name }) => name)).toEqual(['PUT /admin/datasets', 'POST /admin/uploads']);
      expect(changes[0]?.body).toEqual({ dataset: 'Taslak 2', access: 'restricted', listed: false });
    });

    it('sends nothing when the dataset could not be restricted', async () => {
      const { dialog, start, calls, person } = await chooseFor('Taslak 3', {
        'PUT /admin/datasets': errorResponse('unavailable'),
      });
      await person.click(dialog.getByRole('radio', { name: 'Yalnızca erişim verdiklerim' }));
      await waitUntilEnabled(start);
      await person.click(start);
      await screen.findByText(/Hizmet şu anda kullanılamıyor/);
      expect(announcedUploads(calls)).toEqual([]);
    });

    it('starts the upload at once when all members may see it, and does not ask again for the same dataset', async () => {
      const { dialog, start, calls, person, panel, choose } = await chooseFor('Taslak 4');
      await person.click(dialog.getByRole('radio', { name: 'Bütün kullanıcılar' }));
      await waitUntilEnabled(start);
      await person.click(start);
      await panel.findByText(/Sunucunun diskinde yeterli yer yok/);
      await choose('b.svs');
      await waitFor(() => expect(announcedUploads(calls)).toHaveLength(2));
      expect(calls.some(({ name }) => name.startsWith('PUT'))).toBe(false);
    });
  });

  it('does not ask who may see a dataset whose existing name is typed in capital letters', async () => {
    const { panel, choose, calls, person } = await openPanel([], {
      'POST /admin/uploads': errorResponse('storage_full'),
      'GET /admin/datasets': { datasets: [existing] },
    });
    await person.type(panel.getByRole('combobox', { name: 'Veri kümesi' }), 'YENİ');
    await choose('c.svs');
    await panel.findByText(/Sunucunun diskinde yeterli yer yok/);
    expect(calls.some(({ name }) => name.startsWith('PUT'))).toBe(false);
  });

  it('resumes an unfinished upload in its original dataset', async () => {
    const { panel, choose, calls } = await openPanel([unfinished], {
      'POST /admin/uploads': errorResponse('storage_full'),
    });
    await panel.findByText('Yarım kaldı');
    await choose('half.svs');
    await panel.findByText(/Sunucunun diskinde yeterli yer yok/);
    expect(announcedUploads(calls)).toMatchObject([{ dataset: 'Böbrek', path: 'half.svs' }]);
    expect(panel.queryByText('Yarım kaldı')).toBeNull();
  });

  it('cancels an unfinished upload', async () => {
    const { panel, calls, person } = await openPanel([{ ...unfinished, path: 'other.svs' }], {
      'DELETE /admin/uploads/u1': new Response(null, { status: 204 }),
    });
    await person.click(await panel.findByRole('button', { name: 'İptal et: other.svs' }));
    expect(calls.some(({ name }) => name === 'DELETE /admin/uploads/u1')).toBe(true);
  });

  it('does not show uploads of another account that was signed in earlier in this browser', async () => {
    const first = await openPanel([], {
      'POST /admin/uploads': errorResponse('storage_full'),
      'GET /admin/datasets': { datasets: [existing] },
    });
    await first.person.type(first.panel.getByRole('combobox', { name: 'Veri kümesi' }), 'Yeni');
    await first.choose('secret.svs');
    await first.panel.findByText('secret.svs');
    cleanup();
    const { panel } = await openPanel([{ ...unfinished, path: 'own.svs' }]);
    await panel.findByText('own.svs');
    expect(panel.queryByText('secret.svs')).toBeNull();
  });

  it('shows the reason when the list of uploads cannot be loaded', async () => {
    const { panel } = await openPanel([], { 'GET /admin/uploads': errorResponse('unavailable') });
    await panel.findByText(/Hizmet şu anda kullanılamıyor/);
  });
});
