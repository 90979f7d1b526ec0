import { act, render } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { App } from '../App.tsx';
import { setAuthState } from '../api/auth-state.ts';
import { account } from '../testing/accounts.ts';
import { stubApi } from '../testing/stub-api.ts';
import type { AnnotationsProps } from './annotations/Annotations.tsx';
import { asScanned } from './colours/adjustment.ts';
import type { SlideColours } from './colours/use-colours.ts';
import { Instruments } from './Instruments.tsx';
import type { Placement } from './overlay/placement.ts';
import type { Shape } from './overlay/shapes.ts';
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

/** Opens a slide without annotations, on which the user counts and keeps cells. */
function openInstruments() {
  stubApi({});
  setAuthState({ user: account(), isAuthenticated: true });
  const placement: Placement = { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 };
  const view = {
    placement: () => placement,
    size: () => ({ width: 1000, height: 800 }),
    centre: () => ({ x: 500, y: 400 }),
    watch: () => () => true,
    setPointerTool: () => {},
  } as unknown as SlideView;
  const page = render(
    <App env="test">
      <Instruments
        view={view}
        pose={{ zoom: 1, maxZoom: 2, rotation: 0, isMirrored: false }}
        name="slide.svs"
        annotatedSlide={{ imageId: 'image', dataset: null }}
        calibration={null}
        shownPlane={null}
        isFullPage={false}
        onToggleFullPage={() => {}}
        colours={{ adjustment: asScanned, profile: null } as unknown as SlideColours}
        incomplete={null}
        handlesKeys
      />
    </App>,
  );
  const user = userEvent.setup();
  const keepMark = async () => {
    await user.keyboard('k{Enter}k'); // chooses the counting tool, marks a cell in the middle, ends the counting
    await user.click(page.getByRole('button', { name: 'Keep the measurements as annotations' }));
  };
  const clearButton = page.getByRole('button', { name: 'Remove all measurements' });
  const hasMeasurements = () => clearButton.getAttribute('aria-disabled') !== 'true';
  return { user, keepMark, clearButton, hasMeasurements };
}

it('measurements that the user keeps stay on the slide until the annotation code has converted them, also those of an earlier "Keep"', async () => {
  const { keepMark, hasMeasurements } = openInstruments();
  await keepMark();
  await keepMark();
  expect(waitingShapes.map(({ kind }) => kind)).toEqual(['mark', 'mark']);
  expect(hasMeasurements()).toBe(true);
  act(reportKept);
  expect(waitingShapes).toEqual([]);
  expect(hasMeasurements()).toBe(false);
});

it('measurements that the user keeps and then removes do not become annotations when the annotation code is loaded later', async () => {
  const { user, keepMark, clearButton, hasMeasurements } = openInstruments();
  await keepMark();
  await user.click(clearButton);
  expect(hasMeasurements()).toBe(false);
  expect(waitingShapes).toEqual([]);
});
