import { describe, expect, it } from 'vitest';
import { colourOfChannel, composeChannels } from './compose-channels.ts';

const grey = (...levels: number[]) => ({
  width: levels.length,
  height: 1,
  rgb: Uint8Array.from(levels.flatMap((level) => [level, level, level])),
});

describe('the channels of a fluorescence image', () => {
  it('are composed by adding their colours', () => {
    const { width, height, rgb } = composeChannels([
      { brightness: grey(0, 100, 255, 200), colour: { r: 255, g: 0, b: 0 } },
      { brightness: grey(255, 100, 255, 0), colour: { r: 0, g: 255, b: 0 } },
      { brightness: grey(0, 100, 255, 200), colour: { r: 255, g: 0, b: 128 } },
    ]);
    expect([width, height]).toEqual([4, 1]);
    expect([...rgb]).toEqual([0, 255, 0, 200, 100, 50, 255, 255, 128, 255, 0, 100]);
  });

  it('have distinct colours where the file declares none', () => {
    const colours = Array.from({ length: 6 }, (_, i) => JSON.stringify(colourOfChannel(i)));
    expect(new Set(colours).size).toBe(6);
    expect(colourOfChannel(6)).toEqual(colourOfChannel(0));
  });
});
