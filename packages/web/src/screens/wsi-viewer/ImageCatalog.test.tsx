import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  bareImage,
  errorResponse,
  focusedText,
  listResponse,
  liverImage,
  noResponse,
  numberedImages,
  pendingResponse,
  renderViewer,
  resetPage,
  sessionResponse,
  stubViewerApi,
} from './testing/viewer-page.tsx';

beforeEach(resetPage);

describe('the image catalogue of the viewer', () => {
  it('groups images by dataset, shows the number of images of each group, and opens only the first group', async () => {
    stubViewerApi({});
    const user = renderViewer();
    screen.getByText('Loading images...');
    const firstGroup = await screen.findByRole('button', { name: 'Karaciğer 1 images' });
    const secondGroup = screen.getByRole('button', { name: 'Unknown 1 images' });
    expect(firstGroup.ariaExpanded).toBe('true');
    expect(secondGroup.ariaExpanded).toBe('false');
    screen.getByRole('button', { name: /IŞIK-2\.svs.*Liver.*11111111$/ });

    await user.click(secondGroup);
    screen.getByRole('button', { name: /^22222222-bbbb.*Unknown.*22222222$/ });
    await user.click(firstGroup);
    expect(screen.queryByText('IŞIK-2.svs')).toBeNull();
  });

  it('sends the id of the image session (credential for tiles) with its requests for groups and rows', async () => {
    const server = stubViewerApi({});
    renderViewer();
    await screen.findByText('IŞIK-2.svs');
    expect(server.callsWith('GET /image-catalog/images')).toEqual([
      'GET /image-catalog/images/groups?session=0123456789abcdef',
      'GET /image-catalog/images/rows?session=0123456789abcdef&from=0&limit=100',
    ]);
  });

  it('filters the images while the user types a search, and also shows matches of groups that were closed', async () => {
    stubViewerApi({});
    const user = renderViewer();
    await screen.findByText('IŞIK-2.svs');
    const box = screen.getByPlaceholderText('Search images...');
    await user.type(box, '22222222');
    await screen.findByText(bareImage.id);
    expect(screen.queryByText('Karaciğer')).toBeNull();
    await user.clear(box);
    await user.type(box, 'ışık');
    await waitFor(() => expect(screen.queryByText('Unknown')).toBeNull());
    screen.getByText('IŞIK-2.svs');
    await user.type(box, ' nowhere');
    await screen.findByText('No images match your search');
  });

  it('says, while it contains no images, that new slides will appear in it by themselves', async () => {
    stubViewerApi({ lists: [listResponse()] });
    renderViewer();
    await screen.findByText('No images available');
    screen.getByText(/Slides appear here by themselves.*Demonstration slides are drawn/);
  });

  it('shows the number of annotations of each slide, with one request for all visible rows', async () => {
    const server = stubViewerApi({
      lists: [listResponse(...numberedImages(3))],
      annotationCounts: { [numberedImages(2)[1]?.id ?? '']: 12 },
    });
    renderViewer();
    await screen.findByRole('button', { name: /slide-2\.svs.*12 annotations/ });
    expect(screen.getByRole('button', { name: /slide-1\.svs/ }).textContent).not.toContain('annotation');
    const ids = numberedImages(3).map(({ id }) => id);
    expect(server.callsWith('annotation-counts')).toEqual([
      `GET /image-catalog/annotation-counts?images=${encodeURIComponent(ids.join())}`,
    ]);
  });

  it('marks images that are pending or failed, and shows the error when a failed image is selected', async () => {
    const error = 'This is not a slide in a format that can be read.';
    stubViewerApi({
      lists: [
        listResponse(
          { ...liverImage, status: 'failed', error },
          { ...bareImage, dataset_name: 'Karaciğer', status: 'pending' },
        ),
      ],
      descriptors: [errorResponse(404)],
    });
    const user = renderViewer();
    await screen.findByRole('button', { name: /22222222.*Being read/ });
    await user.click(screen.getByRole('button', { name: /IŞIK-2.*Cannot be read/ }));
    expect((await screen.findByRole('region', { name: 'Selected Image' })).textContent).toContain(error);
    expect(document.querySelector('img')).toBeNull();
  });

  it('loads the thumbnail of a visible row, and replaces it with a grey icon when loading fails', async () => {
    stubViewerApi({});
    renderViewer();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    const thumbnail = row.querySelector('img') as HTMLImageElement;
    expect(thumbnail.getAttribute('src')).toBe(
      `/api/v1/image-catalog/proxy/${liverImage.id}/thumbnail.jpg?session=0123456789abcdef`,
    );
    fireEvent.error(thumbnail);
    expect(row.querySelector('img')).toBeNull();
    expect(row.querySelector('svg')).not.toBeNull();
  });

  it('loads a failed thumbnail again when the network is available again', async () => {
    stubViewerApi({});
    renderViewer();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    fireEvent.error(row.querySelector('img') as HTMLImageElement);
    expect(row.querySelector('img')).toBeNull();
    fireEvent.online(window);
    expect(row.querySelector('img')).not.toBeNull();
  });

  it('shows a grey icon instead of a thumbnail while there is no image session (credential for tiles)', async () => {
    stubViewerApi({ sessions: [errorResponse(503)] });
    renderViewer();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    expect(row.querySelector('svg')).not.toBeNull();
    expect(row.querySelector('img')).toBeNull();
  });
});

