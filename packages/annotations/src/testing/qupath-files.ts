/**
 * Generates random GeoJSON files for tests, in every form that QuPath 0.2 to 0.8 writes or reads; docs/annotations.md lists the
 * forms per version. The same seed gives the same file.
 */
type Json = Record<string, unknown>;

/** Returns a generator of numbers in [0, 1). Source: mulberry32, Tommy Ettinger 2017, public domain. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Version = 'v0.2' | 'v0.3' | 'v0.4' | 'v0.5';

const versions: readonly Version[] = ['v0.2', 'v0.3', 'v0.4', 'v0.5'];
const texts = [
  'Tumor',
  'Stroma',
  'Bölge µm^2',
  'a "quoted" name',
  ' spaces ',
  '=1+1',
  '肿瘤',
  '1',
  '__proto__',
  'constructor',
  'ROI: 2.00 µm per pixel',
  '👩🏽‍⚕️',
];
const classNames = ['Tumor', 'Stroma', 'Immune cells', 'Ignore*', 'Sınıf', 'Positive', 'constructor', '+1'];
const types = ['annotation', 'detection', 'cell', 'tile', 'tmaCore'];
/** Names of the types in version 0.2, which wrote them into `id`. */
const legacyNames: Readonly<Record<string, string>> = {
  annotation: 'PathAnnotationObject',
  detection: 'PathDetectionObject',
  cell: 'PathCellObject',
  tile: 'PathTileObject',
  tmaCore: 'TMACoreObject',
};

