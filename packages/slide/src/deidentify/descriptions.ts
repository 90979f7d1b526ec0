/**
 * Removes text that may identify patients, other people and devices from the texts of TIFF files. Only values that are known to
 * be technical are kept. Every other character becomes a space, so that the length does not change.
 */

/** Replaces every character except line breaks by a space. */
export function blank(text: string): string {
  return text.replaceAll(/[^\r\n]+/g, (characters) => ' '.repeat(characters.length));
}

/**
 * Matches technical parts of the first lines of an Aperio description, e.g. of `46000x32914 [42673,5576] JPEG/RGB Q=30`. The
 * length of numbers is limited, so that the time does not grow with the square of the number of digits.
 */
const aperioWords =
  /Aperio (?:Image Library|Leica Biosystems GT450|Format Library)?|\bv?\d{1,12}(?:\.\d{1,12}){0,4}\b|\d{1,12}x\d{1,12}|[[\](),;>\s-]|\b(?:JPEG|JPEG2000|J2K|J2C|KDU|YUV16|YCC|YCbCr|RGB|GRAY|BMP|LZW|RAW|UNCOMPRESSED|OFFSET|CODESTREAM)\b|\/|\bQ=\d{1,4}/g;

/** Names of the Aperio values that are kept: numbers that a viewer or an analysis needs. */
const aperioNumbers = new Set([
  'AppMag',
  'MPP',
  'Left',
  'Top',
  'StripeWidth',
  'LineCameraSkew',
  'LineAreaXOffset',
  'LineAreaYOffset',
  'Focus Offset',
  'Exposure Time',
  'Exposure Scale',
  'DisplayColor',
  'OriginalWidth',
  'OriginalHeight',
  'Gamma',
]);

/** Matches names of values as scanner programs write them. A name that does not match could itself identify a person. */
const plainName = /^\s*[A-Za-z][A-Za-z ]{0,22}\s*$/;

/**
 * Blanks an Aperio description, which has the form `first lines|name = value|name = value`. Technical parts and the
 * names of blanked values stay. Source: descriptions in Aperio slides.
 */
export function blankAperioDescription(description: string): string {
  const [head = '', ...pairs] = description.split('|');
  const keptHead = head
    .split(/(\r\n|\r|\n|;)/)
    .map((line) => (line.replaceAll(aperioWords, '').trim() === '' ? line : blank(line)))
    .join('');
  const keptPairs = pairs.map((pair) => {
    const equalsAt = pair.indexOf('=');
    const name = pair.slice(0, Math.max(equalsAt, 0));
    const value = pair.slice(equalsAt + 1);
    // A known technical value stays only if it consists of digits and the signs of numbers and sizes.
    if (aperioNumbers.has(name.trim()) && /^[\s\d.,+\-x]*$/i.test(value)) return pair;
    if (equalsAt < 0) return pair === '' ? '' : `=${blank(pair.slice(1))}`; // OpenSlide expects an equals sign
    return `${plainName.test(name) ? name : blank(name)}=${blank(value)}`;
  });
  return [keptHead, ...keptPairs].join('|');
}