describe('cases in the image catalogue of the viewer', () => {
  /** Returns the id of slide-`number`.svs. */
  const idOf = (number: number) => numberedImages(number)[number - 1]?.id ?? '';
  const cases = [
    { id: 'one', name: 'V-1', image_ids: [idOf(3), idOf(5)] },
    { id: 'two', name: 'V-2', image_ids: [idOf(2)] },
  ];
  /** Returns the shown lines from top to bottom: the dataset Large, its cases and its slides. */
  const shownLines = () =>
    [...document.querySelectorAll<HTMLElement>('[data-line]')].map(
      (line) => /V-\d|Large|slide-\d/.exec(line.textContent ?? '')?.[0],
    );

  it('are listed below their dataset, above the slides without a case', async () => {
    stubViewerApi({ lists: [listResponse(...numberedImages(5))], cases, descriptors: [pendingResponse] });
    const user = renderViewer();
    await screen.findByRole('button', { name: 'Case V-1 2 images' });
    screen.getByRole('button', { name: 'Large 5 images' });
    await screen.findByRole('button', { name: /^slide-4\.svs/ });
    const all = ['Large', 'V-1', 'slide-3', 'slide-5', 'V-2', 'slide-2', 'slide-1', 'slide-4'];
    expect(shownLines()).toEqual(all);
    expect(screen.getByRole('heading', { level: 3, name: 'Case V-2 1 images' })).not.toBeNull();

    await user.click(screen.getByRole('button', { name: 'Case V-1 2 images' }));
    expect(shownLines()).toEqual(all.filter((name) => name !== 'slide-3' && name !== 'slide-5'));
    await user.keyboard('n'); // the first slide of the list is in the closed case
    await screen.findByRole('button', { name: /^slide-3\.svs/, current: true });
  });

  it('are focused, opened and closed with the arrow keys of a tree view', async () => {
    stubViewerApi({ lists: [listResponse(...numberedImages(5))], cases });
    const user = renderViewer();
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
      await waitFor(() => expect(focusedText(), key).toContain(name));
    }
  });

  it('are hidden while the images are sorted by date', async () => {
    stubViewerApi({ lists: [listResponse(...numberedImages(5))], cases });
    const user = renderViewer();
    await screen.findByRole('button', { name: 'Case V-1 2 images' });
    await user.selectOptions(screen.getByRole('combobox', { name: 'Sort images by' }), 'Newest first');
    await waitFor(() => expect(shownLines()[1]).toBe('slide-1'));
    expect(screen.queryByRole('button', { name: /^Case/ })).toBeNull();
  });
});

