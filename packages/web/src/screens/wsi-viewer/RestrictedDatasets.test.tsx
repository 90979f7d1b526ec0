import { act, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { App } from '../../App.tsx';
import { queryClient } from '../../api/query-client.ts';
import { type Answers, pendingResponse, stubApi } from '../../testing/stub-api.ts';
import { RestrictedDatasets } from './RestrictedDatasets.tsx';

/** Whether the dialog throws while it is rendered. A failed import cannot be tested here: another test may have imported it. */
let isDialogBroken = false;
vi.mock(import('./RequestDatasetDialog.tsx'), async (original) => {
  const { RequestDatasetDialog } = await original();
  return {
    RequestDatasetDialog: (props) => {
      if (isDialogBroken) throw new Error('cannot be rendered');
      return <RequestDatasetDialog {...props} />;
    },
  };
});

const waitingRequest = {
  at: '2026-11-20T09:00:00.000Z',
  reason: 'My thesis.',
  answer: null,
  answer_reason: null,
};
/** A restricted dataset without access and without a request for it. */
const kidneyDataset = { name: 'Böbrek', granted: false, request: null };
const listDatasets = 'GET /image-catalog/datasets';

beforeEach(() => queryClient.clear());

/** `HEAD /` asks whether the server responds, before the code of the dialog is loaded. */
function renderSection(answers: Answers) {
  const calls = stubApi({ 'HEAD /': {}, ...answers });
  const onAccessChanged = vi.fn<() => void>();
  render(
    <App env="test">
      <RestrictedDatasets onAccessChanged={onAccessChanged} isOpen onToggle={vi.fn<() => void>()} />
    </App>,
  );
  return { calls, onAccessChanged, person: userEvent.setup({ delay: null }) };
}

describe('the list of restricted datasets below the viewer’s catalogue', () => {
  it.each([
    ['no restricted dataset exists', { [listDatasets]: { datasets: [] } }],
    [
      'the user has access to all restricted datasets',
      { [listDatasets]: { datasets: [{ ...kidneyDataset, granted: true }] } },
    ],
    ['loading the datasets fails', {}],
  ])('is hidden when %s', async (_, answers) => {
    const { calls } = renderSection(answers as Answers);
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    await act(async () => undefined); // lets React render the response
    expect(screen.queryByText('Restricted datasets')).toBeNull();
  });

  it('lets a user request access with a reason, and then shows that the request was sent', async () => {
    let request: object | null = null;
    const { calls, person } = renderSection({
      [listDatasets]: () => ({ datasets: [{ ...kidneyDataset, request }] }),
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

  it('shows a message in the sidebar when the dialog that requests access cannot be rendered, and the dialog after a retry', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    isDialogBroken = true;
    onTestFinished(() => {
      isDialogBroken = false;
    });
    const { person } = renderSection({ [listDatasets]: { datasets: [kidneyDataset] } });
    await person.click(await screen.findByRole('button', { name: 'Request access to Böbrek' }));
    await screen.findByText('The request form cannot be shown');
    screen.getByText('Restricted datasets');
    isDialogBroken = false;
    await person.click(screen.getByRole('button', { name: 'Retry' }));
    await screen.findByRole('dialog', { name: 'Request access' });
  });

  it('keeps the dialog that requests access open until the server has answered, so that a late answer closes no other dialog', async () => {
    const response = pendingResponse();
    const { person } = renderSection({
      [listDatasets]: { datasets: [kidneyDataset] },
      'POST /image-catalog/dataset-requests': response.answer,
    });
    await person.click(await screen.findByRole('button', { name: 'Request access to Böbrek' }));
    const dialog = within(await screen.findByRole('dialog', { name: 'Request access' }));
    await person.type(dialog.getByLabelText('Reason'), 'My thesis.');
    await person.click(dialog.getByRole('button', { name: 'Send request' }));
    expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Close' }).disabled).toBe(true);
    await person.keyboard('{Escape}');
    screen.getByRole('dialog');
    response.respondWith({ message: 'Your request has been sent.' });
    await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  it.each([
    [
      'a request was rejected without a reason',
      { ...waitingRequest, answer: 'refused' },
      'Your request was rejected',
    ],
    [
      'a request was rejected with a reason',
      { ...waitingRequest, answer: 'refused', answer_reason: 'No approval.' },
      'Your request was rejected: No approval.',
    ],
    ['granted access has ended', { ...waitingRequest, answer: 'granted' }, 'Your access has ended'],
  ])('says that %s, and offers a new request', async (_, request, sentence) => {
    renderSection({ [listDatasets]: { datasets: [{ ...kidneyDataset, request }] } });
    await screen.findByText(sentence);
    screen.getByRole('button', { name: 'Request access to Böbrek' });
  });

  it('causes a new request for the catalogue only after access to a dataset was granted', async () => {
    let granted = false;
    const { onAccessChanged } = renderSection({
      [listDatasets]: () => ({ datasets: [{ ...kidneyDataset, granted }] }),
    });
    await screen.findByText('Böbrek');
    expect(onAccessChanged).not.toHaveBeenCalled();
    granted = true; // an administrator has approved the request
    await act(() => queryClient.invalidateQueries());
    await vi.waitFor(() => expect(onAccessChanged).toHaveBeenCalledTimes(1));
    expect(screen.queryByText('Böbrek')).toBeNull();
  });
});
