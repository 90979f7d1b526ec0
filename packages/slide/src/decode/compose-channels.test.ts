import { describe, expect, it } from 'vitest';
import { composeChannels, defaultChannelColour } from './compose-channels.ts';

/** Returns a grey raster of one row with these brightness values. */
const grey = (...values: number[]) => ({
  width: values.length,
  height: 1,
  rgb: Uint8Array.from(values.flatMap((value) => [value, value, value])),
});

describe('composeChannels (overlays fluorescence channels in one RGB image)', () => {
  it('adds the channels, each in its colour, and limits sums to 255', () => {
    const { width, height, rgb } = composeChannels([
      { brightness: grey(0, 100, 255, 200), colour: { r: 255, g: 0, b: 0 } },
      { brightness: grey(255, 100, 255, 0), colour: { r: 0, g: 255, b: 0 } },
      { brightness: grey(0, 100, 255, 200), colour: { r: 255, g: 0, b: 128 } },
    ]);
    expect([width, height]).toEqual([4, 1]);
    expect([...rgb]).toEqual([0, 255, 0, 200, 100, 50, 255, 255, 128, 255, 0, 100]);
  });
});

describe('defaultChannelColour (the default colour of a fluorescence channel)', () => {
  it('returns six distinct colours for channels 0 to 5, and the colour of channel 0 again for channel 6', () => {
    const colours = Array.from({ length: 6 }, (_, i) => JSON.stringify(defaultChannelColour(i)));
    expect(new Set(colours).size).toBe(6);
    expect(defaultChannelColour(6)).toEqual(defaultChannelColour(0));
  });
});