describe('the image catalogue of the viewer with thousands of slides', () => {
  it('renders only the visible rows of 10,000', async () => {
    stubViewerApi({ lists: [listResponse(...numberedImages(10_000))] });
    renderViewer();
    await screen.findByRole('button', { name: 'Large 10000 images' });
    screen.getByRole('button', { name: /^slide-1\.svs/ });
    const rows = screen.getAllByRole('listitem');
    expect(rows.length).toBeLessThan(40);
    expect(rows[0]?.getAttribute('aria-posinset')).toBe('1');
    expect(rows[0]?.getAttribute('aria-setsize')).toBe('10000');
  });

  it('loads at most four thumbnails at a time', async () => {
    stubViewerApi({ lists: [listResponse(...numberedImages(10_000))] });
    renderViewer();
    await screen.findByRole('button', { name: /^slide-1\.svs/ });
    expect(document.querySelectorAll('img')).toHaveLength(4);
    fireEvent.load(document.querySelector('img') as HTMLImageElement);
    expect(document.querySelectorAll('img')).toHaveLength(5);
  });

  it('moves the focus with the keys of a tree view, and keeps the focused row rendered when it scrolls out of view', async () => {
    stubViewerApi({ lists: [listResponse(...numberedImages(10_000), bareImage)] });
    const user = renderViewer();
    const search = await screen.findByRole('searchbox');
    await screen.findByRole('button', { name: /^slide-1\.svs/ });
    await user.click(search);
    await user.keyboard('{ArrowDown}');
    expect(focusedText()).toContain('Large');
    for (const [key, name] of [
      ['{ArrowRight}', 'slide-1.svs'],
      ['{ArrowDown}', 'slide-2.svs'],
      ['{PageDown}', 'slide-13.svs'],
      ['{PageUp}', 'slide-2.svs'],
      ['{End}', 'Unknown'],
      ['{ArrowUp}', 'slide-10000.svs'],
      ['{ArrowLeft}', 'Large'],
      ['{End}', 'Unknown'],
      ['{ArrowRight}{ArrowRight}', bareImage.id],
      ['{Home}', 'Large'],
    ] as const) {
      await user.keyboard(key);
      await waitFor(() => expect(focusedText(), key).toContain(name));
    }
    await user.keyboard('{ArrowLeft}');
    expect(document.activeElement?.ariaExpanded).toBe('false');
    expect(screen.queryByText('slide-1.svs')).toBeNull();
    const tabStops = [...document.querySelectorAll('[data-line]')].filter(
      (line) => (line as HTMLElement).tabIndex === 0,
    );
    expect(tabStops).toEqual([document.activeElement]);
  });

  it('opens a slide with Enter, and leaves the arrow keys to the image view after a slide is opened with the mouse', async () => {
    stubViewerApi({
      lists: [listResponse(liverImage, { ...bareImage, dataset_name: 'Karaciğer' })],
      descriptors: [pendingResponse],
    });
    const user = renderViewer();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    await user.click(screen.getByRole('button', { name: 'Karaciğer 2 images' }));
    await user.keyboard('{ArrowRight}{ArrowRight}{ArrowDown}{Enter}');
    expect(screen.getByRole('region', { name: 'Selected Image' }).textContent).toContain('NameIŞIK-2.svs');
    await user.click(screen.getByRole('button', { name: /22222222/ }));
    await user.keyboard('{ArrowDown}');
    expect(focusedText()).toContain('22222222');
    expect(row.ariaCurrent).toBeNull();
  });

  it('does not scroll when a user clicks a visible image', async () => {
    stubViewerApi({ lists: [listResponse(...numberedImages(10_000))], descriptors: [pendingResponse] });
    const user = renderViewer();
    const row = await screen.findByRole('button', { name: /^slide-1\.svs/ });
    const scrollTo = vi.fn<() => void>(); // jsdom has no such method
    Object.defineProperty(Element.prototype, 'scrollTo', { configurable: true, value: scrollTo });
    onTestFinished(() => void Reflect.deleteProperty(Element.prototype, 'scrollTo'));
    await user.click(row);
    await waitFor(() => expect(row.ariaCurrent).toBe('true'));
    expect(scrollTo).not.toHaveBeenCalled();
  });

  it('opens and focuses the search field when / is pressed, even while the catalogue is hidden', async () => {
    stubViewerApi({});
    const user = renderViewer();
    await screen.findByText('IŞIK-2.svs');
    await user.click(screen.getByRole('button', { name: 'Hide image catalog' }));
    await user.keyboard('/ışık');
    expect(screen.getByRole<HTMLInputElement>('searchbox').value).toBe('ışık');
    screen.getByRole('button', { name: 'Hide image catalog' });
  });
});

