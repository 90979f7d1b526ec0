import { describe, expect, it } from 'vitest';
import { defaultRegistrationInput, type RegistrationInput, registrationOf } from './registration-input.ts';

const registrationFor = (input: Partial<RegistrationInput>) =>
  registrationOf({ ...defaultRegistrationInput, ...input });

describe('registrationOf (form for the registration of a result layer, its alignment with the slide)', () => {
  it('returns, for the default input, a registration that fits the layer to the full size of the slide', () => {
    expect(registrationFor({})).toEqual({ method: 'full-size' });
  });

  it('returns a registration by pixel size when the user typed a pixel size', () => {
    expect(registrationFor({ method: 'pixel-size', mpp: 0.5 })).toEqual({ method: 'pixel-size', mpp: 0.5 });
  });

  it.each(['2 0 0 2 10 -20.5', '2, 0, 0, 2, 10, -20.5', '[2; 0; 0; 2; 10; -20.5]'])(
    'returns the affine transformation typed as "%s"',
    (matrix) => {
      expect(registrationFor({ method: 'affine', matrix })).toEqual({
        method: 'affine',
        matrix: [2, 0, 0, 2, 10, -20.5],
      });
    },
  );

  it.each<[string, Partial<RegistrationInput>]>([
    ['a missing pixel size', { method: 'pixel-size' }],
    ['a pixel size of 0', { method: 'pixel-size', mpp: 0 }],
    ['a matrix of five numbers', { method: 'affine', matrix: '1 0 0 1 0' }],
    ['a matrix of seven numbers', { method: 'affine', matrix: '1 0 0 1 0 0 0' }],
    ['a matrix with a word', { method: 'affine', matrix: '1 0 0 one 0 0' }],
    ['a singular matrix', { method: 'affine', matrix: '1 2 2 4 0 0' }],
  ])('returns null for %s', (_, input) => {
    expect(registrationFor(input)).toBeNull();
  });
});
