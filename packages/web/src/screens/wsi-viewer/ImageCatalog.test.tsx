import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  api,
  bare,
  errorResponse,
  focused,
  list,
  liver,
  many,
  resetPage,
  session,
  show,
  silence,
} from './testing/viewer-page.tsx';

beforeEach(resetPage);

describe('the catalogue', () => {
  it('shows images grouped by dataset with their number, and opens the first group', async () => {
    api({});
    const user = show();
    screen.getByText('Loading images...');
    const first = await screen.findByRole('button', { name: 'Karaciğer 1 images' });
    const second = screen.getByRole('button', { name: 'Unknown 1 images' });
    expect(first.ariaExpanded).toBe('true');
    expect(second.ariaExpanded).toBe('false');
    screen.getByRole('button', { name: /IŞIK-2\.svs.*Liver.*11111111$/ });

    await user.click(second);
    screen.getByRole('button', { name: /^22222222-bbbb.*Unknown.*22222222$/ });
    await user.click(first);
    expect(screen.queryByText('IŞIK-2.svs')).toBeNull();
  });

  it('is requested with the image session', async () => {
    const server = api({});
    show();
    await screen.findByText('IŞIK-2.svs');
    expect(server.callsWith('GET /image-catalog/images')).toEqual([
      'GET /image-catalog/images/groups?session=0123456789abcdef',
      'GET /image-catalog/images/rows?session=0123456789abcdef&from=0&limit=100',
    ]);
  });

  it('searches while the person types, and shows matches of closed groups, too', async () => {
    api({});
    const user = show();
    await screen.findByText('IŞIK-2.svs');
    const box = screen.getByPlaceholderText('Search images...');
    await user.type(box, '22222222');
    await screen.findByText(bare.id);
    expect(screen.queryByText('Karaciğer')).toBeNull();
    await user.clear(box);
    await user.type(box, 'ışık');
    await waitFor(() => expect(screen.queryByText('Unknown')).toBeNull());
    screen.getByText('IŞIK-2.svs');
    await user.type(box, ' nowhere');
    await screen.findByText('No images match your search');
  });

  it('shows a hint that slides will appear when it contains no images', async () => {
    api({ lists: [list()] });
    show();
    await screen.findByText('No images available');
    screen.getByText(/Slides appear here by themselves.*Demonstration slides are drawn/);
  });

  it('shows the number of annotations of each slide, with one request for all visible rows', async () => {
    const server = api({ lists: [list(...many(3))], annotationCounts: { [many(2)[1]?.id ?? '']: 12 } });
    show();
    await screen.findByRole('button', { name: /slide-2\.svs.*12 annotations/ });
    expect(screen.getByRole('button', { name: /slide-1\.svs/ }).textContent).not.toContain('annotation');
    const ids = many(3).map(({ id }) => id);
    expect(server.callsWith('annotation-counts')).toEqual([
      `GET /image-catalog/annotation-counts?images=${encodeURIComponent(ids.join())}`,
    ]);
  });

  it('shows which images cannot be viewed and the reason', async () => {
    const error = 'This is not a slide in a format that can be read.';
    api({
      lists: [
        list(
          { ...liver, status: 'failed', error },
          { ...bare, dataset_name: 'Karaciğer', status: 'pending' },
        ),
      ],
      descriptors: [errorResponse(404)],
    });
    const user = show();
    await screen.findByRole('button', { name: /22222222.*Being read/ });
    await user.click(screen.getByRole('button', { name: /IŞIK-2.*Cannot be read/ }));
    expect((await screen.findByRole('region', { name: 'Selected Image' })).textContent).toContain(error);
    expect(document.querySelector('img')).toBeNull();
  });

  it('loads thumbnails when they become visible, and shows a grey icon for a failed one', async () => {
    api({});
    show();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    const thumbnail = row.querySelector('img') as HTMLImageElement;
    expect(thumbnail.getAttribute('src')).toBe(
      `/api/v1/image-catalog/proxy/${liver.id}/thumbnail.jpg?session=0123456789abcdef`,
    );
    fireEvent.error(thumbnail);
    expect(row.querySelector('img')).toBeNull();
    expect(row.querySelector('svg')).not.toBeNull();
  });

  it('shows a grey icon instead of a thumbnail until an image session exists', async () => {
    api({ sessions: [errorResponse(503)] });
    show();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    expect(row.querySelector('svg')).not.toBeNull();
    expect(row.querySelector('img')).toBeNull();
  });
});

