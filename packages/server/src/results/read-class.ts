/** Reads the class of an object of a result layer: its name and colour, as QuPath and other programs write them. */

/** Red, green and blue, 0 to 255. */
export type Color = readonly [number, number, number];

export type Json = Readonly<Record<string, unknown>>;

/** Maximum length of names, classes and ids, in characters. */
export const maxTextLength = 200;
/** Maximum number of parent classes, which QuPath wrote before version 0.4. More distant ones are ignored. */
const maxParentClasses = 16;

/** Properties that may contain the class of an object without `classification`, in the order in which they are tried. */
export const classKeys = ['class', 'class_name', 'cell_type', 'type', 'label'] as const;

/** Reads the class from `classification` (an object as in QuPath, or a string); without it, from one of `classKeys`. */
export function classOf(properties: Json): {
  readonly className: string | null;
  readonly classColor: Color | null;
} {
  const classification = properties.classification;
  const record = asObject(classification);
  if (record !== null) {
    const names = record.names;
    const name = Array.isArray(names) ? names.join(': ') : nameWithParents(record);
    return {
      className: textOf(name),
      classColor: colorFrom(record.color ?? record.colorRGB),
    };
  }
  const classText = textOf(classification);
  if (classText !== null) return { className: classText, classColor: colorFrom(properties.color) };
  for (const key of classKeys) {
    const className = textOf(properties[key]);
    if (className !== null) return { className, classColor: colorFrom(properties.color) };
  }
  return { className: null, classColor: null };
}

/** Returns the names of the parents and of the class, e.g. `Tumor: Positive`. Before version 0.4, QuPath wrote `parentClass`. */
function nameWithParents(record: Json): unknown {
  let { name } = record;
  let parent = asObject(record.parentClass);
  for (let level = 0; parent !== null && level < maxParentClasses; level++) {
    name = [textOf(parent.name), textOf(name)].filter((each) => each !== null).join(': ');
    parent = asObject(parent.parentClass);
  }
  return name;
}

/** Cache of cleaned names: the same names of classes and measurements occur in every object of a file. */
const cachedTexts = new Map<string, string | null>();
const maxCachedTexts = 1000; // number of cached names
const maxCachedLength = 64; // longer names (in characters) are not cached

/** Returns a string or number as text of at most 200 characters without control characters; null if it is empty. */
export function textOf(value: unknown): string | null {
  const cached = typeof value === 'string' ? cachedTexts.get(value) : undefined;
  if (cached !== undefined) return cached;
  const text = cleanText(value);
  if (typeof value === 'string' && value.length <= maxCachedLength && cachedTexts.size < maxCachedTexts) {
    cachedTexts.set(value, text);
  }
  return text;
}

function cleanText(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return null;
  const clean = text
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, maxTextLength);
  return clean === '' ? null : clean;
}

/** Reads a colour from an integer 0xAARRGGBB, whose alpha is ignored, or from a list of red, green and blue (0 to 255). */
function colorFrom(value: unknown): Color | null {
  if (typeof value === 'number' && Number.isInteger(value)) {
    return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
  }
  if (!Array.isArray(value) || value.length < 3) return null;
  const channels = value.slice(0, 3).map((channel) => Math.round(Number(channel)));
  const isColor = channels.every((channel) => channel >= 0 && channel <= 255);
  return isColor ? (channels as unknown as Color) : null;
}

export function asObject(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}
