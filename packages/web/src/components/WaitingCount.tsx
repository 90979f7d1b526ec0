import { VisuallyHidden } from '@mantine/core';
import classes from './TopBar.module.css';
import type { TopBarLink } from './top-bar-link.ts';

/** The number of items that wait on the screen of a top-bar link, such as applicants; renders nothing when none waits. */
export function WaitingCount({ waiting }: { readonly waiting: NonNullable<TopBarLink['waiting']> | null }) {
  if (waiting === null) return null;
  return (
    <>
      <span className={classes.waiting} title={waiting.label} aria-hidden>
        {waiting.count}
      </span>
      <VisuallyHidden> ({waiting.label})</VisuallyHidden>
    </>
  );
}
