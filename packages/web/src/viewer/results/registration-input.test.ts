import { describe, expect, it } from 'vitest';
import { type RegistrationInput, registrationAtFirst, registrationOf } from './registration-input.ts';

const typed = (input: Partial<RegistrationInput>) => registrationOf({ ...registrationAtFirst, ...input });

describe('the registration of a result', () => {
  it('is the full size of the slide by default', () => {
    expect(typed({})).toEqual({ method: 'full-size' });
  });

  it('by pixel size has micrometres per pixel', () => {
    expect(typed({ method: 'pixel-size', mpp: 0.5 })).toEqual({ method: 'pixel-size', mpp: 0.5 });
  });

  it.each(['2 0 0 2 10 -20.5', '2, 0, 0, 2, 10, -20.5', '[2; 0; 0; 2; 10; -20.5]'])(
    'is an affine transformation typed as %s',
    (matrix) => {
      expect(typed({ method: 'affine', matrix })).toEqual({
        method: 'affine',
        matrix: [2, 0, 0, 2, 10, -20.5],
      });
    },
  );

  it.each<[string, Partial<RegistrationInput>]>([
    ['no pixel size', { method: 'pixel-size' }],
    ['a pixel size of 0', { method: 'pixel-size', mpp: 0 }],
    ['five numbers', { method: 'affine', matrix: '1 0 0 1 0' }],
    ['seven numbers', { method: 'affine', matrix: '1 0 0 1 0 0 0' }],
    ['a text', { method: 'affine', matrix: '1 0 0 one 0 0' }],
    ['a singular matrix', { method: 'affine', matrix: '1 2 2 4 0 0' }],
  ])('is null for %s', (_, input) => {
    expect(typed(input)).toBeNull();
  });
});
