import type { PasswordCost } from '../sign-in/password.ts';

/** Cost of password hashes in tests. It is far below a safe value, so that tests do not spend their time on hashing. */
export const cheapPasswords: PasswordCost = { memoryKiB: 8, passes: 1 };