describe('cases in the catalogue', () => {
  const idOf = (number: number) => many(number)[number - 1]?.id ?? '';
  const cases = [
    { id: 'one', name: 'V-1', image_ids: [idOf(3), idOf(5)] },
    { id: 'two', name: 'V-2', image_ids: [idOf(2)] },
  ];
  const linesShown = () =>
    [...document.querySelectorAll<HTMLElement>('[data-line]')].map(
      (line) => /V-\d|Large|slide-\d/.exec(line.textContent ?? '')?.[0],
    );

  it('are listed below their dataset, before its slides without a case', async () => {
    api({ lists: [list(...many(5))], cases, descriptors: [() => new Promise(() => {})] });
    const user = show();
    await screen.findByRole('button', { name: 'Case V-1 2 images' });
    screen.getByRole('button', { name: 'Large 5 images' });
    await screen.findByRole('button', { name: /^slide-4\.svs/ });
    const all = ['Large', 'V-1', 'slide-3', 'slide-5', 'V-2', 'slide-2', 'slide-1', 'slide-4'];
    expect(linesShown()).toEqual(all);
    expect(screen.getByRole('heading', { level: 3, name: 'Case V-2 1 images' })).not.toBeNull();

    await user.click(screen.getByRole('button', { name: 'Case V-1 2 images' }));
    expect(linesShown()).toEqual(all.filter((name) => name !== 'slide-3' && name !== 'slide-5'));
    await user.keyboard('n'); // the first slide of the list is in the closed case
    await screen.findByRole('button', { name: /^slide-3\.svs/, current: true });
  });

  it('are navigated, closed and opened with the keys of a tree view', async () => {
    api({ lists: [list(...many(5))], cases });
    const user = show();
    await screen.findByRole('button', { name: /^slide-4\.svs/ });
    await user.click(screen.getByRole('searchbox'));
    await user.keyboard('{ArrowDown}');
    for (const [key, name] of [
      ['{ArrowRight}', 'V-1'],
      ['{ArrowRight}', 'slide-3'],
      ['{ArrowLeft}', 'V-1'],
      ['{ArrowLeft}{ArrowDown}', 'V-2'],
      ['{ArrowUp}{ArrowRight}{ArrowDown}', 'slide-3'],
      ['{End}', 'slide-4'],
      ['{ArrowLeft}', 'Large'],
    ] as const) {
      await user.keyboard(key);
      await waitFor(() => expect(focused(), key).toContain(name));
    }
  });

  it('are not shown in a list that is not sorted by name', async () => {
    api({ lists: [list(...many(5))], cases });
    const user = show();
    await screen.findByRole('button', { name: 'Case V-1 2 images' });
    await user.selectOptions(screen.getByRole('combobox', { name: 'Sort images by' }), 'Newest first');
    await waitFor(() => expect(linesShown()[1]).toBe('slide-1'));
    expect(screen.queryByRole('button', { name: /^Case/ })).toBeNull();
  });
});

