/** Parses what a user typed as the registration of a result: how coordinates of the result file become pixels of the slide. */
import { ResultRegistration } from '@lamina/contract';

export type RegistrationMethod = ResultRegistration['method'];
export const registrationMethods: readonly RegistrationMethod[] = ['full-size', 'pixel-size', 'affine'];

/** The content of the form fields. */
export interface RegistrationInput {
  readonly method: RegistrationMethod;
  /** Pixel size of the file in micrometres, as the user typed it. */
  readonly mpp: string | number;
  /** Affine transformation as the user typed it: six numbers a b c d e f, with x′ = a·x + c·y + e and y′ = b·x + d·y + f. */
  readonly matrix: string;
}

export const defaultRegistrationInput: RegistrationInput = { method: 'full-size', mpp: '', matrix: '' };

/** Returns the registration; null while the input is incomplete or invalid, such as a singular matrix. */
export function registrationOf({ method, mpp, matrix }: RegistrationInput): ResultRegistration | null {
  if (method === 'full-size') return { method };
  if (method === 'pixel-size') return validated({ method, mpp: Number(mpp) });
  const numbers = matrix
    .split(/[\s,;[\]]+/) // such as `1 0 0 1 0 0` or `[1, 0, 0, 1, 0, 0]`
    .filter((part) => part !== '')
    .map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = numbers;
  const determinant = a * d - b * c;
  return determinant === 0 ? null : validated({ method, matrix: numbers });
}

/** Returns the registration if the API accepts it; otherwise null. */
function validated(registration: unknown): ResultRegistration | null {
  return ResultRegistration.safeParse(registration).data ?? null;
}
