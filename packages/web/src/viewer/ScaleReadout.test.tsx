import { render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { ScaleReadout } from './ScaleReadout.tsx';
import { calibrationOf, type SlideScale } from './scale.ts';

function show(scale: SlideScale): void {
  render(<ScaleReadout calibration={calibrationOf(scale)} zoom={1} />);
}

describe('how large a slide is', () => {
  it('is a scale bar where the file says its pixel size', () => {
    show({ mpp: 0.5, objectivePower: 20, derived: null });
    screen.getByText('50 µm');
    screen.getByText('20×');
    expect(screen.queryByText(/estimated/)).toBeNull();
  });

  it('is said to be an estimate where the pixel size was worked out from the objective', () => {
    show({ mpp: 0.5, objectivePower: 20, derived: 'mpp' });
    screen.getByText('≈ 50 µm');
    screen.getByText('estimated from the objective');
  });

  it('is a measure with an estimated magnification where the objective was worked out', () => {
    show({ mpp: 0.5, objectivePower: 20, derived: 'objectivePower' });
    screen.getByText('50 µm');
    expect(screen.getByText('≈ 20×').title).toContain('estimated');
  });

  it('is said to be unknown where the file says neither', () => {
    show({ mpp: null, objectivePower: null, derived: null });
    screen.getByText('not calibrated');
  });
});