describe('a catalogue of thousands of slides', () => {
  it('renders only the visible rows', async () => {
    api({ lists: [list(...many(10_000))] });
    show();
    await screen.findByRole('button', { name: 'Large 10000 images' });
    screen.getByRole('button', { name: /^slide-1\.svs/ });
    const rows = screen.getAllByRole('listitem');
    expect(rows.length).toBeLessThan(40);
    expect(rows[0]?.getAttribute('aria-posinset')).toBe('1');
    expect(rows[0]?.getAttribute('aria-setsize')).toBe('10000');
  });

  it('loads at most four thumbnails at a time', async () => {
    api({ lists: [list(...many(10_000))] });
    show();
    await screen.findByRole('button', { name: /^slide-1\.svs/ });
    expect(document.querySelectorAll('img')).toHaveLength(4);
    fireEvent.load(document.querySelector('img') as HTMLImageElement);
    expect(document.querySelectorAll('img')).toHaveLength(5);
  });

  it('is navigated with the keys of a tree view, and keeps the keyboard focus while rows scroll out of view', async () => {
    api({ lists: [list(...many(10_000), bare)] });
    const user = show();
    const search = await screen.findByRole('searchbox');
    await screen.findByRole('button', { name: /^slide-1\.svs/ });
    await user.click(search);
    await user.keyboard('{ArrowDown}');
    expect(focused()).toContain('Large');
    for (const [key, name] of [
      ['{ArrowRight}', 'slide-1.svs'],
      ['{ArrowDown}', 'slide-2.svs'],
      ['{PageDown}', 'slide-13.svs'],
      ['{PageUp}', 'slide-2.svs'],
      ['{End}', 'Unknown'],
      ['{ArrowUp}', 'slide-10000.svs'],
      ['{ArrowLeft}', 'Large'],
      ['{End}', 'Unknown'],
      ['{ArrowRight}{ArrowRight}', bare.id],
      ['{Home}', 'Large'],
    ] as const) {
      await user.keyboard(key);
      await waitFor(() => expect(focused(), key).toContain(name));
    }
    await user.keyboard('{ArrowLeft}');
    expect(document.activeElement?.ariaExpanded).toBe('false');
    expect(screen.queryByText('slide-1.svs')).toBeNull();
    const stops = [...document.querySelectorAll('[data-line]')].filter(
      (line) => (line as HTMLElement).tabIndex === 0,
    );
    expect(stops).toEqual([document.activeElement]);
  });

  it('opens a slide with Enter, and leaves the arrow keys to the image view after a slide is opened with the mouse', async () => {
    api({
      lists: [list(liver, { ...bare, dataset_name: 'Karaciğer' })],
      descriptors: [() => new Promise(() => {})],
    });
    const user = show();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    await user.click(screen.getByRole('button', { name: 'Karaciğer 2 images' }));
    await user.keyboard('{ArrowRight}{ArrowRight}{ArrowDown}{Enter}');
    expect(screen.getByRole('region', { name: 'Selected Image' }).textContent).toContain('NameIŞIK-2.svs');
    await user.click(screen.getByRole('button', { name: /22222222/ }));
    await user.keyboard('{ArrowDown}');
    expect(focused()).toContain('22222222');
    expect(row.ariaCurrent).toBeNull();
  });

  it('does not scroll when a person clicks a visible image', async () => {
    api({ lists: [list(...many(10_000))], descriptors: [() => new Promise(() => {})] });
    const user = show();
    const row = await screen.findByRole('button', { name: /^slide-1\.svs/ });
    const scrollTo = vi.fn<() => void>(); // jsdom has no such method
    Object.defineProperty(Element.prototype, 'scrollTo', { configurable: true, value: scrollTo });
    onTestFinished(() => void Reflect.deleteProperty(Element.prototype, 'scrollTo'));
    await user.click(row);
    await waitFor(() => expect(row.ariaCurrent).toBe('true'));
    expect(scrollTo).not.toHaveBeenCalled();
  });

  it('focuses its search field on /, wherever the focus is', async () => {
    api({});
    const user = show();
    await screen.findByText('IŞIK-2.svs');
    await user.click(screen.getByRole('button', { name: 'Hide image catalog' }));
    await user.keyboard('/ışık');
    expect(screen.getByRole<HTMLInputElement>('searchbox').value).toBe('ışık');
    screen.getByRole('button', { name: 'Hide image catalog' });
  });
});

describe('the filters of the catalogue', () => {
  const images = [
    { ...liver, id: '1', file_name: 'one.svs', size_bytes: 1, created_at: '2026-11-03T00:00:00.000Z' },
    {
      ...liver,
      id: '2',
      file_name: 'two.svs',
      size_bytes: 3,
      created_at: '2026-11-01T00:00:00.000Z',
      organ_type: 'Bile duct',
    },
    {
      ...liver,
      id: '3',
      file_name: 'three.svs',
      size_bytes: 2,
      created_at: '2026-11-02T00:00:00.000Z',
      dataset_name: 'TCGA',
    },
  ];
  const names = () => screen.getAllByText(/\.svs$/).map(({ textContent }) => textContent);

  it('show the number of images of each value, apply together, and are cleared with the Clear button', async () => {
    api({ lists: [list(...images)] });
    const user = show();
    const organ = await screen.findByRole('combobox', { name: 'Filter by organ' });
    expect([...organ.children].map(({ textContent }) => textContent)).toEqual([
      'All organs',
      'Bile duct (1)',
      'Liver (2)',
    ]);
    await user.selectOptions(organ, 'Liver (2)');
    await waitFor(() => expect(names()).toEqual(['one.svs', 'three.svs']));
    await user.selectOptions(screen.getByRole('combobox', { name: 'Filter by dataset' }), 'TCGA (1)');
    await waitFor(() => expect(names()).toEqual(['three.svs']));

    await user.click(screen.getByRole('button', { name: 'Clear' }));
    await waitFor(() => expect(names()).toEqual(['one.svs', 'two.svs']));
    expect(document.activeElement).toBe(screen.getByRole('searchbox'));
  });

  it('are hidden when all images have the same value', async () => {
    api({ lists: [list(liver)] });
    show();
    await screen.findByText('IŞIK-2.svs');
    expect(screen.getAllByRole('combobox')).toEqual([
      screen.getByRole('combobox', { name: 'Sort images by' }),
    ]);
  });

  it('offer the orders by name, newest first and largest first', async () => {
    api({ lists: [list(...images)] });
    const user = show();
    const order = await screen.findByRole('combobox', { name: 'Sort images by' });
    await user.click(await screen.findByRole('button', { name: 'TCGA 1 images' }));
    for (const [label, expected] of [
      ['Newest first', ['one.svs', 'two.svs', 'three.svs']],
      ['Largest first', ['two.svs', 'one.svs', 'three.svs']],
      ['By name', ['one.svs', 'two.svs', 'three.svs']],
    ] as const) {
      await user.selectOptions(order, label);
      await waitFor(() => expect(names()).toEqual(expected));
    }
  });
});

