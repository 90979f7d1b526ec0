import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { MemoryRouter, useLocation, useNavigate } from 'react-router';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { imageSessions } from '../../api/image-sessions.ts';
import { queryClient } from '../../api/query-client.ts';
import '../../viewer/SlideViewer.tsx'; // the screen imports it on demand; loaded here, so that no test waits for it
import { answerCatalogue, imageOf } from './testing/catalogue-server.ts';
import { WsiViewer } from './WsiViewer.tsx';

const stained = (file_name: string, digit: string) => ({
  id: `${digit.repeat(8)}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`,
  file_name,
  dataset_name: 'Liver',
  organ_type: null,
});
const he = stained('HE.svs', '1');
const masson = stained('Masson.svs', '2');
const reticulin = stained('Reticulin.svs', '3');

/** Stubs `fetch`: a catalogue of three slides, whose descriptors never arrive. @returns the ids of the requested slides */
function stubCatalogue(): string[] {
  const opened: string[] = [];
  vi.stubGlobal('fetch', async (address: string, init: RequestInit = {}) => {
    if (init.method === 'DELETE') return new Response(null, { status: 204 });
    if (init.method === 'POST') return Response.json({ session_id: '0123456789abcdef', expires_in: 3600 });
    if (address.includes('/image.dzi')) {
      opened.push(address.split('/').at(-2) ?? '');
      return new Promise<Response>(() => {});
    }
    return (
      answerCatalogue([he, masson, reticulin].map(imageOf), address) ?? new Response(null, { status: 404 })
    );
  });
  return opened;
}

function Address() {
  const { search } = useLocation();
  const navigate = useNavigate();
  return (
    <>
      <output aria-label="address">{search}</output>
      <button type="button" onClick={() => void navigate(-1)}>
        Back
      </button>
    </>
  );
}

async function show(query: string) {
  render(
    <App env="test">
      <MemoryRouter initialEntries={[`/wsi-viewer${query}`]}>
        <WsiViewer />
        <Address />
      </MemoryRouter>
    </App>,
  );
  await screen.findByRole('button', { name: /Masson/ });
  return userEvent.setup();
}

const address = () => screen.getByRole('status', { name: 'address' }).textContent;
const compare = () => screen.getByRole('button', { name: 'Compare' });
/** Returns the half of the viewer with this slide; throws when there is none. */
const half = (name: string) => screen.getByRole('group', { name });
const choose = (name: RegExp) => screen.getByRole('button', { name });

beforeEach(async () => {
  queryClient.clear();
  localStorage.setItem('auth_token', 'the token');
  await vi.waitUntil(() => imageSessions.state().status === 'inactive');
});

describe('comparing two slides', () => {
  it('is available once a slide is open', async () => {
    stubCatalogue();
    const user = await show('');
    expect(compare()).toHaveProperty('disabled', true);
    await user.click(choose(/HE/));
    expect(compare()).toHaveProperty('disabled', false);
    expect(compare().ariaPressed).toBe('false');
  });

  it('opens the next chosen slide beside the first, and loads the first only once', async () => {
    const opened = stubCatalogue();
    const user = await show(`?image=${he.id}`);
    await waitFor(() => expect(opened).toEqual([he.id]));
    await user.click(compare());
    screen.getByText('Select a slide to compare with');
    expect(compare().ariaPressed).toBe('true');
    await user.click(choose(/Masson/));
    expect(address()).toBe(`?image=${he.id}&beside=${masson.id}`);
    half('HE.svs');
    half('Masson.svs');
    await waitFor(() => expect(opened).toEqual([he.id, masson.id]));
  });

  it('opens both slides whose ids are in the URL', async () => {
    const opened = stubCatalogue();
    await show(`?image=${he.id}&x=1&y=2&zoom=1&beside=${masson.id}&bx=3&by=4&bzoom=1`);
    half('HE.svs');
    half('Masson.svs');
    expect(compare().ariaPressed).toBe('true');
    await waitFor(() => expect(opened).toEqual([he.id, masson.id]));
  });

  it('marks the active image view, in which the next chosen slide opens', async () => {
    stubCatalogue();
    const user = await show(`?image=${he.id}&beside=${masson.id}`);
    expect(half('HE.svs').ariaCurrent).toBe('true');
    await user.click(half('Masson.svs'));
    expect(half('HE.svs').ariaCurrent).toBe('false');
    expect(half('Masson.svs').ariaCurrent).toBe('true');
    expect(screen.getByRole('region', { name: 'Selected Image' }).textContent).toContain('Masson.svs');
    await user.click(choose(/Reticulin/));
    expect(address()).toBe(`?image=${he.id}&beside=${reticulin.id}`);
    await user.click(half('HE.svs'));
    await user.click(choose(/Masson/));
    expect(address()).toBe(`?image=${masson.id}&beside=${reticulin.id}`);
  });

  it('ends when the compare button is pressed again, and starts again with the back button of the browser', async () => {
    stubCatalogue();
    const user = await show(`?image=${he.id}&beside=${masson.id}&bx=3&by=4&bzoom=1`);
    await user.click(compare());
    expect(address()).toBe(`?image=${he.id}`);
    expect(screen.queryByRole('group', { name: 'Masson.svs' })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Back' }));
    half('Masson.svs');
  });

  it('is cancelled when the compare button is pressed again before a second slide is chosen', async () => {
    stubCatalogue();
    const user = await show(`?image=${he.id}`);
    await user.click(compare());
    await user.click(compare());
    expect(screen.queryByText('Select a slide to compare with')).toBeNull();
    await user.click(choose(/Masson/));
    expect(address()).toBe(`?image=${masson.id}`);
  });

  it('links the slides by default, and unlinks them with a button', async () => {
    stubCatalogue();
    const user = await show(`?image=${he.id}`);
    expect(screen.queryByRole('button', { name: 'Unlink' })).toBeNull();
    await user.click(compare());
    await user.click(choose(/Masson/));
    await user.click(screen.getByRole('button', { name: 'Unlink' }));
    await user.click(screen.getByRole('button', { name: 'Link' }));
    screen.getByRole('button', { name: 'Unlink' });
  });
});
