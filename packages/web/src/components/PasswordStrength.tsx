import { passwordLength, passwordMinLength } from '@lamina/contract';
import { Text } from '@mantine/core';
import { texts } from '../language/texts.ts';
import classes from './PasswordStrength.module.css';

const levels = ['tooShort', 'weak', 'fair', 'strong'] as const;
type Level = (typeof levels)[number];

/**
 * Estimates the strength of a password by its length and variety; the thresholds are a rough guide. Common passwords are not
 * detected here: only the server has a list of common passwords, and rejects them.
 *
 * @returns null for an empty password
 */
export function strengthOf(password: string): Level | null {
  if (password === '') return null;
  const length = passwordLength(password);
  if (length < passwordMinLength) return 'tooShort';
  const distinctCharacters = new Set(password.normalize('NFKC').toLowerCase()).size;
  if (distinctCharacters < 5) return 'weak';
  // Lower-case letters, capitals, digits, and other characters.
  const characterKinds = [/\p{Ll}/u, /\p{Lu}/u, /\p{N}/u, /[^\p{L}\p{N}]/u].filter((kind) =>
    kind.test(password),
  ).length;
  if (length >= 16 || (length >= 12 && characterKinds >= 3)) return 'strong';
  return length >= 12 || characterKinds >= 3 ? 'fair' : 'weak';
}

/**
 * Shows the strength of the typed password below its field: a word, and a bar with one segment for each level above `tooShort`, which
 * the style sheet colours by `data-level`. The component keeps its height for an empty password, so that the form does not move.
 */
export function PasswordStrength({ password }: { readonly password: string }) {
  const level = strengthOf(password);
  return (
    <div className={classes.strength} data-level={level ?? undefined}>
      <span className={classes.bar} aria-hidden>
        {levels.slice(1).map((segment) => (
          <span key={segment} />
        ))}
      </span>
      <Text size="sm" c="dimmed" aria-live="polite">
        {level !== null && texts.passwordStrength[level]}
      </Text>
    </div>
  );
}
