/**
 * Property tests of the formats whose metadata are text, such as XML: whatever the damage to the text or the bytes of a slide,
 * the reader returns pixels or throws a SlideError.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  anyByteFault,
  anyShare,
  type ByteFault,
  damageBytes,
  hostileNumber,
} from '../testing/damage-bytes.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { propertyRuns } from '../testing/property-runs.ts';
import { openDamaged, readTiles } from '../testing/read-damaged.ts';
import { type VendorSlide, vendorSlides } from '../testing/vendor-slides.ts';

/** Number of damaged files per format. */
const runs = propertyRuns(600, 1 / 10);
const TIMEOUT_MS = 60_000 + runs * 50;

/** A change that damages the text or the bytes of a file; `where` chooses a position as a fraction (0 to 1) of all. */
type Fault =
  | { readonly kind: 'value'; readonly where: number; readonly value: string }
  | { readonly kind: 'without'; readonly where: number }
  | { readonly kind: 'twice'; readonly where: number; readonly times: number }
  | { readonly kind: 'cut-text'; readonly where: number }
  | { readonly kind: 'insert'; readonly where: number; readonly text: string }
  | ByteFault;

/** Generates a value that a careless reader could misread. */
const hostileValue = fc.oneof(
  hostileNumber.map(String),
  hostileNumber.map((number) => String(-number)),
  fc.constantFrom(
    '',
    ' ',
    'NaN',
    'Infinity',
    '1e308',
    '1e-308',
    '0.5',
    '2147483648',
    '4503599627370496',
    '9007199254740993',
  ),
  fc.constantFrom(
    'constructor',
    '__proto__',
    'RIGHT',
    'LEFT',
    'XYCZT',
    'brightfield',
    '"0" "0"',
    '64 64',
    'x'.repeat(5000),
  ),
);
/** Generates text that breaks XML or `name=value` pairs. */
const hostileText = fc.constantFrom(
  '<!DOCTYPE a [<!ENTITY b "c">]>',
  '<!DOCTYPE a SYSTEM "file:///etc/passwd">',
  '&b;',
  '&#0;',
  '<',
  '>',
  '"',
  '</a>',
  '<a>',
  '<a>'.repeat(300),
  '<a b="c"/>'.repeat(300),
  '\0',
  ';',
  '=',
  '<![CDATA[',
  '<!--',
);
/** Generates the kind of a fault. */
const kind = <Kind extends string>(name: Kind) => fc.constant(name);
const anyFault: fc.Arbitrary<Fault> = fc.oneof(
  { arbitrary: fc.record({ kind: kind('value'), where: anyShare, value: hostileValue }), weight: 5 },
  { arbitrary: fc.record({ kind: kind('without'), where: anyShare }), weight: 2 },
  {
    arbitrary: fc.record({ kind: kind('twice'), where: anyShare, times: fc.integer({ min: 2, max: 70 }) }),
    weight: 1,
  },
  { arbitrary: fc.record({ kind: kind('cut-text'), where: anyShare }), weight: 1 },
  { arbitrary: fc.record({ kind: kind('insert'), where: anyShare, text: hostileText }), weight: 1 },
  { arbitrary: anyByteFault, weight: 3 },
);

/** Matches the value of an attribute (`20` in `mag="20"`), the text of an element, or the value of a `name=value` pair. */
const VALUES = /(?<==")[^"]*(?=")|(?<=>)[^<>]+(?=<)|(?<==)[^";=]+(?=;|$)/g;
/** Matches an element without child elements, e.g. `<a b="c"/>` or `<a>text</a>`, or an attribute. */
const ELEMENTS = /<(\w+)\b[^<>]*\/>|<(\w+)\b[^<>]*>[^<>]*<\/\2>|\s[\w-]+="[^"]*"/g;

/** Applies a fault to the text of a slide; a fault of the bytes changes nothing. */
function damageText(text: string, fault: Fault): string {
  /** Replaces one match of a pattern, chosen by `where`. */
  const replaceOne = (pattern: RegExp, where: number, change: (matched: string) => string) => {
    const matches = [...text.matchAll(pattern)];
    const match = matches[Math.floor(where * matches.length)];
    if (!match) return text;
    return text.slice(0, match.index) + change(match[0]) + text.slice(match.index + match[0].length);
  };
  switch (fault.kind) {
    case 'value':
      return replaceOne(VALUES, fault.where, () => fault.value.replaceAll('"', '&quot;'));
    case 'without':
      return replaceOne(ELEMENTS, fault.where, () => '');
    case 'twice':
      return replaceOne(ELEMENTS, fault.where, (matched) => matched.repeat(fault.times));
    case 'cut-text':
      return text.slice(0, Math.floor(fault.where * text.length));
    case 'insert': {
      const position = Math.floor(fault.where * text.length);
      return text.slice(0, position) + fault.text + text.slice(position);
    }
    default:
      return text;
  }
}

/** Builds a slide with faults: first in its text, then in its bytes. */
function damage(slide: VendorSlide, faults: readonly Fault[]): Uint8Array {
  let { text } = slide;
  for (const fault of faults) text = damageText(text, fault);
  let bytes = slide.build(text);
  for (const fault of faults) {
    if (fault.kind === 'flip' || fault.kind === 'cut' || fault.kind === 'delete' || fault.kind === 'double') {
      bytes = damageBytes(bytes, fault);
    }
  }
  return bytes;
}

describe.each(vendorSlides.map((slide) => [slide.format, slide] as const))(
  'the reader of the format %s',
  (format, slide) => {
    it('returns all tiles of an intact slide', async () => {
      const opened = await openBytes(slide.build());
      expect(opened.format).toBe(format);
      const tiles = await readTiles(opened);
      expect(tiles.every((tile) => tile instanceof Uint8Array)).toBe(true);
    });

    it(
      'returns pixels or throws a SlideError for a randomly damaged slide, and closes its files',
      async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(anyFault, { minLength: 1, maxLength: 3 }), async (faults) => {
            const opened = await openDamaged(damage(slide, faults));
            if (!opened) return;
            await readTiles(opened.slide);
            await opened.slide.close();
            expect(opened.count.open).toBe(0);
          }),
          { numRuns: runs },
        );
      },
      TIMEOUT_MS,
    );

    it('rejects a slide with a SlideError if it is truncated, whatever its length', async () => {
      const file = slide.build();
      // The last directory is at the end, so that no truncated file is a valid slide.
      for (let length = 0; length < file.length; length += 37) {
        expect(await openDamaged(file.subarray(0, length))).toBeNull();
      }
    });
  },
);
