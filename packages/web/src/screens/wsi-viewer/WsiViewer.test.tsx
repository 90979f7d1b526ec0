import { render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { setAuthState, signedOut } from '../../api/auth-state.ts';
import { account } from '../../testing/accounts.ts';
import {
  bareImage,
  errorResponse,
  listResponse,
  liverImage,
  noResponse,
  numberedImages,
  pendingResponse,
  renderViewer,
  resetPage,
  sessionResponse,
  stubViewerApi,
  viewerAt,
} from './testing/viewer-page.tsx';

/** Whether the section with the properties of the selected image throws while it is rendered. */
let isSelectedImageBroken = false;
vi.mock(import('./SelectedImage.tsx'), async (original) => {
  const { SelectedImage } = await original();
  return {
    SelectedImage: (props) => {
      if (isSelectedImageBroken) throw new Error('cannot be rendered');
      return <SelectedImage {...props} />;
    },
  };
});

beforeEach(resetPage);

describe('the keys for the next and the previous slide in the viewer', () => {
  const selectedImageText = () => screen.getByRole('region', { name: 'Selected Image' }).textContent;
  /** The second image of the first group is unreadable. */
  const fourImages = [
    { ...liverImage, id: '1', file_name: 'liver-1.svs' },
    { ...liverImage, id: '2', file_name: 'liver-2.svs', status: 'failed', error: 'No.' },
    { ...liverImage, id: '3', file_name: 'liver-3.svs' },
    { ...bareImage, id: '4', file_name: 'other.svs' },
  ];

  it('open the next slide with n or e and the previous one with p or q, skip unreadable slides, and expand the slide’s group', async () => {
    stubViewerApi({ lists: [listResponse(...fourImages)], descriptors: [pendingResponse] });
    const user = renderViewer();
    await screen.findByText('liver-1.svs');
    for (const [key, name] of [
      ['n', 'liver-1.svs'],
      ['e', 'liver-3.svs'],
      ['n', 'other.svs'],
      ['n', 'other.svs'],
      ['p', 'liver-3.svs'],
      ['q', 'liver-1.svs'],
    ] as const) {
      await user.keyboard(key);
      await waitFor(() => expect(selectedImageText()).toContain(`Name${name}`));
    }
    expect(screen.getByRole('button', { name: 'Unknown 1 images' }).ariaExpanded).toBe('true');
  });

  it('open only slides that match the search, while a search is set', async () => {
    stubViewerApi({ lists: [listResponse(...fourImages)], descriptors: [pendingResponse] });
    const user = renderViewer();
    await user.type(await screen.findByRole('searchbox'), 'svs');
    await user.clear(screen.getByRole('searchbox'));
    await user.type(screen.getByRole('searchbox'), 'other');
    await waitFor(() => expect(screen.queryByText('liver-1.svs')).toBeNull());
    await user.click(screen.getByRole('heading', { name: 'Image Catalog' }));
    await user.keyboard('n');
    await waitFor(() => expect(selectedImageText()).toContain('Nameother.svs'));
  });
});

describe('opening the viewer again after leaving it', () => {
  it('restores the search, the filters, the order and the open groups of the image catalogue', async () => {
    const images = [liverImage, { ...bareImage, dataset_name: 'Meme', organ_type: 'Breast' }];
    stubViewerApi({ lists: [listResponse(...images)] });
    const { unmount } = render(viewerAt('/wsi-viewer'));
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name: 'Meme 1 images' }));
    await user.click(screen.getByRole('button', { name: 'Karaciğer 1 images' }));
    await user.selectOptions(screen.getByRole('combobox', { name: 'Sort images by' }), 'Largest first');
    unmount();

    const again = render(viewerAt('/wsi-viewer'));
    expect((await screen.findByRole('button', { name: 'Karaciğer 1 images' })).ariaExpanded).toBe('false');
    expect(screen.getByRole('button', { name: 'Meme 1 images' }).ariaExpanded).toBe('true');
    expect(screen.getByRole<HTMLSelectElement>('combobox', { name: 'Sort images by' }).value).toBe('largest');
    await user.type(screen.getByRole('searchbox'), 'meme');
    again.unmount();

    render(viewerAt('/wsi-viewer'));
    expect(screen.getByRole<HTMLInputElement>('searchbox').value).toBe('meme');
    await waitFor(() => expect(screen.queryByText('IŞIK-2.svs')).toBeNull());
  });
});

