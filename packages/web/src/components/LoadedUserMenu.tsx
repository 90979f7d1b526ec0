import { Suspense } from 'react';
import { preloadable } from './preloadable.tsx';
import classes from './UserMenu.module.css';
import type { UserMenuProps } from './UserMenu.tsx';
import { UserName } from './UserName.tsx';

/** Menus need as much code as the catalogue, whose first rows do not wait for them on a slow network. */
const UserMenu = preloadable(async () => (await import('./UserMenu.tsx')).UserMenu);
UserMenu.preload().catch(() => undefined); // loaded again when it is rendered, which shows the failure

/** The user menu; until its code is loaded, the user's name in the same place. */
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
