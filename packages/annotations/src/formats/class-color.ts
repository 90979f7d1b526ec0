import type { Color } from '../model/feature.ts';

/** The classes of a new project in QuPath, by their names in lowercase. */
const knownColors: ReadonlyMap<string, Color> = new Map([
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

/** Returns the colour of a class for which the file has none: QuPath's for its own classes, otherwise one chosen by the name. */
export function chooseClassColor(names: readonly string[]): Color {
  const name = names.join(': ');
  const known = knownColors.get(name.toLowerCase());
  if (known) return known;
  let hash = 0;
  for (const character of name) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return colorOfHue(hash % 360);
}

function colorOfHue(hue: number): Color {
  const part = (offset: number) => {
    const k = (offset + hue / 60) % 6;
    return Math.round(255 * (0.85 - 0.65 * Math.max(0, Math.min(k, 4 - k, 1))));
  };
  return [part(5), part(3), part(1)];
}

/** Unpacks the integer in which Java keeps a colour, alpha in the highest byte. */
export function unpackColor(packed: number): Color {
  return [(packed >> 16) & 255, (packed >> 8) & 255, packed & 255];
}
