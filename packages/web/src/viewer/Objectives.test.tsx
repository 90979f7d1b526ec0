import { MantineProvider } from '@mantine/core';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { Objectives } from './Objectives.tsx';
import type { Pose } from './slide-view.ts';

it('Objectives shows zoom buttons of 25, 50 and 100 % of full resolution for a slide without a scale', async () => {
  const onZoomTo = vi.fn<(zoom: number) => void>();
  const pose = { zoom: 0.5, maxZoom: 2, rotation: 0 } as Pose;
  render(
    <MantineProvider env="test">
      <Objectives calibration={null} pose={pose} onFit={() => {}} onZoomTo={onZoomTo} />
    </MantineProvider>,
  );
  expect(screen.getAllByRole('button').map(({ textContent }) => textContent)).toEqual([
    'Fit',
    '25 %',
    '50 %',
    '100 %',
  ]);
  await userEvent.click(screen.getByRole('button', { name: '100 %' }));
  expect(onZoomTo).toHaveBeenCalledWith(1);
});
