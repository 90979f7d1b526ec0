import type { Colour, Raster } from './raster.ts';

/** One channel of a multichannel picture: its brightness, and the colour it is shown in. */
export interface Channel {
  /** Brightness as a grey raster: the three samples of a pixel are equal. */
  readonly brightness: Raster;
  readonly colour: Colour;
}

/** Colours for files that declare none, in this order; each is bright and differs from its neighbours. */
const COLOURS: readonly [Colour, ...Colour[]] = [
  { r: 255, g: 0, b: 0 },
  { r: 0, g: 255, b: 0 },
  { r: 0, g: 0, b: 255 },
  { r: 255, g: 255, b: 0 },
  { r: 255, g: 0, b: 255 },
  { r: 0, g: 255, b: 255 },
];

/** Returns the default colour of a channel. @param index index of the channel, from 0 */
export function colourOfChannel(index: number): Colour {
  return COLOURS[index % COLOURS.length] ?? COLOURS[0];
}

/**
 * Adds the channels, each in its colour, as light adds up; sums above 255 are cut off.
 *
 * @param channels of equal size, at least one
 */
export function composeChannels(channels: readonly [Channel, ...Channel[]]): Raster {
  const { width, height } = channels[0].brightness;
  const rgb = new Uint8ClampedArray(width * height * 3);
  for (const channel of channels) addChannel(rgb, channel);
  return { width, height, rgb: new Uint8Array(rgb.buffer) };
}

/**
 * Adds one channel to a picture, for callers that do not hold all channels in memory.
 *
 * @param rgb a picture of the channel's size
 */
export function addChannel(rgb: Uint8ClampedArray, { brightness, colour }: Channel): void {
  const [r, g, b] = [colour.r / 255, colour.g / 255, colour.b / 255];
  for (let at = 0; at < rgb.length; at += 3) {
    const level = brightness.rgb[at] as number;
    if (level === 0) continue;
    rgb[at] = (rgb[at] as number) + level * r;
    rgb[at + 1] = (rgb[at + 1] as number) + level * g;
    rgb[at + 2] = (rgb[at + 2] as number) + level * b;
  }
}
