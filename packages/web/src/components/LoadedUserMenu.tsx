import { Suspense } from 'react';
import { preloadable } from './preloadable.tsx';
import classes from './UserMenu.module.css';
import type { UserMenuProps } from './UserMenu.tsx';
import { UserName } from './UserName.tsx';

/** The menu's code is loaded separately: Mantine's menus are as large as the catalogue, whose first rows must not wait for them. */
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
