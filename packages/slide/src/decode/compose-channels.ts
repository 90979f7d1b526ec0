import type { Colour, Raster } from './raster.ts';

/** One channel of a multichannel (fluorescence) image: its brightness, and the colour it is shown in. */
export interface Channel {
  /** Brightness as a grey raster: the three samples of a pixel are equal. */
  readonly brightness: Raster;
  readonly colour: Colour;
}

/** Default colours by channel index, for files that declare no channel colours. */
const DEFAULT_COLOURS: readonly [Colour, ...Colour[]] = [
  { r: 255, g: 0, b: 0 },
  { r: 0, g: 255, b: 0 },
  { r: 0, g: 0, b: 255 },
  { r: 255, g: 255, b: 0 },
  { r: 255, g: 0, b: 255 },
  { r: 0, g: 255, b: 255 },
];

/** Returns the default colour of a channel. @param index index of the channel, from 0 */
export function defaultChannelColour(index: number): Colour {
  return DEFAULT_COLOURS[index % DEFAULT_COLOURS.length] ?? DEFAULT_COLOURS[0];
}

/**
 * Returns the image of all channels: the sum of the channels in their colours. The clamped array limits each sum to 255.
 *
 * @param channels at least one, all of the same size
 */
export function composeChannels(channels: readonly [Channel, ...Channel[]]): Raster {
  const { width, height } = channels[0].brightness;
  const rgb = new Uint8ClampedArray(width * height * 3);
  for (const channel of channels) addChannel(rgb, channel);
  return { width, height, rgb: new Uint8Array(rgb.buffer) };
}

/**
 * Adds one channel to an image, for callers that do not hold all channels in memory.
 *
 * @param rgb samples of an image of the channel's size; changed in place
 */
export function addChannel(rgb: Uint8ClampedArray, { brightness, colour }: Channel): void {
  const [redShare, greenShare, blueShare] = [colour.r / 255, colour.g / 255, colour.b / 255];
  for (let at = 0; at < rgb.length; at += 3) {
    const value = brightness.rgb[at] as number;
    if (value === 0) continue;
    rgb[at] = (rgb[at] as number) + value * redShare;
    rgb[at + 1] = (rgb[at + 1] as number) + value * greenShare;
    rgb[at + 2] = (rgb[at + 2] as number) + value * blueShare;
  }
}
