import { describe, expect, it } from 'vitest';
import { objectTypes } from './feature.ts';
import { FeatureError } from './feature-error.ts';
import { parseProperties } from './parse-properties.ts';

const id = '6423a977-ffff-48db-affc-cd11632010f0';
const parentId = 'a9d3d08f-35cd-46d4-93d6-08d71feefaa6';

/** Returns the code of the error and the path of the wrong member, or `accepted`. */
function outcomeOf(properties: unknown): string {
  try {
    parseProperties(properties, id);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof FeatureError)) throw error;
    return `${error.code} ${error.path}`;
  }
}

/** Returns an object with this number of members, of which each has the value. */
const members = <Value>(count: number, value: Value): Record<string, Value> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]));

const names = (count: number) => Array.from({ length: count }, (_, i) => `class ${i}`);
const color = [1, 2, 3];

describe('parseProperties (validates the properties of a feature)', () => {
  it.each([
    ['undefined', undefined],
    ['null', null],
    ['an empty object', {}],
  ])('returns the object type annotation and nothing else for %s', (_, properties) => {
    expect(parseProperties(properties, id)).toEqual({ objectType: 'annotation' });
  });

  it('returns isMissing only if it is true', () => {
    expect(parseProperties({ isMissing: true, isLocked: true }, id)).toEqual({
      objectType: 'annotation',
      isMissing: true,
      isLocked: true,
    });
    expect(parseProperties({ isMissing: false }, id)).toEqual({ objectType: 'annotation' });
  });

  it('keeps an empty name and omits an empty description', () => {
    expect(parseProperties({ name: '', description: '' }, id)).toEqual({
      objectType: 'annotation',
      name: '',
    });
  });

  it('omits empty measurements and metadata', () => {
    expect(parseProperties({ measurements: {}, metadata: {} }, id)).toEqual({ objectType: 'annotation' });
  });

  it.each(objectTypes)('keeps the object type %s', (objectType) => {
    expect(parseProperties({ objectType }, id)).toEqual({ objectType });
  });

  it('returns the id of the parent in lower case', () => {
    expect(parseProperties({ parentId: parentId.toUpperCase() }, id).parentId).toBe(parentId);
  });

  it.each([
    ['without an opacity', [0, 128, 255], [0, 128, 255]],
    ['with the opacity 255', [1, 2, 3, 255], [1, 2, 3]],
    ['with the opacity 0, which means opaque as in QuPath', [1, 2, 3, 0], [1, 2, 3]],
    ['with the opacity 1', [1, 2, 3, 1], [1, 2, 3, 1]],
    ['with the opacity 254', [1, 2, 3, 254], [1, 2, 3, 254]],
  ])('returns a colour %s: %j becomes %j', (_, given, expected) => {
    expect(parseProperties({ color: given }, id).color).toEqual(expected);
  });

  it.each([
    ['a text', '#010203'],
    ['two channels', [1, 2]],
    ['five channels', [1, 2, 3, 4, 5]],
    ['a negative red', [-1, 2, 3]],
    ['a red of 256', [256, 2, 3]],
    ['a red of 1.5', [1.5, 2, 3]],
    ['a green that is a text', [1, '2', 3]],
    ['a green of 256', [1, 256, 3]],
    ['a blue of 256', [1, 2, 256]],
    ['a blue that is null', [1, 2, null]],
    ['an opacity of 256', [1, 2, 3, 256]],
    ['an opacity of -1', [1, 2, 3, -1]],
  ])('rejects a colour with %s as not_a_color', (_, given) => {
    expect(outcomeOf({ color: given })).toBe('not_a_color properties.color');
    const inClass = { classification: { name: 'Tumor', color: given } };
    expect(outcomeOf(inClass)).toBe('not_a_color properties.classification.color');
  });

  it.each([
    ['a name of 1,000 characters', { name: 'a'.repeat(1000) }],
    ['a description of 10,000 characters', { description: 'a'.repeat(10_000) }],
    ['a description with a line break and a tab', { description: 'a\r\n\tb' }],
    ['a class of 10 names', { classification: { names: names(10), color } }],
    ['a class name of 1,000 characters', { classification: { name: 'a'.repeat(1000), color } }],
    ['1,000 measurements', { measurements: members(1000, 1) }],
    ['200 metadata entries', { metadata: members(200, 'x') }],
    ['a metadata value of 10,000 characters', { metadata: { k: 'a'.repeat(10_000) } }],
    ['a metadata value with a line break', { metadata: { k: 'a\nb' } }],
    ['a metadata name of 1,000 characters', { metadata: { ['k'.repeat(1000)]: 'x' } }],
  ])('accepts %s', (_, properties) => {
    expect(outcomeOf(properties)).toBe('accepted');
  });

  it.each<[string, string, unknown]>([
    ['a list in place of an object', 'not_an_object properties', []],
    ['a name of 1,001 characters', 'text_too_long properties.name', { name: 'a'.repeat(1001) }],
    ['a name with a line break', 'text_characters properties.name', { name: 'a\nb' }],
    ['a name that is a number', 'wrong_type properties.name', { name: 1 }],
    [
      'a description of 10,001 characters',
      'text_too_long properties.description',
      { description: 'a'.repeat(10_001) },
    ],
    ['a description with NUL', 'text_characters properties.description', { description: 'a\0b' }],
    [
      'a class of 11 names',
      'too_many_entries properties.classification.names',
      { classification: { names: names(11), color } },
    ],
    [
      'class names that are a text',
      'wrong_type properties.classification.names',
      { classification: { names: 'Tumor', color } },
    ],
    [
      'an empty list of class names',
      'missing properties.classification.names',
      { classification: { names: [], color } },
    ],
    [
      'an empty class name',
      'missing properties.classification.names[1]',
      { classification: { names: ['Tumor', ''], color } },
    ],
    [
      'a class name that is null',
      'missing properties.classification.names[0]',
      { classification: { names: [null], color } },
    ],
    ['a class without a name', 'missing properties.classification.name', { classification: { color } }],
    [
      'a class without a colour',
      'missing properties.classification.color',
      { classification: { name: 'Tumor' } },
    ],
    ['1,001 measurements', 'too_many_entries properties.measurements', { measurements: members(1001, 1) }],
    [
      'a measurement that is a text other than NaN and Infinity',
      'wrong_type properties.measurements["k"]',
      { measurements: { k: '1' } },
    ],
    ['a measurement that is null', 'wrong_type properties.measurements["k"]', { measurements: { k: null } }],
    ['201 metadata entries', 'too_many_entries properties.metadata', { metadata: members(201, 'x') }],
    [
      'a metadata value of 10,001 characters',
      'text_too_long properties.metadata["k"]',
      { metadata: { k: 'a'.repeat(10_001) } },
    ],
    ['a metadata value with NUL', 'text_characters properties.metadata["k"]', { metadata: { k: 'a\0b' } }],
    ['a metadata value that is a number', 'wrong_type properties.metadata["k"]', { metadata: { k: 1 } }],
    [
      'a metadata name with a line break',
      'text_characters properties.metadata["a\\nb"]',
      { metadata: { 'a\nb': 'x' } },
    ],
    [
      'a metadata name of 1,001 characters, of which the error has 100',
      `text_too_long properties.metadata["${'k'.repeat(100)}"]`,
      { metadata: { ['k'.repeat(1001)]: 'x' } },
    ],
    ['a parent that is not a UUID', 'id_not_uuid properties.parentId', { parentId: 'x' }],
    ['a parent that is a list', 'id_not_uuid properties.parentId', { parentId: [parentId] }],
    ['itself as parent', 'parent_is_self properties.parentId', { parentId: id.toUpperCase() }],
    ['the text true as isMissing', 'wrong_type properties.isMissing', { isMissing: 'true' }],
    ['an unknown object type', 'unknown_value properties.objectType', { objectType: 'toString' }],
  ])('rejects %s as %s', (_, outcome, properties) => {
    expect(outcomeOf(properties)).toBe(outcome);
  });
});
