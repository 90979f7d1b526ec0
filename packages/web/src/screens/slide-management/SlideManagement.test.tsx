/**
 * Tests of the slides screen of administrators, except for uploads. All of them open the screen in Turkish, the default language, with
 * the same stub of the API. Words of the screen: Durum (status), Veri kümesi (dataset), Ara (search), İşlemler (actions), Düzenle (edit),
 * Taşı (move), Kaydet (save), Yeniden oku (read again), Temizle (clear), Önizleme (preview), uygula (apply).
 */
import type { ImportPlan, ManagedImage } from '@lamina/contract';
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { type Answers, type ApiCall, errorResponse, pendingResponse } from '../../testing/stub-api.ts';

const admin = account({ uid: 'uid-of-admin', role: 'admin' });
/** Returns the id of slayt-`number`.svs. */
const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** Returns the catalogue entry of slayt-`number`.svs: ready, visible, in the dataset Meme. */
function slide(number: number, changes: Partial<ManagedImage> = {}): ManagedImage {
  return {
    id: idOf(number),
    file_name: `slayt-${number}.svs`,
    dataset_name: 'Meme',
    organ_type: null,
    width: 1000,
    height: 1000,
    mpp_x: 0.2526,
    mpp_y: 0.2526,
    objective_power: 40,
    mpp_derived: false,
    objective_power_derived: false,
    vendor: 'Aperio',
    format: 'aperio',
    size_bytes: 12_400_000,
    status: 'ready',
    error: null,
    hidden: false,
    created_at: '2026-11-20T09:00:00.000Z',
    removed: false,
    missing: false,
    metadata_hold: null,
    ...changes,
  };
}

/** Numbers of slides by status, as the status filter shows them. */
const counts = { listed: 2, ready: 1, pending: 0, failed: 1, hidden: 0, held: 0, missing: 0, removed: 3 };
const unreadableSlide = slide(2, {
  dataset_name: null,
  status: 'failed',
  error: 'This is not a slide in a format that can be read.',
  format: null,
  mpp_x: null,
});

/**
 * Opens the slides screen.
 *
 * @param api responses that replace or extend those of the stub
 * @param images the slides that the server lists
 */
function openSlidesScreen(api: Answers = {}, images: readonly ManagedImage[] = [slide(1), unreadableSlide]) {
  return openApp('/admin/slides', {
    signedInAs: admin,
    api: {
      'GET /admin/images': { images, next_cursor: null },
      'GET /admin/images/counts': { counts },
      'GET /admin/datasets': {
        datasets: [
          {
            name: 'Meme',
            access: 'open',
            listed: false,
            sharing: false,
            images: 1,
            grants: [],
            requests: [],
            identifiable_originals: false,
          },
        ],
      },
      'GET /admin/waiting': { applications: 0, datasetRequests: 0 },
      'POST /auth/image-session': { session_id: 'session-1', expires_in: 3600 },
      'DELETE /auth/image-session/session-1': new Response(null, { status: 204 }),
      ...api,
    },
  });
}

/** Waits for the row of a slide. */
async function findRow(name: string) {
  const row = (await screen.findByText(name)).closest('tr');
  if (row === null) throw new Error(`${name} has no row`);
  return within(row);
}

/** Returns the body of the first request with this method and path. */
const bodyOf = (calls: readonly ApiCall[], name: string) => calls.find((call) => call.name === name)?.body;