/** Returns the text of a random file. */
export function generateQuPathFile(seed: number): string {
  const random = createRandom(seed);
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * values.length)] as Value;
  /** Returns true with the given probability. */
  const chance = (probability: number) => random() < probability;
  /** Returns an integer from the minimum to the maximum, both included. */
  const integer = (minimum: number, maximum: number) =>
    minimum + Math.floor(random() * (maximum - minimum + 1));
  const version = pick(versions);
  /** Version 0.4 changed the form of classes, colours and measurements. 'v0.5' stands for 0.5 to 0.8. */
  const isNewForm = version === 'v0.4' || version === 'v0.5';

  /** Returns a coordinate: an integer, a number with two decimals or, because 977 is a prime number, one with many decimals. */
  const coordinate = () =>
    chance(0.5) ? integer(0, 20_000) : Math.round(random() * 2_000_000) / (chance(0.2) ? 977 : 100);
  /** Returns a position, which rarely has a third coordinate. */
  const position = () => (chance(0.03) ? [coordinate(), coordinate(), 0] : [coordinate(), coordinate()]);
  const ring = (x: number, y: number, radius: number): number[][] => {
    const count = integer(3, 12);
    const points = Array.from({ length: count }, (_, index) => [
      x + Math.round(100 * radius * Math.cos((2 * Math.PI * index) / count)) / 100,
      y + Math.round(100 * radius * Math.sin((2 * Math.PI * index) / count)) / 100,
    ]);
    return [...points, points[0] as number[]];
  };
  const rings = () => {
    const [x, y, radius] = [coordinate(), coordinate(), integer(10, 500)];
    // The first ring is the outline; the others are smaller and are holes.
    return Array.from({ length: chance(0.2) ? integer(2, 3) : 1 }, (_, index) =>
      ring(x, y, radius / (index * 2 + 1)),
    );
  };
  const line = () => Array.from({ length: integer(2, 6) }, position);
  const shape = (mustBeArea: boolean): Json => {
    const kind = mustBeArea
      ? pick(['Polygon', 'Polygon', 'MultiPolygon', 'ellipse'])
      : pick(['Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon', 'ellipse']);
    switch (kind) {
      case 'Point':
        return { type: kind, coordinates: position() };
      case 'MultiPoint':
        return { type: kind, coordinates: Array.from({ length: integer(1, 6) }, position) };
      case 'LineString':
        return { type: kind, coordinates: line() };
      case 'MultiLineString':
        return { type: kind, coordinates: Array.from({ length: integer(1, 3) }, line) };
      case 'MultiPolygon':
        return { type: kind, coordinates: Array.from({ length: integer(1, 3) }, rings) };
      case 'ellipse':
        return {
          type: 'Polygon',
          coordinates: [ring(coordinate(), coordinate(), integer(10, 500))],
          isEllipse: true,
        };
      default:
        return { type: 'Polygon', coordinates: rings() };
    }
  };
  const geometry = ({ mustBeArea }: { mustBeArea: boolean }): Json => ({
    ...shape(mustBeArea),
    ...(chance(0.1) && { plane: { c: integer(-1, 3), z: integer(0, 9), t: integer(0, 2) } }),
  });
  const color = () => [integer(0, 255), integer(0, 255), integer(0, 255)];
  /** A colour as the integer 0xAARRGGBB. */
  const packedColor = () => (255 << 24) | integer(0, 0xffffff);
  const nonFinite = ['NaN', 'Infinity', '-Infinity', ...(isNewForm ? ['inf', '-inf'] : [])];
  const measurementValue = () => {
    if (chance(0.15)) return pick(nonFinite);
    return chance(0.5) ? integer(-5, 5) : random() * 10 ** integer(-8, 8);
  };
  const distinctNames = (minimum: number, maximum: number) => [
    ...new Set(
      Array.from(
        { length: integer(minimum, maximum) },
        () => `${pick(texts)}${chance(0.5) ? '' : integer(0, 99)}`,
      ),
    ),
  ];
  const measurements = () => {
    const names = distinctNames(1, 6);
    return isNewForm
      ? Object.fromEntries(names.map((name) => [name, measurementValue()]))
      : names.map((name) => ({ name, value: measurementValue() }));
  };
  const classification = (): unknown => {
    const names = [
      ...new Set(Array.from({ length: chance(0.2) ? integer(2, 3) : 1 }, () => pick(classNames))),
    ];
    const [name = ''] = names;
    if (chance(0.1)) return names.join(': ');
    if (isNewForm) {
      const classColor = chance(0.1) ? [...color(), integer(0, 255)] : color();
      return names.length === 1 ? { name, color: classColor } : { names, color: classColor };
    }
    return names.reduce<Json | null>(
      (parentClass, ownName) => ({
        ...(parentClass && { parentClass }),
        name: ownName,
        colorRGB: packedColor(),
      }),
      null,
    );
  };
  const hex = (length: number) => Array.from({ length }, () => integer(0, 15).toString(16)).join('');
  const uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`; // version 4, RFC variant
  const idOf = (type: string) => {
    if (version === 'v0.2') return { id: legacyNames[type] };
    if (version === 'v0.3') return chance(0.5) ? { id: 'anything' } : {};
    return { id: uuid() };
  };
  const typeOf = (type: string): Json => {
    if (version === 'v0.2') return {};
    if (version === 'v0.3') return chance(0.5) ? { object_type: type } : { type };
    return chance(0.02) ? { objectType: 'somethingNew' } : { objectType: type };
  };
  /** Returns a feature. @param depth maximum number of levels of children below it */
  const feature = (depth: number): Json => {
    const type = pick(types);
    const children =
      depth > 0 && chance(0.2) ? Array.from({ length: integer(1, 2) }, () => feature(depth - 1)) : [];
    const descriptionEntry = ['ANNOTATION_DESCRIPTION', 'first line\nsecond line'] as const;
    const metadata: Record<string, string> | null = chance(0.2)
      ? Object.fromEntries([
          ...distinctNames(1, 3).map((name) => [name, pick(texts)] as const),
          ...(chance(0.3) ? [descriptionEntry] : []),
        ])
      : null;
    return {
      type: 'Feature',
      ...idOf(type),
      geometry: geometry({ mustBeArea: type === 'cell' || type === 'tile' || type === 'tmaCore' }),
      ...(type === 'cell' && chance(0.8) && { nucleusGeometry: geometry({ mustBeArea: true }) }),
      properties: {
        ...typeOf(type),
        ...(chance(0.4) && { name: pick(texts) }),
        ...(chance(0.3) && { color: isNewForm ? color() : packedColor() }),
        ...(chance(0.7) && { classification: classification() }),
        ...(chance(0.2) && { isLocked: isNewForm ? true : chance(0.5) }),
        ...(type === 'tmaCore' && { isMissing: chance(0.3) }),
        ...(chance(0.5) && { measurements: measurements() }),
        ...(metadata && { metadata }),
        ...(children.length > 0 && {
          [version === 'v0.5' || chance(0.5) ? 'childObjects' : 'children']: children,
        }),
      },
    };
  };
  const features = Array.from({ length: chance(0.2) ? 2 : 1 }, () => feature(2));
  const fileContent = () => {
    if (chance(0.6)) return { type: 'FeatureCollection', features };
    return features.length === 1 && chance(0.5) ? features[0] : features;
  };
  const text = JSON.stringify(fileContent());
  // QuPath 0.5 and later write the member `metadata` twice.
  return version === 'v0.5'
    ? text.replaceAll(/"metadata":(\{[^{}]*\})/g, '"metadata":$1,"metadata":$1')
    : text;
}