describe('a catalogue with new slides', () => {
  it('shows the new slides when the page becomes visible again, without rendering unchanged rows again', async () => {
    const server = api({ lists: [list(liver), list({ ...liver }, { ...bare, dataset_name: 'Karaciğer' })] });
    show();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    const thumbnail = row.querySelector('img');
    window.dispatchEvent(new Event('visibilitychange'));
    await screen.findByRole('button', { name: /22222222/ });
    expect(screen.getByRole('button', { name: /IŞIK-2/ })).toBe(row);
    expect(row.querySelector('img')).toBe(thumbnail);
    expect(server.callsWith('GET /image-catalog/images').length).toBeGreaterThan(1);
  });

  it('keeps the shown list when reloading fails', async () => {
    const server = api({ lists: [list(liver), errorResponse(500)] });
    show();
    await screen.findByText('IŞIK-2.svs');
    window.dispatchEvent(new Event('visibilitychange'));
    await waitFor(() => expect(server.callsWith('GET /image-catalog/images/groups')).toHaveLength(2));
    screen.getByText('IŞIK-2.svs');
    expect(screen.queryByRole('alert')).toBeNull();
  });
});

describe('a catalogue list that cannot be loaded', () => {
  it.each([
    [
      'the server responds with a message and a known code',
      errorResponse(403, { message: 'Your account is not active.', code: 'account_not_active' }),
      'Your account is not active.',
    ],
    ['a proxy responds with a message', errorResponse(418, { message: 'I am a teapot.' }), 'I am a teapot.'],
    ['the response has only a status', errorResponse(502, '<html></html>'), 'Server error (502)'],
    [
      'the server has an internal error',
      errorResponse(500, { message: 'Something else', code: 'internal' }),
      'Internal server error. Please try refreshing your session.',
    ],
    ['there was no response', silence, 'No response from server. Please check your connection.'],
    ['the response is not JSON', () => new Response('<html></html>'), 'Failed to load images'],
  ])('shows the error when %s', async (_, answer, sentence) => {
    api({ lists: [answer] });
    show();
    within(await screen.findByRole('alert')).getByText(sentence);
  });

  it('is loaded again with the Retry button', async () => {
    api({ lists: [errorResponse(502, ''), list(liver)] });
    const user = show();
    await user.click(await screen.findByRole('button', { name: 'Retry' }));
    await screen.findByText('IŞIK-2.svs');
    expect(screen.queryByRole('alert')).toBeNull();
  });

  const unauthorised = errorResponse(401, { message: 'expired', code: 'session_invalid' });

  it('announces a new image session and is loaded with it when the image session has ended', async () => {
    let respond: (answer: Response) => void = () => {};
    const delayedSession = () =>
      new Promise<Response>((resolve) => {
        respond = resolve;
      });
    const server = api({ sessions: [session('old'), delayedSession], lists: [unauthorised, list(liver)] });
    show();
    await screen.findByText('Authentication error. Please log in again. Trying to create a new session...');
    respond(Response.json({ session_id: 'new', expires_in: 3600 }));
    await screen.findByText('IŞIK-2.svs');
    expect(server.callsWith('GET /image-catalog/images').at(-1)).toContain('session=new');
  });

  it('shows an error when the image session has ended and no new one can be created', async () => {
    api({ sessions: [session('old'), errorResponse(503)], lists: [unauthorised] });
    show();
    await screen.findByText('Authentication error. Please log in again. Failed to create a new session.');
  });

  it('is not requested a third time when the server rejects the new image session, too', async () => {
    const server = api({ sessions: [session('old'), session('new')], lists: [unauthorised] });
    show();
    await screen.findByText('Authentication error. Please log in again.');
    expect(server.callsWith('POST /auth/image-session')).toHaveLength(2);
    expect(server.callsWith('GET /image-catalog/images/groups')).toHaveLength(2);
  });
});