describe('the slide list on the slides screen', () => {
  it('lists slides by dataset with their state, size and scale, and shows why a slide could not be read', async () => {
    openSlidesScreen();
    const readyRow = await findRow('slayt-1.svs');
    readyRow.getByText('Hazır');
    readyRow.getByText('12,4 MB');
    readyRow.getByText('0,2526 µm/piksel');
    const failedRow = await findRow('slayt-2.svs');
    failedRow.getByText('Okunamadı');
    failedRow.getByText('This is not a slide in a format that can be read.');
    screen.getByText('2 slaydın tümü gösteriliyor');
    expect(screen.getAllByRole('row').map(({ textContent }) => textContent)).toEqual([
      expect.stringContaining('Ölçek'),
      'Meme',
      expect.stringContaining('slayt-1.svs'),
      'Veri kümesi yok',
      expect.stringContaining('slayt-2.svs'),
    ]);
  });

  it('shows why a scan of the files did not move a slide to another dataset, and why a scan hid a slide', async () => {
    openSlidesScreen({}, [
      slide(1, { metadata_hold: { kind: 'kept', dataset: 'Açık küme' } }),
      slide(2, { hidden: true, metadata_hold: { kind: 'waiting', dataset: null } }),
    ]);
    expect(
      (await findRow('slayt-1.svs')).getByText(/^Dosyalara göre veri kümesi: Açık küme\./),
    ).toBeDefined();
    expect(
      (await findRow('slayt-2.svs')).getByText(/dosyası kullanılamadığı için slayt gizlendi\./),
    ).toBeDefined();
  });

  it('sends the status, dataset and search filters to the server', async () => {
    const { person, calls } = openSlidesScreen();
    await findRow('slayt-1.svs');
    const status = await screen.findByRole('combobox', { name: 'Durum' });
    await person.selectOptions(status, 'Katalogdan kaldırılanlar (3)');
    await person.selectOptions(screen.getByRole('combobox', { name: 'Veri kümesi' }), 'Veri kümesi yok');
    await person.type(screen.getByRole('searchbox', { name: 'Ara' }), 'ışık');
    await waitFor(() =>
      expect(calls.filter(({ name }) => name === 'GET /admin/images').at(-1)?.query).toEqual({
        status: 'removed',
        dataset: '',
        q: 'ışık',
      }),
    );
    await person.selectOptions(screen.getByRole('combobox', { name: 'Veri kümesi' }), 'Meme');
    await waitFor(() =>
      expect(calls.filter(({ name }) => name === 'GET /admin/images/counts').at(-1)?.query).toEqual({
        dataset: 'Meme',
        q: 'ışık',
      }),
    );
  });

  it('shows the dataset filter of the URL when the list of datasets does not contain this dataset', async () => {
    const { person, address, goTo } = openSlidesScreen();
    await goTo('/admin/slides?dataset=Eski');
    const field = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Veri kümesi' });
    expect(field.selectedOptions[0]?.textContent).toBe('Eski');
    await person.selectOptions(field, 'Tümü');
    await waitFor(() => expect(address()).toBe('/admin/slides'));
  });

  it('keeps the filters in the URL, and clears them with the Clear button', async () => {
    const { person, calls, address, goTo } = openSlidesScreen();
    await goTo('/admin/slides?q=kolon&dataset=Meme&status=removed');
    const lastQuery = () => calls.filter(({ name }) => name === 'GET /admin/images').at(-1)?.query;
    await waitFor(() => expect(lastQuery()).toEqual({ q: 'kolon', dataset: 'Meme', status: 'removed' }));
    await person.clear(screen.getByRole('searchbox', { name: 'Ara' }));
    await waitFor(() => expect(address()).toBe('/admin/slides?dataset=Meme&status=removed'));
    await person.click(screen.getByRole('button', { name: 'Temizle' }));
    await waitFor(() => expect(address()).toBe('/admin/slides'));
  });

  it.each([
    [
      'that there are no slides, when the list is empty',
      { images: [], next_cursor: null },
      'Henüz slayt yok.',
    ],
    [
      'why the slides cannot be loaded, when the request fails',
      errorResponse('unavailable'),
      'Hizmet şu anda kullanılamıyor. Lütfen biraz sonra yeniden deneyin.',
    ],
  ])('shows %s', async (_, answer, sentence) => {
    openSlidesScreen({ 'GET /admin/images': answer });
    await screen.findByText(sentence);
  });

  it('keeps the slides and shows a toast when the refresh button is pressed and the slides cannot be loaded', async () => {
    let response: object = { images: [slide(1)], next_cursor: null };
    const { person } = openSlidesScreen({ 'GET /admin/images': () => response });
    await findRow('slayt-1.svs');
    response = errorResponse('unavailable', 'Veritabanı meşgul.');
    await person.click(screen.getByRole('button', { name: 'Yenile' }));
    await screen.findByText('Veritabanı meşgul.');
    await findRow('slayt-1.svs');
  });

  it('requests the next page of slides with the cursor of the previous page', async () => {
    const pages: Record<string, object> = {
      '': { images: [slide(1)], next_cursor: 'more' },
      more: { images: [slide(2)], next_cursor: null },
    };
    openSlidesScreen({ 'GET /admin/images': ({ query }) => pages[query.cursor ?? ''] ?? {} });
    await findRow('slayt-2.svs');
    expect(screen.getByText('slayt-1.svs')).toBeDefined();
  });
});

