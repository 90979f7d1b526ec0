import { render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { ScaleReadout } from './ScaleReadout.tsx';
import { calibrationOf, type SlideScale } from './scale.ts';

/** Renders the readout of a slide with this scale, shown at full resolution and rotated by some degrees. */
function show(scale: SlideScale, rotation = 0): void {
  render(<ScaleReadout calibration={calibrationOf(scale)} zoom={1} rotation={rotation} shownPlane={null} />);
}

/** A slide whose file states both its pixel size (0.5 µm) and its magnification. */
const calibrated: SlideScale = { mpp: 0.5, objectivePower: 20, derived: null };

describe('ScaleReadout (scale bar and magnification in the viewer)', () => {
  it('shows a scale bar when the file states its pixel size', () => {
    show(calibrated);
    screen.getByText('50 µm');
    screen.getByText('20×');
    expect(screen.queryByText(/estimated/)).toBeNull();
  });

  it('marks lengths as estimated when the server derived the pixel size from the objective', () => {
    show({ ...calibrated, derived: 'mpp' });
    screen.getByText('≈ 50 µm');
    screen.getByText('estimated from the objective');
  });

  it('marks the magnification as estimated when the server derived it from the pixel size', () => {
    show({ ...calibrated, derived: 'objectivePower' });
    screen.getByText('50 µm');
    expect(screen.getByText('≈ 20×').title).toContain('estimated');
  });

  it('marks lengths with an asterisk and says that the scale was entered, when an administrator entered it', () => {
    show({ ...calibrated, isEntered: true });
    screen.getByText('50 µm*');
    screen.getByText('* scale entered by hand');
    show({ mpp: null, objectivePower: 20, derived: 'mpp', isEntered: true });
    screen.getByText('≈ 50 µm*');
    expect(screen.queryByText('estimated from the objective')).toBeNull();
  });

  it('shows the numbers of the focal plane and time point for a slide with several of them', () => {
    const calibration = calibrationOf(calibrated);
    const planes = { plane: 1, planes: 5, times: 1 };
    render(<ScaleReadout calibration={calibration} zoom={1} rotation={0} shownPlane={planes} />);
    screen.getByText('plane 1 of 5');
    render(
      <ScaleReadout calibration={calibration} zoom={1} rotation={0} shownPlane={{ ...planes, times: 3 }} />,
    );
    screen.getByText('plane 1 of 5, time point 1 of 3');
  });

  it('shows "not calibrated" when the file has neither pixel size nor magnification', () => {
    show({ mpp: null, objectivePower: null, derived: null });
    screen.getByText('not calibrated');
  });

  it('shows the angle of a rotated slide, and no angle for an upright slide', () => {
    show(calibrated);
    expect(screen.queryByText(/°$/)).toBeNull();
    show(calibrated, 37.2);
    screen.getByText('37°');
  });
});
