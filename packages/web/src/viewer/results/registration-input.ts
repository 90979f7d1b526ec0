/** How a person says where a result belongs on the slide. */
import { ResultRegistration } from '@lamina/contract';

export type RegistrationMethod = ResultRegistration['method'];
export const registrationMethods: readonly RegistrationMethod[] = ['full-size', 'pixel-size', 'affine'];

export interface RegistrationInput {
  readonly method: RegistrationMethod;
  /** Micrometres per pixel of the file, as typed. */
  readonly mpp: string | number;
  /** Six numbers, as typed: a b c d e f. */
  readonly matrix: string;
}

export const registrationAtFirst: RegistrationInput = { method: 'full-size', mpp: '', matrix: '' };

/** Returns null while what is typed is no registration. */
export function registrationOf({ method, mpp, matrix }: RegistrationInput): ResultRegistration | null {
  if (method === 'full-size') return { method };
  if (method === 'pixel-size') return valid({ method, mpp: Number(mpp) });
  const numbers = matrix
    .split(/[\s,;[\]]+/)
    .filter((part) => part !== '')
    .map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = numbers;
  return a * d - b * c === 0 ? null : valid({ method, matrix: numbers });
}

function valid(registration: unknown): ResultRegistration | null {
  return ResultRegistration.safeParse(registration).data ?? null;
}
