import { Alert } from '@mantine/core';
import { nameOf } from '../../person.ts';
import classes from './Applications.module.css';
import type { Undecided } from './decide-all.ts';
import { texts } from './texts.ts';

/** By name, so that nobody is lost among several. */
export function UndecidedList({ undecided }: { readonly undecided: readonly Undecided[] }) {
  if (undecided.length === 0) return null;
  return (
    <Alert color="red" title={texts.undecided} role="alert">
      <ul className={classes.duplicates}>
        {undecided.map(({ user, message }) => (
          <li key={user.uid}>
            {nameOf(user)}: {message}
          </li>
        ))}
      </ul>
    </Alert>
  );
}