describe('the filters of the viewer’s image catalogue', () => {
  const images = [
    { ...liverImage, id: '1', file_name: 'one.svs', size_bytes: 1, created_at: '2026-11-03T00:00:00.000Z' },
    {
      ...liverImage,
      id: '2',
      file_name: 'two.svs',
      size_bytes: 3,
      created_at: '2026-11-01T00:00:00.000Z',
      organ_type: 'Bile duct',
    },
    {
      ...liverImage,
      id: '3',
      file_name: 'three.svs',
      size_bytes: 2,
      created_at: '2026-11-02T00:00:00.000Z',
      dataset_name: 'TCGA',
    },
  ];
  const shownNames = () => screen.getAllByText(/\.svs$/).map(({ textContent }) => textContent);

  it('show the number of images of each choice, can be combined, and are reset with the Clear button', async () => {
    stubViewerApi({ lists: [listResponse(...images)] });
    const user = renderViewer();
    const organ = await screen.findByRole('combobox', { name: 'Filter by organ' });
    expect([...organ.children].map(({ textContent }) => textContent)).toEqual([
      'All organs',
      'Bile duct (1)',
      'Liver (2)',
    ]);
    await user.selectOptions(organ, 'Liver (2)');
    await waitFor(() => expect(shownNames()).toEqual(['one.svs', 'three.svs']));
    await user.selectOptions(screen.getByRole('combobox', { name: 'Filter by dataset' }), 'TCGA (1)');
    await waitFor(() => expect(shownNames()).toEqual(['three.svs']));

    await user.click(screen.getByRole('button', { name: 'Clear' }));
    await waitFor(() => expect(shownNames()).toEqual(['one.svs', 'two.svs']));
    expect(document.activeElement).toBe(screen.getByRole('searchbox'));
  });

  it('are hidden when all images have the same dataset and organ', async () => {
    stubViewerApi({ lists: [listResponse(liverImage)] });
    renderViewer();
    await screen.findByText('IŞIK-2.svs');
    expect(screen.getAllByRole('combobox')).toEqual([
      screen.getByRole('combobox', { name: 'Sort images by' }),
    ]);
  });

  it('sort the images by name, newest first or largest first', async () => {
    stubViewerApi({ lists: [listResponse(...images)] });
    const user = renderViewer();
    const order = await screen.findByRole('combobox', { name: 'Sort images by' });
    await user.click(await screen.findByRole('button', { name: 'TCGA 1 images' }));
    for (const [label, expected] of [
      ['Newest first', ['one.svs', 'two.svs', 'three.svs']],
      ['Largest first', ['two.svs', 'one.svs', 'three.svs']],
      ['By name', ['one.svs', 'two.svs', 'three.svs']],
    ] as const) {
      await user.selectOptions(order, label);
      await waitFor(() => expect(shownNames()).toEqual(expected));
    }
  });
});

