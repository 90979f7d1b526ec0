/** Tests of the case management screen. They find elements by Turkish texts, the default language of these screens. */
import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { expectFocusReturn } from '../../testing/expect-focus-return.ts';
import { openApp } from '../../testing/open-app.tsx';
import { pendingResponse } from '../../testing/stub-api.ts';

const idOf = (letter: string) => `00000000-0000-4000-8000-00000000000${letter}`;

const image = (id: string, file_name: string) => ({
  id,
  file_name,
  dataset_name: 'Meme',
  organ_type: null,
  width: 100,
  height: 100,
  mpp_x: null,
  mpp_y: null,
  objective_power: null,
  mpp_derived: false,
  objective_power_derived: false,
  vendor: null,
  format: null,
  size_bytes: 0,
  status: 'ready',
  error: null,
  hidden: false,
  created_at: '2026-11-01T00:00:00.000Z',
});

const existingCase = {
  id: 'case-1',
  version: 4,
  dataset: 'Meme',
  name: 'B26-1',
  description: null,
  slides: [
    { image_id: idOf('a'), stain: 'H&E', block: 'A1', note: null },
    { image_id: idOf('b'), stain: null, block: null, note: null },
  ],
  registrations: [],
  created_at: '2026-11-22T10:00:00.000Z',
  updated_at: '2026-11-22T10:00:00.000Z',
};

const dataset = {
  name: 'Meme',
  access: 'open',
  listed: true,
  sharing: true,
  identifiable_originals: false,
  images: 4,
  grants: [],
  requests: [],
};

const images = [
  image(idOf('a'), 'B26-1_HE.svs'),
  image(idOf('b'), 'B26-1_PAS.svs'),
  image(idOf('c'), 'B26-2_A_HE.svs'),
  image(idOf('d'), 'B26-2_A_PAS.svs'),
];

/** Dataset "Meme" with four slides: two are in case B26-1, and two without a case have names that begin with B26-2. */
const defaultApi = {
  'GET /admin/datasets': { datasets: [dataset] },
  'GET /cases': { cases: [existingCase] },
  'GET /image-catalog/images/rows': { revision: '1', images },
};

/** An answer for `stubApi`: the request fails as it does without a network. */
function unreachable(): never {
  throw new TypeError('Failed to fetch');
}

function openCases(additionalApi: object = {}) {
  const admin = account({ role: 'admin' });
  return openApp('/admin/cases', { signedInAs: admin, api: { ...defaultApi, ...additionalApi } });
}