describe('the top bar of the viewer', () => {
  it('shows the status of the image session (credential for tiles), and creates a new session when Refresh session is clicked', async () => {
    /** Sends the response to the second request for an image session. */
    let respond: (response: Response) => void = () => {};
    const delayedSession = () =>
      new Promise<Response>((resolve) => {
        respond = resolve;
      });
    const server = stubViewerApi({ sessions: [sessionResponse('one'), delayedSession] });
    const user = renderViewer();
    await screen.findByText('Active');
    await user.click(screen.getByRole('button', { name: 'Refresh session' }));
    await screen.findByText('Refreshing...');
    respond(Response.json({ session_id: 'two', expires_in: 3600 }));
    await screen.findByText('Active');
    expect(server.callsWith('POST /auth/image-session')).toHaveLength(2);
  });

  it('shows an error when no image session (credential for tiles) can be created, while the catalogue stays visible', async () => {
    stubViewerApi({ sessions: [errorResponse(503)] });
    renderViewer();
    await screen.findByText('IŞIK-2.svs');
    screen.getByText('Error');
  });

  it('reloads a failed catalogue after Refresh session has created a new image session (credential for tiles)', async () => {
    stubViewerApi({ lists: [errorResponse(500), listResponse(liverImage)] });
    const user = renderViewer();
    await screen.findByRole('alert');
    await user.click(screen.getByRole('button', { name: 'Refresh session' }));
    await screen.findByText('IŞIK-2.svs');
  });

  it('shows and hides the statistics of the image session (credential for tiles): its age, validity and number of requests', async () => {
    const ownSession = {
      session_id: '01234567',
      created_at: '2026-11-21T10:00:00Z',
      expires_in: 3540, // 59 minutes
      age: 61,
      request_count: 1234,
    };
    const otherSession = { ...ownSession, session_id: 'ffffffff', age: 5, request_count: 7 };
    stubViewerApi({
      stats: () => Response.json({ active_sessions: 2, sessions: [otherSession, ownSession] }),
    });
    const user = renderViewer();
    await screen.findByText('Active');
    await user.click(screen.getByRole('button', { name: 'Show session stats' }));
    const stats = screen.getByRole('region', { name: 'Session stats' });
    await within(stats).findByText('1234');
    expect(stats.textContent).toContain('01234567');
    expect(stats.textContent).not.toContain('0123456789');
    expect(stats.textContent).toContain('Valid (59 min left)');
    expect(stats.textContent).toContain('61 s');
    await user.click(screen.getByRole('button', { name: 'Hide session stats' }));
    expect(screen.queryByRole('region', { name: 'Session stats' })).toBeNull();
  });
});

describe('a link to a slide that is not in the user’s catalogue', () => {
  it('lets the user request access to the restricted datasets', async () => {
    stubViewerApi({ requestable: [{ name: 'Böbrek', granted: false, request: null }] });
    const [unlistedImage] = numberedImages(1);
    const user = renderViewer(`/wsi-viewer?image=${unlistedImage?.id}`);
    await screen.findByText('This slide is not in your catalogue');
    expect(screen.queryByRole('button', { name: 'Request access to Böbrek' })).toBeNull();
    await user.click(await screen.findByRole('button', { name: 'Datasets you can request access to' }));
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Request access to Böbrek' }));
  });
});

