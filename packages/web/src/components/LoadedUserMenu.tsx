import { Suspense } from 'react';
import { preloadable } from './preloadable.tsx';
import classes from './UserMenu.module.css';
import type { UserMenuProps } from './UserMenu.tsx';
import { UserName } from './UserName.tsx';

/** Mantine's code for menus is as large as the code of the catalogue. It is loaded separately, so that it does not delay the catalogue. */
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
