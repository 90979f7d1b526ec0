import type { PasswordCost } from '../sign-in/password.ts';

/** Far below what is safe, so that a test does not spend its time on hashing. */
export const cheapPasswords: PasswordCost = { memoryKiB: 8, passes: 1 };
