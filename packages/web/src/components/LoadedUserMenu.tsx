import { Button, Group } from '@mantine/core';
import { Suspense } from 'react';
import { FailureBoundary } from './lazy-part.tsx';
import { preloadable } from './preloadable.tsx';
import classes from './UserMenu.module.css';
import type { UserMenuProps } from './UserMenu.tsx';
import { UserName } from './UserName.tsx';

/** Loaded separately: Mantine's code for menus is as large as the catalogue's code and would delay the catalogue. */
const UserMenu = preloadable(async () => (await import('./UserMenu.tsx')).UserMenu);
UserMenu.preload().catch(() => undefined); // rendering the component loads the code again

/**
 * Shows the user menu, and until its code is loaded the user's name in the same place. When the code cannot be loaded, the name stays with a
 * sign-out button; otherwise the error screen would replace the whole screen.
 */
export function LoadedUserMenu(props: UserMenuProps) {
  const name = (
    <span className={classes.target}>
      <UserName user={props.user} badge={props.badge} />
    </span>
  );
  return (
    <FailureBoundary
      renderFailed={() => (
        <Group gap="xs" wrap="nowrap">
          {name}
          <Button size="xs" variant="default" lang={props.labelLanguage} onClick={props.onLogout}>
            {props.logoutLabel}
          </Button>
        </Group>
      )}
    >
      <Suspense fallback={name}>
        <UserMenu {...props} />
      </Suspense>
    </FailureBoundary>
  );
}