describe('the case management screen', () => {
  it('proposes cases from the file names of slides without a case, and creates them when the button is pressed', async () => {
    const { calls, person } = openCases({ 'POST /cases': { ...existingCase, id: 'case-2' } });
    await screen.findByText('2 slayt · A1 H&E');
    await person.click(screen.getByRole('button', { name: 'Dosya adlarından öner' }));
    await screen.findByLabelText('B26-2 (2 slayt)');
    expect(screen.queryByLabelText('B26-1 (2 slayt)')).toBeNull();
    await person.click(screen.getByRole('button', { name: '1 vaka oluştur' }));
    await expect
      .poll(() => calls.find(({ name }) => name === 'POST /cases')?.body)
      .toEqual({
        dataset: 'Meme',
        name: 'B26-2',
        slides: [
          { image_id: idOf('c'), block: 'A', stain: 'HE' },
          { image_id: idOf('d'), block: 'A', stain: 'PAS' },
        ],
      });
  });

  it('saves the changed order and stains of the slides of a case, and sends the version number with which the case was loaded', async () => {
    const { calls, person } = openCases({ 'PATCH /cases/case-1': existingCase });
    await person.click(await screen.findByRole('button', { name: 'Düzenle: B26-1' }));
    await person.type(await screen.findByLabelText('Boya: B26-1_PAS.svs'), 'PAS');
    await person.click(screen.getByRole('button', { name: 'Yukarı taşı: B26-1_PAS.svs' }));
    await person.click(screen.getByRole('button', { name: 'Kaydet' }));
    await expect
      .poll(() => calls.find(({ name }) => name === 'PATCH /cases/case-1')?.body)
      .toMatchObject({
        version: 4,
        slides: [
          { image_id: idOf('b'), stain: 'PAS' },
          { image_id: idOf('a'), stain: 'H&E', block: 'A1' },
        ],
      });
  });

  it('keeps the dialog of a case open until the case is saved', async () => {
    const response = pendingResponse();
    const { person } = openCases({ 'PATCH /cases/case-1': response.answer });
    await person.click(await screen.findByRole('button', { name: 'Düzenle: B26-1' }));
    await screen.findByLabelText('Boya: B26-1_PAS.svs');
    await person.click(screen.getByRole('button', { name: 'Kaydet' }));
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Vazgeç' }).disabled).toBe(true);
    await person.keyboard('{Escape}');
    screen.getByRole('dialog');
    response.respondWith(existingCase);
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  it.each([
    ['a case', 'Düzenle: B26-1'],
    ['proposed cases', 'Dosya adlarından öner'],
  ])(
    'returns the focus to the button that opened the dialog of %s, when Escape closes it',
    async (_, name) => {
      const { person } = openCases();
      await screen.findByText('2 slayt · A1 H&E');
      await expectFocusReturn(person, screen.getByRole('button', { name }));
    },
  );

  it('says that the datasets cannot be loaded, and loads them again when the retry button is pressed', async () => {
    let isFailing = true;
    const { person } = openCases({
      'GET /admin/datasets': () => (isFailing ? unreachable() : { datasets: [dataset] }),
    });
    await screen.findByText('Veri kümeleri yüklenemedi.');
    isFailing = false;
    await person.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
    await screen.findByText('2 slayt · A1 H&E');
  });

  it('says in the dialog of a case that the slides cannot be loaded, instead of showing their ids', async () => {
    const { person } = openCases({ 'GET /image-catalog/images/rows': unreachable });
    await person.click(await screen.findByRole('button', { name: 'Düzenle: B26-1' }));
    await screen.findByText('Slaytlar yüklenemedi.');
    expect(screen.queryByText(idOf('a'))).toBeNull();
  });

  it.each([
    ['slides', 'Slaytlar yüklenemedi.', { 'GET /image-catalog/images/rows': unreachable }],
    ['cases', 'Vakalar yüklenemedi.', { 'GET /cases': unreachable }],
  ])('proposes no cases when the %s cannot be loaded', async (_, message, failingApi) => {
    const { person } = openCases(failingApi);
    const propose = await screen.findByRole<HTMLButtonElement>('button', { name: 'Dosya adlarından öner' });
    await waitFor(() => expect(propose.disabled).toBe(false));
    await person.click(propose);
    const dialog = within(await screen.findByRole('dialog'));
    await dialog.findByText(message);
    expect(dialog.queryByRole('checkbox')).toBeNull();
    expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Oluştur' }).disabled).toBe(true);
  });

  it('shows the name of a slide in a case even if this slide is not among the ready slides of the dataset', async () => {
    const { person } = openCases({
      'GET /image-catalog/images/rows': { revision: '1', images: images.slice(1) },
      [`GET /image-catalog/images/${idOf('a')}`]: {
        image: { ...image(idOf('a'), 'B26-1_HE.svs'), dataset_name: 'Deri' },
      },
    });
    await person.click(await screen.findByRole('button', { name: 'Düzenle: B26-1' }));
    await screen.findByText('B26-1_HE.svs');
    expect(screen.queryByText(idOf('a'))).toBeNull();
  });

  it('moves the focus from a removed slide to the next one, and from the last slide to the field that adds slides', async () => {
    const { person } = openCases();
    await person.click(await screen.findByRole('button', { name: 'Düzenle: B26-1' }));
    (await screen.findByRole('button', { name: 'Vakadan çıkar: B26-1_HE.svs' })).focus();
    await person.keyboard('{Enter}');
    const remaining = screen.getByRole('button', { name: 'Vakadan çıkar: B26-1_PAS.svs' });
    expect(document.activeElement).toBe(remaining.closest('li'));
    remaining.focus();
    await person.keyboard('{Enter}');
    expect(document.activeElement).toBe(screen.getByRole('combobox', { name: 'Slayt ekle' }));
  });

  it('says that a case was not deleted when the server is unreachable', async () => {
    const { person } = openCases();
    await person.click(await screen.findByRole('button', { name: 'Sil: B26-1' }));
    const confirm = await screen.findByRole<HTMLButtonElement>('button', { name: 'Sil' });
    await waitFor(() => expect(confirm.disabled).toBe(false));
    await person.click(confirm);
    await screen.findByText('Vaka silinemedi. Lütfen tekrar deneyin.');
  });
});
