/** Utilities for tests of the slide viewer screen: functions that render it, and a stub of the API that it calls. */
import type { RequestableDataset } from '@lamina/contract';
import { render } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { MemoryRouter } from 'react-router';
import { vi } from 'vitest';
import { App } from '../../../App.tsx';
import { imageSessions } from '../../../api/image-sessions.ts';
import { queryClient } from '../../../api/query-client.ts';
import { WsiViewer } from '../WsiViewer.tsx';
import { answerCatalogue, type CaseOfStub, imageOf } from './catalogue-server.ts';

/** A catalogue entry with all text fields. */
export const liverImage = {
  id: '11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
  file_name: 'IŞIK-2.svs',
  dataset_name: 'Karaciğer',
  organ_type: 'Liver',
};
/** A catalogue entry without any optional field. */
export const bareImage = { id: '22222222-bbbb-4bbb-8bbb-bbbbbbbbbbbb' };

/** Creates the response to a stubbed request. */
export type Answer = () => Response | Promise<Response>;

/** A new image session (the credential for loading pixels). */
export const sessionResponse =
  (id: string): Answer =>
  () =>
    Response.json({ session_id: id, expires_in: 3600 }, { status: 201 });
/** An answer for `lists` of `stubViewerApi`: the catalogue with these images; missing fields get default values. */
export const listResponse =
  (...images: object[]): Answer =>
  () =>
    Response.json({ images });
export const errorResponse =
  (status: number, body: object | string = {}): Answer =>
  () =>
    typeof body === 'string' ? new Response(body, { status }) : Response.json(body, { status });
/** Fails as `fetch` does when the server is unreachable. */
export const noResponse: Answer = () => Promise.reject(new TypeError('Failed to fetch'));
/** The response does not arrive during the test. */
export const pendingResponse: Answer = () => new Promise(() => {});

/**
 * Stubs the API by replacing `fetch`. Each list of answers is used in its order; its last answer repeats. An answer of `lists` applies to
 * a request for groups, and to all other catalogue requests until the next request for groups.
 *
 * @returns `callsWith`, which returns the requests so far ('GET /path') that contain a text
 */
export function stubViewerApi(answers: {
  /** Responses to requests for a new image session. */
  sessions?: Answer[];
  /** Successive states of the catalogue. */
  lists?: Answer[];
  cases?: readonly CaseOfStub[];
  /** Response to the request for statistics of image sessions. */
  stats?: Answer;
  /** Responses to requests for Deep Zoom descriptors, with which the viewer opens a slide. */
  descriptors?: Answer[];
  /** Number of annotations by image id. */
  annotationCounts?: Readonly<Record<string, number>>;
  /** Restricted datasets that the user can request. */
  requestable?: readonly RequestableDataset[];
}) {
  const {
    sessions = [sessionResponse('0123456789abcdef')],
    lists = [listResponse(liverImage, bareImage)],
    descriptors = [],
  } = answers;
  const calls: string[] = [];
  /** The current state of the catalogue; null before the first request. */
  let currentList: Promise<Response> | null = null;
  const catalogue = async (address: string): Promise<Response> => {
    if (address.includes('/images/groups') || currentList === null) {
      currentList = Promise.resolve(next(lists)());
    }
    const list = await currentList;
    const answer = list.clone(); // a body can be read only once
    if (!answer.ok || !answer.headers.get('Content-Type')?.includes('json')) return answer;
    const body = (await answer.json()) as { readonly images?: readonly object[] };
    return answerCatalogue((body.images ?? []).map(imageOf), address, answers.cases);
  };
  const next = (remaining: Answer[]) => (remaining.length > 1 ? remaining.shift() : remaining[0]) as Answer;
  vi.stubGlobal('fetch', async (address: string, init: RequestInit = {}) => {
    const call = `${init.method ?? 'GET'} ${address.replace('/api/v1', '')}`;
    calls.push(call);
    if (call === 'HEAD /') return new Response(); // asks whether the server responds
    if (call.startsWith('DELETE')) return new Response(null, { status: 204 });
    if (call === 'POST /auth/image-session') return next(sessions)();
    if (call.startsWith('GET /image-catalog/annotation-counts')) {
      return Response.json({ counts: answers.annotationCounts ?? {} });
    }
    if (call === 'GET /image-catalog/datasets' && answers.requestable) {
      return Response.json({ datasets: answers.requestable });
    }
    if (call.startsWith('GET /image-catalog/images')) return catalogue(address);
    if (call === 'GET /auth/image-session/stats' && answers.stats) return answers.stats();
    if (call.includes('/image.dzi')) return next(descriptors)();
    throw new Error(`The stub has no answer for ${call}`);
  });
  return { callsWith: (text: string) => calls.filter((call) => call.includes(text)) };
}

/** The app with the viewer screen at a URL. */
export const viewerAt = (address: string) => (
  <App env="test">
    <MemoryRouter initialEntries={[address]}>
      <WsiViewer />
    </MemoryRouter>
  </App>
);

/** Renders the viewer screen. @returns the user that operates it */
export function renderViewer(address = '/wsi-viewer') {
  render(viewerAt(address));
  return userEvent.setup();
}

/** Prepares a test: clears the cached responses of the previous one, and stores the bearer token of a signed-in user. */
export async function resetPage(): Promise<void> {
  queryClient.clear();
  localStorage.setItem('auth_token', 'the token');
  // All tests share one image session, which is deleted shortly after the viewer of the previous test was closed.
  await vi.waitUntil(() => imageSessions.state().status === 'inactive');
}

/** Returns `count` images of the dataset "Large", named slide-1.svs to slide-`count`.svs; `fields` replaces or adds fields of each. */
export function numberedImages(count: number, fields: object = {}) {
  return Array.from({ length: count }, (_, index) => ({
    id: `00000000-0000-4000-8000-${String(index + 1).padStart(12, '0')}`,
    file_name: `slide-${index + 1}.svs`,
    dataset_name: 'Large',
    ...fields,
  }));
}

/** Returns the text of the focused element. */
export const focusedText = () => document.activeElement?.textContent ?? '';
