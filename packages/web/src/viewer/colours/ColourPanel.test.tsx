import { act, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { App } from '../../App.tsx';
import type { SlideView } from '../slide-view.ts';
import type { PointerTool } from '../tool-pointer.ts';
import { asScanned } from './adjustment.ts';
import { ColourPanel } from './ColourPanel.tsx';
import type { SlideColours } from './use-colours.ts';
import { useWhiteBalance } from './use-white-balance.ts';

/** Renders the panel of a slide on which every place has the same colour. @returns a function that clicks the slide */
function renderPanel(colours: Partial<SlideColours> = {}) {
  /** The listeners of the slide while the user picks the white point. */
  let pointer: PointerTool | null = null;
  const view: Pick<SlideView, 'borrowPointer' | 'colourAt'> = {
    borrowPointer: (tool) => {
      pointer = tool;
      return () => undefined;
    },
    colourAt: () => [0.6, 0.3, 0.5], // tissue
  };
  const allColours = { adjustment: asScanned, profile: null, ...colours } as SlideColours;
  function Panel() {
    const whiteBalance = useWhiteBalance(view as SlideView, allColours, () => {});
    return <ColourPanel colours={allColours} whiteBalance={whiteBalance} onClose={() => {}} />;
  }
  render(
    <App env="test">
      <Panel />
    </App>,
  );
  return { clickSlide: () => act(() => pointer?.onRelease({ x: 1, y: 1 }, { alt: false, shift: false })) };
}

describe('ColourPanel (the panel for the colours of a slide)', () => {
  it('shows that a place is too dark for the white point when the user has picked the white point on tissue', async () => {
    const user = userEvent.setup();
    const { clickSlide } = renderPanel();
    const pickButton = screen.getByRole('button', { name: 'White balance' });
    await user.click(pickButton);
    clickSlide();
    screen.getByText('Too dark for a white balance: click an empty, bright place');
    await user.click(pickButton);
    await user.click(pickButton);
    screen.getByText('Click an empty, bright place on the slide');
  });

  it.each([
    ['states', 'could not be loaded', 'failed', 1],
    ['does not state', 'is loaded', null, 0],
  ] as const)(
    '%s that the colours are shown without correction when the colour table %s',
    (_1, _2, missingTable, count) => {
      const profile = { name: 'AT2', bytes: 440, tableSize: 33 };
      renderPanel({ profile, isCorrected: true, missingTable });
      const message = 'The colour correction could not be loaded: colours are shown as scanned';
      expect(screen.queryAllByText(message)).toHaveLength(count);
    },
  );
});
