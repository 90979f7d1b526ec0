import { Suspense } from 'react';
import { preloadable } from './preloadable.tsx';
import classes from './UserMenu.module.css';
import type { UserMenuProps } from './UserMenu.tsx';
import { UserName } from './UserName.tsx';

/** Loaded separately: Mantine's code for menus is as large as the catalogue's code and would delay the catalogue. */
const UserMenu = preloadable(async () => (await import('./UserMenu.tsx')).UserMenu);
UserMenu.preload().catch(() => undefined); // rendering the component loads the code again and shows the error

/** Shows the user menu, and until its code is loaded the user's name in the same place. */
export function LoadedUserMenu(props: UserMenuProps) {
  return (
    <Suspense
      fallback={
        <span className={classes.target}>
          <UserName user={props.user} badge={props.badge} />
        </span>
      }
    >
      <UserMenu {...props} />
    </Suspense>
  );
}
