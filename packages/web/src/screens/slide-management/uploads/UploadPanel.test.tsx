/**
 * Tests of the upload panel in Turkish, the default language. Words of the panel: Veri kümesi (dataset), Dosya seç (choose files), Yüklemeyi
 * başlat (start upload), Yarım kaldı (unfinished), İptal et (cancel the upload), Vazgeç (close the dialog).
 */
import { errors, type SlideUpload } from '@lamina/contract';
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { chooseLanguage } from '../../../language/language.ts';
import { account } from '../../../testing/accounts.ts';
import { openApp } from '../../../testing/open-app.tsx';
import { type Answers, errorResponse, pendingResponse } from '../../../testing/stub-api.ts';

/** A dataset that exists on the server. */
const existingDataset = {
  name: 'Yeni',
  access: 'open',
  listed: false,
  sharing: false,
  images: 1,
  grants: [],
  requests: [],
  identifiable_originals: false,
};
/** An upload on the server whose only file has not been received completely. */
const unfinishedUpload: SlideUpload = {
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
  last_progress_at: '2026-11-21T10:00:00.000Z',
  images: [],
};

/**
 * Number of administrators so far. All tests of this file share the upload queue, and each test signs in as another administrator, which
 * empties the queue.
 */
let adminCount = 0;

/**
 * Opens the upload panel.
 *
 * @param uploads uploads that the server lists
 * @param api responses to further requests
 * @returns `choose`, which chooses files of 5 bytes with these names
 */