it('the slides screen lists a slide among the failed slides again when the server cannot read it after "Read again"', async () => {
  let isPending = false;
  vi.useFakeTimers({ shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  const { person } = openSlidesScreen({
    'GET /admin/images': () => ({ images: isPending ? [] : [unreadableSlide], next_cursor: null }),
    'GET /admin/images/counts': () => ({
      counts: isPending ? { ...counts, pending: 1, failed: 0 } : counts,
    }),
    'POST /admin/images/changes': () => {
      isPending = true;
      return { message: '1 slayt yeniden okunuyor.', changed: 1 };
    },
  });
  await person.selectOptions(await screen.findByRole('combobox', { name: 'Durum' }), 'Okunamadı (1)');
  await person.click((await findRow('slayt-2.svs')).getByRole('button', { name: 'İşlemler: slayt-2.svs' }));
  await person.click(await screen.findByRole('menuitem', { name: 'Yeniden oku' }));
  await screen.findByText('Bu filtrelere uyan slayt yok.');
  isPending = false;
  await vi.advanceTimersByTimeAsync(5000);
  await findRow('slayt-2.svs');
});

it('the slides screen keeps its list and shows an error when the script of the upload panel cannot be loaded', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const { person } = openSlidesScreen(); // its stub rejects the request that checks whether the server responds
  await findRow('slayt-1.svs');
  await person.click(screen.getByRole('button', { name: 'Slayt yükle' }));
  await screen.findByText('Bu bölüm yüklenemedi.');
  await findRow('slayt-1.svs');
});

describe('the slides screen (actions on one slide)', () => {
  /** Opens the screen and chooses an action in the menu of a slide. */
  async function chooseAction(name: string, action: string, api: Answers, images?: readonly ManagedImage[]) {
    const opened = openSlidesScreen(api, images);
    await opened.person.click((await findRow(name)).getByRole('button', { name: `İşlemler: ${name}` }));
    await opened.person.click(await screen.findByRole('menuitem', { name: action }));
    return opened;
  }

  it('rejects an invalid scale, and sends a scale that is entered with a decimal comma', async () => {
    const { person, calls } = await chooseAction('slayt-1.svs', 'Düzenle', {
      [`PUT /image-catalog/images/${idOf(1)}`]: { image: slide(1) },
    });
    await person.type(await screen.findByLabelText('Piksel boyutu (µm)'), '0,x');
    await person.click(screen.getByRole('button', { name: 'Kaydet' }));
    await screen.findByText(/arasında bir sayı olmalı/);
    await person.clear(screen.getByLabelText('Piksel boyutu (µm)'));
    await person.type(screen.getByLabelText('Piksel boyutu (µm)'), '0,25');
    await person.click(screen.getByRole('button', { name: 'Kaydet' }));
    await waitFor(() =>
      expect(bodyOf(calls, `PUT /image-catalog/images/${idOf(1)}`)).toEqual({ calibration: { mpp: 0.25 } }),
    );
  });

  it('shows an entered scale with a decimal comma, and sends nothing when it is unchanged', async () => {
    const slideWithEnteredScale = slide(1, {
      mpp_x: 0.2525,
      mpp_y: 0.2525,
      objective_power_derived: true,
      scale_entered: true,
    });
    const { person, calls } = await chooseAction('slayt-1.svs', 'Düzenle', {}, [slideWithEnteredScale]);
    const field = await screen.findByLabelText<HTMLInputElement>('Piksel boyutu (µm)');
    expect(field.value).toBe('0,2525');
    await person.click(screen.getByRole('button', { name: 'Kaydet' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    expect(calls.some(({ name }) => name.startsWith('PUT'))).toBe(false);
  });

  it.each([
    ['edits', 'Düzenle', 'Kaydet', `PUT /image-catalog/images/${idOf(1)}`, { image: slide(1) }],
    ['moves', 'Taşı', 'Taşı', 'POST /admin/images/changes', { message: 'tamam', changed: 1 }],
    [
      'removes',
      'Katalogdan kaldır',
      'Katalogdan kaldır',
      'POST /admin/images/changes',
      { message: 'tamam', changed: 1 },
    ],
  ])(
    'keeps the dialog that $0 the slide ("$1") open until the server has responded',
    async (_, action, submit, endpoint, answer) => {
      const response = pendingResponse();
      const { person } = await chooseAction('slayt-1.svs', action, { [endpoint]: response.answer });
      const dialog = within(await screen.findByRole('dialog'));
      const organ = dialog.queryByLabelText('Organ');
      if (organ !== null) await person.type(organ, 'Meme');
      await person.click(dialog.getByRole('button', { name: submit }));
      expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Vazgeç' }).disabled).toBe(true);
      await person.keyboard('{Escape}');
      screen.getByRole('dialog');
      response.respondWith(answer);
      await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    },
  );

  it('restores the scale of the slide file when both fields of the scale are empty', async () => {
    const slideWithEnteredScale = slide(1, {
      mpp_x: 0.25,
      mpp_y: 0.25,
      objective_power: 40,
      scale_entered: true,
    });
    const { person, calls } = await chooseAction(
      'slayt-1.svs',
      'Düzenle',
      { [`PUT /image-catalog/images/${idOf(1)}`]: { image: slide(1) } },
      [{ ...slideWithEnteredScale, objective_power_derived: true }],
    );
    await screen.findByText(/\(elle girildi\)/);
    await person.clear(await screen.findByLabelText('Piksel boyutu (µm)'));
    await person.click(screen.getByRole('button', { name: 'Kaydet' }));
    await waitFor(() =>
      expect(bodyOf(calls, `PUT /image-catalog/images/${idOf(1)}`)).toEqual({ calibration: null }),
    );
  });

  it('requires a name in the edit form, and sends only the changed fields', async () => {
    const answer = { image: slide(1, { organ_type: 'Deri' }) };
    const { person, calls } = await chooseAction('slayt-1.svs', 'Düzenle', {
      [`PUT /image-catalog/images/${idOf(1)}`]: answer,
    });
    const dialog = within(await screen.findByRole('dialog', { name: 'Slaydı düzenle' }));
    await person.clear(dialog.getByRole('textbox', { name: 'Gösterilen ad' }));
    await person.click(dialog.getByRole('button', { name: 'Kaydet' }));
    dialog.getByText('Bir ad gerekli.');
    await person.type(dialog.getByRole('textbox', { name: 'Gösterilen ad' }), 'slayt-1.svs');
    await person.type(dialog.getByRole('textbox', { name: 'Organ' }), ' Deri ');
    await person.click(dialog.getByRole('button', { name: 'Kaydet' }));
    await screen.findByText('Slayt bilgileri kaydedildi.');
    expect(bodyOf(calls, `PUT /image-catalog/images/${idOf(1)}`)).toEqual({ organ_type: 'Deri' });
  });

  it.each([
    ['hides a visible slide from members', 'Üyelerden gizle', { hidden: true }, slide(1)],
    [
      'makes a hidden slide visible to members',
      'Üyelere göster',
      { hidden: false },
      slide(1, { hidden: true }),
    ],
    ['makes the server read a failed slide again', 'Yeniden oku', { read_again: true }, unreadableSlide],
    ['puts a removed slide back', 'Kataloğa geri al', { removed: false }, slide(1, { removed: true })],
  ])('%s immediately, without a dialog', async (_, action, change, image) => {
    const { calls } = await chooseAction(
      image.file_name,
      action,
      { 'POST /admin/images/changes': { message: '1 slayt değişti, tamam.', changed: 1 } },
      [image],
    );
    await screen.findByText('1 slayt değişti, tamam.');
    expect(bodyOf(calls, 'POST /admin/images/changes')).toEqual({ ids: [image.id], ...change });
  });

  it('returns the keyboard focus to the action menu when the dialog of an action is closed', async () => {
    const { person } = await chooseAction('slayt-1.svs', 'Taşı', {});
    await screen.findByRole('dialog', { name: 'Veri kümesine taşı' });
    await person.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await waitFor(() =>
      expect(document.activeElement?.getAttribute('aria-label')).toBe('İşlemler: slayt-1.svs'),
    );
  });

  it('offers only "Put back" and the link to the audit log for a removed slide', async () => {
    const { person } = openSlidesScreen({}, [slide(1, { removed: true })]);
    await person.click((await findRow('slayt-1.svs')).getByRole('button', { name: 'İşlemler: slayt-1.svs' }));
    const items = (await screen.findAllByRole('menuitem')).map(({ textContent }) => textContent);
    expect(items).toEqual(['Kataloğa geri al', 'Denetim kayıtları']);
  });

  it('removes the slide after a confirmation, and offers a toast that undoes the removal', async () => {
    const { person, calls } = await chooseAction('slayt-1.svs', 'Katalogdan kaldır', {
      'POST /admin/images/changes': ({ body }) => ({
        message: (body as { removed: boolean }).removed ? 'Kaldırıldı.' : 'Geri alındı.',
        changed: 1,
      }),
    });
    const dialog = within(await screen.findByRole('dialog', { name: 'Katalogdan kaldırılsın mı?' }));
    dialog.getByText(/slayt-1\.svs katalogdan kaldırılır/);
    expect(calls.some(({ name }) => name.startsWith('POST /admin'))).toBe(false);
    await person.click(dialog.getByRole('button', { name: 'Katalogdan kaldır' }));
    await screen.findByText('Kaldırıldı.');
    expect(document.activeElement).not.toBe(document.body);
    const undo = screen.getByRole<HTMLButtonElement>('button', { name: 'Geri Al' });
    await waitFor(() => expect(undo.disabled).toBe(false)); // after the toast has settled
    await person.click(undo);
    await screen.findByText('Geri alındı.');
    const sentChanges = calls
      .filter(({ name }) => name === 'POST /admin/images/changes')
      .map(({ body }) => body);
    expect(sentChanges).toEqual([
      { ids: [idOf(1)], removed: true },
      { ids: [idOf(1)], removed: false },
    ]);
  });
});

describe('the selection on the slides screen', () => {
  it('shows the number of selected slides, and moves all of them to another dataset in one request', async () => {
    const { person, calls } = openSlidesScreen({
      'POST /admin/images/changes': { message: '2 slayt değiştirildi.', changed: 2 },
    });
    await findRow('slayt-1.svs');
    await person.click(screen.getByRole('checkbox', { name: 'Gösterilenlerin tümünü seç' }));
    const bar = within(await screen.findByRole('region', { name: 'Seçili slaytlar' }));
    bar.getByText('2 slayt seçili');
    // The action is offered because one of the two slides could not be read.
    bar.getByRole('button', { name: 'Yeniden oku' });
    await person.click(bar.getByRole('button', { name: 'Taşı' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Veri kümesine taşı' }));
    dialog.getByText(/^2 slayt bu veri kümesine taşınır/);
    await person.type(dialog.getByRole('combobox', { name: 'Veri kümesi' }), 'Arşiv');
    await person.click(dialog.getByRole('button', { name: 'Taşı' }));
    await screen.findByText('2 slayt değiştirildi.');
    expect(bodyOf(calls, 'POST /admin/images/changes')).toEqual({
      ids: [idOf(1), idOf(2)],
      dataset_name: 'Arşiv',
    });
    expect(screen.queryByRole('region', { name: 'Seçili slaytlar' })).toBeNull();
  });

  it('sets the organ of all selected slides in one request', async () => {
    const { person, calls } = openSlidesScreen({
      'POST /admin/images/changes': { message: '2 slayt değiştirildi.', changed: 2 },
    });
    await findRow('slayt-1.svs');
    await person.click(screen.getByRole('checkbox', { name: 'Gösterilenlerin tümünü seç' }));
    await person.click(await screen.findByRole('button', { name: 'Organı değiştir' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Organı değiştir' }));
    dialog.getByText(/^2 slaydın organı değişir/);
    const field = dialog.getByRole('textbox', { name: 'Organ' });
    await person.clear(field);
    await person.type(field, 'Karaciğer');
    await person.click(dialog.getByRole('button', { name: 'Kaydet' }));
    await screen.findByText('2 slayt değiştirildi.');
    expect(bodyOf(calls, 'POST /admin/images/changes')).toEqual({
      ids: [idOf(1), idOf(2)],
      organ_type: 'Karaciğer',
    });
  });

  it('keeps the slides selected when an action on them fails, until the user clears the selection', async () => {
    const { person } = openSlidesScreen({ 'POST /admin/images/changes': errorResponse('not_found') });
    await person.click((await findRow('slayt-1.svs')).getByRole('checkbox'));
    await person.click(await screen.findByRole('button', { name: 'Üyelerden gizle' }));
    await screen.findByText('Bulunamadı.');
    screen.getByText('1 slayt seçili');
    await person.click(screen.getByRole('button', { name: 'Seçimi temizle' }));
    expect(screen.queryByText('1 slayt seçili')).toBeNull();
  });
});

describe('the import of a catalogue file on the slides screen', () => {
  /** The response to the check of a file with 4 lines: 1 changes a slide, 2 change nothing, 1 names an unknown slide. */
  const plan: ImportPlan = {
    plan: 'plan-1',
    encoding: 'windows-1254',
    rows: 4,
    changed: 1,
    unchanged: 2,
    unknown: 1,
    wrong: 0,
    changes: [
      {
        line: 2,
        image_id: idOf(1),
        file_name: 'slayt-1.svs',
        fields: [{ field: 'organ_type', before: null, after: 'Işık' }],
      },
    ],
    unknown_lines: [{ line: 5, subject: 'yok.svs', reason: 'Katalogda böyle bir slayt yok.' }],
    wrong_lines: [],
  };
  const file = new File(['file_name;organ_type\n'], 'liste.csv', { type: 'text/csv' });

  /** Opens the screen, and chooses a file for the import. */
  async function chooseFile(api: Answers, chosenFile = file) {
    const opened = openSlidesScreen(api);
    await opened.person.click(await screen.findByRole('button', { name: 'Katalog dosyası (CSV)' }));
    const input = document.querySelector('input[type="file"]');
    if (!(input instanceof HTMLInputElement)) throw new Error('the screen has no file input');
    await opened.person.upload(input, chosenFile);
    return opened;
  }
  const findPreview = async () => within(await screen.findByRole('region', { name: 'Önizleme: liste.csv' }));

  it('shows a preview, and applies exactly the previewed changes when the user clicks the button that applies the file', async () => {
    const { person, calls } = await chooseFile({
      'POST /admin/catalogue-import/check': plan,
      'POST /admin/catalogue-import': { message: 'Katalog dosyası uygulandı: 1 slayt değişti.', changed: 1 },
    });
    const preview = await findPreview();
    preview.getByText(/Windows-1254/);
    preview.getByText('Işık');
    preview.getByText('yok.svs');
    expect(calls.some(({ name }) => name === 'POST /admin/catalogue-import')).toBe(false);
    await person.click(preview.getByRole('button', { name: '1 değişikliği uygula' }));
    await screen.findByText('Katalog dosyası uygulandı: 1 slayt değişti.');
    expect(calls.find(({ name }) => name === 'POST /admin/catalogue-import')?.query).toEqual({
      plan: 'plan-1',
    });
    expect(screen.queryByRole('region', { name: /Önizleme/ })).toBeNull();
  });

  it('shows a new preview when the server rejects the import because the catalogue has changed since the first preview', async () => {
    let checkCount = 0;
    const { person } = await chooseFile({
      'POST /admin/catalogue-import/check': () => {
        checkCount += 1;
        return checkCount === 1 ? plan : { ...plan, plan: 'plan-2', changed: 0, changes: [] };
      },
      'POST /admin/catalogue-import': errorResponse('import_changed'),
    });
    await person.click((await findPreview()).getByRole('button', { name: '1 değişikliği uygula' }));
    await screen.findByText('Katalog bu arada değişti');
    screen.getByText('Bu dosyanın değiştireceği bir şey yok.');
    expect(checkCount).toBe(2);
  });

  it('lists invalid lines, and offers no button to apply the file while there are any', async () => {
    const wrongLines = [{ line: 3, subject: 'a.svs', reason: 'Satırda çok sütun var.' }];
    await chooseFile({
      'POST /admin/catalogue-import/check': { ...plan, wrong: 1, wrong_lines: wrongLines },
    });
    const preview = await findPreview();
    preview.getByText('Satırda çok sütun var.');
    preview.getByText('3. satır');
    expect(preview.queryByRole('button', { name: /uygula/ })).toBeNull();
  });

  it('shows the message of the server when the file is not a CSV file', async () => {
    await chooseFile({
      'POST /admin/catalogue-import/check': errorResponse('invalid_request', 'Bu bir CSV dosyası değil.'),
    });
    await screen.findByText('Bu bir CSV dosyası değil.');
  });

  it('rejects a file of more than 10 MB without sending it', async () => {
    const largeFile = new File([new Uint8Array(10 * 1024 * 1024 + 1)], 'liste.csv', { type: 'text/csv' });
    const { calls } = await chooseFile({}, largeFile);
    await screen.findByText(/10 MB’tan büyük/);
    expect(calls.some(({ name }) => name.startsWith('POST /admin'))).toBe(false);
  });
});