describe('the image view of the viewer', () => {
  it('asks the user to select an image while none is selected', async () => {
    stubViewerApi({});
    renderViewer();
    screen.getByText('Select an image to view');
    screen.getByText('Choose an image from the sidebar to start viewing');
    expect(screen.queryByText('Selected Image')).toBeNull();
  });

  it('says that the image with the id in the URL is being opened, before the catalogue has returned its description', async () => {
    stubViewerApi({ lists: [pendingResponse] });
    renderViewer(`/wsi-viewer?image=${liverImage.id}`);
    await screen.findByText('Loading tiles...');
    screen.getByText('Opening the slide...');
    expect(screen.queryByText('Select an image to view')).toBeNull();
  });

  it('shows the name, dataset and organ of the selected image, and that its tiles are loading', async () => {
    stubViewerApi({ descriptors: [pendingResponse] });
    const user = renderViewer();
    await screen.findByText('Karaciğer');
    await user.click(screen.getByRole('button', { name: 'Unknown 1 images' }));
    await user.click(screen.getByRole('button', { name: /22222222/ }));
    await screen.findByText('Loading tiles...');
    const panel = screen.getByRole('region', { name: 'Selected Image' });
    expect(panel.textContent).toContain('NameN/ADatasetN/AOrganN/A');
    await user.click(screen.getByRole('button', { name: /IŞIK-2/ }));
    expect(panel.textContent).toContain('NameIŞIK-2.svsDatasetKaraciğerOrganLiver');
  });

  it('requests the Deep Zoom descriptor when the mouse button goes down on a row of the catalogue, and not again when it comes up', async () => {
    const server = stubViewerApi({ descriptors: [pendingResponse] });
    const user = renderViewer();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    await user.pointer({ keys: '[MouseLeft>]', target: row });
    await waitFor(() => expect(server.callsWith('/image.dzi')).toHaveLength(1));
    await user.pointer({ keys: '[/MouseLeft]', target: row });
    await screen.findByText('Loading tiles...');
    expect(server.callsWith('/image.dzi')).toHaveLength(1);
  });

  it('does not request the Deep Zoom descriptor when a finger touches a row of the catalogue, because the touch may begin a scroll', async () => {
    const server = stubViewerApi({ descriptors: [pendingResponse] });
    const user = renderViewer();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    await user.pointer({ keys: '[TouchA>]', target: row });
    expect(server.callsWith('/image.dzi')).toEqual([]);
  });

  it.each([
    ['shows the thumbnail when the URL contains no field (visible part) of the slide', '', 2],
    [
      'shows no thumbnail when the URL contains a field (visible part) of the slide',
      '&x=500&y=400&zoom=1',
      1,
    ],
  ])('%s, before tiles are loaded', async (_, fieldParameters, imageCount) => {
    stubViewerApi({ descriptors: [pendingResponse] });
    renderViewer(`/wsi-viewer?image=${liverImage.id}${fieldParameters}`);
    await screen.findByText('Loading tiles...');
    // One of the images is the thumbnail in the catalogue.
    await waitFor(() =>
      expect(document.querySelectorAll(`img[src*="${liverImage.id}/thumbnail.jpg"]`)).toHaveLength(
        imageCount,
      ),
    );
  });

  it.each([
    ['has a link', 'admin', [`/admin/audit?target=${liverImage.id}&action=image-opened`]],
    ['has no link', 'user', []],
  ] as const)(
    '%s for the role %s to the audit events that list who opened the slide',
    async (_, role, addresses) => {
      setAuthState({ user: account({ role }) });
      onTestFinished(() => setAuthState(signedOut));
      stubViewerApi({ descriptors: [pendingResponse] });
      renderViewer(`/wsi-viewer?image=${liverImage.id}`);
      const panel = within(await screen.findByRole('region', { name: 'Selected Image' }));
      const links = panel.queryAllByRole('link', { name: 'Who opened this slide' });
      expect(links.map((link) => link.getAttribute('href'))).toEqual(addresses);
    },
  );

  it('opens the image with the id in the URL', async () => {
    const server = stubViewerApi({ descriptors: [pendingResponse] });
    renderViewer(`/wsi-viewer?image=${liverImage.id}`);
    const panel = await screen.findByRole('region', { name: 'Selected Image' });
    expect(panel.textContent).toContain('NameIŞIK-2.svs');
    await waitFor(() => expect(server.callsWith('/image.dzi')).toHaveLength(1));
  });

  it('shows the error of an unreadable file, and requests neither its Deep Zoom descriptor nor tiles', async () => {
    const error = 'The file ends before its last tile.';
    const server = stubViewerApi({ lists: [listResponse({ ...liverImage, status: 'failed', error })] });
    const user = renderViewer();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    expect(screen.getAllByText(error)).not.toHaveLength(0);
    expect(server.callsWith('/proxy/')).toEqual([]);
  });

  it('requests the Deep Zoom descriptor once when a user selects the same image twice', async () => {
    const server = stubViewerApi({ descriptors: [pendingResponse] });
    const user = renderViewer();
    const row = await screen.findByRole('button', { name: /IŞIK-2/ });
    await user.click(row);
    await user.click(row);
    expect(server.callsWith('/image.dzi')).toEqual([
      `GET /image-catalog/proxy/${liverImage.id}/image.dzi?session=0123456789abcdef`,
    ]);
  });

  it.each([
    [
      'the server responds with an error',
      errorResponse(404, { message: 'Not found.', code: 'not_found' }),
      'Server error (404): Not found.',
    ],
    [
      'the Deep Zoom descriptor is invalid',
      () => new Response('<html/>'),
      'Failed to load image. Please try another image.',
    ],
    ['the server is unreachable', noResponse, 'Error loading image. Please try again.'],
  ])('shows an error message when %s', async (_, answer, message) => {
    stubViewerApi({ descriptors: [answer] });
    const user = renderViewer();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    within(await screen.findByRole('alert')).getByText(message);
    expect(screen.queryByText('Loading tiles...')).toBeNull();
  });

  it('requests the Deep Zoom descriptor again when Retry is clicked after a failure', async () => {
    const server = stubViewerApi({ descriptors: [noResponse, pendingResponse] });
    const user = renderViewer();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    await user.click(await screen.findByRole('button', { name: 'Retry' }));
    await screen.findByText('Loading tiles...');
    expect(server.callsWith('/image.dzi')).toHaveLength(2);
  });

  it('says that a new image session (credential for tiles) is being created when the server rejects the current one with 401', async () => {
    const server = stubViewerApi({
      sessions: [sessionResponse('old'), sessionResponse('new')],
      descriptors: [errorResponse(401), pendingResponse],
    });
    const user = renderViewer();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    await screen.findByText('Session expired. Creating new session...');
    await waitFor(() => expect(server.callsWith('/image.dzi').at(-1)).toContain('session=new'), {
      timeout: 3000,
    });
  });

  it('shows an error when, after a 401, no new image session (credential for tiles) can be created', async () => {
    stubViewerApi({
      sessions: [sessionResponse('old'), errorResponse(503)],
      descriptors: [errorResponse(401)],
    });
    const user = renderViewer();
    await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
    await screen.findByText('Failed to create new session. Please refresh the page.');
  });
});

it('WsiViewer deletes the image session (credential for tiles) on the server when the viewer is closed', async () => {
  const server = stubViewerApi({});
  const { unmount } = render(viewerAt('/wsi-viewer'));
  await screen.findByText('IŞIK-2.svs');
  unmount();
  await waitFor(() =>
    expect(server.callsWith('DELETE')).toEqual(['DELETE /auth/image-session/0123456789abcdef']),
  );
});

it('WsiViewer keeps the catalogue and the slide when the properties of the slide cannot be shown, and shows them on retry', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  isSelectedImageBroken = true;
  onTestFinished(() => {
    isSelectedImageBroken = false;
  });
  stubViewerApi({ descriptors: [pendingResponse] });
  const user = renderViewer();
  await user.click(await screen.findByRole('button', { name: /IŞIK-2/ }));
  await screen.findByText('The properties of the slide cannot be shown');
  screen.getByRole('button', { name: /IŞIK-2/ });
  isSelectedImageBroken = false;
  await user.click(screen.getByRole('button', { name: 'Retry' }));
  await screen.findByRole('region', { name: 'Selected Image' });
});