async function openPanel(uploads: readonly SlideUpload[], api: Answers = {}) {
  adminCount += 1;
  const opened = openApp('/admin/slides', {
    signedInAs: account({ uid: `admin-${adminCount}`, role: 'admin' }),
    api: {
      'HEAD /': {}, // the screen loads the script of the panel only when the server responds
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

/** Returns the bodies of the requests that announced uploads to the server. */
const announcedUploads = (calls: readonly { readonly name: string; readonly body: unknown }[]) =>
  calls.filter(({ name }) => name === 'POST /admin/uploads').map(({ body }) => body);

describe('the upload panel of the slides screen', () => {
  it('shows why chosen files cannot be uploaded, and asks for a dataset before it uploads the remaining slide', async () => {
    const { panel, choose, calls } = await openPanel([]);
    await choose('notes.txt', 'alone.mrxs', 'a.svs');
    const alert = within(await panel.findByRole('alert'));
    alert.getByText(/Tanınan bir slayt biçimi değil/);
    alert.getByText(/Yanındaki klasör de gerekli/);
    await panel.findByText('Önce bir veri kümesi seçin veya yazın.');
    await panel.findByText('1 dosya hazır; yüklemek için veri kümesi seçin.');
    expect(announcedUploads(calls)).toEqual([]);
  });

  it('states how many files wait for a dataset when three files belong to one slide', async () => {
    const { panel, choose } = await openPanel([]);
    await choose('a.vms', 'a-1.jpg', 'a-2.jpg'); // the VMS file of Hamamatsu lists the two others
    await panel.findByText('3 dosya hazır; yüklemek için veri kümesi seçin.');
  });

  it('keeps the files of two drag-and-drops when the second occurs while the files of the first are still being read', async () => {
    const { panel } = await openPanel([]);
    const dropArea = (await panel.findByText('Dosyaları veya klasörleri buraya bırakın')).parentElement;
    const drop = (name: string, readAfterMs: number) => {
      const file = (onRead: (file: File) => void) =>
        setTimeout(() => onRead(new File(['12345'], name)), readAfterMs);
      const item = {
        kind: 'file',
        webkitGetAsEntry: () => ({ isFile: true, name, file }),
        getAsFile: () => null,
      };
      fireEvent.drop(dropArea as HTMLElement, { dataTransfer: { items: [item] } });
    };
    drop('a.svs', 50);
    drop('b.svs', 100);
    await panel.findByText('2 dosya hazır; yüklemek için veri kümesi seçin.');
  });

  it('suggests datasets while a name is typed, and hides the suggestions once the name of a dataset is complete', async () => {
    const { panel, choose, person } = await openPanel([], {
      'GET /admin/datasets': { datasets: [existingDataset] },
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

  it('announces an upload to the server when its dataset is entered, and shows why the server rejects the upload', async () => {
    const { panel, choose, calls, person } = await openPanel([], {
      'POST /admin/uploads': errorResponse('upload_exists'),
      'GET /admin/datasets': { datasets: [existingDataset] },
    });
    await choose('a.svs');
    await person.type(panel.getByRole('combobox', { name: 'Veri kümesi' }), 'Yeni');
    await person.click(await panel.findByRole('button', { name: 'Yüklemeyi başlat' }));
    await panel.findByText(/Var olanın üzerine yazılmaz/);
    const announcedUpload = { path: 'a.svs', is_folder: false, file_count: 1, size_bytes: 5 };
    expect(announcedUploads(calls)).toEqual([{ dataset: 'Yeni', ...announcedUpload }]);
  });

  describe('for a dataset that does not exist yet', () => {
    /** Types the name of a new dataset and chooses a file. @returns the dialog that opens, and its start button */
    async function chooseFileForNewDataset(dataset: string, api: Answers = {}) {
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

    it('asks who may see the slides, and announces no upload to the server before the user has decided', async () => {
      const { dialog, start, calls, person, panel } = await chooseFileForNewDataset('Taslak');
      expect(start.disabled).toBe(true);
      dialog.getByText('Slaytlar okunur okunmaz bütün aktif kullanıcılara görünür.');
      await person.click(dialog.getByRole('button', { name: 'Vazgeç' }));
      await panel.findByRole('button', { name: 'Yüklemeyi başlat' });
      expect(announcedUploads(calls)).toEqual([]);
    });

    it('restricts the dataset before the upload starts, when the user chooses restricted access', async () => {
      const { dialog, start, calls, person, panel } = await chooseFileForNewDataset('Taslak 2', {
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

    it('announces no upload to the server when restricting the dataset fails', async () => {
      const { dialog, start, calls, person } = await chooseFileForNewDataset('Taslak 3', {
        'PUT /admin/datasets': errorResponse('unavailable'),
      });
      await person.click(dialog.getByRole('radio', { name: 'Yalnızca erişim verdiklerim' }));
      await waitUntilEnabled(start);
      await person.click(start);
      await screen.findByText(/Hizmet şu anda kullanılamıyor/);
      expect(announcedUploads(calls)).toEqual([]);
    });

    it('starts the upload when the user chooses access for all members, and does not ask again for this dataset', async () => {
      const { dialog, start, calls, person, panel, choose } = await chooseFileForNewDataset('Taslak 4');
      await person.click(dialog.getByRole('radio', { name: 'Tüm üyeler' }));
      await waitUntilEnabled(start);
      await person.click(start);
      await panel.findByText(/Sunucunun diskinde yeterli yer yok/);
      await choose('b.svs');
      await waitFor(() => expect(announcedUploads(calls)).toHaveLength(2));
      expect(calls.some(({ name }) => name.startsWith('PUT'))).toBe(false);
    });
  });

  it('does not ask who may see the slides when a dataset exists whose name differs only in upper and lower case', async () => {
    const { panel, choose, calls, person } = await openPanel([], {
      'POST /admin/uploads': errorResponse('storage_full'),
      'GET /admin/datasets': { datasets: [existingDataset] },
    });
    await person.type(panel.getByRole('combobox', { name: 'Veri kümesi' }), 'YENİ');
    await choose('c.svs');
    await panel.findByText(/Sunucunun diskinde yeterli yer yok/);
    expect(calls.some(({ name }) => name.startsWith('PUT'))).toBe(false);
  });

  it('resumes an unfinished upload in its original dataset when the same file is chosen again and no dataset is typed', async () => {
    const { panel, choose, calls } = await openPanel([unfinishedUpload], {
      'POST /admin/uploads': errorResponse('storage_full'),
    });
    await panel.findByText('Yarım kaldı');
    await choose('half.svs');
    await panel.findByText(/Sunucunun diskinde yeterli yer yok/);
    expect(announcedUploads(calls)).toMatchObject([{ dataset: 'Böbrek', path: 'half.svs' }]);
    expect(panel.queryByText('Yarım kaldı')).toBeNull();
  });

  it('uploads a file to the dataset that the user has typed, although an unfinished upload of the same file is in another dataset', async () => {
    const { panel, choose, calls, person } = await openPanel([unfinishedUpload], {
      'POST /admin/uploads': errorResponse('storage_full'),
      'GET /admin/datasets': { datasets: [existingDataset] },
    });
    await panel.findByText('Yarım kaldı');
    await person.type(panel.getByRole('combobox', { name: 'Veri kümesi' }), 'Yeni');
    await choose('half.svs');
    await panel.findByText(/Sunucunun diskinde yeterli yer yok/);
    expect(announcedUploads(calls)).toMatchObject([{ dataset: 'Yeni', path: 'half.svs' }]);
    panel.getByText('Yarım kaldı');
  });

  it('resumes an unfinished upload when the typed dataset differs from the original one only in upper and lower case', async () => {
    const { panel, choose, calls, person } = await openPanel([unfinishedUpload], {
      'POST /admin/uploads': errorResponse('storage_full'),
    });
    await panel.findByText('Yarım kaldı');
    await person.type(panel.getByRole('combobox', { name: 'Veri kümesi' }), 'böbrek');
    await choose('half.svs');
    await panel.findByText(/Sunucunun diskinde yeterli yer yok/);
    expect(announcedUploads(calls)).toMatchObject([{ dataset: 'Böbrek', path: 'half.svs' }]);
  });

  it('deletes an unfinished upload on the server when its Cancel button is clicked', async () => {
    const { panel, calls, person } = await openPanel([{ ...unfinishedUpload, path: 'other.svs' }], {
      'DELETE /admin/uploads/u1': new Response(null, { status: 204 }),
    });
    await person.click(await panel.findByRole('button', { name: 'İptal et: other.svs' }));
    expect(calls.some(({ name }) => name === 'DELETE /admin/uploads/u1')).toBe(true);
  });

  it('disables the Cancel buttons for 700 ms after a row has disappeared, so that a double click does not cancel another upload', async () => {
    let uploads = [
      { ...unfinishedUpload, path: 'first.svs' },
      { ...unfinishedUpload, id: 'u2', path: 'second.svs' },
    ];
    const deletion = pendingResponse();
    const { panel, person } = await openPanel([], {
      'GET /admin/uploads': () => ({ uploads, max_bytes: 1000 }),
      'DELETE /admin/uploads/u1': deletion.answer,
    });
    const cancelButton = (path: string) =>
      panel.findByRole<HTMLButtonElement>('button', { name: `İptal et: ${path}` });
    const first = await cancelButton('first.svs');
    const second = await cancelButton('second.svs');
    await person.click(first);
    expect(first.disabled).toBe(true); // while the server deletes the upload
    expect(second.disabled).toBe(false);
    uploads = uploads.slice(1);
    deletion.respondWith(new Response(null, { status: 204 }));
    await waitFor(() => expect(panel.queryByText('first.svs')).toBeNull());
    expect(second.disabled).toBe(true);
    await waitFor(() => expect(second.disabled).toBe(false));
  });

  it('does not show uploads of another account that was signed in earlier in the same browser tab', async () => {
    const earlierAccount = await openPanel([], {
      'POST /admin/uploads': errorResponse('storage_full'),
      'GET /admin/datasets': { datasets: [existingDataset] },
    });
    await earlierAccount.person.type(
      earlierAccount.panel.getByRole('combobox', { name: 'Veri kümesi' }),
      'Yeni',
    );
    await earlierAccount.choose('secret.svs');
    await earlierAccount.panel.findByText('secret.svs');
    cleanup();
    const { panel } = await openPanel([{ ...unfinishedUpload, path: 'own.svs' }]);
    await panel.findByText('own.svs');
    expect(panel.queryByText('secret.svs')).toBeNull();
  });

  it('does not retry a failed upload of the previous account after another account has signed in', async () => {
    const earlierAccount = await openPanel([], { 'GET /admin/datasets': { datasets: [existingDataset] } });
    const field = earlierAccount.panel.getByRole('combobox', { name: 'Veri kümesi' });
    await earlierAccount.person.type(field, 'Yeni');
    await earlierAccount.choose('secret.svs'); // the server does not respond, so the queue will retry the upload
    await earlierAccount.panel.findByText(/Sunucuya ulaşılamıyor/);
    expect(announcedUploads(earlierAccount.calls)).toHaveLength(1);
    cleanup();
    const next = openApp('/dashboard', {
      signedInAs: account({ uid: 'next-admin', role: 'admin' }),
      api: {},
    });
    await waitFor(() => expect(next.calls.length).toBeGreaterThan(0));
    fireEvent.online(window); // the queue retries at once
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(announcedUploads(next.calls)).toEqual([]);
  });

  it('makes the browser ask before it closes the page while an upload waits for the network', async () => {
    const { panel, choose, person } = await openPanel([], {
      'GET /admin/datasets': { datasets: [existingDataset] },
    });
    const isClosingPrevented = () => {
      const event = new Event('beforeunload', { cancelable: true });
      window.dispatchEvent(event);
      return event.defaultPrevented;
    };
    expect(isClosingPrevented()).toBe(false);
    await person.type(panel.getByRole('combobox', { name: 'Veri kümesi' }), 'Yeni');
    await choose('offline.svs'); // the server does not respond
    await panel.findByText(/Sunucuya ulaşılamıyor/);
    expect(isClosingPrevented()).toBe(true);
    const cancel = panel.getByRole<HTMLButtonElement>('button', { name: 'İptal et: offline.svs' });
    await waitFor(() => expect(cancel.disabled).toBe(false));
    await person.click(cancel);
    expect(isClosingPrevented()).toBe(false);
  });

  it('shows the error of a rejected upload in English after the user has changed the language from Turkish to English', async () => {
    const { panel, choose, person } = await openPanel([], {
      'POST /admin/uploads': errorResponse('storage_full'),
      'GET /admin/datasets': { datasets: [existingDataset] },
    });
    await person.type(panel.getByRole('combobox', { name: 'Veri kümesi' }), 'Yeni');
    await choose('a.svs');
    await panel.findByText(errors.storage_full.tr);
    act(() => chooseLanguage('en'));
    await person.click(await screen.findByRole('button', { name: 'Upload slides' }));
    await screen.findByText(errors.storage_full.en);
    expect(screen.queryByText(errors.storage_full.tr)).toBeNull();
  });

  it('shows why the list of uploads cannot be loaded', async () => {
    const { panel } = await openPanel([], { 'GET /admin/uploads': errorResponse('unavailable') });
    await panel.findByText(/Hizmet şu anda kullanılamıyor/);
  });
});
