import { act, render, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { App } from '../App.tsx';
import { setAuthState } from '../api/auth-state.ts';
import { account } from '../testing/accounts.ts';
import { errorResponse, stubApi } from '../testing/stub-api.ts';
import type { AnnotationsProps } from './annotations/Annotations.tsx';
import { asScanned } from './colours/adjustment.ts';
import type { SlideColours } from './colours/use-colours.ts';
import { Instruments } from './Instruments.tsx';
import type { Placement } from './overlay/placement.ts';
import type { Shape } from './overlay/shapes.ts';
import { type ArrangementMemory, ArrangementMemoryContext } from './results/arrangement-memory.ts';
import type { SlideView } from './slide-view.ts';

/** The measurements that wait for the code of annotations, and what that code calls when it has converted them. */
let waitingShapes: readonly Shape[] = [];
let reportKept = () => {};
vi.mock('./annotations/AnnotationsGate.tsx', () => ({
  AnnotationsGate: ({ shapesToKeep, onKept }: AnnotationsProps) => {
    waitingShapes = shapesToKeep;
    reportKept = onKept;
    return null;
  },
}));

/**
 * Opens a slide without annotations, on which the user counts and keeps cells.
 *
 * @param arrangement arrangement of the result layers in the URL of the page; null: there is none
 */
function openInstruments(answers: Parameters<typeof stubApi>[0] = {}, arrangement: string | null = null) {
  stubApi(answers);
  setAuthState({ user: account(), isAuthenticated: true });
  const placement: Placement = { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };
  const view = {
    placement: () => placement,
    size: () => ({ width: 1000, height: 800 }),
    centre: () => ({ x: 500, y: 400 }),
    watch: () => () => true,
    setPointerTool: () => {},
  } as unknown as SlideView;
  const memory: ArrangementMemory = { read: () => arrangement, write: () => {}, historyStep: '' };
  const instruments = (
    <Instruments
      view={view}
      pose={{ zoom: 1, maxZoom: 2, rotation: 0, isMirrored: false }}
      name="slide.svs"
      annotatedSlide={{ imageId: 'image', dataset: null, format: null }}
      calibration={null}
      shownPlane={null}
      isFullPage={false}
      onToggleFullPage={() => {}}
      colours={{ adjustment: asScanned, profile: null } as unknown as SlideColours}
      incomplete={null}
      handlesKeys
    />
  );
  const page = render(
    <App env="test">
      <ArrangementMemoryContext value={memory}>{instruments}</ArrangementMemoryContext>
    </App>,
  );
  const user = userEvent.setup();
  const keepMark = async () => {
    await user.keyboard('k{Enter}k'); // chooses the counting tool, marks a cell in the middle, ends the counting
    await user.click(page.getByRole('button', { name: 'Keep the measurements as annotations' }));
  };
  const clearButton = page.getByRole('button', { name: 'Remove all measurements' });
  const hasMeasurements = () => clearButton.getAttribute('aria-disabled') !== 'true';
  return { page, user, keepMark, clearButton, hasMeasurements };
}

it('measurements that the user keeps as annotations stay on the slide until the annotation code is loaded and has converted all of them', async () => {
  const { keepMark, hasMeasurements } = openInstruments();
  await keepMark();
  await keepMark();
  expect(waitingShapes.map(({ kind }) => kind)).toEqual(['mark', 'mark']);
  expect(hasMeasurements()).toBe(true);
  act(reportKept);
  expect(waitingShapes).toEqual([]);
  expect(hasMeasurements()).toBe(false);
});

it('the viewer converts no measurement to an annotation when the user removes the measurement before the annotation code is loaded', async () => {
  const { user, keepMark, clearButton, hasMeasurements } = openInstruments();
  await keepMark();
  await user.click(clearButton);
  expect(hasMeasurements()).toBe(false);
  expect(waitingShapes).toEqual([]);
});

it('the viewer shows an error while the result layers of the URL cannot be loaded, and hides it after a successful retry', async () => {
  let response: object = errorResponse('unavailable');
  const resultLayers = { 'GET /image-catalog/images/image/result-layers': () => response };
  const { user, page } = openInstruments({ 'HEAD /': {}, ...resultLayers });
  const message = 'The analysis results cannot be shown';
  await user.click(page.getByRole('button', { name: 'Analysis results' }));
  await page.findByText(message);
  expect(page.queryByText('This slide has no results yet.')).toBeNull();
  await user.click(page.getByRole('button', { name: 'Close' }));
  expect(page.queryByText(message)).toBeNull();
  page.unmount();

  const { page: arranged } = openInstruments({ 'HEAD /': {}, ...resultLayers }, 'an arrangement');
  await arranged.findByText(message);
  response = { layers: [] };
  await user.click(arranged.getByRole('button', { name: 'Retry' }));
  await waitFor(() => expect(arranged.queryByText(message)).toBeNull());
});

it('the viewer shows an error toast when a picture of the slide cannot be saved', async () => {
  const { user, page } = openInstruments();
  await user.keyboard('s'); // the view of this test has no picture
  expect((await page.findByRole('alert')).textContent).toContain('The screenshot could not be made');
});
