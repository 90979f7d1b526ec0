import { act, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { queryClient } from '../../api/query-client.ts';
import { type Answers, stubApi } from '../../testing/stub-api.ts';
import { RestrictedDatasets } from './RestrictedDatasets.tsx';

const at = '2026-11-20T09:00:00.000Z';
const waitingRequest = { at, reason: 'My thesis.', answer: null, answer_reason: null };
const kidney = { name: 'Böbrek', granted: false, request: null };
const datasetsCall = 'GET /image-catalog/datasets';

beforeEach(() => queryClient.clear());

function show(api: Answers) {
  const calls = stubApi(api);
  const onAccessChanged = vi.fn<() => void>();
  render(
    <App env="test">
      <RestrictedDatasets onAccessChanged={onAccessChanged} isOpen onToggle={vi.fn<() => void>()} />
    </App>,
  );
  return { calls, onAccessChanged, person: userEvent.setup({ delay: null }) };
}

describe('the restricted datasets below the catalogue', () => {
  it.each([
    ['no restricted dataset exists', { [datasetsCall]: { datasets: [] } }],
    ['access to all of them is granted', { [datasetsCall]: { datasets: [{ ...kidney, granted: true }] } }],
    ['loading them fails', {}],
  ])('are hidden when %s', async (_, api) => {
    const { calls } = show(api as Answers);
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    await act(async () => undefined); // lets React render the response
    expect(screen.queryByText('Restricted datasets')).toBeNull();
  });

  it('let a person request access with a reason, and then show that the request was sent', async () => {
    let request: object | null = null;
    const { calls, person } = show({
      [datasetsCall]: () => ({ datasets: [{ ...kidney, request }] }),
      'POST /image-catalog/dataset-requests': () => {
        request = waitingRequest;
        return { message: 'Your request has been sent.' };
      },
    });
    await person.click(await screen.findByRole('button', { name: 'Request access to Böbrek' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Request access' }));
    await person.click(dialog.getByRole('button', { name: 'Send request' }));
    dialog.getByText('Please say why you need it.');
    await person.type(dialog.getByLabelText('Reason'), ' My thesis. ');
    await person.click(dialog.getByRole('button', { name: 'Send request' }));
    await screen.findByText('Access requested');
    expect(calls.find(({ name }) => name.startsWith('POST'))?.body).toEqual({
      dataset: 'Böbrek',
      reason: 'My thesis.',
    });
    expect(screen.queryByRole('button', { name: 'Request access to Böbrek' })).toBeNull();
  });

  it.each([
    [{ ...waitingRequest, answer: 'refused' }, 'Your request was declined'],
    [
      { ...waitingRequest, answer: 'refused', answer_reason: 'No approval.' },
      'Your request was declined: No approval.',
    ],
    [{ ...waitingRequest, answer: 'granted' }, 'Your access has ended'],
  ])('show the answer to a request and allow a new request', async (request, sentence) => {
    show({ [datasetsCall]: { datasets: [{ ...kidney, request }] } });
    await screen.findByText(sentence);
    screen.getByRole('button', { name: 'Request access to Böbrek' });
  });

  it('reload the catalogue only when access to one of them is granted', async () => {
    let granted = false;
    const { onAccessChanged } = show({ [datasetsCall]: () => ({ datasets: [{ ...kidney, granted }] }) });
    await screen.findByText('Böbrek');
    expect(onAccessChanged).not.toHaveBeenCalled();
    granted = true;
    await act(() => queryClient.invalidateQueries());
    await vi.waitFor(() => expect(onAccessChanged).toHaveBeenCalledTimes(1));
    expect(screen.queryByText('Böbrek')).toBeNull();
  });
});