describe('the image catalogue of the viewer, when its data is requested again,', () => {
  it('shows new slides once the page becomes visible again, and keeps the DOM elements of unchanged rows', async () => {
    const server = stubViewerApi({
      lists: [
        listResponse(liverImage),
        listResponse({ ...liverImage }, { ...bareImage, dataset_name: 'Karaciğer' }),
      ],
    });
    renderViewer();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    const thumbnail = row.querySelector('img');
    window.dispatchEvent(new Event('visibilitychange'));
    await screen.findByRole('button', { name: /22222222/ });
    expect(screen.getByRole('button', { name: /IŞIK-2/ })).toBe(row);
    expect(row.querySelector('img')).toBe(thumbnail);
    expect(server.callsWith('GET /image-catalog/images').length).toBeGreaterThan(1);
  });

  it('keeps showing the previous list when the request fails', async () => {
    const server = stubViewerApi({ lists: [listResponse(liverImage), errorResponse(500)] });
    renderViewer();
    await screen.findByText('IŞIK-2.svs');
    window.dispatchEvent(new Event('visibilitychange'));
    await waitFor(() => expect(server.callsWith('GET /image-catalog/images/groups')).toHaveLength(2));
    screen.getByText('IŞIK-2.svs');
    expect(screen.queryByRole('alert')).toBeNull();
  });
});

describe('the image catalogue of the viewer when it cannot be loaded', () => {
  it.each([
    [
      'the server responds with a message and a known code',
      errorResponse(403, { message: 'Your account is not active.', code: 'account_not_active' }),
      'Your account is not active.',
    ],
    [
      'a proxy responds with a message in JSON',
      errorResponse(418, { message: 'I am a teapot.' }),
      'I am a teapot.',
    ],
    ['the response has a status but no JSON body', errorResponse(502, '<html></html>'), 'Server error (502)'],
    [
      'the server has an internal error',
      errorResponse(500, { message: 'Something else', code: 'internal' }),
      'Internal server error. Please try refreshing your session.',
    ],
    ['the server is unreachable', noResponse, 'No response from server. Please check your connection.'],
    ['a successful response is not JSON', () => new Response('<html></html>'), 'Failed to load images'],
  ])('shows the error message "$2" when $0', async (_, answer, message) => {
    stubViewerApi({ lists: [answer] });
    renderViewer();
    within(await screen.findByRole('alert')).getByText(message);
  });

  it('is requested again when the Retry button is clicked', async () => {
    stubViewerApi({ lists: [errorResponse(502, ''), listResponse(liverImage)] });
    const user = renderViewer();
    await user.click(await screen.findByRole('button', { name: 'Retry' }));
    await screen.findByText('IŞIK-2.svs');
    expect(screen.queryByRole('alert')).toBeNull();
  });

  const unauthorised = errorResponse(401, { message: 'expired', code: 'session_invalid' });

  it('is requested again with a new image session (credential for tiles) after a 401, and says meanwhile that a session is being created', async () => {
    /** Sends the response to the second request for an image session. */
    let respond: (response: Response) => void = () => {};
    const delayedSession = () =>
      new Promise<Response>((resolve) => {
        respond = resolve;
      });
    const server = stubViewerApi({
      sessions: [sessionResponse('old'), delayedSession],
      lists: [unauthorised, listResponse(liverImage)],
    });
    renderViewer();
    await screen.findByText('Authentication error. Please log in again. Trying to create a new session...');
    respond(Response.json({ session_id: 'new', expires_in: 3600 }));
    await screen.findByText('IŞIK-2.svs');
    expect(server.callsWith('GET /image-catalog/images').at(-1)).toContain('session=new');
  });

  it('shows an error after a 401 when no new image session (credential for tiles) can be created', async () => {
    stubViewerApi({ sessions: [sessionResponse('old'), errorResponse(503)], lists: [unauthorised] });
    renderViewer();
    await screen.findByText('Authentication error. Please log in again. Failed to create a new session.');
  });

  it('is not requested a third time when the server also rejects the new image session (credential for tiles) with 401', async () => {
    const server = stubViewerApi({
      sessions: [sessionResponse('old'), sessionResponse('new')],
      lists: [unauthorised],
    });
    renderViewer();
    await screen.findByText('Authentication error. Please log in again.');
    expect(server.callsWith('POST /auth/image-session')).toHaveLength(2);
    expect(server.callsWith('GET /image-catalog/images/groups')).toHaveLength(2);
  });
});
