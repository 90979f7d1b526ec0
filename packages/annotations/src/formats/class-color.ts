/** Colours of classes: QuPath's defaults, a colour derived from the name, and colours that Java programs store as integers. */
import type { Color } from '../model/feature.ts';

/** The colours of the classes of a new QuPath project, by class name in lowercase. */
const quPathColors: ReadonlyMap<string, Color> = new Map([
  ['tumor', [200, 0, 0]],
  ['stroma', [150, 200, 150]],
  ['immune cells', [160, 90, 160]],
  ['necrosis', [50, 50, 50]],
  ['other', [255, 200, 0]],
  ['region*', [0, 0, 180]],
  ['ignore*', [180, 180, 180]],
  ['positive', [250, 62, 62]],
  ['negative', [112, 112, 225]],
]);

/** Chooses a colour for a class that has none: the colour in `quPathColors`, otherwise a hue derived from the name. */
export function chooseClassColor(names: readonly string[]): Color {
  const name = names.join(': ');
  const quPathColor = quPathColors.get(name.toLowerCase());
  if (quPathColor) return quPathColor;
  let hash = 0;
  for (const character of name) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return colorOfHue(hash % 360);
}

/** Converts a hue in degrees to RGB by the usual HSV formula, with value 0.85 and chroma 0.65. */
function colorOfHue(hue: number): Color {
  const channel = (offset: number) => {
    const sector = (offset + hue / 60) % 6; // position of the hue on the colour circle, in sixths, relative to the channel
    return Math.round(255 * (0.85 - 0.65 * Math.max(0, Math.min(sector, 4 - sector, 1))));
  };
  return [channel(5), channel(3), channel(1)]; // red, green and blue; the offsets are those of the formula
}

/** Unpacks a colour that Java stores as the integer 0xAARRGGBB; the alpha byte is ignored. */
export function unpackColor(packed: number): Color {
  return [(packed >> 16) & 255, (packed >> 8) & 255, packed & 255];
}
